"""Sends the files of a folder as they are completed, one after the other, and goes on after any interruption."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .._calls.back_off import BackOff, is_transient
from ..errors import ApiError, NetworkError, SdpError
from .journal import Journal
from .move import move_file
from .scan import MARK_SUFFIX, SIDE_SUFFIX, FoundFile, files_of, metadata_of
from .send import Acknowledged, Send

_SCAN_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 60.0
# A file that the platform refuses is tried again after this time: a session may be frozen for a while.
_REFUSED_AGAIN_SECONDS = 600.0


def watch_folder(
    folder: str | os.PathLike[str],
    send: Send,
    *,
    settle_seconds: float = 5.0,
    pattern: str | re.Pattern[str] | None = None,
    move_to: str | os.PathLike[str] | None = None,
    mark: bool = False,
    once: bool = False,
    say: Callable[[str], None] = print,
) -> int:
    """Sends what appears in a folder, oldest first, each file when it has not changed for ``settle_seconds``.

    It tries again for as long as it takes, and after a restart goes on where it was. Acknowledged files are written down
    in ``.sdp-sent.jsonl``, and moved to ``move_to`` or marked by ``NAME.sent``. Metadata come from ``NAME.meta.json``,
    which is moved with its file, and the named groups of ``pattern``. With ``once`` it ends when all files are sent or refused, and returns how many
    were refused or are still to be moved.
    """
    watch = _Watch(
        Path(folder).resolve(),
        send,
        re.compile(pattern) if isinstance(pattern, str) else pattern,
        None if move_to is None else Path(move_to).resolve(),
        mark,
        say,
    )
    return watch.run(settle_seconds, once)


class _Watch:
    def __init__(
        self,
        folder: Path,
        send: Send,
        pattern: re.Pattern[str] | None,
        move_to: Path | None,
        mark: bool,
        say: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._send = send
        self._pattern = pattern
        self._move_to = move_to
        self._mark = mark
        self._say = say
        self._journal = Journal(folder)

    def run(self, settle_seconds: float, once: bool) -> int:
        unsettled = self._settle_earlier()
        again_at: dict[FoundFile, float] = {}
        while True:
            files = [found for found in files_of(self._folder) if self._journal.find(found) is None]
            again_at = {found: at for found, at in again_at.items() if found in files}
            due = [found for found in files if time.monotonic() >= again_at.get(found, 0.0)]
            now_ms = time.time() * 1000
            settled = (found for found in due if now_ms - found.modified_at_ms >= settle_seconds * 1000)
            found_next = next(settled, None)
            if found_next is not None:
                if not self._send_one(found_next):
                    again_at[found_next] = time.monotonic() + _REFUSED_AGAIN_SECONDS
            elif once and not due:
                return len(files) + unsettled
            else:
                time.sleep(_SCAN_SECONDS)

    def _settle_earlier(self) -> int:
        """Marks and moves the files of a run that ended between the journal and what follows it.

        What fails holds up no new file. Returns how many failed.
        """
        failed = 0
        for found in files_of(self._folder):
            sent = self._journal.find(found)
            if sent is None:
                continue
            try:
                self._settle(found, sent)
            except OSError as error:
                failed += 1
                self._say(f"{found.name}: {error}")
        return failed

    def _send_one(self, found: FoundFile) -> bool:
        """False when it was refused."""
        back_off = BackOff(_LONGEST_WAIT_SECONDS)
        while True:
            try:
                acknowledged = self._send(found, metadata_of(found, self._pattern))
                if self._has_changed(found):
                    return True
                self._journal.add(found, acknowledged)
                self._settle(found, acknowledged)
                stored = acknowledged.output_id
                self._say(f"{found.name}: {'stored' if stored is None else f'output {stored}'}")
                return True
            except FileNotFoundError:
                return True
            except (SdpError, ValueError, LookupError, OSError) as error:
                self._say(f"{found.name}: {error}")
                if not _may_pass(error):
                    return False
                time.sleep(back_off.next_seconds(error))

    def _has_changed(self, found: FoundFile) -> bool:
        """A file that was still being written after all is sent again when it is complete."""
        now = next((each for each in files_of(self._folder) if each.name == found.name), None)
        return now is not None and now != found

    def _settle(self, found: FoundFile, acknowledged: Acknowledged) -> None:
        if self._mark:
            text = json.dumps({"identifier": acknowledged.identifier, "outputId": acknowledged.output_id})
            found.path.with_name(found.name + MARK_SUFFIX).write_text(f"{text}\n")
        if self._move_to is None:
            return
        self._move_to.mkdir(parents=True, exist_ok=True)
        # Another file of this name may have been moved before; the identifier names these bytes alone.
        is_taken = (self._move_to / found.name).exists()
        target = self._move_to / (acknowledged.identifier if is_taken else found.name)
        # Before the file: an interrupted move is done again for the file, and the next of its name has other metadata.
        with suppress(FileNotFoundError):
            move_file(found.path.with_name(found.name + SIDE_SUFFIX), target.with_name(target.name + SIDE_SUFFIX))
        move_file(found.path, target)


def _may_pass(error: BaseException) -> bool:
    """A new token may come with the next start of the service, and no recording is given up for it."""
    if isinstance(error, ApiError):
        return is_transient(error) or error.status in (401, 403, 423)
    return isinstance(error, NetworkError)

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
from .scan import MARK_SUFFIX, SIDE_SUFFIX, FoundFile, files_of, find, if_there, metadata_of, pause_after_scan
from .send import Acknowledged, Send

_LONGEST_WAIT_SECONDS = 60.0
# What fails is tried again after this time: a session may be frozen, or a disk be away, for a while.
_AGAIN_SECONDS = 600.0
# In a row, for one file, each after some seconds of tries; then the next one shows whether the server fails for all.
_MAX_SERVER_ERRORS = 3


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
    which is moved with its file, and the named groups of ``pattern``. With ``once`` it ends when all files are sent or
    refused, also for its token, and returns how many were refused, are still to be moved or cannot be read. Raises
    ValueError when ``move_to`` is the folder, and OSError with ``once`` when the folder cannot be read.
    """
    if move_to is not None and Path(move_to).resolve() == Path(folder).resolve():
        # Moved files would be found again, under other names.
        raise ValueError("move_to must name another folder")
    watch = _Watch(
        Path(folder).resolve(),
        send,
        re.compile(pattern) if isinstance(pattern, str) else pattern,
        None if move_to is None else Path(move_to).resolve(),
        mark,
        once,
        say,
    )
    return watch.run(settle_seconds)


class _Watch:
    def __init__(
        self,
        folder: Path,
        send: Send,
        pattern: re.Pattern[str] | None,
        move_to: Path | None,
        mark: bool,
        once: bool,
        say: Callable[[str], None],
    ) -> None:
        self._folder = folder
        self._send = send
        self._pattern = pattern
        self._move_to = move_to
        self._mark = mark
        self._once = once
        self._write = say
        self._journal = Journal(folder)
        # Sent, and still to be marked or moved.
        self._unsettled: set[FoundFile] = set()
        # Since when each file is as it is now. Times of files are not asked: clocks of devices and shares may be wrong.
        self._since: dict[FoundFile, float] = {}
        self._again_at: dict[FoundFile, float] = {}
        # Shared by all files: in an outage many files ask the server no more often than one.
        self._back_off = BackOff(_LONGEST_WAIT_SECONDS)
        # Files that cannot be read, with the reason: each is reported once.
        self._reported: dict[str, str] = {}

    def run(self, settle_seconds: float) -> int:
        # A run before this one may have ended between the journal and what follows it.
        self._unsettled = {found for found in self._scan()[0] if self._journal.find(found) is not None}
        while True:
            started = time.monotonic()
            files, unreadable = self._scan()
            scan_seconds = time.monotonic() - started
            left = [found for found in files if self._journal.find(found) is None or found in self._unsettled]
            now = time.monotonic()
            self._since = {found: self._since.get(found, now) for found in left}
            self._again_at = {found: at for found, at in self._again_at.items() if found in self._since}
            due = [found for found in left if now >= self._again_at.get(found, 0.0)]
            ready = [found for found in due if found in self._unsettled or now - self._since[found] >= settle_seconds]
            # All that one scan has found: a folder may hold very many.
            self._handle_all(ready)
            if ready:
                continue
            if self._once and not due:
                return len(left) + len(unreadable)
            time.sleep(pause_after_scan(scan_seconds))

    def _scan(self) -> tuple[list[FoundFile], dict[str, OSError]]:
        """The folder of a share may be away for a while."""
        try:
            files, unreadable = files_of(self._folder)
        except OSError as error:
            if self._once:
                raise
            files, unreadable = [], {str(self._folder): error}
        else:
            # On a full disk it stays long for now.
            with suppress(OSError):
                self._journal.forget_gone(files)
        reasons = {name: str(error) for name, error in unreadable.items()}
        for name, why in reasons.items():
            if self._reported.get(name) != why:
                self._say(f"{name}: {why}")
        self._reported = reasons
        return files, unreadable

    def _handle_all(self, ready: list[FoundFile]) -> None:
        """Handles files, oldest first. Those for which the server fails are put off once it works for another one."""
        failed: list[FoundFile] = []
        for found in ready:
            if not self._is_handled(found, 1 if failed else _MAX_SERVER_ERRORS):
                failed.append(found)
                continue
            self._back_off.reset()
            for each in failed:
                if not self._is_handled(each, 1):
                    self._put_off(each)
            failed = []

    def _is_handled(self, found: FoundFile, max_server_errors: int) -> bool:
        """Sends, marks and moves a file. What fails is tried again later. False after so many server errors in a row."""
        try:
            sent = self._journal.find(found) or self._send_one(found, max_server_errors)
            if sent is None:
                return True
            self._unsettled.add(found)
            self._settle(found, sent)
            self._unsettled.discard(found)
        except (SdpError, ValueError, LookupError, OSError) as error:
            if _is_server_error(error):
                return False
            self._put_off(found)
            if not isinstance(error, FileNotFoundError):
                self._say(f"{found.name}: {error}{self._what_follows(found)}")
        return True

    def _say(self, line: str) -> None:
        # A name may be no text, which print refuses.
        self._write(line.encode("utf-8", "backslashreplace").decode("utf-8"))

    def _what_follows(self, found: FoundFile) -> str:
        now: FoundFile | None = found
        with suppress(OSError):
            now = find(self._folder, found.name)
        if now is None:
            return ""
        if now != found:
            return " It is sent when it has stopped changing."
        return "" if self._once else f" It is tried again in {_AGAIN_SECONDS / 60:.0f} minutes."

    def _put_off(self, found: FoundFile) -> None:
        self._again_at[found] = time.monotonic() + _AGAIN_SECONDS

    def _send_one(self, found: FoundFile, max_server_errors: int) -> Acknowledged | None:
        """None for a file that changed meanwhile, which is sent when it is complete, or that another agent has sent."""
        server_errors = 0
        while True:
            if find(self._folder, found.name) != found:
                return None
            try:
                metadata = metadata_of(found, self._pattern)
                # After its metadata: another agent of this folder that has sent the file moves them away first.
                self._journal.read()
                if self._journal.find(found) is not None:
                    return None
                acknowledged = self._send(found, metadata)
                if find(self._folder, found.name) not in (None, found):
                    return None
                self._note(found, acknowledged)
                stored = acknowledged.output_id
                self._say(f"{found.name}: {'stored' if stored is None else f'output {stored}'}")
                return acknowledged
            except (SdpError, OSError) as error:
                if not _may_pass(error, self._once):
                    raise
                self._say(f"{found.name}: {error}")
                time.sleep(self._back_off.next_seconds(error))
                server_errors = server_errors + 1 if _is_server_error(error) else 0
                if server_errors >= max_server_errors:
                    raise

    def _note(self, found: FoundFile, acknowledged: Acknowledged) -> None:
        """On a full disk only what is moved away frees it; sent once more, a file makes no second output."""
        try:
            self._journal.add(found, acknowledged)
        except OSError as error:
            self._say(f"{found.name}: it was sent, but this could not be noted in the folder: {error}")

    def _settle(self, found: FoundFile, acknowledged: Acknowledged) -> None:
        is_marked = True
        if self._mark:
            try:
                self._write_mark(found, acknowledged)
            except OSError:
                if self._move_to is None:
                    raise
                is_marked = False
        if self._move_to is None:
            return
        self._move_to.mkdir(parents=True, exist_ok=True)
        # Another file of this name may have been moved before; the identifier names these bytes alone.
        is_taken = (self._move_to / found.name).exists()
        target = self._move_to / (acknowledged.identifier if is_taken else found.name)

        def check() -> None:
            # Programs write each recording under the same name: the next one is not sent yet.
            if find(self._folder, found.name) not in (None, found):
                raise SdpError("The file changed before it was moved.")

        side = found.path.with_name(found.name + SIDE_SUFFIX)
        # Before the file: an interrupted move is done again for the file, and the next of its name has other metadata.
        with if_there():
            move_file(side, target.with_name(target.name + SIDE_SUFFIX), check)
        move_file(found.path, target, check)
        # A full disk has room for it now.
        if not is_marked:
            self._write_mark(found, acknowledged)

    @staticmethod
    def _write_mark(found: FoundFile, acknowledged: Acknowledged) -> None:
        text = json.dumps({"identifier": acknowledged.identifier, "outputId": acknowledged.output_id})
        found.path.with_name(found.name + MARK_SUFFIX).write_text(f"{text}\n")


def _may_pass(error: BaseException, once: bool) -> bool:
    """A new token may come with the next start of the service, so no recording is given up for it; ``once`` ends."""
    if isinstance(error, ApiError):
        # The platform's own 404 has no code here: the session or the ingest is not there.
        is_passing = is_transient(error) and error.status != 404
        return is_passing or error.status == 423 or (not once and error.status in (401, 403))
    return isinstance(error, NetworkError)


def _is_server_error(error: BaseException) -> bool:
    return isinstance(error, ApiError) and error.status >= 500

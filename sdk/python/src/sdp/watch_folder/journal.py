"""What a watched folder has sent, in a file of the folder: a line for each acknowledged file, on disk before the next."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .scan import FoundFile
from .send import Acknowledged

_NAME = ".sdp-sent.jsonl"
# Times are written as milliseconds, whose last digits depend on the program that wrote them.
_SAME_MS = 1.0
# Rows that are kept of files which have left the folder, beside twice as many as there are files.
_MOST_GONE = 10_000


class Journal:
    """The command line's ``sdp watch-folder`` has the same file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._sent: dict[str, dict[str, Any]] = {}
        self._read_bytes = 0
        self.read()

    def read(self) -> None:
        """Reads what was added since, also by another agent of this folder."""
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            is_shorter = os.fstat(file.fileno()).st_size < self._read_bytes
            self._read_bytes = file.seek(0 if is_shorter else self._read_bytes)
            # Bytes, not text: a name may hold U+2028, which is no line break of this file.
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read_bytes += len(line)
                self._note_row(line)

    def _note_row(self, line: bytes) -> None:
        # An empty line, or one whose writing was interrupted: its file is sent again, and is there already.
        with suppress(ValueError, TypeError, KeyError):
            row = json.loads(line.decode("utf-8", "replace"))
            self._sent[row["file"]] = {
                "file": row["file"],
                "sizeBytes": int(row["sizeBytes"]),
                "modifiedAtMs": float(row["modifiedAtMs"]),
                "identifier": row["identifier"],
                "outputId": row["outputId"],
            }

    def find(self, found: FoundFile) -> Acknowledged | None:
        """What was sent of these bytes of the file; a file that changed since is another one."""
        known = self._sent.get(found.name)
        if known is None or known["sizeBytes"] != found.size_bytes:
            return None
        is_same = abs(known["modifiedAtMs"] - found.modified_at_ms) < _SAME_MS
        return Acknowledged(known["identifier"], known["outputId"]) if is_same else None

    def add(self, found: FoundFile, acknowledged: Acknowledged) -> None:
        """Returns when the line is on disk. Raises OSError when it cannot be written: then only this process knows it."""
        row = {
            "file": found.name,
            "sizeBytes": found.size_bytes,
            "modifiedAtMs": found.modified_at_ms,
            "identifier": acknowledged.identifier,
            "outputId": acknowledged.output_id,
        }
        self._sent[found.name] = row
        # After a loss of power the last line may be half a one.
        _write(self._path, f"\n{json.dumps(row)}\n", os.O_APPEND)

    def forget_gone(self, files: Sequence[FoundFile]) -> None:
        """Forgets files that have left the folder, once they are many: a machine may write one each second for years.

        A row that another agent adds at this moment may be lost; its file is sent once more, and is there already.
        Raises OSError.
        """
        if len(self._sent) <= _MOST_GONE + 2 * len(files):
            return
        self.read()
        kept = {found.name: self._sent[found.name] for found in files if found.name in self._sent}
        text = "".join(f"{json.dumps(row)}\n" for row in kept.values())
        partial = self._path.with_name(f"{_NAME}.partial")
        _write(partial, text, os.O_TRUNC)
        partial.rename(self._path)
        self._sent = kept
        self._read_bytes = len(text)


def _write(path: Path, text: str, flag: int) -> None:
    """Writes, and returns when it is on disk. The text is ASCII."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())

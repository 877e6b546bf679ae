"""What a watched folder has sent, in a file of the folder: a line for each acknowledged file, on disk before the next."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from .scan import FoundFile
from .send import Acknowledged

_NAME = ".sdp-sent.jsonl"
# Times are written as milliseconds, whose last digits depend on the program that wrote them.
_SAME_MS = 1.0


class Journal:
    """The command line's ``sdp watch-folder`` has the same file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._sent: dict[str, dict[str, Any]] = {}
        self._read_bytes = 0
        self.read()

    def read(self) -> None:
        """Reads what was added since, also by another agent of this folder."""
        # Not splitlines: a name may hold U+2028, which is no line break of this file.
        for line in self._added().decode("utf-8", "replace").split("\n"):
            # An empty line, or one whose writing was interrupted: its file is sent again, and is there already.
            with suppress(ValueError, TypeError, KeyError):
                row = json.loads(line)
                self._sent[row["file"]] = {
                    "sizeBytes": int(row["sizeBytes"]),
                    "modifiedAtMs": float(row["modifiedAtMs"]),
                    "acknowledged": Acknowledged(row["identifier"], row["outputId"]),
                }

    def _added(self) -> bytes:
        """Complete lines."""
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            is_shorter = os.fstat(file.fileno()).st_size < self._read_bytes
            self._read_bytes = file.seek(0 if is_shorter else self._read_bytes)
            added = file.read()
            lines = added[: added.rfind(b"\n") + 1]
            self._read_bytes += len(lines)
            return lines
        return b""

    def find(self, found: FoundFile) -> Acknowledged | None:
        """What was sent of these bytes of the file; a file that changed since is another one."""
        known = self._sent.get(found.name)
        if known is None or known["sizeBytes"] != found.size_bytes:
            return None
        acknowledged: Acknowledged = known["acknowledged"]
        return acknowledged if abs(known["modifiedAtMs"] - found.modified_at_ms) < _SAME_MS else None

    def add(self, found: FoundFile, acknowledged: Acknowledged) -> None:
        """Returns when the line is on disk. Raises OSError when it cannot be written: then only this process knows it."""
        self._sent[found.name] = {
            "sizeBytes": found.size_bytes,
            "modifiedAtMs": found.modified_at_ms,
            "acknowledged": acknowledged,
        }
        row = {
            "file": found.name,
            "sizeBytes": found.size_bytes,
            "modifiedAtMs": found.modified_at_ms,
            "identifier": acknowledged.identifier,
            "outputId": acknowledged.output_id,
        }
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            # After a loss of power the last line may be half a one.
            file.write(f"\n{json.dumps(row)}\n".encode())
            file.flush()
            os.fsync(file.fileno())

"""The bytes of a file, as a body that is read while it is sent."""

from __future__ import annotations

import os
from typing import IO

from ..errors import SdpError


class FileBytes:
    """A part of an open file. It is not mapped: a mapped file that becomes shorter ends the process."""

    def __init__(self, file: IO[bytes], start: int = 0, end: int | None = None) -> None:
        self._file = file
        self._start = start
        self._end = os.fstat(file.fileno()).st_size if end is None else end

    def __len__(self) -> int:
        return self._end - self._start

    def __getitem__(self, part: slice) -> FileBytes:
        start, end, _ = part.indices(len(self))
        return FileBytes(self._file, self._start + start, self._start + max(start, end))

    def read(self) -> bytes:
        """All of the part. Raises SdpError when the file has become shorter."""
        self._file.seek(self._start)
        found = self._file.read(len(self))
        if len(found) < len(self):
            raise SdpError("The file changed while it was being read.")
        return found

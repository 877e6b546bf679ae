"""Any source of bytes as pieces and as parts of one size."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any

from .._calls.http import Bytes

Source = str | bytes | bytearray | memoryview | IO[Any] | Iterable["str | bytes | bytearray | memoryview"]
"""Text (written as UTF-8), bytes, an open file, or anything that yields text or bytes."""

_PIECE_BYTES = 1024 * 1024
_GZIP_WINDOW = 31


def pieces_of(source: Source) -> Iterator[Bytes]:
    """The bytes of a source, piece by piece."""
    if isinstance(source, str):
        yield source.encode("utf-8")
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield source
    elif isinstance(source, os.PathLike):
        raise TypeError("A path is not an output; use write_file(path).")
    elif hasattr(source, "read"):
        while piece := source.read(_PIECE_BYTES):
            yield _bytes_of(piece)
    else:
        _refuse_tables(source)
        for piece in source:
            yield _bytes_of(piece)


def _bytes_of(piece: object) -> Bytes:
    if isinstance(piece, str):
        return piece.encode("utf-8")
    # A number of numpy has bytes, too: those of its memory.
    if hasattr(piece, "__len__"):
        with suppress(TypeError):
            return memoryview(piece)  # type: ignore[arg-type]
    kind = type(piece).__name__
    raise TypeError(f"An output yields text or bytes, and this one yields {kind}; use write_json(value) for values.")


def _refuse_tables(source: object) -> None:
    """What is a table or an object yields its names alone, and these would be stored without a word."""
    if isinstance(source, Mapping):
        raise TypeError("A dictionary has no bytes; use write_json(value), or json.dumps(value).")
    if hasattr(source, "columns"):
        raise TypeError("A frame has no bytes; use write_frame(frame), or upload_frame(frame, identifier).")
    if not isinstance(source, Iterable):
        kind = type(source).__name__
        raise TypeError(f"An output is text, bytes, an open file, or something that yields text or bytes; not {kind}.")


def gzipped(pieces: Iterator[Bytes]) -> Iterator[Bytes]:
    """The same bytes compressed, equal for equal input."""
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW)
    for piece in pieces:
        if packed := packer.compress(piece):
            yield packed
    yield packer.flush()


class PartReader:
    """Cuts pieces into parts of a size, and holds one part at a time."""

    def __init__(self, pieces: Iterator[Bytes]) -> None:
        self._pieces = pieces
        self._held = memoryview(b"")

    def read(self, size_bytes: int) -> bytearray:
        """The next part of exactly this size, or what is left."""
        part = bytearray()
        while len(part) < size_bytes and self._fill():
            taken = self._held[: size_bytes - len(part)]
            part += taken
            self._held = self._held[len(taken) :]
        return part

    @property
    def is_over(self) -> bool:
        """True when nothing follows."""
        return not self._fill()

    def _fill(self) -> bool:
        while len(self._held) == 0:
            piece = next(self._pieces, None)
            if piece is None:
                return False
            self._held = memoryview(piece).cast("B")
        return True

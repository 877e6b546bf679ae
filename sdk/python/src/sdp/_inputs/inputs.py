"""Inputs of a task: lists by pages, bytes as streams that survive broken connections."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from .._calls.checksum import read_whole
from .._calls.resumed import Stored
from ..errors import UnreadableData
from . import frames
from .text import LONGEST_CHARACTERS, Row, read_json, read_lines, read_named_rows, read_rows, read_text

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from .._calls.task_calls import Json, TaskCalls

InputMode = Literal["since-watermark", "latest", "all"]

_PAGE_INPUTS = 100
_BUFFER_BYTES = 256 * 1024
_DEFAULT_MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class InputInfo:
    """Metadata of an output of a parent node, or of the node itself."""

    output_id: int
    """Names the input, also as a watermark."""
    node_instance_id: int
    """The node whose output it is."""
    node_name: str
    output_identifier: str
    content_type: str | None
    content_encoding: str | None
    """``gzip`` when it is stored compressed."""
    size_bytes: int
    """As stored."""
    sha256: str | None
    """The SHA-256 of the stored bytes; None where none was computed."""
    metadata: Mapping[str, Any]
    created_at: datetime

    @property
    def source_key(self) -> str:
        """Stays the same when its node makes it again.

        The source key of the output; else what names the original of a copy that a reprocess has appended, or the source
        of a recording; else its identifier.
        """
        metadata = self.metadata
        names = [metadata.get("sourceKey"), _field(metadata.get("$copyOf"), "outputIdentifier")]
        if metadata.get("kind") == "recording":
            source = metadata.get("source")
            names += [_field(source, "key"), _field(source, "outputIdentifier")]
        return next((name for name in names if isinstance(name, str) and name), self.output_identifier)


class Input(InputInfo):
    """An input of a task. Its metadata need no read."""

    _calls: TaskCalls

    @classmethod
    def of(cls, wire: Json, calls: TaskCalls) -> Input:
        """An input as the platform lists it."""
        made = cls(**_fields(wire))
        # Frozen for the readers of the metadata.
        object.__setattr__(made, "_calls", calls)
        return made

    def open(self, *, raw: bool = False) -> BinaryIO:
        """The bytes as a binary file, decoded unless ``raw``.

        After a broken connection the read resumes where it broke, so the reader sees one complete stream. It fails
        only by a definite refusal (ApiError), broken gzip (UnreadableData), bytes that are not those of the platform, or
        when the task is cancelled (TaskCancelled).
        """
        stored = self._calls.open_stored(Stored(self.output_id, self.size_bytes, self.content_encoding))
        buffered = io.BufferedReader(stored, _BUFFER_BYTES)  # type: ignore[type-var]
        if raw or self.content_encoding != "gzip":
            return buffered
        return cast(BinaryIO, io.BufferedReader(_Unzipped(buffered), _BUFFER_BYTES))

    def bytes(self, max_bytes: int = _DEFAULT_MAX_BYTES) -> bytes:
        """All bytes, decoded. Raises ValueError for more than the limit."""

        def read() -> bytes:
            with self.open() as stream:
                return stream.read(max_bytes + 1)

        data = read_whole(read)
        if len(data) > max_bytes:
            raise ValueError(f"Input {self.output_id} holds more than {max_bytes} bytes; read it by open().")
        return data

    def text(self, max_bytes: int = _DEFAULT_MAX_BYTES) -> str:
        """All of it as UTF-8 text, without a byte order mark. Raises UnreadableData for bytes that are not text."""
        return read_text(self.bytes(max_bytes))

    def json(self, max_bytes: int = _DEFAULT_MAX_BYTES) -> Any:
        """All of it, parsed as JSON. Raises UnreadableData, with the line, for what is no JSON."""
        return read_json(self.bytes(max_bytes))

    def lines(self, *, max_characters: int = LONGEST_CHARACTERS) -> Iterator[str]:
        """The lines of a UTF-8 text of any size, without line breaks and byte order mark.

        Raises UnreadableData, with the line, for one that is too long or not text.
        """
        with closing(self.open()) as stream:
            yield from read_lines(stream, max_characters)

    def rows(self, *, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS) -> Iterator[Row]:
        """The rows of a comma-, semicolon- or tab-separated table of any size, by the names of its header.

        All values are text. Quoted fields may hold delimiters, line breaks and doubled quotes. Raises UnreadableData,
        with the line, when it is not a table.
        """
        with closing(self.open()) as stream:
            yield from read_named_rows(stream, delimiter, max_characters)

    def csv(self, *, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS) -> Iterator[list[str]]:
        """As :meth:`rows`, each row as the list of its fields, the header first."""
        with closing(self.open()) as stream:
            yield from read_rows(stream, delimiter, max_characters)

    def parquet(self, columns: list[str] | None = None) -> pyarrow.Table:
        """A Parquet file as an Arrow table. Needs ``pip install pyarrow``."""
        return frames.to_arrow(self, columns)

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """A table as a pandas frame: Parquet, csv, JSON or JSON lines, by content type, name or first bytes.

        Options go to the reader of pandas. Needs ``pip install pandas`` (and ``pyarrow`` for Parquet).
        """
        return frames.to_pandas(self, options)

    def to_polars(self, **options: Any) -> polars.DataFrame:
        """As :meth:`to_pandas`, as a polars frame. Needs ``pip install polars``."""
        return frames.to_polars(self, options)


class _Unzipped(io.RawIOBase):
    """Stored gzip as plain bytes."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = gzip.GzipFile(fileobj=source, mode="rb")

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a part of the buffer; 0 at the end."""
        try:
            return self._decoder.readinto(buffer)
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            # Bytes that were damaged on the way differ from their SHA-256, which is checked at their end.
            while self._source.read(_BUFFER_BYTES):
                pass
            raise UnreadableData(f"its gzip is broken: {error}") from error

    def close(self) -> None:
        """Closes the file that it reads, too."""
        self._decoder.close()
        self._source.close()
        super().close()


def list_inputs(calls: TaskCalls, mode: InputMode) -> Iterator[Input]:
    """All inputs of a mode, oldest first; a page is fetched when the one before is used up."""
    cursor: str | None = None
    while True:
        page = calls.inputs(mode, cursor, _PAGE_INPUTS)
        for wire in page["inputs"]:
            yield Input.of(wire, calls)
        cursor = page["nextCursor"]
        if cursor is None:
            return


def input_info(wire: Json) -> InputInfo:
    """Metadata as the platform sends them."""
    return InputInfo(**_fields(wire))


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _fields(wire: Json) -> Json:
    return {
        "output_id": wire["outputId"],
        "node_instance_id": wire["nodeInstanceId"],
        "node_name": wire["nodeName"],
        "output_identifier": wire["outputIdentifier"],
        "content_type": wire.get("contentType"),
        "content_encoding": wire.get("contentEncoding"),
        "size_bytes": wire["sizeBytes"],
        "sha256": wire.get("sha256"),
        "metadata": wire.get("metadata") or {},
        "created_at": parse_time(wire["createdAt"]),
    }


def parse_time(text: str) -> datetime:
    """A time of the platform; Python 3.10 reads neither `Z` nor other than 3 or 6 digits."""
    whole = re.sub(r"\.(\d+)", lambda part: f".{part[1][:6]:0<6}", text)
    return datetime.fromisoformat(whole.replace("Z", "+00:00"))

"""Tables as frames of pandas, polars and Arrow. The libraries are imported when they are used."""

from __future__ import annotations

import csv
import importlib
import io
import tempfile
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from .._calls.checksum import read_whole
from ..errors import MissingLibrary, UnreadableData
from .text import delimiter_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# With one of these the author says where the heading is.
_HEADING_OPTIONS = frozenset({"comment", "encoding", "header", "index_col", "names", "quotechar", "skiprows", "usecols"})

Format = Literal["parquet", "csv", "json", "json-lines"]

_PIECE_BYTES = 1024 * 1024


class Readable(Protocol):
    """An input or an output with bytes."""

    @property
    def content_type(self) -> str | None:
        """As it was declared."""

    @property
    def output_identifier(self) -> str:
        """Its name."""

    def open(self) -> BinaryIO:
        """The decoded bytes."""


_BY_TYPE: tuple[tuple[str, Format], ...] = (
    ("parquet", "parquet"),
    ("ndjson", "json-lines"),
    ("jsonl", "json-lines"),
    ("json-lines", "json-lines"),
    ("json", "json"),
    ("csv", "csv"),
    ("tab-separated", "csv"),
    ("tsv", "csv"),
)


def library(name: str, why: str) -> Any:
    """Imports a library. Raises MissingLibrary with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise MissingLibrary(f"{why} needs {package}: pip install {package}") from error


def format_of(content_type: str | None, name: str, head: bytes) -> Format:
    """The format of a table: by its first bytes, its content type, its name; else csv."""
    if head[:4] == b"PAR1":
        return "parquet"
    for text in ((content_type or "").lower(), name.lower().rpartition(".")[2]):
        for part, kind in _BY_TYPE:
            if part in text:
                return kind
    if head.lstrip()[:1] == b"[":
        return "json"
    return "json-lines" if head.lstrip()[:1] == b"{" else "csv"


def to_arrow(source: Readable, columns: list[str] | None) -> pyarrow.Table:
    """A Parquet file as an Arrow table."""
    parquet = library("pyarrow.parquet", "parquet()")
    with _seekable(source) as file:
        try:
            return parquet.read_table(file, columns=columns)
        except MemoryError:
            raise
        except Exception as error:
            raise _unreadable(source, error) from error


def to_pandas(source: Readable, options: dict[str, Any]) -> pandas.DataFrame:
    """A table as a pandas frame."""
    reader = library("pandas", "to_pandas()")
    with _seekable(source) as file:
        kind = format_of(source.content_type, source.output_identifier, _head(file))
        try:
            frame: pandas.DataFrame = read_pandas(reader, file, kind, options)
            return frame
        except (TypeError, MemoryError, MissingLibrary):
            raise
        except Exception as error:
            raise _unreadable(source, error) from error


def read_pandas(pandas: Any, file: IO[bytes], kind: Format, options: dict[str, Any]) -> Any:
    """Reads a file that can be rewound, by its format."""
    if kind == "parquet":
        library("pyarrow", "Parquet")
        return pandas.read_parquet(file, **options)
    if kind == "csv":
        sep = {} if "sep" in options or "delimiter" in options else {"sep": _separator(file)}
        index = _index_option(file, sep["sep"]) if sep and _HEADING_OPTIONS.isdisjoint(options) else {}
        return pandas.read_csv(file, **sep, **index, **options)
    return pandas.read_json(file, **({"lines": True} if kind == "json-lines" else {}), **options)


def _index_option(file: IO[bytes], separator: str) -> dict[str, Any]:
    """Where rows have more fields than the heading, pandas takes the first field as an index, and every other one gets the
    name of its neighbour. Empty fields at the ends can be left out; for others it raises ValueError."""
    text = io.TextIOWrapper(file, "utf-8-sig", "replace", newline="")
    try:
        rows = (row for row in csv.reader(text, delimiter=separator) if row)
        heading, first = next(rows, []), next(rows, [])
    except csv.Error:
        # A field above its limit, which pandas does not have.
        heading, first = [], []
    finally:
        text.detach()
        file.seek(0)
    if len(first) <= len(heading):
        return {}
    if any(first[len(heading) :]):
        fields = f"the rows have {len(first)} fields, and the heading has {len(heading)}"
        raise ValueError(f"{fields}; index_col=0 makes the first field an index")
    return {"index_col": False}


def to_polars(source: Readable, options: dict[str, Any]) -> polars.DataFrame:
    """A table as a polars frame."""
    reader = library("polars", "to_polars()")
    with _seekable(source) as file:
        kind = format_of(source.content_type, source.output_identifier, _head(file))
        readers = {
            "parquet": reader.read_parquet,
            "csv": reader.read_csv,
            "json": reader.read_json,
            "json-lines": reader.read_ndjson,
        }
        if kind == "csv" and "separator" not in options:
            options = {"separator": _separator(file), **options}
        try:
            frame: polars.DataFrame = readers[kind](file, **options)
            return frame
        except (TypeError, MemoryError):
            raise
        except Exception as error:
            raise _unreadable(source, error) from error


def _separator(file: IO[bytes]) -> str:
    line = file.readline(64 * 1024).decode("utf-8-sig", "replace")
    file.seek(0)
    return delimiter_of(line)


def _head(file: IO[bytes]) -> bytes:
    head = file.read(256)
    file.seek(0)
    return head


def _seekable(source: Readable) -> IO[bytes]:
    """Copies the bytes to a file, because readers of frames seek, and a stream of the platform cannot."""

    def copy() -> IO[bytes]:
        file = tempfile.TemporaryFile()
        with closing(source.open()) as stream:
            while piece := stream.read(_PIECE_BYTES):
                file.write(piece)
        file.seek(0)
        return file

    return read_whole(copy)


def _unreadable(source: Readable, error: Exception) -> UnreadableData:
    return UnreadableData(f"{source.output_identifier}: {error}")

"""Frames of pandas and polars, and Arrow tables, as files."""

from __future__ import annotations

import io
import tempfile
from typing import IO, Any, Literal

from .._inputs.frames import library

FrameFormat = Literal["parquet", "csv"]

CONTENT_TYPES: dict[FrameFormat, str] = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}


def format_of(name: str) -> FrameFormat:
    """The form that the name of a file says: Parquet, else csv."""
    return "parquet" if name.lower().endswith(".parquet") else "csv"


def frame_file(frame: Any, format: FrameFormat, options: dict[str, Any]) -> IO[bytes]:
    """Writes a frame to a temporary file, and returns it at its beginning."""
    if format not in CONTENT_TYPES:
        raise ValueError(f"A frame is written as parquet or csv, not {format!r}.")
    file = tempfile.TemporaryFile()
    try:
        _write(frame, format, file, options)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _write(frame: Any, format: FrameFormat, file: IO[bytes], options: dict[str, Any]) -> None:
    module = type(frame).__module__.partition(".")[0]
    if module == "pandas":
        _write_pandas(frame, format, file, options)
    elif module == "polars":
        (frame.write_parquet if format == "parquet" else frame.write_csv)(file, **options)
    elif module == "pyarrow":
        name = "pyarrow.parquet" if format == "parquet" else "pyarrow.csv"
        writer = library(name, "write_frame()")
        (writer.write_table if format == "parquet" else writer.write_csv)(frame, file, **options)
    else:
        raise TypeError(f"A frame is one of pandas, polars or pyarrow, not {type(frame).__name__}.")


def _write_pandas(frame: Any, format: FrameFormat, file: IO[bytes], options: dict[str, Any]) -> None:
    if format == "parquet":
        library("pyarrow", "write_frame() as Parquet")
        frame.to_parquet(file, **options)
        return
    # Its own wrapper would close the file.
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    label = ["index" if name is None else str(name) for name in frame.index.names]
    frame.to_csv(text, **{"index": _has_index(frame), "index_label": label, **options})
    text.detach()


def _has_index(frame: Any) -> bool:
    """False for an index that only numbers the rows. Those of times and of groups are data."""
    index = frame.index
    return any(name is not None for name in index.names) or (len(index) > 0 and index.dtype.kind not in "iu")

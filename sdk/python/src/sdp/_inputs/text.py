"""Lines and rows of text of any size, one at a time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..errors import UnreadableData

LONGEST_CHARACTERS = 1024 * 1024
"""A longer line means that the file is not text."""

_DELIMITERS = (",", ";", "\t")
_BYTES_OF_A_CHARACTER = 4
_MARK = b"\xef\xbb\xbf"

Row = dict[str, str]
"""A row by the names of the header; all values are text, as in the file."""


def read_text(data: bytes) -> str:
    """UTF-8 text, without a byte order mark."""
    try:
        return str(data, "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _invalid(line, "it holds bytes that are not UTF-8 text") from error


def read_json(data: bytes) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(read_text(data))
    except json.JSONDecodeError as error:
        raise _invalid(error.lineno, f"it is no JSON: {error.msg}") from error
    except RecursionError as error:
        raise UnreadableData("it is nested too deeply") from error


def read_lines(stream: BinaryIO, max_characters: int = LONGEST_CHARACTERS) -> Iterator[str]:
    """The lines of a UTF-8 text, without line breaks and byte order mark."""
    for line in _raw_lines(stream, max_characters):
        yield line.removesuffix("\n").removesuffix("\r")


def read_rows(
    stream: BinaryIO, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS
) -> Iterator[list[str]]:
    """The rows of a delimited text (RFC 4180); blank lines between rows are left out."""
    for _, row in _numbered_rows(stream, delimiter, max_characters):
        yield row


def read_named_rows(
    stream: BinaryIO, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS
) -> Iterator[Row]:
    """The same rows by the names of the first."""
    names: list[str] | None = None
    for number, row in _numbered_rows(stream, delimiter, max_characters):
        if names is None:
            names = [name.strip() for name in row]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise _invalid(number, f"there are two columns '{twice[:80]}'")
            continue
        yield dict(zip(names, row))
    if names is None:
        raise _invalid(1, "there is no header")


class _RowLines:
    """Hands lines to the csv reader, and counts them and the characters of the row."""

    def __init__(self, lines: Iterator[str], max_characters: int) -> None:
        self._lines = lines
        self._max_characters = max_characters
        self._characters = 0
        self.number = 0
        self.row_number = 1

    def begin_row(self) -> None:
        """The next line begins a row."""
        self._characters = 0
        self.row_number = self.number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self._characters += len(line)
        # A line break belongs to the row, and is not counted.
        if self._characters > self._max_characters + 2:
            raise _invalid(self.row_number, f"a row longer than {self._max_characters} characters")
        return line


def _numbered_rows(
    stream: BinaryIO, delimiter: str | None, max_characters: int
) -> Iterator[tuple[int, list[str]]]:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError("delimiter must be one character, and neither a quote nor a line break.")
    raw = _raw_lines(stream, max_characters)
    first = next((line for line in raw if line.strip("\r\n")), None)
    if first is None:
        return
    lines = _RowLines(_chain(first, raw), max_characters)
    # The limit of the csv module is for the whole process, and lower than ours.
    csv.field_size_limit(max(csv.field_size_limit(), max_characters))
    reader = csv.reader(lines, delimiter=delimiter or delimiter_of(first), strict=True)
    width: int | None = None
    while True:
        lines.begin_row()
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise _invalid(lines.row_number, _words(error)) from None
        if row is None:
            return
        if not row:
            continue
        width = len(row) if width is None else width
        if len(row) != width:
            raise _invalid(lines.row_number, f"{len(row)} fields in a table of {width} columns")
        yield lines.row_number, row


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _raw_lines(stream: BinaryIO, max_characters: int) -> Iterator[str]:
    """Lines with their line breaks."""
    number = 0
    # No longer line is read than one that is refused.
    most_bytes = max_characters * _BYTES_OF_A_CHARACTER + 2
    while True:
        line = stream.readline(most_bytes + 1)
        if not line:
            return
        number += 1
        if number == 1:
            line = line.removeprefix(_MARK)
            if not line:
                return
        if len(line) > most_bytes:
            raise _invalid(number, f"longer than {max_characters} characters")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise _invalid(number, "it holds bytes that are not UTF-8 text") from None
        if len(text) > max_characters + 2 or len(text.rstrip("\r\n")) > max_characters:
            raise _invalid(number, f"longer than {max_characters} characters")
        yield text


def delimiter_of(line: str) -> str:
    """The most frequent delimiter of the line outside of quotes."""
    bare = re.sub(r'"[^"]*("|$)', "", line)
    return max(_DELIMITERS, key=bare.count)


def _words(error: csv.Error) -> str:
    """The csv module's message, or the guide's own where there is one."""
    text = str(error)
    return "a quote is not closed" if "unexpected end of data" in text else text


def _invalid(line: int, what: str) -> UnreadableData:
    return UnreadableData(f"line {line}: {what}")

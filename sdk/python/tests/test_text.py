"""Lines and rows of text."""

from __future__ import annotations

import gzip
import io
from fractions import Fraction
from types import SimpleNamespace

import pytest
from sdp._calls.http import retry_after
from sdp._heartbeats.heartbeats import _clean
from sdp._inputs.inputs import Input
from sdp._inputs.text import read_lines, read_named_rows, read_rows
from sdp.client.upload import content_type_of
from sdp.errors import TaskFailure, UnreadableData


def rows(text: str | bytes, **options: object) -> list[list[str]]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_rows(io.BytesIO(data), **options))  # type: ignore[arg-type]


def test_lines_have_no_breaks_and_no_mark() -> None:
    assert list(read_lines(io.BytesIO(b"\xef\xbb\xbfa\r\n\nb\xc3\xbc\nlast"))) == ["a", "", "bü", "last"]
    assert list(read_lines(io.BytesIO(b""))) == []


def test_rows_of_each_delimiter() -> None:
    assert rows("a,b\n1,2\n") == [["a", "b"], ["1", "2"]]
    assert rows("a;b\r\n1,5;2\r\n") == [["a", "b"], ["1,5", "2"]]
    assert rows("a\tb\n\n1\t2") == [["a", "b"], ["1", "2"]]
    assert rows("a|b\n1|2", delimiter="|") == [["a", "b"], ["1", "2"]]


def test_quoted_fields_hold_anything() -> None:
    assert rows('a,b\n"x, ""y""\nz",2\n') == [["a", "b"], ['x, "y"\nz', "2"]]
    long = "x" * 200_000
    assert rows(f'a\n"{long}"\n')[1] == [long]


def test_rows_by_name() -> None:
    assert list(read_named_rows(io.BytesIO(b"time, speed\n0,41\n"))) == [{"time": "0", "speed": "41"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a,b\n1,2\n3\n", "line 3: 1 fields in a table of 2 columns"),
        (b"a,a\n", "line 1: there are two columns 'a'"),
        (b"", "line 1: there is no header"),
        (b'a\n1\n"open\n', "line 3: a quote is not closed"),
        (b"a\n\xff\n", "line 2: it holds bytes that are not UTF-8 text"),
        (b"a\n" + b"x" * 60 + b"\n", "line 2: longer than 50 characters"),
        (b'a\n"' + b"x\n" * 60 + b'"\n', "line 2: a row longer than 50 characters"),
    ],
)
def test_what_is_no_table_is_named_by_its_line(text: bytes, said: str) -> None:
    with pytest.raises(UnreadableData) as caught:
        list(read_named_rows(io.BytesIO(text), max_characters=50))
    assert isinstance(caught.value, TaskFailure)
    assert (caught.value.category, caught.value.reason) == ("validation", said)


def test_a_date_to_wait_for_is_compared_with_the_clock_of_the_answer() -> None:
    date = "Thu, 01 Jan 2026 00:00:00 GMT"
    assert retry_after("Thu, 01 Jan 2026 00:00:05 GMT", date) == 5.0
    assert retry_after("7", date) == 7.0
    assert retry_after("soon", date) is None
    assert retry_after("Thu, 01 Jan 2026 00:00:05 GMT", None) == 0.0


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("a.csv", "text/csv"),
        ("a.csv.gz", "application/gzip"),
        ("A.JSONL", "application/x-ndjson"),
        ("a.pdf", "application/pdf"),
        ("a", "application/octet-stream"),
    ],
)
def test_the_type_of_a_file_is_that_of_its_bytes(name: str, type_: str) -> None:
    assert content_type_of(name, b"") == type_


def test_progress_takes_every_kind_of_number_and_nothing_else() -> None:
    # Fractions stand for the numbers of numpy, which are neither int nor float.
    assert _clean({"done": Fraction(3), "total": Fraction(7, 2)}) == {"done": 3, "total": 3.5}
    assert _clean({"done": float("nan"), "total": "7"}) == {}


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (gzip.compress(bytes(range(256)) * 99)[:-20], "its gzip is broken: Compressed file ended"),
        (b"no gzip at all", "its gzip is broken: Not a gzipped file"),
        (gzip.compress(b"x" * 9_999)[:15] + b"\0" * 30, "its gzip is broken: Error"),
        (gzip.compress(b"[" * 100_000), "it is nested too deeply"),
    ],
)
def test_an_input_that_is_damaged_is_invalid(stored: bytes, said: str) -> None:
    wire = {
        "outputId": 1, "nodeInstanceId": 1, "nodeName": "n", "outputIdentifier": "i", "contentEncoding": "gzip",
        "sizeBytes": len(stored), "createdAt": "2026-03-01T10:00:00.000Z",
    }  # fmt: skip
    calls = SimpleNamespace(open_stored=lambda _: io.BytesIO(stored))
    with pytest.raises(UnreadableData, match=said):
        Input.of(wire, calls).json()

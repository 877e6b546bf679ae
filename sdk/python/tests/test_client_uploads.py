"""What the client makes of the data that it is to upload."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from sdp.client.upload import body_of, identifier_of


def test_a_file_whose_name_is_no_identifier_gets_one_of_its_name_and_bytes() -> None:
    first, second = (hashlib.sha256(data).digest() for data in (b"1", b"2"))
    assert identifier_of("lap-1.csv", first) == "lap-1.csv"
    assert identifier_of("lap 1 ü.csv", first) == f"lap_1__.csv-{first.hex()[:16]}"
    assert identifier_of("lap 1 ü.csv", second) != identifier_of("lap 1 ü.csv", first)
    assert len(identifier_of("x" * 200, first)) == 100
    assert identifier_of(None, first) == first.hex()[:32]


def test_the_name_of_a_file_is_not_uploaded_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "lap.csv"
    file.write_text("a,b\n")
    with ExitStack() as stack:
        with pytest.raises(TypeError, match="pass pathlib.Path"):
            body_of(str(file), stack)
        assert bytes(body_of("a,b\n", stack)[0]) == b"a,b\n"  # type: ignore[arg-type]

"""What the client makes of the data that it is to upload."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from sdp.client.api import Api
from sdp.client.resumable import RESUMABLE_BYTES, ResumableUpload
from sdp.client.upload import UploadInfo, body_of, identifier_of, send_body
from sdp.errors import NetworkError


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


class _Answer:
    def __init__(self, **headers: str) -> None:
        self.headers = Message()
        for name, value in headers.items():
            self.headers[name.replace("_", "-")] = value

    def read(self) -> bytes:
        return b"<html>Blocked.</html>"

    def close(self) -> None:
        pass


def test_a_page_that_a_gateway_sends_in_place_of_the_answer_is_no_end_of_an_upload() -> None:
    class Calls:
        def open(self, method: str, *_: object, **__: object) -> Any:
            known = {"POST": _Answer(location="/one"), "HEAD": _Answer(upload_offset="0")}
            return known.get(method, _Answer())

    with pytest.raises(NetworkError, match="not the platform's"):
        ResumableUpload(Calls(), "/uploads", memoryview(b"abc"), {}).send(0.1)


def test_a_long_file_is_looked_for_by_its_identifier_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node may have thousands of outputs. A platform that knows no such question answers with all of them."""
    body = memoryview(bytes(RESUMABLE_BYTES + 1))
    info = UploadInfo("lap-1", "text/csv", False, None, hashlib.sha256(body).digest())
    there: list[dict[str, Any]] = []
    read: list[tuple[str, Any]] = []

    class Outputs(Api):
        def call(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
            read.append((f"{method} {path}", options["query"]["identifier"]))
            return 200, there

    def send(_: ResumableUpload, retry_seconds: float) -> int:
        for number, name in ((8, "lap-10"), (7, "lap-1")):
            there.append(
                {
                    "id": number, "nodeInstanceId": 1, "outputIdentifier": name, "contentType": "text/csv",
                    "sizeBytes": len(body), "sha256": info.sha256.hex(), "createdAt": "2026-01-01T00:00:00Z",
                }
            )  # fmt: skip
        return 7

    monkeypatch.setattr(ResumableUpload, "send", send)
    api = Outputs("http://127.0.0.1:9", "t", None, None, 1.0)
    first = send_body(api, 1, body, info, None, None)
    again = send_body(api, 1, body, info, None, None)
    assert first is not None and first == again and first.output_id == 7
    assert len(there) == 2, "the same file is sent once"
    assert read == [("GET /api/v2/node-instance/1/outputs", "lap-1")] * 3

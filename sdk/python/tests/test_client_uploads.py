"""What the client makes of the data that it is to upload."""

from __future__ import annotations

import hashlib
import threading
import time
from contextlib import ExitStack
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sdp._calls.meter import Meter
from sdp.client.api import Api
from sdp.client import Platform
from sdp.client.resumable import RESUMABLE_BYTES, ResumableUpload
from sdp.client.upload import UploadInfo, body_of, content_type_of, identifier_of, send_body
from sdp.errors import ApiError, NetworkError


def test_a_file_whose_name_is_no_identifier_gets_one_of_its_name_and_bytes() -> None:
    first, second = (hashlib.sha256(data).digest() for data in (b"1", b"2"))
    assert identifier_of("lap-1.csv", first) == "lap-1.csv"
    assert identifier_of("lap 1 ü.csv", first) == f"lap_1__.csv-{first.hex()[:16]}"
    assert identifier_of("lap 1 ü.csv", second) != identifier_of("lap 1 ü.csv", first)
    assert len(identifier_of("x" * 200, first)) == 100
    assert identifier_of(None, first) == first.hex()[:32]


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("lap.CSV", "text/csv"),
        ("lap.parquet", "application/vnd.apache.parquet"),
        ("lap.csv.gz", "application/gzip"),
        ("track.png", "image/png"),
        ("lap", "application/octet-stream"),
        (None, "application/octet-stream"),
    ],
)
def test_the_type_of_an_upload_is_that_of_its_name(name: str | None, content_type: str) -> None:
    assert content_type_of(name, b"") == content_type
    assert content_type_of(None, "text") == "text/plain; charset=utf-8"


def test_the_name_of_a_file_is_not_uploaded_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "lap.csv"
    file.write_text("a,b\n")
    with ExitStack() as stack:
        with pytest.raises(TypeError, match="pass pathlib.Path"):
            body_of(str(file), stack)
        assert bytes(body_of("a,b\n", stack)[0]) == b"a,b\n"  # type: ignore[arg-type]


def test_the_node_of_an_upload_is_named_where_a_session_has_several(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        {"id": at, "name": name, "nodeTemplateName": "t", "state": "NeverBegan", "parentIds": []}
        for at, name in enumerate(("laps", "weather"))
    ]
    session = {"id": "s", "name": "Lap", "projectId": 1, "sessionTemplateId": 2, "createdAt": "2026-01-01T00:00:00Z"}

    def call(_: Api, method: str, path: str, **options: Any) -> tuple[int, Any]:
        return 200, {"nodeInstances": nodes} if "node-instances" in path else session

    monkeypatch.setattr(Api, "call", call)
    with pytest.raises(LookupError, match="^Name the node to upload to: laps, weather\\.$"):
        Platform("http://127.0.0.1:9", token="t").session("s").upload(b"x", identifier="x")


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


class Uploads:
    """The uploads of a node, which know what was sent. Each scripted failure is that of the next call of its method."""

    def __init__(self, **failures: list[Exception]) -> None:
        self.failures = failures
        self.keys: list[str] = []
        self.received = b""
        self.offsets: list[int] = []

    def open(self, method: str, path: str, *, headers: Any = None, body: Any = b"", **_: Any) -> Any:
        if method == "POST":
            self.keys.append(headers["idempotency-key"])
        failures = self.failures.get(method, [])
        if method == "PATCH":
            self.offsets.append(int(headers["upload-offset"]))
            # The line breaks after a piece.
            self.received += bytes(body[:2] if failures else body)
        if failures:
            raise failures.pop(0)
        known = {"POST": _Answer(location="/one"), "HEAD": _Answer(upload_offset=str(len(self.received)))}
        return known.get(method, _Answer(upload_offset=str(len(self.received)), x_platform_output_id="7"))


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdp.client.resumable.time.sleep", lambda _: None)


def sent(uploads: Uploads, key: str | None = None) -> int | None:
    return ResumableUpload(uploads, "/uploads", memoryview(b"0123456789"), {}, key=key).send(60)


@pytest.mark.usefixtures("no_waits")
def test_an_upload_goes_on_where_the_line_broke() -> None:
    uploads = Uploads(
        PATCH=[NetworkError("broken"), ApiError(503, "away")], HEAD=[ApiError(423, "another request ends")]
    )
    assert sent(uploads, "my-key") == 7
    assert (uploads.received, uploads.offsets, uploads.keys) == (b"0123456789", [0, 2, 4], ['"my-key"'])


@pytest.mark.usefixtures("no_waits")
def test_an_upload_that_the_platform_no_longer_has_is_begun_anew_once() -> None:
    gone = ApiError(404, "gone")
    uploads = Uploads(HEAD=[gone])
    assert sent(uploads, "my-key") == 7
    assert len(set(uploads.keys)) == 2
    with pytest.raises(ApiError, match="gone"):
        sent(Uploads(HEAD=[gone, gone]))


def test_a_store_that_puts_an_upload_together_may_be_silent_for_longer_than_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silence = 0.2
    monkeypatch.setattr("sdp.client.api._SILENCE_SECONDS", silence)

    class Store(BaseHTTPRequestHandler):
        def answer(self) -> None:
            received = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.command == "PATCH":
                time.sleep(3 * silence)
            self.send_response(204)
            for name, value in {"location": "/one", "upload-offset": len(received), "x-platform-output-id": 7}.items():
                self.send_header(name, str(value))
            self.end_headers()

        do_POST = do_HEAD = do_PATCH = answer

    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        api = Api(f"http://127.0.0.1:{server.server_port}", "t", None, None, 0.0)
        assert ResumableUpload(api, "/uploads", memoryview(b"0123456789"), {}).send(0.0) == 7
        api.close()
        server.shutdown()


def test_an_upload_leaves_room_on_the_line_and_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("sdp._calls.meter.time.monotonic", lambda: sum(pauses))
    monkeypatch.setattr("sdp._calls.meter.time.sleep", pauses.append)
    said: list[tuple[int, int]] = []
    counted = Meter(100, lambda done, total: said.append((done, total)), 1_000)
    # What an earlier try has sent costs no time.
    counted.begin(40)
    counted(20)
    counted(40)
    assert pauses == pytest.approx([0.02, 0.04])
    assert said == [(60, 100), (100, 100)]
    with pytest.raises(ValueError, match="above 0"):
        Meter(100, None, 0)

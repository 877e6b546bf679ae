"""Inputs and outputs over lines that break, fail or change bytes."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from email.message import Message
from typing import Any

import pytest
import sdp
from platform_double import PlatformDouble
from sdp._calls.back_off import BackOff
from sdp._calls.connection import Reply
from sdp._calls.http import HttpClient
from sdp._calls.resumed import Stored, StoredBytes
from sdp._calls.scope import Scope
from sdp._outputs.upload import OutputLimits, Uploads
from sdp.errors import ApiError, NetworkError, SdpError


def test_waits_grow_up_to_their_bound_and_are_not_below_what_the_server_asked_for() -> None:
    back_off = BackOff(5.0)
    waits = [back_off.next_seconds(ApiError(503, "away")) for _ in range(30)]
    assert waits[0] <= 0.2 and max(waits) <= 5.0 and waits[-1] >= 2.5
    assert back_off.next_seconds(ApiError(503, "away", retry_after_seconds=20.0)) == 20.0
    assert back_off.next_seconds(ApiError(503, "away", retry_after_seconds=3_600.0)) == 60.0
    back_off.reset()
    assert back_off.next_seconds(NetworkError("silent")) <= 0.2


def test_tries_end_after_some_server_errors_in_a_row_and_after_no_number_of_outages() -> None:
    back_off = BackOff()

    def tries(error: Exception, count: int) -> list[bool]:
        return [back_off.is_worth_it(error) for _ in range(count)]

    for status in (408, 429, 502, 503, 504):
        assert all(tries(ApiError(status, "away", code="unavailable"), 20))
    # A gateway that has no platform behind it.
    assert all(tries(ApiError(404, "away"), 20))
    assert tries(ApiError(404, "no", code="task_not_found"), 1) == [False]
    assert tries(ApiError(500, "broken"), 9) == [True] * 9
    assert tries(NetworkError("silent"), 1) == [True]
    assert tries(ApiError(500, "broken"), 10) == [True] * 9 + [False]
    assert tries(ApiError(409, "no", code="watermark_regression"), 1) == [False]
    assert tries(ValueError("of the code"), 1) == [False]


class Answer:
    """An answer with these bytes, after which its connection breaks."""

    def __init__(self, data: bytes, status: int = 200, **headers: str) -> None:
        self.data = data
        self.status = status
        self.headers = Message()
        for name, value in headers.items():
            self.headers[name.replace("_", "-")] = value

    def read(self, size_bytes: int) -> bytes:
        taken, self.data = self.data[:size_bytes], self.data[size_bytes:]
        return taken

    def readinto(self, buffer: Any) -> int:
        taken = self.read(len(buffer))
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        pass


class Reads:
    """Answers the reads of an input, and notes what they ask for."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.scope = Scope()
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.is_first: list[bool] = []

    def check(self) -> None:
        self.scope.check()

    def avoid_store(self) -> None:
        pass

    def open_input(self, output_id: int, headers: Any, *, is_first: bool) -> Any:
        self.asked.append({key: value for key, value in headers.items() if key != "accept-encoding"})
        self.is_first.append(is_first)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scope, "wait", lambda *_: None)


def read(reads: Reads) -> bytes:
    stream = StoredBytes(reads, Stored(7, 10, None))
    return b"".join(iter(lambda: stream.read(3) or b"", b""))


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize(
    ("etag", "asked"),
    [('"one"', {"range": "bytes=4-", "if-range": '"one"'}), ('W/"one"', {"range": "bytes=4-"})],
)
@pytest.mark.parametrize("whole", [False, True])
def test_a_read_goes_on_where_it_broke(etag: str, asked: dict[str, str], whole: bool) -> None:
    rest = Answer(b"456789", 206, etag=etag, content_range="bytes 4-9/10")
    reads = Reads(
        Answer(b"0123", etag=etag), NetworkError("refused"), Answer(b"0123456789", etag=etag) if whole else rest
    )
    assert read(reads) == b"0123456789"
    assert reads.asked == [{}, asked, asked]
    assert reads.is_first == [True, False, False]


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b"456789", 206, etag='"two"', content_range="bytes 4-9/10"), "changed while it was read"),
        (Answer(b"0123456789", etag='"two"'), "changed while it was read"),
        (Answer(b"456789", 206, etag='"one"', content_range="bytes 3-9/10"), "another range"),
        (Answer(b"456789", 206, etag='"one"'), "another range"),
        (Answer(b"456789", 206, etag='"one"', content_encoding="gzip"), "came as gzip and is stored as identity"),
    ],
)
def test_a_read_is_never_put_together_of_bytes_that_do_not_belong_together(answer: Answer, said: str) -> None:
    with pytest.raises(SdpError, match=said):
        read(Reads(Answer(b"0123", etag='"one"'), answer))


@pytest.mark.usefixtures("no_waits")
def test_a_read_that_the_server_cannot_serve_ends_with_its_error() -> None:
    reads = Reads(*[ApiError(500, "broken") for _ in range(20)])
    with pytest.raises(ApiError, match="broken"):
        read(reads)
    assert len(reads.asked) == 10


class Parts:
    """Takes outputs, and notes the calls; the first answers of some parts are others."""

    def __init__(self, **upload: int) -> None:
        self.scope = Scope()
        self.upload = {"handle": "h", "minPartBytes": 1, "maxPartBytes": 1_000, "maxParts": 10_000, **upload}
        self.calls: list[tuple[str, str]] = []
        self.parts: dict[int, bytes] = {}
        self.wrong: dict[int, int] = {}
        self.lock = threading.Lock()
        self.under_way: list[int] = []
        self.most_bytes = 0
        self.most_parts = 0
        self.held_bytes = 0
        self.most_held_bytes = 0

    def check(self) -> None:
        self.scope.check()

    def complete_upload(self, path: str) -> Reply:
        return Reply(201, {})

    def call(self, method: str, path: str, *, body: Any = b"", **options: Any) -> Reply:
        self.calls.append((method, path))
        number = int(path.rpartition("/")[2]) if "/parts/" in path else None
        if number is None:
            return Reply(201, self.upload)
        with self.lock:
            self.under_way.append(len(body))
            self.most_bytes = max(self.most_bytes, sum(self.under_way))
            self.most_parts = max(self.most_parts, len(self.under_way))
            self.most_held_bytes = max(self.most_held_bytes, self.held_bytes)
            self.parts[number] = bytes(body)
            is_wrong = self.wrong.get(number, 0) > 0
            self.wrong[number] = self.wrong.get(number, 0) - 1
        if number < 10:
            time.sleep(0.02)
        with self.lock:
            self.under_way.remove(len(body))
            self.held_bytes -= len(body)
        digest = hashlib.sha256(b"other bytes" if is_wrong else body).hexdigest()
        return Reply(200, {"sizeBytes": len(body), "sha256": digest})


def write(parts: Parts, source: Iterator[bytes], part_bytes: int = 10, buffer_bytes: int = 40) -> None:
    limits = OutputLimits(single_bytes=10, part_bytes=part_bytes, buffer_bytes=buffer_bytes)
    Uploads(parts, limits).write({}, source, lambda: None)  # type: ignore[arg-type]


def test_parts_are_sent_several_at_once_within_the_memory_for_them() -> None:
    parts = Parts()
    write(parts, iter([bytes(95)]))
    assert [len(parts.parts[number]) for number in sorted(parts.parts)] == [10] * 9 + [5]
    assert 1 < parts.most_parts and parts.most_bytes <= 40
    # What is read waits nowhere else; one piece is read ahead.
    parts = Parts()

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            parts.held_bytes += 10
            yield bytes(10)

    write(parts, pieces())
    assert parts.most_held_bytes <= 40 + 20
    # Room for less than a part: one at a time.
    parts = Parts()
    write(parts, iter([bytes(95)]), buffer_bytes=5)
    assert (len(parts.parts), parts.most_parts) == (10, 1)


def test_a_part_that_arrives_changed_is_sent_again() -> None:
    parts = Parts()
    parts.wrong = {2: 2}
    write(parts, iter([bytes(30)]))
    assert parts.calls.count(("PUT", "/outputs/uploads/h/parts/2")) == 3
    assert ("DELETE", "/outputs/uploads/h") not in parts.calls


@pytest.mark.parametrize("size_bytes", [5, 30])
@pytest.mark.parametrize("status", [200, 201])
def test_an_output_that_the_node_has_already_is_told_from_a_new_one(size_bytes: int, status: int) -> None:
    parts = Parts()
    parts.call = lambda *_, **__: Reply(status, {"outputId": 7})  # type: ignore[method-assign]
    limits = OutputLimits(single_bytes=10, part_bytes=10, buffer_bytes=40)
    written = Uploads(parts, limits).write({}, iter([bytes(size_bytes)]), lambda: None)  # type: ignore[arg-type]
    assert written == ({"outputId": 7}, status == 201)


def broken() -> Iterator[bytes]:
    yield bytes(30)
    raise ValueError("the source broke")


@pytest.mark.parametrize(
    ("source", "max_parts", "wrong", "said"),
    [
        (iter([bytes(30)]), 10, 3, "part 2 arrived changed"),
        (iter([bytes(30)]), 2, 0, "more than 2 parts"),
        (broken(), 10, 0, "the source broke"),
    ],
)
def test_an_output_that_cannot_be_sent_leaves_no_upload_open(
    source: Iterator[bytes], max_parts: int, wrong: int, said: str
) -> None:
    parts = Parts(maxParts=max_parts)
    parts.wrong = {2: wrong}
    with pytest.raises((NetworkError, ValueError), match=said):
        write(parts, source)
    assert parts.calls[-1] == ("DELETE", "/outputs/uploads/h")


def test_parts_double_every_thousand_so_that_ten_thousand_hold_any_output() -> None:
    parts = Parts(minPartBytes=1, maxPartBytes=4)
    write(parts, iter([bytes(11_000)]), part_bytes=1, buffer_bytes=8)
    sizes = [len(parts.parts[number]) for number in sorted(parts.parts)]
    assert sizes == [1] * 1_000 + [2] * 1_000 + [4] * 2_000


def test_a_connection_that_does_not_come_about_is_given_up_long_before_an_answer_would_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sdp._calls.connect._MOST_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server, ExitStack() as others:
        # Further ones wait until these are accepted.
        for _ in range(3):
            other = others.enter_context(socket.socket())
            other.setblocking(False)
            other.connect_ex(server.getsockname())
        client = HttpClient(f"http://127.0.0.1:{server.getsockname()[1]}", {})
        with pytest.raises(NetworkError, match=r"no connection to 127\.0\.0\.1:\d+: timed out"):
            client.open("GET", "/", silence_seconds=3_600.0)


def test_a_call_that_nothing_ends_does_not_hold_up_the_end_of_the_process(
    double: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    monkeypatch.setattr("sdp._runner.running._ABORT_SECONDS", 0.0)
    monkeypatch.setattr("sdp._runner.slot.Slot.work", lambda _: answered.wait())
    running = sdp.start(sdp.Runner(lambda _: None), url=double.url, token=double.token, grace_seconds=0)
    running.request_stop()
    try:
        assert running.wait(30)
    finally:
        answered.set()

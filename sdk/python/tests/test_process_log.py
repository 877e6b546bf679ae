"""The logs of the runner's process and of its tasks."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import sdp
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp._calls.connection import Connection, Reply
from sdp._calls.scope import Scope
from sdp._logs.run_log import RunLog
from sdp.errors import ApiError, NetworkError


def test_it_has_no_configuration_of_the_task_that_the_end_of_another_claims(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    double.offers_next = True
    first, second = (double.offer(configuration={"password": "of the simulator"}) for _ in range(2))
    start_runner("@sdp.runner\ndef work(task):\n    return 'no-output'")
    double.until(lambda: second.end)
    said = (tmp_path / "stderr").read_text()
    assert f'"taskId": "{first.task_id}"' in said and "of the simulator" not in said


def test_lines_that_follow_a_pause_are_sent_while_the_task_works(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    task = double.offer()
    go_on, end = tmp_path / "go-on", tmp_path / "end"
    start_runner(
        f"""
@sdp.runner
def work(task):
    from pathlib import Path
    task.log.info("first")
    while not Path({str(go_on)!r}).exists():
        task.wait(0.05)
    task.log.info("second")
    while not Path({str(end)!r}).exists():
        task.wait(0.05)
    return "no-output"
"""
    )
    double.until(lambda: task.messages == ["first"])
    go_on.touch()
    double.until(lambda: task.messages == ["first", "second"], seconds=20)
    assert task.end is None
    end.touch()
    double.until(lambda: task.end)


def test_extra_of_logging_becomes_the_fields_of_the_line(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import logging
from decimal import Decimal
class Unreadable:
    def __str__(self): raise RuntimeError("no text")
@sdp.runner(templates=["t"])
def work(task):
    task.log.info("a line", extra={"lap": 3, "loss": float("nan"), "mean": Decimal("1.5"), "car": "7\\0", "path": r"\\u0000"})
    logging.getLogger("mine").warning("of another", extra={"rows": 2})
    deep = {}
    for _ in range(25):
        deep = {"a": deep}
    for extra in (deep, {"text": "x" * 5000}, {"value": Unreadable()}, {"keys": {(1, 2): 3}}):
        task.log.info("left out", extra=extra)
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    assert [entry.get("fields") for entry in task.logs] == [
        {"lap": 3, "loss": "NaN", "mean": "1.5", "car": "7", "path": r"\u0000"},
        {"logger": "mine", "rows": 2},
        {"omitted": "The fields have more than 20 levels."},
        {"omitted": "The fields hold more than 4096 bytes."},
        {"omitted": "The fields have no JSON form."},
        {"omitted": "The fields have no JSON form."},
    ]


def test_failures_name_what_answered_and_that_the_platform_answers_again_is_logged_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [ApiError(404, "Not found."), *[NetworkError("no connection.")] * 3]

    def answer(*_: object) -> SimpleNamespace:
        if failures:
            raise failures.pop()
        return SimpleNamespace(status=200)

    connection = Connection("http://someone:secret@127.0.0.1:1/api", {})
    monkeypatch.setattr(connection, "open", answer)
    monkeypatch.setattr("sdp._calls.connection.read_json", lambda _: {})
    monkeypatch.setattr(Scope, "wait", lambda *_: None)
    with caplog.at_level("INFO", "sdp"):
        connection.call("POST", "/tasks/claim")
    assert [line.message for line in caplog.records] == [
        "POST /tasks/claim: no connection; trying again",
        "POST /tasks/claim: http://127.0.0.1:1/api answered 404, Not found; trying again",
        "POST /tasks/claim: answered again",
    ]


def test_a_platform_that_cannot_be_reached_is_named(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    with socket.socket() as bound:
        # Nothing listens there.
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        start_runner("@sdp.runner\ndef work(task):\n    return 'no-output'", SDP_URL=f"http://127.0.0.1:{port}")
        double.until(lambda: f"no connection to 127.0.0.1:{port}: " in (tmp_path / "stderr").read_text())


def test_an_error_of_a_thread_of_the_code_is_in_the_log_of_the_run(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    task = double.offer()
    start_runner(
        """
import threading
def read_ahead():
    raise ValueError("the card is full")
@sdp.runner
def work(task):
    reader = threading.Thread(target=read_ahead, name="reader")
    reader.start()
    reader.join()
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    [line] = task.logs
    assert line["level"] == "error"
    assert line["message"].startswith("An error ended the thread reader:\nTraceback")
    assert line["message"].endswith("ValueError: the card is full")
    assert "ValueError: the card is full" in (tmp_path / "stderr").read_text()


def test_a_crash_of_native_code_leaves_the_stack_of_the_task_on_standard_error(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    double.offer()
    runner = start_runner(
        "import ctypes\n@sdp.runner\ndef native(task):\n    ctypes.string_at(0)", SDP_RUNNER_LOG="error"
    )
    assert runner.wait(60) < 0
    said = (tmp_path / "stderr").read_text()
    assert "Segmentation fault" in said and "the_runner.py" in said and "in native" in said


def test_the_first_line_of_the_process_says_until_when_its_token_is_valid(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    start_runner("@sdp.runner\ndef work(task):\n    return 'no-output'")
    double.until(lambda: double.claims)
    first = json.loads((tmp_path / "stderr").read_text().splitlines()[0])
    assert first["tokenExpiresAt"] == "2030-01-01T00:00:00.000Z"


class LogRoute:
    """Takes batches of lines of a task, once it is open."""

    path = "/tasks/t"
    headers: dict[str, str] = {}

    def __init__(self) -> None:
        self.open = threading.Event()
        self.bodies: list[bytes] = []
        self.refusals: list[ApiError] = []

    @property
    def connection(self) -> LogRoute:
        return self

    def call(self, method: str, path: str, *, body: bytes, **options: Any) -> Reply:
        self.open.wait(60)
        if self.refusals:
            raise self.refusals.pop(0)
        self.bodies.append(body)
        return Reply(200, {})

    def entries(self) -> list[dict[str, Any]]:
        return [entry for body in self.bodies for entry in json.loads(body)["entries"]]


def test_lines_that_come_faster_than_they_are_accepted_are_dropped_and_counted() -> None:
    route = LogRoute()
    log = RunLog(route)  # type: ignore[arg-type]
    for number in range(2_000):
        log.add("info", f"{number} {'x' * 4_000}", {})
    route.open.set()
    assert log.flush(60) == ""
    log.add("info", "after it", {})
    assert log.flush(60) == ""
    log.close()
    *sent, said, last = [entry["message"] for entry in route.entries()]
    assert said == f"{2_000 - len(sent)} lines were dropped: they came faster than the platform accepted them."
    assert 4_000_000 < sum(map(len, sent)) <= 4 * 1024 * 1024
    assert [int(message.split()[0]) for message in sent] == list(range(len(sent)))
    assert last == "after it"
    assert max(map(len, route.bodies)) <= 256 * 1024
    sequences = [json.loads(body)["sequence"] for body in route.bodies]
    assert sequences == list(range(1, len(sequences) + 1))


@pytest.mark.parametrize("status", [400, 413])
def test_lines_that_the_platform_refuses_cost_no_later_ones(status: int) -> None:
    route = LogRoute()
    route.open.set()
    route.refusals = [ApiError(status, "refused")]
    log = RunLog(route)  # type: ignore[arg-type]
    log.add("info", "refused", {})
    assert log.flush(60) == ""
    log.add("info", "taken", {})
    assert log.flush(60) == ""
    log.close()
    assert [entry["message"] for entry in route.entries()] == ["taken"]
    assert json.loads(route.bodies[0])["sequence"] == 2


def test_a_platform_without_logs_is_asked_once_and_a_failure_carries_all_lines() -> None:
    route = LogRoute()
    route.open.set()
    route.refusals = [ApiError(404, "no such route", code="not_found")]
    log = RunLog(route)  # type: ignore[arg-type]
    log.add("info", "the first word", {})
    assert log.flush(60).endswith("info the first word")
    log.add("info", "the last word", {})
    assert [line.split(" ", 1)[1] for line in log.flush(60).splitlines()] == [
        "info the first word",
        "info the last word",
    ]
    log.close()
    assert route.bodies == []


@sdp.runner
def work(task: sdp.Task[Any]) -> Literal["no-output"]:
    print("printed")
    task.log.info("logged")
    return "no-output"


@contextmanager
def several(double: PlatformDouble) -> Iterator[list[sdp.RunningRunner]]:
    """The second one captures nothing."""
    with ExitStack() as stack:
        started = []
        for captures in ("on", "off", "on"):
            started.append(sdp.start(work, url=double.url, token=double.token, wait_seconds=5, capture_output=captures))
            stack.callback(started[-1].stop)
        yield started


def test_each_notes_the_lines_of_its_own_tasks_once(double: PlatformDouble) -> None:
    with several(double) as runners:
        tasks = [double.offer() for _ in range(9)]
        double.until(lambda: all(task.end for task in tasks))
    with_output = [task for task in tasks if task.instance_id not in runners[1].instance_ids]
    assert with_output != []
    for task in tasks:
        assert task.messages == (["printed", "logged"] if task in with_output else ["logged"])


def test_the_end_of_one_leaves_the_others_their_lines(double: PlatformDouble) -> None:
    before = sys.stdout
    with several(double) as runners:
        runners[0].stop()
        runners[1].stop()
        task = double.offer()
        double.until(lambda: task.end)
    assert task.messages == ["printed", "logged"]
    assert sys.stdout is before

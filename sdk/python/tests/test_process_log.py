"""The logs of the runner's process and of its tasks."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp._calls.connection import Connection
from sdp._calls.scope import Scope
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

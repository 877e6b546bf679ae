"""Ends of a task that cannot be reported as the code wants them: the process reports a failure and goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp._calls.scope import Scope
from sdp._task.outcome import Report, failure, report_of_error, report_of_result
from sdp._task.report import TooLate, send_report
from sdp.errors import ApiError, CancelReason, FailureCategory
from sdp.testing import run_task

import sdp


def test_a_run_with_annotations_and_without_an_output_is_warned_that_they_are_not_published() -> None:
    def marks_and_writes(task: sdp.Task[Any]) -> None:
        task.annotate(0, "Lap 1")
        task.write("a")

    def marks_and_moves(task: sdp.Task[Any]) -> None:
        task.each_new_input(lambda _: task.annotate(0, "Lap 1"))

    warned = [(line.level, line.message) for line in run_task(lambda task: task.annotate(0, "Lap 1")).logs]
    assert warned == [("warning", "The run wrote no output: its annotations (1) are not published.")]
    # A move of the watermark publishes them.
    assert run_task(marks_and_writes).logs == run_task(marks_and_moves, inputs=[b"a"]).logs == ()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("return sdp.Completion('no-output', state={'seen': {1, 2}})", "set is not JSON serializable"),
        ("task.state.set({'seen': {1, 2}}); return 'no-output'", "set is not JSON serializable"),
        ("return sdp.Completion('no-output', state={'mean': float('nan')})", "JSON has no nan (at $.mean); use None for it"),
        ("raise Silent()", "Silent: it has no text"),
        ("raise SilentMemory()", "it has no text"),
        ("raise Leaving()", "Leaving: it has no text"),
        ("sys.exit('no such car')", "SystemExit: no such car"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("await_all(leave())", "SystemExit: 3"),
    ],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_an_end_that_cannot_be_sent_fails_the_task_and_the_runner_goes_on(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path, kind: str, code: str, reason: str
) -> None:
    code = code.replace("await_all", "asyncio.run" if kind == "def" else "await asyncio.gather")
    first, second = double.offer(), double.offer()
    start_runner(
        f"""
import asyncio, sys
class Silent(Exception):
    def __str__(self):
        raise RuntimeError
class SilentMemory(MemoryError):
    def __str__(self):
        raise RuntimeError
class Leaving(Exception):
    def __str__(self):
        sys.exit(3)
async def leave():
    sys.exit(3)
@sdp.runner
{kind} work(task):
    if task.task_id == {first.task_id!r}:
        {code}
    return 'no-output'
"""
    )
    double.until(lambda: second.end)
    assert first.end is not None
    how, body = first.end
    assert (how, body["category"]) == ("fail", "memory" if "Memory" in code else "error")
    assert reason in body["reason"]
    assert second.end == ("complete", {"outcome": "no-output"})
    said = (tmp_path / "stderr").read_text()
    assert '"message": "task failed: ' in said or not code.startswith("raise")
    assert "Logging error" not in said


def test_a_test_without_a_platform_sees_that_a_state_is_no_json() -> None:
    def work(task: sdp.Task[Any]) -> sdp.Completion:
        return sdp.Completion("no-output", state={"seen": {1, 2}})

    result = run_task(work)
    assert result.reason == "TypeError: The state is no JSON: Object of type set is not JSON serializable"


@pytest.mark.parametrize("end", ["sys.exit(7)", "raise ValueError", "pass"])
def test_a_process_that_the_code_forks_ends_with_the_code_and_reports_nothing(
    double: PlatformDouble, start_runner: RunnerProcess, end: str
) -> None:
    task = double.offer()
    start_runner(
        f"""
import os, sys
@sdp.runner
def work(task):
    child = os.fork()
    if child == 0:
        {end}
        return "no-output"
    _, status = os.waitpid(child, 0)
    return sdp.Completion("no-output", status_details=str(os.waitstatus_to_exitcode(status)))
"""
    )
    double.until(lambda: task.end)
    code = {"sys.exit(7)": "7", "raise ValueError": "1", "pass": "0"}[end]
    assert task.end == ("complete", {"outcome": "no-output", "statusDetails": code})


def test_processes_that_the_code_starts_end_when_they_are_terminated_whatever_they_do(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import multiprocessing, time
@sdp.runner
def work(task):
    context = multiprocessing.get_context("fork")
    runs = context.Event()
    # Python runs no handler while it adds up.
    adds = context.Process(target=lambda: (runs.set(), sum(range(10**12))))
    begins = context.Process(target=lambda: time.sleep(600))
    for child in (adds, begins):
        child.start()
        if child is adds:
            runs.wait()
        child.terminate()
        child.join()
    return sdp.Completion("no-output", status_details=f"{adds.exitcode} {begins.exitcode}")
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "no-output", "statusDetails": "-15 -15"})


def test_a_process_that_the_code_forks_prints_whatever_lock_of_the_log_another_thread_holds(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import os, sys, threading
@sdp.runner
def work(task):
    print("before", file=sys.stderr)
    run_log = task.log._sink.__self__.run_log
    held, forked = threading.Event(), threading.Event()
    def hold():
        with run_log._changed, sys.stderr._lock:
            held.set()
            forked.wait()
    threading.Thread(target=hold).start()
    held.wait()
    child = os.fork()
    if child == 0:
        task.log.info("of the child")
        print("of the child", file=sys.stderr)
        return
    os.waitpid(child, 0)
    forked.set()
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "no-output"})
    assert task.messages == ["before"]


@pytest.mark.parametrize("when", ["before the end", "at the end"])
def test_the_last_lines_are_stored_although_their_connection_went_silent(
    double: PlatformDouble, start_runner: RunnerProcess, when: str
) -> None:
    task = double.offer(silent_logs=1)
    pause = 1.2 if when == "before the end" else 0
    start_runner(
        f"""
import time
@sdp.runner
def work(task):
    task.log.info("the last line")
    time.sleep({pause})
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    assert task.silent_logs == 0
    assert task.messages == ["the last line"]


def test_a_test_cancels_the_task_or_stops_its_process() -> None:
    stop = threading.Event()

    def steps(task: sdp.Task[Any]) -> None:
        def one(item: sdp.Input) -> None:
            task.write(item.bytes())
            stop.set()

        task.each_new_input(one)

    cancelled = run_task(steps, inputs=["a", "b"], cancelled=stop)
    assert (cancelled.ended_by, cancelled.reason, cancelled.outputs) == ("fail", "cancelled", ())
    assert isinstance(cancelled.error, sdp.TaskCancelled)
    stop.clear()
    stopped = run_task(steps, inputs=["a", "b"], stopping=stop)
    assert (stopped.outcome, stopped.watermark, stopped.has_more) == ("completed", 1, True)
    assert run_task(steps, inputs=["a"], stopping=stop).ended_by == "release"


class Ends:
    """Refuses as many ends of a task as it has refusals, and notes all."""

    def __init__(self, *refusals: ApiError) -> None:
        self.refusals = list(refusals)
        self.ends: list[tuple[str, Any]] = []

    def end(self, how: str, body: Any, scope: Scope) -> Any:
        self.ends.append((how, body))
        if self.refusals:
            raise self.refusals.pop(0)
        return {"taskId": "t"}

    def send(self, report: Report) -> tuple[str, Any]:
        return send_report(self, report, Scope(), {"next": 1})  # type: ignore[arg-type]


MISSING = ApiError(409, "The run has no output.", code="output_missing")
INVALID = ApiError(400, "Invalid.", code="invalid_request")
REFUSED = {"category": "error", "reason": "The result was refused: The run has no output."}
UNREADABLE = "The reason of the failure could not be reported."


@pytest.mark.parametrize(
    ("report", "refusals", "how", "body"),
    [
        (report_of_result(None, False, None), [MISSING], "complete", {"outcome": "no-output"}),
        (report_of_result("completed", False, None), [MISSING], "fail", REFUSED),
        (report_of_result(None, True, {"a": 1}), [MISSING], "complete", {"outcome": "no-output", "hasMore": True, "state": {"a": 1}}),
        (report_of_result("no-output", False, None), [INVALID], "fail", {"category": "error", "reason": "The result was refused: Invalid."}),
        (failure("validation", "bad"), [INVALID], "fail", {"category": "validation", "reason": UNREADABLE}),
    ],
)  # fmt: skip
def test_an_end_that_the_platform_refuses_becomes_one_that_it_takes(
    report: Report, refusals: list[ApiError], how: str, body: Any
) -> None:
    ends = Ends(*refusals)
    assert ends.send(report) == (how, {"taskId": "t"})
    assert ends.ends[-1] == (how, {**body, "next": 1})
    assert len(ends.ends) == 2


def test_an_end_that_is_refused_in_every_form_is_not_sent_for_ever() -> None:
    ends = Ends(*[INVALID] * 5)
    with pytest.raises(ApiError, match="Invalid"):
        ends.send(report_of_result("no-output", False, None))
    assert [how for how, _ in ends.ends] == ["complete", "fail", "fail"]
    with pytest.raises(ApiError, match="Invalid"):
        Ends(INVALID).send(Report("release", {"reason": "r"}))


@pytest.mark.parametrize(("status", "code"), [(404, "task_not_found"), (409, "task_finished"), (401, ""), (403, "")])
def test_a_task_that_the_platform_has_ended_is_not_ended_again(status: int, code: str) -> None:
    ends = Ends(ApiError(status, "over", code=code))
    with pytest.raises(TooLate, match="over"):
        ends.send(report_of_result(None, False, None))
    assert len(ends.ends) == 1
    with pytest.raises(TooLate):
        ends.send(Report("none", {}))
    assert len(ends.ends) == 1


@pytest.mark.parametrize(
    ("error", "why", "how", "category"),
    [
        (sdp.TaskFailure("validation", "no"), None, "fail", "validation"),
        (sdp.TaskFailure("memory", "no"), "shutdown", "fail", "memory"),
        (ValueError("no"), None, "fail", "error"),
        (TimeoutError("late"), None, "fail", "timeout"),
        (ValueError("closed"), "shutdown", "release", None),
        (sdp.TaskCancelled("shutdown"), None, "release", None),
        (ValueError("closed"), "cancelled", "fail", "error"),
        (ValueError("closed"), "lease-lost", "none", None),
        (ValueError("closed"), "unauthorized", "none", None),
    ],
)
def test_an_error_is_reported_by_its_kind_and_by_what_ended_the_task(
    error: Exception, why: CancelReason | None, how: str, category: FailureCategory | None
) -> None:
    report = report_of_error(error, why)
    assert (report.how, report.body.get("category")) == (how, category)
    assert (report.body.get("reason") == "cancelled") == (why == "cancelled")

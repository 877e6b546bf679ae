"""Ends of a task that cannot be reported as the code wants them: the process reports a failure and goes on."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp.testing import run_task

import sdp


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

"""Processes that the code of a task forks."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble


def test_a_process_that_the_code_forks_makes_its_calls_over_connections_of_its_own(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer(b"time,speed\n")
    start_runner(
        """
import os
@sdp.runner
def work(task):
    item = next(task.inputs("latest"))
    opened = item.open()
    opened.read(item.size_bytes)
    child = os.fork()
    if child == 0:
        opened.close()
        task.write("", identifier="of-the-child")
        return
    os.waitpid(child, 0)
    task.write(b"", identifier="of-the-parent")
"""
    )
    double.until(lambda: task.end)
    assert task.outputs == {"of-the-child": b"", "of-the-parent": b""}
    own = double.ports.pop("of-the-child")
    assert own not in double.ports.values()


def test_a_process_that_the_code_forks_must_name_its_outputs_since_the_others_count_theirs(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    task = double.offer()
    start_runner(
        """
import os
@sdp.runner
def work(task):
    child = os.fork()
    if child == 0:
        task.write("of the child")
        return
    os.waitpid(child, 0)
    task.write("of the parent")
"""
    )
    double.until(lambda: task.end)
    assert list(task.outputs.values()) == [b"of the parent"]
    assert "A forked process must name its outputs: write(..., identifier=...)." in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize("end", ["os._exit(7)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_task_whose_process_has_crashed_or_was_killed_fails_at_once_also_while_a_forked_one_goes_on(
    double: PlatformDouble, start_runner: RunnerProcess, end: str
) -> None:
    task = double.offer()
    start_runner(
        f"""
import os, signal, time
@sdp.runner
def work(task):
    if os.fork() == 0:
        time.sleep(3)
    {end}
"""
    )
    double.until(lambda: task.end)
    reason = "The runner's process ended before the task: it was killed, perhaps for want of memory, or it crashed."
    assert task.end == ("fail", {"category": "error", "reason": reason})

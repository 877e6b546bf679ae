"""Coroutine functions that do much at the same time."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
import sdp
from conftest import RunnerProcess
from platform_double import PlatformDouble


def test_many_outputs_from_coroutines_that_read_are_written_at_the_same_time(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer(b"a\n1\n2\n")
    start_runner(
        """
import asyncio
@sdp.runner
async def work(task):
    (item,) = [each async for each in task.inputs()]
    async def rows():
        async for row in item.rows():
            await asyncio.sleep(0)
            yield row["a"]
    await asyncio.gather(*(task.write(rows()) for _ in range(100)))
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "completed"})
    assert list(task.outputs.values()) == [b"12"] * 100


def test_writes_that_are_given_up_hold_up_neither_others_nor_the_end(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import asyncio
async def silent():
    yield b"begun"
    await asyncio.Event().wait()
@sdp.runner
async def work(task):
    for _ in range(40):
        try:
            await asyncio.wait_for(task.write(silent()), 0.02)
        except asyncio.TimeoutError:
            pass
    await task.write("the last")
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "completed"})
    assert list(task.outputs.values()) == [b"the last"]


@pytest.mark.parametrize("call", ["write('lost')", "each_new_input(print)", "advance(1)"])
def test_a_call_that_is_not_awaited_fails_the_run(
    double: PlatformDouble, start_runner: RunnerProcess, call: str
) -> None:
    task = double.offer()
    start_runner(
        f"""
@sdp.runner
async def work(task):
    task.{call}
"""
    )
    double.until(lambda: task.end)
    assert task.end is not None
    how, report = task.end
    assert how == "fail"
    assert f"task.{call.partition('(')[0]}() was called without await" in report["reason"]


def test_a_write_that_is_cancelled_before_it_began_fails_no_run(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import asyncio
@sdp.runner
async def work(task):
    asyncio.ensure_future(task.write("never")).cancel()
    await task.write("the other")
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "completed"})
    assert list(task.outputs.values()) == [b"the other"]


def test_a_runner_that_has_stopped_leaves_no_thread_and_nothing_at_work(double: PlatformDouble) -> None:
    before = set(threading.enumerate())
    task = double.offer(b"x")
    left: list[asyncio.Task[bool]] = []

    @sdp.runner(name="work")
    async def work(task: sdp.AsyncTask[Any]) -> None:
        async for item in task.inputs("all"):
            await item.text()
        left.append(asyncio.ensure_future(asyncio.Event().wait()))

    running = sdp.start(work, url=double.url, token=double.token, wait_seconds=1)
    double.until(lambda: task.end)
    running.stop()
    # Those for calls that wait are of the process, and the double has one for each connection.
    kept = ("sdp-wait", "Thread-")
    double.until(lambda: all(thread.name.startswith(kept) for thread in set(threading.enumerate()) - before))
    assert left[0].cancelled()

"""Several runners in one process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import sdp
from platform_double import PlatformDouble


@sdp.runner
def work(task: sdp.Task[Any]) -> str:
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

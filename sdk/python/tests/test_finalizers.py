"""Finalizers, which Python runs at any step of a thread, also in the middle of the package's own calls."""

from __future__ import annotations

from conftest import RunnerProcess
from platform_double import PlatformDouble


def test_a_finalizer_that_prints_while_the_task_prints_does_not_stop_it(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer()
    start_runner(
        """
import gc
class Noisy:
    def __init__(self):
        self.itself = self
    def __del__(self):
        print("finalized")
@sdp.runner
def work(task):
    # The collector runs some new objects after the garbage was made: each number is another step of the print.
    for objects in range(1, 41):
        gc.disable()
        gc.collect()
        Noisy()
        gc.set_threshold(objects)
        gc.enable()
        print("line")
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    assert "line" in task.messages and "finalized" in task.messages

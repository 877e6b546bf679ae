"""The state of a node, as the code of its task changes it."""

from __future__ import annotations

from typing import Any

import pytest
import sdp
from sdp.testing import run_task


def in_place(task: sdp.Task[Any]) -> None:
    def add(item: sdp.Input) -> None:
        state = task.state.get() or {"sum": 0}
        for row in item.rows():
            state["sum"] += int(row["v"])
            task.state.set(state)

    task.each_new_input(add)


async def in_place_async(task: sdp.AsyncTask[Any]) -> None:
    async def add(item: sdp.AsyncInput) -> None:
        state = await task.state.get() or {"sum": 0}
        async for row in item.rows():
            state["sum"] += int(row["v"])
            task.state.set(state)

    await task.each_new_input(add)


def unset(task: sdp.Task[Any]) -> None:
    def add(item: sdp.Input) -> None:
        state = task.state.get() or {"sum": 0}
        for row in item.rows():
            state["sum"] += int(row["v"])
        task.state.set(state)

    task.each_new_input(add)


@pytest.mark.parametrize("work", [in_place, in_place_async, unset])
@pytest.mark.parametrize("before", [None, {"sum": 100}])
def test_an_input_that_is_rejected_leaves_no_trace_in_the_state(work: Any, before: dict[str, int] | None) -> None:
    good, bad = "v\n1\n", "v\n1000\n1,2\n"
    for inputs in ([bad, good, good], [good, bad, good], [good, good, bad]):
        result = run_task(work, inputs=inputs, state=before, on_bad_input="reject")
        assert (result.error, len(result.rejected)) == (None, 1)
        assert result.state == {"sum": 2 if before is None else 102}

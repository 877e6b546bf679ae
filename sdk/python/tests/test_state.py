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


def test_a_state_that_is_stored_with_an_input_stays_although_the_input_is_rejected_after_it() -> None:
    def work(task: sdp.Task[Any]) -> None:
        def one(item: sdp.Input) -> None:
            task.state.set({"sum": 2})
            task.watermark.advance(item)
            raise sdp.TaskFailure("validation", "too late")

        task.state.set({"sum": 1})
        task.each_new_input(one, advance="by-hand")

    result = run_task(work, inputs=["x"], on_bad_input="reject")
    assert (result.error, len(result.rejected), result.state) == (None, 1, {"sum": 2})


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"n": {"mean": [1, float("nan")]}}, "ValueError: The state is no JSON: JSON has no nan (at $.n.mean[1])"),
        ({"seen": {1}}, "TypeError: The state is no JSON: Object of type set is not JSON serializable"),
        ([1], "TypeError: The state is a dictionary, not list."),
        (None, "TypeError: The state is a dictionary, not NoneType."),
        ({"rows": "é" * 40_000}, "ValueError: The state holds at most 65536 bytes as JSON, not 80011."),
    ],
)
def test_a_state_that_the_platform_would_refuse_is_refused_where_it_is_set(state: Any, reason: str) -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.state.set(state)

    result = run_task(work, state={"old": 1})
    assert (result.reason or "").startswith(reason)
    assert result.state == {"old": 1}


def test_a_state_of_the_greatest_size_is_accepted() -> None:
    # As JSON without spaces it has 65,536 bytes.
    state = {"rows": [0] * 1_000, "text": "x" * (64 * 1024 - 2_020)}

    def work(task: sdp.Task[Any]) -> str:
        task.state.set(state)
        return "no-output"

    assert run_task(work).state == state

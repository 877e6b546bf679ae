"""JSON of what libraries for numbers return."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pandas
import pytest
import sdp
from sdp._json import json_text
from sdp.testing import run_task

FRAME = pandas.DataFrame({"lap": [1, 2, 2], "speed": numpy.array([41.5, 63.5, 58.0], dtype=numpy.float32)})


def test_numbers_and_arrays_of_numpy_are_written_as_those_of_python() -> None:
    def work(task: sdp.Task[Any]) -> None:
        value = {"laps": FRAME["lap"].nunique(), "top": FRAME["speed"].max(), "rows": numpy.int64(len(FRAME))}
        task.write_json({**value, "ok": numpy.bool_(True), "all": FRAME["speed"].to_numpy()}, metadata=value)
        task.state.set({"rows": numpy.int64(3)})
        task.annotate(numpy.float32(1.5), "Top")

    result = run_task(work)
    assert result.error is None
    assert result.output.json() == {"laps": 2, "top": 63.5, "rows": 3, "ok": True, "all": [41.5, 63.5, 58.0]}
    assert result.output.metadata == {"laps": 2, "top": 63.5, "rows": 3}
    assert result.state == {"rows": 3} and type(result.state["rows"]) is int
    assert result.annotations[0]["from"] == "1970-01-01T00:00:01.500Z"


@pytest.mark.parametrize("value", [object(), FRAME, b"bytes", memoryview(b"bytes")])
def test_what_is_no_json_is_refused_with_its_type(value: Any) -> None:
    with pytest.raises(TypeError, match=type(value).__name__):
        json_text({"value": value})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (numpy.float32("nan"), "JSON has no nan (at $); use None for it"),
        ({"rows": 3, "laps": [{"std": 1.5}, {"std": float("-inf")}]}, "JSON has no -inf (at $.laps[1].std); use None for it"),
        ({"all": (1, numpy.array([1.0, numpy.nan]))}, "JSON has no nan (at $.all[1][1]); use None for it"),
        ({"top": numpy.float64("nan")}, "JSON has no nan (at $.top); use None for it"),
    ],
)
def test_a_number_that_json_cannot_hold_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        json_text(value)


@pytest.mark.parametrize("values", [[1, 2], [{"speed": 1}], FRAME["speed"].to_numpy(), FRAME["speed"]])
def test_values_that_are_written_as_if_they_were_bytes_are_refused_with_what_to_use(values: Any) -> None:
    result = run_task(lambda task: task.write(values))
    assert "use write_json(value) for values" in str(result.reason)
    assert result.outputs == ()

"""Frames of inputs, outputs and uploads."""

from __future__ import annotations

from typing import Any

import pandas
import pytest
import sdp
from sdp._outputs.frames import format_of
from sdp.testing import run_task

LAPS = pandas.DataFrame({"lap": [1, 2, 2], "speed": [41.5, 63.5, 58.0]})
AT = pandas.to_datetime(["2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z"])


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (LAPS, "lap,speed\n1,41.5\n2,63.5\n2,58.0\n"),
        (LAPS[LAPS["lap"] == 2], "lap,speed\n2,63.5\n2,58.0\n"),
        (LAPS[LAPS["lap"] == 3], "lap,speed\n"),
        (LAPS.groupby("lap").max(), "lap,speed\n1,41.5\n2,63.5\n"),
        (LAPS.groupby(["lap", "speed"]).size().to_frame("rows"), "lap,speed,rows\n1,41.5,1\n2,58.0,1\n2,63.5,1\n"),
        (
            pandas.DataFrame({"speed": [1, 2]}, index=AT),
            "index,speed\n2026-03-01 10:00:00+00:00,1\n2026-03-01 10:00:01+00:00,2\n",
        ),
    ],
)
def test_a_frame_keeps_an_index_that_says_something_in_csv(frame: pandas.DataFrame, text: str) -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.write_frame(frame, format="csv")

    result = run_task(work)
    assert result.output.text == text


def test_an_uploaded_frame_has_the_form_that_its_name_says() -> None:
    names = ["lap.csv", "lap-7", "lap.parquet", "LAP.PARQUET"]
    assert [format_of(name) for name in names] == ["csv", "csv", "parquet", "parquet"]


def test_rows_with_more_fields_than_the_heading_move_no_value_to_another_column() -> None:
    frames: list[Any] = []
    read = sdp.Runner(lambda task: frames.extend(item.to_pandas() for item in task.inputs("all")))
    result = run_task(read, inputs=["time,speed\n0,41.5,\n1,63.5,\n", "time,speed\n0,41.5\n1,63.5\n"])
    assert result.error is None
    assert [frame.to_dict("list") for frame in frames] == [{"time": [0, 1], "speed": [41.5, 63.5]}] * 2
    wider = run_task(read, inputs=["time,speed\n0,41.5,3\n1,63.5,4\n"])
    assert wider.category == "validation"
    assert wider.reason == (
        "input-1: the rows have 3 fields, and the heading has 2; index_col=0 makes the first field an index"
    )
    named = sdp.Runner(lambda task: frames.extend(item.to_pandas(index_col="time") for item in task.inputs()))
    assert run_task(named, inputs=["time,speed\n0,41.5\n"]).error is None
    assert frames[-1].index.name == "time"


def test_a_frame_for_which_the_memory_is_too_small_says_nothing_against_the_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_csv(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(pandas, "read_csv", read_csv)

    @sdp.runner(on_bad_input="reject")
    def read(task: sdp.Task[Any]) -> None:
        task.each_new_input(lambda item: item.to_pandas())

    result = run_task(read, inputs=["time,speed\n0,41\n"])
    assert (result.category, result.rejected) == ("memory", ())

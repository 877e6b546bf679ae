"""Frames as outputs and uploads."""

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

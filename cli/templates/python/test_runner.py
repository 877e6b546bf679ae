"""Runs the runner on tasks in memory, without a platform."""

from pathlib import Path

from sdp.testing import run_task

from runner import work

SAMPLE = Path(__file__).with_name("sample.csv")


def test_each_recording_has_a_result() -> None:
    result = run_task(work, inputs=[SAMPLE])
    assert result.output.json() == {"recording": "sample.csv", "top": 63.5, "rows": 3}


def test_a_recording_without_the_column_is_put_aside() -> None:
    result = run_task(work, inputs=[b"time,height\n0,1\n", SAMPLE])
    assert [each.reason for each in result.rejected] == ["there is no number in column speed"]
    assert result.output.json()["top"] == 63.5

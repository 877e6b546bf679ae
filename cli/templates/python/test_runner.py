"""Runs the runner on tasks in memory, without a platform."""

from pathlib import Path

from sdp.testing import run_task

from runner import work

SAMPLE = Path(__file__).with_name("sample.csv")


def test_each_recording_has_a_result() -> None:
    result = run_task(work, inputs=[SAMPLE])
    assert result.output.json() == {"recording": "sample.csv", "top": 63.5, "rows": 3}


def test_a_recording_without_a_number_in_the_column_is_rejected() -> None:
    wrong = ["time,height\n0,1\n", *(f"time,speed\n0,{cell}\n1,5\n" for cell in ("", "nan", "inf", "1_0"))]
    result = run_task(work, inputs=[*wrong, SAMPLE])
    assert [each.reason for each in result.rejected] == ["there is no number in column speed"] * len(wrong)
    assert result.output.json()["top"] == 63.5

"""Saved cases and their replay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sdp
from sdp.testing import CaseError, run_case

CLAIM = {
    "taskId": "t", "runId": "r", "attempt": 2, "maxAttempts": 3, "reason": "retry", "projectId": 1,
    "sessionId": "s", "sessionName": "s", "nodeInstanceId": 2, "nodeName": "n", "nodeTemplate": "t",
    "runnerType": "r", "configuration": {"add": 1}, "parents": [{"nodeInstanceId": 1, "name": "in"}],
    "claimedAt": "2026-01-01T00:00:00.000Z", "leaseExpiresAt": "2026-01-01T00:00:30.000Z",
    "heartbeatIntervalSeconds": 10, "traceparent": None,
    "incremental": {"watermark": 5, "pendingInputs": 2, "maxInputsPerTask": 100},
}  # fmt: skip

RUNNER = """
import sdp
@sdp.runner
def add(task):
    def one(item):
        task.progress("adding", done=1)
        print("a line")
        task.log.info("input %s", item.output_id)
        task.write(str(int(item.text()) + task.configuration["add"]) + "\\n")
    task.each_new_input(one)
"""


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case of two new inputs and one that was consumed before."""
    folder = tmp_path / "case"
    (folder / "inputs").mkdir(parents=True)
    wires = []
    for output_id, text in ((5, "0"), (6, "10"), (7, "20")):
        (folder / "inputs" / str(output_id)).write_text(text)
        wires.append(
            {"outputId": output_id, "nodeInstanceId": 1, "nodeName": "in", "outputIdentifier": f"i{output_id}",
             "contentType": "text/plain", "contentEncoding": None, "sizeBytes": len(text), "sha256": None,
             "metadata": None, "createdAt": "2026-01-01T00:00:00.000Z"}
        )  # fmt: skip
    (folder / "case.json").write_text(json.dumps({"caseVersion": 1, "task": CLAIM, "inputs": wires, "state": None}))
    return folder


def add(task: sdp.Task[Any]) -> None:
    task.each_new_input(lambda item: task.write(str(int(item.text()) + task.configuration["add"]) + "\n"))


def test_a_case_is_compared_with_what_the_run_wrote(case: Path) -> None:
    saved = run_case(case, add, update=True)
    assert [(each.identifier, each.text) for each in saved.task.outputs] == [("r.5.1", "11\n"), ("r.6.1", "21\n")]
    run_case(case, add).check()
    assert json.loads((case / "outputs.json").read_text())[0]["contentType"] == "text/plain; charset=utf-8"

    def wrong(task: sdp.Task[Any]) -> None:
        task.each_new_input(lambda item: task.write(f"1{item.text()[0]}\n", identifier=f"r.{item.output_id - 1}.1"))

    result = run_case(case, wrong)
    assert result.differences[0].startswith("r.6.1: SHA-256 ")
    assert result.differences[1] == "r.6.1: line 1: '12', was '21'"
    with pytest.raises(AssertionError, match="line 1"):
        result.check()
    nothing = run_case(case, lambda task: None)
    assert nothing.differences == ("r.5.1: it was not written", "r.6.1: it was not written")


def test_a_case_lists_since_the_watermark_what_its_run_got(case: Path) -> None:
    saved = json.loads((case / "case.json").read_text())
    (case / "case.json").write_text(json.dumps({**saved, "sinceWatermark": [7]}))
    assert [each.text for each in run_case(case, add).task.outputs] == ["21\n"]


@pytest.mark.parametrize(("watermark", "since"), [(7, [5]), (5, [6, 7, 5])])
def test_an_input_that_was_replaced_has_the_place_of_its_new_version(
    case: Path, watermark: int, since: list[int]
) -> None:
    saved = json.loads((case / "case.json").read_text())
    first, *others = saved["inputs"]
    position = {"inputs": [*others, first], "watermark": watermark, "sinceWatermark": since}
    (case / "case.json").write_text(json.dumps({**saved, **position}))
    result = run_case(case, add)
    assert [each.text for each in result.task.outputs] == [f"{10 * (each - 5) + 1}\n" for each in since]
    assert result.task.watermark == 5


def test_a_folder_without_a_case_is_refused(tmp_path: Path, case: Path) -> None:
    with pytest.raises(CaseError, match="holds no case"):
        run_case(tmp_path, add)
    (case / "inputs" / "6").unlink()
    result = run_case(case, add)
    assert isinstance(result.task.error, CaseError)


@pytest.mark.parametrize("how", ["module", "environment"])
def test_a_replay_prints_and_writes(case: Path, tmp_path: Path, how: str) -> None:
    run_case(case, add, update=True)
    module, out = tmp_path / "adder.py", tmp_path / "out"
    module.write_text(RUNNER)
    if how == "module":
        command = ["sdp.replay", str(case), str(module), "--out", str(out)]
        variables: dict[str, str] = {}
    else:
        command = ["sdp.cli", f"{module}:add"]
        variables = {"SDP_REPLAY_CASE": str(case), "SDP_REPLAY_OUT": str(out)}
    done = subprocess.run(
        [sys.executable, "-m", *command], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "a line\na line\n"
    assert "info     input 6\n" in done.stderr and "progress  adding 1\n" in done.stderr
    assert done.stderr.endswith("The task ended: completed. Outputs: 2.\n")
    assert (out / "outputs" / "r.6.1").read_text() == "21\n"
    assert json.loads((out / "result.json").read_text()) | {"differences": []} == {
        "endedBy": "complete", "outcome": "completed", "category": None, "reason": None, "hasMore": False,
        "statusDetails": None, "state": None, "watermark": 7, "rejected": [], "differences": [],
    }  # fmt: skip


def test_a_replay_of_a_failure_fails_in_the_same_way(case: Path, tmp_path: Path) -> None:
    (case / "inputs" / "7").write_text("no number")
    module = tmp_path / "adder.py"
    module.write_text(RUNNER)
    done = subprocess.run([sys.executable, "-m", "sdp.replay", case, module], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ValueError: invalid literal for int()" in done.stderr
    assert "The task ended: error: ValueError" in done.stderr

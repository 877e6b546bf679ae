"""Runs a saved case as the runner's process would, and writes its results."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from .._runner.definition import RunnerDefinition
from .cases import CaseError, CaseResult, perform_case, read_case, save_outputs
from .run_task import LogLine


def replay(runner: RunnerDefinition, case_folder: str, out_folder: str | None) -> int:
    """Prints the log, the progress and the differences; writes outputs and `result.json` where a folder is named.

    Returns the process's code: 0 when the task has completed without differences, else 1.
    """
    try:
        result = perform_case(read_case(case_folder), runner, _echo, _show_progress)
    except CaseError as error:
        _print(str(error))
        return 1
    task = result.task
    if out_folder is not None:
        out = Path(out_folder)
        save_outputs(task.outputs, out)
        (out / "result.json").write_text(json.dumps(_result(result), indent=2, ensure_ascii=False) + "\n", "utf-8")
    end = task.outcome or f"{task.category}: {task.reason}"
    _print(f"The task ended: {end}. Outputs: {len(task.outputs)}.")
    for difference in result.differences:
        _print(f"differs  {difference}")
    return 0 if task.outcome is not None and not result.differences else 1


def _echo(line: LogLine) -> None:
    # What was printed is on the screen already.
    if "stream" not in line.fields:
        _print(f"{datetime.now():%H:%M:%S.%f}"[:-3] + f"  {line.level:<7}  {line.message}")


def _show_progress(progress: dict[str, Any]) -> None:
    counts = " of ".join(f"{progress[name]:g}" for name in ("done", "total") if name in progress)
    parts = (progress.get("phase"), progress.get("message"), counts, progress.get("unit"))
    _print("progress  " + " ".join(str(part) for part in parts if part))


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _result(result: CaseResult) -> dict[str, Any]:
    task = result.task
    return {
        "endedBy": task.ended_by,
        "outcome": task.outcome,
        "category": task.category,
        "reason": task.reason,
        "hasMore": task.has_more,
        "statusDetails": task.status_details,
        "state": task.state,
        "watermark": task.watermark,
        "rejected": [
            {"outputId": each.output_id, "category": each.category, "reason": each.reason} for each in task.rejected
        ],
        "differences": list(result.differences),
    }

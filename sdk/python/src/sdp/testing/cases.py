"""Saved cases: what a run of the platform got, and what it wrote, in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .._runner.definition import RunnerDefinition
from .case_files import file_name
from .local_calls import LocalCalls, LocalInput, Output
from .run_task import LocalRun, LogLine, TaskResult

Json = dict[str, Any]

_TEXT_LINE_CHARACTERS = 200


class CaseError(Exception):
    """The folder holds no case that can be read."""


@dataclass(frozen=True)
class Case:
    """A case of a folder."""

    folder: Path
    claim: Json
    calls: LocalCalls
    expected: tuple[Json, ...] | None
    """Outputs that the run wrote; None when the case has none saved."""


@dataclass(frozen=True)
class CaseResult:
    """What the code did with a case, and how its outputs differ from the saved ones."""

    task: TaskResult
    differences: tuple[str, ...]
    """A sentence each; empty when there are none."""

    def check(self) -> None:
        """Raises AssertionError when the task failed or an output differs."""
        if self.task.error is not None:
            raise AssertionError(str(self.task)) from self.task.error
        if self.differences:
            raise AssertionError("\n".join(self.differences))


def read_case(folder: str | Path) -> Case:
    """Reads a case. Raises CaseError."""
    root = Path(folder)
    try:
        saved: Json = json.loads((root / "case.json").read_text("utf-8"))
        claim: Json = dict(saved["task"])
        wires: list[Json] = saved["inputs"]
        incremental: Json = claim["incremental"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaseError(f"{root} holds no case: {error}") from error
    expected_file = root / "outputs.json"
    since: list[int] | None = saved.get("sinceWatermark")
    latest: list[int] | None = saved.get("latest")
    calls = LocalCalls(
        [LocalInput(wire, partial(_read, root / "inputs" / str(wire["outputId"]))) for wire in wires],
        watermark=saved.get("watermark", incremental["watermark"]),
        stored_state=saved.get("state"),
        previous_output=saved.get("previousOutput"),
        since_ids=None if since is None else frozenset(since),
        latest_ids=None if latest is None else frozenset(latest),
        max_inputs_per_task=incremental["maxInputsPerTask"],
    )
    claim["incremental"] = calls.incremental()
    expected = tuple(json.loads(expected_file.read_text("utf-8"))) if expected_file.exists() else None
    return Case(root, claim, calls, expected)


def perform_case(
    case: Case,
    runner: RunnerDefinition,
    echo: Callable[[LogLine], None] | None = None,
    on_progress: Callable[[Json], None] | None = None,
) -> CaseResult:
    """Runs a runner on a case and compares its outputs with the saved ones."""
    result = LocalRun(runner, case.claim, case.calls, echo, on_progress).perform()
    differences = () if case.expected is None else compare(case.expected, result.outputs, case.folder / "outputs")
    return CaseResult(result, tuple(differences))


def run_case(folder: str | Path, runner: RunnerDefinition | Callable[..., Any], *, update: bool = False) -> CaseResult:
    """Runs a runner, or just its function, on a saved case.

    ``run_case("cases/lap-7", my_runner).check()`` fails as a test when the task fails or an output differs.
    ``update`` saves the outputs as the expected ones.
    """
    made = runner if isinstance(runner, RunnerDefinition) else RunnerDefinition(runner)
    case = read_case(folder)
    result = perform_case(case, made)
    if update:
        save_outputs(result.task.outputs, case.folder)
        return CaseResult(result.task, ())
    return result


def save_outputs(outputs: Sequence[Output], folder: Path) -> None:
    """Writes ``outputs.json`` and the stored bytes of each output below ``outputs``."""
    (folder / "outputs").mkdir(parents=True, exist_ok=True)
    for output in outputs:
        (folder / "outputs" / file_name(output.identifier)).write_bytes(output.stored_bytes)
    described = [_describe(output) for output in outputs]
    (folder / "outputs.json").write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", "utf-8")


def compare(expected: Sequence[Mapping[str, Any]], outputs: Sequence[Output], saved: Path) -> list[str]:
    """How outputs differ from the saved ones."""
    by_name = {output.identifier: output for output in outputs}
    differences: list[str] = []
    for wanted in expected:
        output = by_name.pop(wanted["identifier"], None)
        if output is None:
            differences.append(f"{wanted['identifier']}: it was not written")
        else:
            differences += _compare_one(wanted, output, saved / file_name(output.identifier))
    return differences + [f"{name}: the run did not write it" for name in by_name]


def _compare_one(wanted: Mapping[str, Any], output: Output, saved: Path) -> list[str]:
    name = output.identifier
    found: list[str] = []
    if wanted.get("contentType") not in (None, output.content_type):
        found.append(f"{name}: content type {output.content_type}, was {wanted['contentType']}")
    if (wanted.get("metadata") or None) != (output.metadata or None):
        found.append(f"{name}: metadata {json.dumps(output.metadata)}, were {json.dumps(wanted.get('metadata'))}")
    digest = wanted.get("sha256")
    is_same = digest == output.sha256 if digest else _is_same_file(saved, output, wanted)
    if is_same:
        return found
    if wanted["sizeBytes"] != output.size_bytes:
        found.append(f"{name}: {output.size_bytes} bytes, were {wanted['sizeBytes']}")
    else:
        found.append(f"{name}: SHA-256 {output.sha256}, was {digest}")
    line = _first_line(saved, output)
    return found if line is None else [*found, f"{name}: {line}"]


def _is_same_file(saved: Path, output: Output, wanted: Mapping[str, Any]) -> bool:
    """Outputs that came in parts have no digest."""
    if saved.exists():
        return saved.read_bytes() == output.stored_bytes
    return bool(wanted["sizeBytes"] == output.size_bytes)


def _first_line(saved: Path, output: Output) -> str | None:
    """The first differing line of a text; None where there is none to show."""
    if not saved.exists() or output.content_encoding is not None:
        return None
    try:
        old = saved.read_bytes().decode("utf-8").split("\n")
        new = output.stored_bytes.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    for number in range(max(len(old), len(new))):
        before = old[number] if number < len(old) else None
        after = new[number] if number < len(new) else None
        if before != after:
            return f"line {number + 1}: {_shown(after)}, was {_shown(before)}"
    return None


def _shown(line: str | None) -> str:
    return "nothing" if line is None else repr(line[:_TEXT_LINE_CHARACTERS])


def _describe(output: Output) -> Json:
    return {
        "identifier": output.identifier,
        "contentType": output.content_type,
        "contentEncoding": output.content_encoding,
        "metadata": output.metadata,
        "sizeBytes": output.size_bytes,
        "sha256": output.sha256,
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaseError(f"The case has no bytes of input {path.name}: {error}") from error

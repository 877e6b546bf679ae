"""Runs a runner's code on a task without a platform."""

from __future__ import annotations

import asyncio
import contextvars
import gzip
import hashlib
import logging
import mimetypes
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._logs.capture import Capture
from .._logs.task_log import Level, RunLogHandler, TaskLog, current_log, trace_of
from .._runner.definition import RunnerDefinition
from .._task.async_task import run_coroutine
from .._task.outcome import Outcome, Report, report_of_error, report_of_result
from .._task.task import Task, TaskParts
from ..errors import CancelReason, FailureCategory, TaskFailure
from .local_calls import LocalCalls, LocalInput, Output, Rejection, now

Json = dict[str, Any]


@dataclass(frozen=True)
class TestInput:
    """An input of a test: its bytes and their metadata."""

    __test__ = False

    data: bytes | str | Path
    """Bytes, text, or the path of a file."""
    identifier: str | None = None
    content_type: str | None = None
    metadata: Mapping[str, Any] | None = None
    node_name: str = "input"
    """The parent node."""
    gzip: bool = False
    """Stored compressed."""


@dataclass(frozen=True)
class LogLine:
    """A line of the run's log."""

    level: Level
    message: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class TaskResult:
    """How the code ended, and its results."""

    ended_by: str
    """``complete``, ``fail`` or ``release``."""
    outcome: Outcome | None
    """None unless it has completed."""
    category: FailureCategory | None
    """The category of a failure."""
    reason: str | None
    """The reason of a failure, as operators read it."""
    error: BaseException | None
    """What the code raised."""
    outputs: tuple[Output, ...]
    """What was published, in the order of writing."""
    dropped: tuple[Output, ...]
    """What was written and not published, because the task ended otherwise."""
    progress: tuple[Mapping[str, Any], ...]
    """What was reported, oldest first."""
    logs: tuple[LogLine, ...]
    """The lines of ``task.log`` and of ``logging``, and what was printed."""
    rejected: tuple[Rejection, ...]
    """Inputs that were rejected."""
    annotations: tuple[Mapping[str, Any], ...]
    """All that the task made, as the platform takes them."""
    state: Mapping[str, Any] | None
    """The node's state afterwards."""
    watermark: int | None
    """The node's watermark afterwards."""
    has_more: bool
    """A follow-up task would come."""
    status_details: str | None = None

    @property
    def output(self) -> Output:
        """The only output. Raises AssertionError when there are none or several."""
        if len(self.outputs) != 1:
            raise AssertionError(f"The task has {len(self.outputs)} outputs, not one. {self}")
        return self.outputs[0]

    def __str__(self) -> str:
        end = self.outcome or (f"{self.category}: {self.reason}" if self.category else self.ended_by)
        trace = "" if self.error is None else "".join(traceback.format_exception(self.error))
        return f"The task ended with {end}.\n{trace}"


@dataclass
class LocalRun:
    """A running task, and what it reports."""

    runner: RunnerDefinition
    claim: Json
    calls: LocalCalls
    echo: Callable[[LogLine], None] | None = None
    on_progress: Callable[[Json], None] | None = None
    capture_output: bool = True
    stopping: threading.Event = field(default_factory=threading.Event)
    progress: list[Json] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)

    def perform(self) -> TaskResult:
        """Runs the code to its end."""
        log = TaskLog(self._add_line)
        handler, capture = RunLogHandler(), Capture()
        root = logging.getLogger()
        logging.getLogger("sdp.task").setLevel(logging.DEBUG)
        root.addHandler(handler)
        # As the runner's own process has it.
        level = root.level
        root.setLevel(min(level or logging.WARNING, logging.INFO))
        if self.capture_output:
            capture.start()
        try:
            return contextvars.copy_context().run(self._perform, log)
        finally:
            capture.end_of(log)
            capture.stop()
            root.removeHandler(handler)
            root.setLevel(level)

    def _perform(self, log: TaskLog) -> TaskResult:
        current_log.set(log)
        try:
            task = self._task(log)
            handler = self.runner.handler
            result = asyncio.run(run_coroutine(handler, task)) if self.runner.is_async else handler(task)
            task.finish()
            report = report_of_result(result, task.has_more, task.state.unstored)
            return self._result(report, None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            text = f"{error.category}: {error.reason}" if isinstance(error, TaskFailure) else trace_of(error)
            log.line("error", text)
            why: CancelReason | None = "cancelled" if self.calls.cancelled.is_set() else None
            return self._result(report_of_error(error, why), error)

    def _task(self, log: TaskLog) -> Task[Any]:
        return Task(
            TaskParts(
                claim=self.claim,
                calls=self.calls,
                configuration=self.runner.read_configuration(self.claim["configuration"]),
                cancelled=self.calls.cancelled,
                stopping=self.stopping,
                report=self._report,
                log=log,
                on_bad_input=self.runner.on_bad_input,
            )
        )

    def _report(self, progress: Json) -> None:
        self.progress.append({**(self.progress[-1] if self.progress else {}), **progress})
        if self.on_progress is not None:
            self.on_progress(self.progress[-1])

    def _add_line(self, level: Level, message: str, fields: Json) -> None:
        line = LogLine(level, message, fields)
        self.logs.append(line)
        if self.echo is not None:
            self.echo(line)

    def _result(self, report: Report, error: BaseException | None) -> TaskResult:
        body = dict(report.body)
        if report.how == "complete" and report.is_outcome_open and not self.calls.outputs:
            body["outcome"] = "no-output"
        outcome: Outcome | None = body.get("outcome")
        if outcome == "completed" and not self.calls.outputs:
            body = {"category": "error", "reason": "The result was refused: The run has no output."}
            report, outcome = Report("fail", body), None
        self.calls.end(outcome == "completed", body.get("state"))
        written = self.calls.outputs.items()
        return TaskResult(
            ended_by=report.how,
            outcome=outcome,
            category=body.get("category"),
            reason=body.get("reason"),
            error=error,
            outputs=tuple(output for name, output in written if name in self.calls.published),
            dropped=tuple(output for name, output in written if name not in self.calls.published),
            progress=tuple(self.progress),
            logs=tuple(self.logs),
            rejected=tuple(self.calls.rejected),
            annotations=tuple(self.calls.annotations),
            state=self.calls.stored_state,
            watermark=self.calls.watermark,
            has_more=bool(body.get("hasMore")),
            status_details=body.get("statusDetails"),
        )


def run_task(
    runner: RunnerDefinition | Callable[..., Any],
    *,
    inputs: Sequence[TestInput | bytes | str | Path] = (),
    configuration: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    watermark: int | None = None,
    max_inputs_per_task: int = 100,
    on_bad_input: Any = None,
    cancelled: threading.Event | None = None,
    stopping: threading.Event | None = None,
    **claim: Any,
) -> TaskResult:
    """Runs a runner, or just its function, on a task of these inputs, without a platform.

    Inputs are bytes, paths of files, text, or :class:`TestInput`; they get the ids 1, 2, and so on, which
    ``watermark`` refers to. Set ``cancelled`` to cancel the run as an operator does, ``stopping`` as at SIGTERM: they are the
    events of the task. Other named arguments replace fields of the claim, such as ``attempt=2``. An exception of
    the code is in the result: ``result.error``.
    """
    made = runner if isinstance(runner, RunnerDefinition) else RunnerDefinition(runner)
    if on_bad_input is not None:
        made = RunnerDefinition(made.handler, configuration=made.configuration_type, on_bad_input=on_bad_input)
    nodes: dict[str, int] = {}
    listed = [_input(number, each, nodes) for number, each in enumerate(inputs, 1)]
    calls = LocalCalls(
        listed,
        watermark=watermark,
        stored_state=None if state is None else dict(state),
        max_inputs_per_task=max_inputs_per_task,
        cancelled=cancelled or threading.Event(),
    )
    made_claim = {**_claim(dict(configuration or {}), calls), **claim}
    return LocalRun(made, made_claim, calls, stopping=stopping or threading.Event()).perform()


def _claim(configuration: Json, calls: LocalCalls) -> Json:
    parents = {item.wire["nodeInstanceId"]: item.wire["nodeName"] for item in calls.all_inputs}
    return {
        "taskId": "00000000-0000-7000-8000-000000000001",
        "runId": "00000000-0000-7000-8000-000000000002",
        "attempt": 1,
        "maxAttempts": 3,
        "reason": "input",
        "projectId": 1,
        "sessionId": "00000000-0000-7000-8000-000000000003",
        "sessionName": "test",
        "nodeInstanceId": 1_000,
        "nodeName": "node",
        "nodeTemplate": "test",
        "runnerType": "test",
        "configuration": configuration,
        "parents": [{"nodeInstanceId": key, "name": name} for key, name in parents.items()],
        "claimedAt": now(),
        "leaseExpiresAt": now(),
        "heartbeatIntervalSeconds": 10,
        "incremental": calls.incremental(),
        "traceparent": None,
    }


def _input(number: int, given: TestInput | bytes | str | Path, nodes: dict[str, int]) -> LocalInput:
    """An input as the platform lists it; ``nodes`` has the id of each parent by its name."""
    item = given if isinstance(given, TestInput) else TestInput(given)
    name = item.data.name if isinstance(item.data, Path) else f"input-{number}"
    data = item.data.read_bytes() if isinstance(item.data, Path) else item.data
    plain = data.encode("utf-8") if isinstance(data, str) else data
    stored = gzip.compress(plain, mtime=0) if item.gzip else plain
    guessed = mimetypes.guess_type(name)[0] if isinstance(item.data, Path) else None
    wire = {
        "outputId": number,
        "nodeInstanceId": nodes.setdefault(item.node_name, len(nodes) + 1),
        "nodeName": item.node_name,
        "outputIdentifier": item.identifier or name,
        "contentType": item.content_type or guessed,
        "contentEncoding": "gzip" if item.gzip else None,
        "sizeBytes": len(stored),
        "sha256": hashlib.sha256(stored).hexdigest(),
        "metadata": dict(item.metadata or {}),
        "createdAt": now(),
    }
    return LocalInput(wire, lambda: stored)

"""One held task at work: its code, its cancel, its report."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import queue
import threading
from contextlib import suppress
from typing import Any

from .._calls.task_calls import HeldTask, Json
from .._heartbeats.heartbeats import KeptTask
from .._logs.process_logs import process_logs
from .._logs.run_log import RunLog
from .._logs.task_log import Level, TaskLog, current_log, trace_of
from .._outputs.upload import Uploads
from .._task.async_task import run_coroutine
from .._task.outcome import Report, failure, report_of_error, report_of_result
from .._task.task import Task, TaskParts
from ..errors import CancelReason, TaskCancelled, TaskFailure
from .forked import ends_forked
from .parts import RunnerParts

log = logging.getLogger("sdp")

# How long to wait for the code of an aborted task to end before its end is reported without it.
_SETTLE_SECONDS = 5.0
# After this delay the heartbeat process reports the end of a cancelled task: this process is then blocked.
_BLOCKED_SECONDS = 2.0


class RemoteCalls(HeldTask):
    """The calls of a task, with outputs of any size."""

    def __init__(self, parts: RunnerParts, claim: Json, instance_id: str) -> None:
        super().__init__(parts.connection, claim, instance_id)
        self.write = Uploads(self, parts.limits).write


class Hold:
    """A held task: runs its code in a separate thread, and ends it when it must end."""

    def __init__(self, parts: RunnerParts, claim: Json, instance_id: str) -> None:
        self._parts = parts
        self._claim = claim
        self.calls = RemoteCalls(parts, claim, instance_id)
        self.calls.on_end = self.cancel
        self.ids = {name: claim[name] for name in ("taskId", "sessionId", "nodeInstanceId")}
        self._why: CancelReason | None = None
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._reports: queue.SimpleQueue[Report | None] = queue.SimpleQueue()
        self._coroutine: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self.run_log = RunLog(self.calls)
        self._log = TaskLog(self._add_line, takes_output=parts.settings.capture_output)
        self._thread = threading.Thread(
            target=contextvars.Context().run, args=(self._run,), name=f"task-{claim['taskId'][:8]}", daemon=True
        )

    def kept(self) -> KeptTask:
        """What the heartbeat process must know."""
        return KeptTask(
            task_id=self._claim["taskId"],
            headers=self.calls.headers,
            interval_seconds=float(self._claim["heartbeatIntervalSeconds"]),
            cancel_grace_seconds=self._parts.runner.cancel_grace_seconds + _BLOCKED_SECONDS,
            on_cancel=self.cancel,
        )

    def cancel(self, why: CancelReason) -> None:
        """The task must end; the first reason counts."""
        with self._lock:
            if self._why is not None:
                return
            self._why = why
            coroutine = self._coroutine
        self.calls.scope.end(TaskCancelled(why))
        self._cancelled.set()
        if why in ("lease-lost", "unauthorized"):
            self.run_log.close()
        if coroutine is not None:
            _cancel(*coroutine)
        self._reports.put(None)

    def work(self) -> Report:
        """Runs the code; returns how the task ends, some time after a cancel without the code."""
        self._thread.start()
        report = self._reports.get()
        if report is None:
            grace = self._parts.runner.cancel_grace_seconds if self._why == "cancelled" else _SETTLE_SECONDS
            with suppress(queue.Empty):
                report = self._reports.get(timeout=grace)
        if report is None:
            report = report_of_error(TaskCancelled(self._why or "ended"), self._why)
        self.calls.scope.end(TaskCancelled("ended"))
        return report

    def wait(self, seconds: float) -> bool:
        """Waits for the end of the code; true when it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """Runs the code and reports its end, whatever it raises."""
        current_log.set(self._log)
        report = failure("error", "The error could not be read.")
        try:
            with process_logs.thread_errors.noted_in(self._log):
                report = self._attempt()
        except BaseException as error:
            report = report_of_error(error, self._why)
            if self._why is None and report.how == "fail":
                # The report must go out also where the error cannot be logged.
                with suppress(BaseException):
                    self._log_error(error, "{category}: {reason}".format(**report.body))
        finally:
            process_logs.capture.end_of(self._log)
            self._reports.put(report)

    def _attempt(self) -> Report:
        runner = self._parts.runner
        task: Task[Any] = Task(
            TaskParts(
                claim=self._claim,
                calls=self.calls,
                configuration=runner.read_configuration(self._claim["configuration"]),
                cancelled=self._cancelled,
                stopping=self._parts.stopping.event,
                report=lambda progress: self._parts.heartbeats.report(self._claim["taskId"], progress),
                log=self._log,
                on_bad_input=runner.on_bad_input,
            )
        )
        if runner.is_async:
            result = self._run_coroutine(task)
        else:
            with ends_forked():
                result = runner.handler(task)
        task.finish()
        if self._why in ("lease-lost", "unauthorized"):
            return Report("none", {})
        return report_of_result(result, task.has_more, task.state.unstored)

    def _run_coroutine(self, task: Task[Any]) -> Any:
        """Runs a coroutine function in the loop that all tasks of the process share."""
        loop = self._parts.loop()

        async def main() -> Any:
            own = asyncio.current_task()
            assert own is not None
            with self._lock:
                self._coroutine = (loop, own)
                is_cancelled = self._why is not None
            if is_cancelled:
                own.cancel()
            with ends_forked():
                return await run_coroutine(self._parts.runner.handler, task)

        try:
            return asyncio.run_coroutine_threadsafe(main(), loop).result()
        finally:
            self._coroutine = None

    def _add_line(self, level: Level, message: str, fields: dict[str, Any]) -> None:
        if self._parts.settings.run_logs:
            self.run_log.add(level, message, fields)

    def _log_error(self, error: BaseException, reason: str) -> None:
        if isinstance(error, TaskFailure):
            self._log.line("error", reason)
            log.error("task failed: %s", reason, extra={"fields": self.ids})
        else:
            self._log.line("error", trace_of(error))
            log.error("task failed: %s", reason, extra={"fields": self.ids}, exc_info=error)


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(task.cancel)

"""One instance of a runner: claims a task, works on it, reports, and claims the next."""

from __future__ import annotations

import logging
import random
import threading
import time
from contextlib import suppress
from typing import Any

from .._calls.connection import Patience
from .._calls.scope import Scope
from .._calls.task_calls import HeldTask, Json
from .._task.outcome import Report
from .._task.report import TooLate, send_report
from ..errors import ApiError, SdpError, TaskCancelled
from .hold import Hold
from .parts import RunnerParts

log = logging.getLogger("sdp")

# A claim that returns sooner without a task did not wait.
_SHORT_WAIT_SECONDS = 1.0
_WITHDRAW_SECONDS = 3.0
_FLUSH_SECONDS = 5.0
_FLUSH_AT_SHUTDOWN_SECONDS = 2.0
_WARN_SECONDS = 5.0
_SHUTDOWN_BODY = {"reason": str(TaskCancelled("shutdown"))}


class Slot:
    """Works on one task at a time."""

    def __init__(self, parts: RunnerParts, instance_id: str) -> None:
        self._parts = parts
        self._instance_id = instance_id
        self.has_left_code = False
        """True when code of a task still runs whose end was reported."""

    def work(self) -> None:
        """Returns after `stopping`. Raises ApiError when the platform refuses the claim for good."""
        stopping = self._parts.stopping
        claim: Json | None = None
        while not stopping.is_set or claim is not None:
            began = time.monotonic()
            claim = claim or self._claim()
            if claim is not None:
                claim = self._perform(claim)
            elif not stopping.is_set and time.monotonic() - began < _SHORT_WAIT_SECONDS:
                stopping.event.wait(_SHORT_WAIT_SECONDS * random.uniform(0.5, 1.0))

    def _claim(self) -> Json | None:
        """Waits for a task. A task that arrives when the runner is about to stop is released."""
        over = Scope()
        arrived = threading.Event()
        withdrawals: list[threading.Thread] = []

        def on_stopping() -> None:
            thread = threading.Thread(target=self._withdraw, args=(arrived, over), daemon=True)
            withdrawals.append(thread)
            thread.start()

        unsubscribe = self._parts.stopping.subscribe(on_stopping)
        claim: Json | None = None
        try:
            claim = self._send_claim(self._parts.settings.wait_seconds, "always", over)
        except SdpError:
            if not self._parts.stopping.is_set:
                raise
        finally:
            arrived.set()
            unsubscribe()
            for thread in withdrawals:
                thread.join()
        if claim is not None and self._parts.stopping.is_set:
            self._release(claim)
            return None
        return claim

    def _withdraw(self, arrived: threading.Event, over: Scope) -> None:
        """Ends a waiting claim by a newer one that does not wait. Closing the connection could lose a task that is on
        its way: it would stay held until its lease ends, and count as lost."""
        try:
            with suppress(SdpError):
                claim = self._send_claim(0, "never", self._parts.leaving, _WITHDRAW_SECONDS)
                if claim is not None:
                    self._release(claim)
                arrived.wait(_WITHDRAW_SECONDS)
        finally:
            over.end(TaskCancelled("shutdown"))

    def _send_claim(
        self, wait_seconds: int, patience: Patience, scope: Scope, silence_seconds: float | None = None
    ) -> Json | None:
        body = {
            "instanceId": self._instance_id,
            "templates": self._parts.templates,
            "waitSeconds": wait_seconds,
        }
        reply = self._parts.connection.call(
            "POST",
            "/tasks/claim",
            json=body,
            patience=patience,
            scope=scope,
            silence_seconds=silence_seconds or wait_seconds + 15.0,
        )
        return reply.body if reply.status == 200 else None

    def _release(self, claim: Json) -> None:
        calls = HeldTask(self._parts.connection, claim, self._instance_id)
        with suppress(SdpError, TooLate):
            send_report(calls, Report("release", _SHUTDOWN_BODY), self._parts.leaving)

    def _perform(self, claim: Json) -> Json | None:
        """Works on a task; returns the next one when its end has claimed one."""
        hold = Hold(self._parts, claim, self._instance_id)
        fields = {**hold.ids, "attempt": claim["attempt"]}
        log.info("task of %s claimed", claim["nodeTemplate"], extra={"fields": fields})
        began = time.monotonic()
        unsubscribe = self._parts.aborting.subscribe(lambda: hold.cancel("shutdown"))
        self._parts.heartbeats.keep(hold.kept())
        try:
            report = hold.work()
            reply = self._report(hold, report, began)
        finally:
            self._parts.heartbeats.stop(claim["taskId"])
            unsubscribe()
        self._until_ended(hold)
        following = reply.get("next")
        if not isinstance(following, dict):
            return None
        if self._parts.stopping.is_set:
            self._release(following)
            return None
        return following

    def _report(self, hold: Hold, report: Report, began: float) -> Json:
        fields: Json = dict(hold.ids)
        try:
            more: Json = self._last_words(hold, report)
            if self._parts.settings.claim_next and not self._parts.stopping.is_set and hold.wait(0.1):
                templates = self._parts.templates
                more["next"] = {"waitSeconds": 0, **({"templates": templates} if templates else {})}
            how, reply = send_report(hold.calls, report, self._parts.leaving, more)
            fields["seconds"] = round(time.monotonic() - began, 3)
            # The next task has a configuration, which is not for this log.
            logged = {name: value for name, value in reply.items() if name != "next"}
            log.info("task ended by %s", how, extra={"fields": {**fields, "reply": logged}})
            return reply
        except TooLate as late:
            log.warning("task was ended before: %s", late, extra={"fields": fields})
        except SdpError as error:
            log.error("the end of the task could not be reported: %s", error, extra={"fields": fields})
            if isinstance(error, ApiError) and error.status in (401, 403):
                raise
        finally:
            hold.run_log.close()
        return {}

    def _last_words(self, hold: Hold, report: Report) -> dict[str, Any]:
        """Sends the rest of the log; lines that were not accepted go with the report, if it has a field for them."""
        is_leaving = self._parts.aborting.is_set
        left = hold.run_log.flush(_FLUSH_AT_SHUTDOWN_SECONDS if is_leaving else _FLUSH_SECONDS)
        return {"logTail": left} if left and report.how in ("fail", "release") else {}

    def _until_ended(self, hold: Hold) -> None:
        """Code that continues after its end was reported must not share the process with the next task."""
        warned = False
        began = time.monotonic()
        while not hold.wait(0.2):
            # The process is about to end.
            if self._parts.aborting.is_set or self._parts.leaving.ended.is_set():
                self.has_left_code = True
                return
            if not warned and time.monotonic() - began > _WARN_SECONDS:
                warned = True
                log.warning("the code of an aborted task runs on; no new task is claimed", extra={"fields": hold.ids})

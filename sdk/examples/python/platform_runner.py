"""A runner as the platform wants it, with nothing but the standard library: claims, a heartbeat thread, a report for
every end, and an orderly end of the process. The contract is runner-api.v1.yaml.

Nothing in here knows what the runner computes; see runner.py for that.
"""

from __future__ import annotations

import os
import random
import re
import secrets
import signal
import socket
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from platform_client import NETWORK_FAULTS, ApiError, Client, log
from platform_task import Task, TaskFailure, clip

CLAIM_WAIT_SECONDS = 30
# After a cancel the work has so long to look at its task; then the platform is told without it.
CANCEL_GRACE_SECONDS = 5.0


class Stopping(Exception):
    """The process was told to end while it waited for a task."""


class Heartbeats(threading.Thread):
    """Keeps a task's lease, and hears that the task is to end."""

    def __init__(self, client: Client, task: "Task") -> None:
        super().__init__(name="heartbeats", daemon=True)
        self._client = client
        self._task = task
        self._over = threading.Event()

    def stop(self) -> None:
        self._over.set()

    def run(self) -> None:
        interval = float(self._task.claim["heartbeatIntervalSeconds"])
        pause = interval
        cancelled_at: Optional[float] = None
        while not self._over.wait(pause):
            try:
                # A lease is three intervals: a silent beat must leave time for the next.
                _, beat = self._client.once(
                    "PUT",
                    f"{self._task.path}/heartbeat",
                    self._task.progress,
                    headers=self._task.headers,
                    silence=max(1.0, interval * 0.8),
                )
                pause = interval
                if beat["cancelRequested"]:
                    self._task.cancel("cancelled")
                    cancelled_at = cancelled_at or time.monotonic()
                    if time.monotonic() - cancelled_at >= CANCEL_GRACE_SECONDS:
                        # Beats would keep the task for as long as the work does not look.
                        log.warning("the work of a cancelled task goes on; its end is told without it")
                        self._task.end("fail", {"category": "error", "reason": "cancelled"})
                        return
                    pause = min(interval, CANCEL_GRACE_SECONDS)
            except ApiError as error:
                if error.is_end:
                    self._task.cancel("lease-lost")
                    return
                if not error.is_outage and error.status < 500:
                    # What we say of our progress must not cost the lease.
                    self._task.progress = {}
                pause = interval / 4
            except NETWORK_FAULTS as error:
                log.warning("heartbeat: %s", error)
                pause = interval / 4


class Runner:
    """Claims tasks of some node templates, one at a time, until SIGTERM or SIGINT."""

    def __init__(self, name: str, version: str, templates: List[str], work: Callable[[Task], Optional[str]]) -> None:
        self._templates = templates
        self._work = work
        token = os.environ.get("SDP_RUNNER_TOKEN", "").strip()
        if not token:
            raise SystemExit("Set SDP_RUNNER_TOKEN to a runner token.")
        self._client = Client(os.environ.get("SDP_URL", ""), token, f"{name}/{version}")
        host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:30]
        self.instance_id = f"{name}:{host}:{os.getpid()}:{secrets.token_hex(4)}"
        self._limits: Dict[str, Any] = {}
        self._is_stopping = False
        self._is_waiting = False
        self._task: Optional[Task] = None

    def run(self) -> None:
        """Returns when it was told to end and nothing is held any more."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        try:
            self._limits = self._learn_limits()
            log.info("%s takes tasks of %s", self.instance_id, ", ".join(self._templates))
            while not self._is_stopping:
                claim = self._claim()
                if claim is not None:
                    self._perform(claim)
        except Stopping:
            self._withdraw()
        self._sign_off()
        log.info("stopped")

    def _on_signal(self, *_: Any) -> None:
        if self._is_stopping:
            os._exit(1)
        self._is_stopping = True
        if self._task is not None:
            self._task.cancel("shutdown")
        if self._is_waiting:
            raise Stopping()

    def _learn_limits(self) -> Dict[str, Any]:
        self._is_waiting = True
        try:
            return self._client.call("GET", "/whoami")[1]["limits"]
        finally:
            self._is_waiting = False

    def _claim(self) -> Optional[Dict[str, Any]]:
        self._is_waiting = True
        try:
            if self._is_stopping:
                raise Stopping()
            began = time.monotonic()
            claim = self._send_claim(CLAIM_WAIT_SECONDS, forever=True)
            if claim is None and time.monotonic() - began < 1:
                # It was not meant to wait.
                time.sleep(random.uniform(0.5, 1.0))
            return claim
        finally:
            self._is_waiting = False

    def _send_claim(self, wait_seconds: int, **options: Any) -> Optional[Dict[str, Any]]:
        body = {"instanceId": self.instance_id, "templates": self._templates, "waitSeconds": wait_seconds}
        return self._client.call("POST", "/tasks/claim", body, silence=wait_seconds + 15.0, **options)[1]

    def _withdraw(self) -> None:
        """A newer claim ends the waiting one and gives up a task that was on its way to us; it may bring one itself."""
        body = {"instanceId": self.instance_id, "templates": self._templates, "waitSeconds": 0}
        try:
            _, claim = self._client.once("POST", "/tasks/claim", body, silence=3.0)
            if claim is not None:
                self._task_of(claim).end("release", {"reason": "The runner is shutting down."})
        except (ApiError,) + NETWORK_FAULTS as error:
            log.debug("withdrawal: %s", error)

    def _sign_off(self) -> None:
        """Operators then see this instance gone at once. A platform that does not know the call ignores it."""
        try:
            self._client.once("DELETE", f"/instances/{self.instance_id}", silence=2.0)
        except (ApiError,) + NETWORK_FAULTS as error:
            log.debug("signing off: %s", error)

    def _task_of(self, claim: Dict[str, Any]) -> Task:
        return Task(self._client, self._limits, claim, self.instance_id)

    def _perform(self, claim: Dict[str, Any]) -> None:
        task = self._task_of(claim)
        self._task = task
        if self._is_stopping:
            task.cancel("shutdown")
        beats = Heartbeats(self._client, task)
        beats.start()
        log.info("task %s of %s, attempt %s", claim["taskId"], claim["nodeTemplate"], claim["attempt"])
        try:
            how, body = self._attempt(task)
            self._report(task, how, body)
        finally:
            beats.stop()
            self._task = None

    def _attempt(self, task: Task) -> Tuple[str, Dict[str, Any]]:
        """Does the work and says how it ended."""
        try:
            outcome = self._work(task)
            return "complete", {
                "outcome": outcome or "completed",
                **({"hasMore": True} if task.has_more() else {}),
            }
        except TaskFailure as failure:
            return "fail", {"category": failure.category, "reason": clip(str(failure))}
        except MemoryError as error:
            return "fail", {"category": "memory", "reason": clip(str(error) or "out of memory")}
        except Exception as error:  # noqa: BLE001 - whatever the work raises is reported
            if task.why_cancelled == "shutdown":
                return "release", {"reason": "The runner is shutting down."}
            if task.why_cancelled is not None:
                return "fail", {"category": "error", "reason": task.why_cancelled}
            log.exception("task failed")
            return "fail", {"category": "error", "reason": clip(f"{type(error).__name__}: {error}")}

    def _report(self, task: Task, how: str, body: Dict[str, Any]) -> None:
        if task.why_cancelled == "lease-lost":
            log.warning("the task is held no more")
            return
        try:
            log.info("task ended by %s: %s", how, task.end(how, body))
        except ApiError as error:
            if error.code == "output_missing" and not task.has_written:
                self._report(task, "complete", {**body, "outcome": "no-output"})
            elif how == "complete" and not error.is_end and error.code != "task_finished":
                self._report(task, "fail", {"category": "error", "reason": clip(f"The result was refused: {error}")})
            else:
                log.warning("the end of the task was refused: %s", error)
                if error.status in (401, 403):
                    raise

"""A runner at work."""

from __future__ import annotations

import logging
import platform
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from .._calls.connection import Connection
from .._calls.scope import Scope, Signal
from .._heartbeats.heartbeats import Heartbeats
from .._logs.process_logs import process_logs
from .._outputs.upload import OutputLimits
from .._version import VERSION
from ..errors import SdpError
from .definition import RunnerDefinition
from .parts import RunnerParts, SharedLoop
from .settings import Settings, read_settings
from .slot import Slot

log = logging.getLogger("sdp")

# After the grace: time for aborted tasks to end and to be reported.
_ABORT_SECONDS = 8.0
# And then for calls to end: one that waits for its connection does not.
_LEAVE_SECONDS = 1.0
_SIGN_OFF_SECONDS = 2.0


class RunningRunner:
    """A runner at work in this process. Made by :func:`start`."""

    def __init__(self, runner: RunnerDefinition, settings: Settings) -> None:
        agent = f"{runner.name}/{runner.version} sdp-runner/{VERSION} python/{platform.python_version()}"
        headers = {"authorization": f"Bearer {settings.token}", "user-agent": agent}
        base = f"{settings.url}/api/v2/runner"
        self._connection = Connection(base, headers)
        self._heartbeats = Heartbeats(base, headers)
        self._runner = runner
        self._settings = settings
        self._stopping = Signal()
        self._aborting = Signal()
        self._leaving = Scope()
        self._loop = SharedLoop()
        self._starting = Scope()
        self._timers: list[threading.Timer] = []
        self._slots: list[Slot] = []
        self._slots_ended = threading.Event()
        self._error: Exception | None = None
        self._ended = threading.Event()

    @property
    def instance_ids(self) -> tuple[str, ...]:
        """One for each task at the same time."""
        return self._settings.instance_ids

    @property
    def has_left_code(self) -> bool:
        """True when code of an ended task still runs."""
        return any(slot.has_left_code for slot in self._slots)

    def begin(self) -> None:
        """Asks the platform who it is, starts the heartbeat process and claims tasks. It waits while the platform
        cannot be reached. Raises ApiError when the token is refused."""
        try:
            who = self._connection.call("GET", "/whoami", scope=self._starting).body
            self._heartbeats.start()
        except BaseException:
            self._heartbeats.close()
            self._connection.close()
            raise
        parts = self._parts(who)
        self._slots = [Slot(parts, instance_id) for instance_id in self.instance_ids]
        if self._settings.run_logs:
            process_logs.start(captures_output=self._settings.capture_output)
        self._stopping.subscribe(self._on_stopping)
        fields = {
            "templates": parts.templates,
            "instanceIds": list(self.instance_ids),
            "tokenExpiresAt": who.get("expiresAt"),
        }
        log.info("%s %s claims tasks", self._runner.name, self._runner.version, extra={"fields": fields})
        threading.Thread(target=self._work, name="sdp-runner", daemon=True).start()

    def request_stop(self) -> None:
        """Begins to stop: claims nothing further; running tasks may continue for the grace time, then they are aborted
        and released."""
        self._starting.end(SdpError("The runner was stopped before it had started."))
        self._stopping.set()

    def stop(self) -> None:
        """Stops, and returns when no task is held. Safe to call again."""
        self.request_stop()
        self.wait()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits for the end; true when it has come. Raises ApiError when the platform has refused the runner."""
        if not self._ended.wait(seconds):
            return False
        if self._error is not None:
            raise self._error
        return True

    def on_end(self, callback: Any) -> None:
        """Calls it when the runner has ended."""
        threading.Thread(target=lambda: (self._ended.wait(), callback()), daemon=True).start()

    def _parts(self, who: dict[str, Any]) -> RunnerParts:
        return RunnerParts(
            runner=self._runner,
            settings=self._settings,
            connection=self._connection,
            heartbeats=self._heartbeats,
            limits=_output_limits(who["limits"], self._settings),
            stopping=self._stopping,
            aborting=self._aborting,
            leaving=self._leaving,
            loop=self._loop,
        )

    def _work(self) -> None:
        threads = [threading.Thread(target=self._work_in, args=(slot,), daemon=True) for slot in self._slots]
        for thread in threads:
            thread.start()
        threading.Thread(target=self._await, args=(threads,), daemon=True).start()
        self._slots_ended.wait()
        for timer in self._timers:
            timer.cancel()
        self._heartbeats.close()
        for instance_id in self.instance_ids:
            self._sign_off(instance_id)
        self._connection.close()
        if not self.has_left_code:
            self._loop.close()
        if self._settings.run_logs:
            process_logs.stop(captures_output=self._settings.capture_output)
        log.info("%s has stopped", self._runner.name)
        self._ended.set()

    def _await(self, threads: list[threading.Thread]) -> None:
        for thread in threads:
            thread.join()
        self._slots_ended.set()

    def _work_in(self, slot: Slot) -> None:
        try:
            slot.work()
        except Exception as error:
            # A refusal of one slot applies to all.
            log.error("claims are refused: %s", error)
            self._error = self._error or error
            self._stopping.set()

    def _on_stopping(self) -> None:
        grace = self._settings.grace_seconds
        log.info("%s stops claiming tasks", self._runner.name, extra={"fields": {"graceSeconds": grace}})
        error = SdpError("The runner was stopped before the platform answered.")
        self._timers = [
            threading.Timer(grace, self._aborting.set),
            threading.Timer(grace + _ABORT_SECONDS, self._leaving.end, (error,)),
            threading.Timer(grace + _ABORT_SECONDS + _LEAVE_SECONDS, self._slots_ended.set),
        ]
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def _sign_off(self, instance_id: str) -> None:
        """Reports the end of an instance, so that operators see it at once."""
        with suppress(SdpError):
            path = f"/instances/{quote(instance_id, safe='')}"
            self._connection.call("DELETE", path, patience="never", silence_seconds=_SIGN_OFF_SECONDS)


def start(runner: RunnerDefinition, **options: Any) -> RunningRunner:
    """Starts a runner in this process, and returns when it claims tasks. Options as for :func:`sdp.run`.

    Raises SettingsError; ApiError when the token is refused.
    """
    running = RunningRunner(runner, read_settings(runner, options))
    running.begin()
    return running


def _output_limits(limits: dict[str, Any], settings: Settings) -> OutputLimits:
    upload = limits["upload"]
    return OutputLimits(
        single_bytes=limits["maxOutputBytes"],
        part_bytes=min(upload["maxPartBytes"], max(upload["minPartBytes"], settings.part_bytes)),
        buffer_bytes=settings.buffer_bytes,
    )

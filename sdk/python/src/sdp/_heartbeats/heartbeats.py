"""The runner's side of the process that renews leases."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from .._task.outcome import CANCEL_BODY
from .._text import clip
from ..errors import CancelReason, SdpError

# A process that fails at once must not be restarted without a pause.
_RESTART_SECONDS = 1.0
_START_SECONDS = 30.0
_NEWS_SECONDS = 0.05
_PHASE_CHARACTERS = 255
_MESSAGE_CHARACTERS = 4_000
_LARGEST_COUNT = 2**53 - 1

# Isolated and without site packages: it starts fast and imports nothing of the author's.
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from sdp._heartbeats.process import main; main()"
_PACKAGES = str(Path(__file__).resolve().parents[2])

log = logging.getLogger("sdp")


@dataclass
class KeptTask:
    """A task whose lease is renewed."""

    task_id: str
    headers: Mapping[str, str]
    """Headers of every call for the task."""
    interval_seconds: float
    cancel_grace_seconds: float
    """How long the task may be held after a cancel; then the process reports its end."""
    on_cancel: Callable[[CancelReason], None]
    """Called when the platform says that the task must end."""
    progress: dict[str, Any] = field(default_factory=dict)
    has_news: bool = False
    """Progress is about to be sent."""


class Heartbeats:
    """Sends heartbeats from another process, so that code of this one cannot delay them."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._settings = {"url": url, "headers": dict(headers)}
        self._lock = threading.Lock()
        self._tasks: dict[str, KeptTask] = {}
        self._process: subprocess.Popen[str] | None = None
        self._is_closing = threading.Event()

    def start(self) -> None:
        """Returns when the process runs, so that no task is claimed without heartbeats."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, _PACKAGES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            # Ctrl-C of a terminal goes to all of its processes.
            start_new_session=True,
        )
        ready = threading.Event()
        threading.Thread(target=self._hear, args=(process, ready), name="sdp-heartbeats", daemon=True).start()
        with self._lock:
            self._process = process
            self._post(self._settings)
            for task in self._tasks.values():
                self._keep(task)
        deadline = time.monotonic() + _START_SECONDS
        while not ready.wait(0.05):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise SdpError("The process for heartbeats does not start.")

    def keep(self, task: KeptTask) -> None:
        """Sends heartbeats for a task from now on, until :meth:`stop`."""
        with self._lock:
            self._tasks[task.task_id] = task
            self._keep(task)

    def report(self, task_id: str, progress: Mapping[str, Any]) -> None:
        """The progress that operators see; sent with the next heartbeat, within a third of the interval."""
        with self._lock:
            task = self._tasks.get(task_id)
            if task is None:
                return
            task.progress.update(_clean(progress))
            if not task.has_news:
                # Code may report for each row; the process gets only the newest progress.
                task.has_news = True
                later = threading.Timer(_NEWS_SECONDS, self._report, (task,))
                later.daemon = True
                later.start()

    def _report(self, task: KeptTask) -> None:
        with self._lock:
            task.has_news = False
            if self._tasks.get(task.task_id) is task:
                self._post({"kind": "progress", "taskId": task.task_id, "progress": task.progress})

    def stop(self, task_id: str) -> None:
        """The task has ended."""
        with self._lock:
            if self._tasks.pop(task_id, None) is not None:
                self._post({"kind": "stop", "taskId": task_id})

    def close(self) -> None:
        """Ends the process."""
        self._is_closing.set()
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _keep(self, task: KeptTask) -> None:
        self._post(
            {
                "kind": "keep",
                "taskId": task.task_id,
                "headers": dict(task.headers),
                "intervalSeconds": task.interval_seconds,
                "cancelGraceSeconds": task.cancel_grace_seconds,
                "cancelBody": CANCEL_BODY,
            }
        )
        if task.progress:
            self._post({"kind": "progress", "taskId": task.task_id, "progress": task.progress})

    def _post(self, message: Mapping[str, Any]) -> None:
        """Starts a process that has ended again, and sends it the tasks."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError, ValueError):
                self._process.stdin.write(json.dumps(message) + "\n")
                self._process.stdin.flush()

    def _hear(self, process: subprocess.Popen[str], ready: threading.Event) -> None:
        assert process.stdout is not None
        with suppress(OSError, ValueError):
            for line in process.stdout:
                message = json.loads(line)
                if message["kind"] == "ready":
                    ready.set()
                else:
                    self._note(message)
        if self._is_closing.is_set() or not ready.is_set() or self._process is not process:
            return
        log.error("the process for heartbeats ended with %s; it is started again", process.wait())
        self._restart()

    def _restart(self) -> None:
        while not self._is_closing.wait(_RESTART_SECONDS):
            try:
                self.start()
                return
            except (OSError, SdpError) as error:
                log.error("no process for heartbeats: %s", error)

    def _note(self, message: dict[str, Any]) -> None:
        task = self._tasks.get(message["taskId"])
        if task is None:
            return
        fields = {"taskId": task.task_id}
        kind = message["kind"]
        if kind == "cancel-requested":
            task.on_cancel("cancelled")
        elif kind == "cancel-reported":
            text = "the code of a cancelled task did not end; its end was reported without it"
            log.warning(text, extra={"fields": fields})
        elif kind == "refused":
            log.warning("heartbeat refused: %s", message["message"], extra={"fields": fields})
            task.on_cancel("unauthorized" if message["status"] in (401, 403) else "lease-lost")
        elif kind == "failing":
            log.warning("heartbeats fail: %s", message["message"], extra={"fields": fields})


def _clean(progress: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds the progress, because the platform refuses a heartbeat with invalid progress."""
    clean: dict[str, Any] = {}
    for name, most in (("phase", _PHASE_CHARACTERS), ("message", _MESSAGE_CHARACTERS), ("unit", _PHASE_CHARACTERS)):
        if name in progress:
            clean[name] = clip(progress[name], most)
    for name in ("done", "total"):
        value = progress.get(name)
        # Counts of numpy are no int.
        if not isinstance(value, Real):
            continue
        with suppress(OverflowError):
            count = int(value) if isinstance(value, Integral) else float(value)
            if 0 <= count <= _LARGEST_COUNT:
                clean[name] = count
    return clean

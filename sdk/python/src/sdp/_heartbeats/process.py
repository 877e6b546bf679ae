"""The process that renews leases: it sends heartbeats even while the runner's process computes without a pause.

It reads messages of its parent from standard input, a JSON object a line, and ends with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from .._calls.back_off import BackOff, is_transient
from .._calls.connection import Connection
from ..errors import ApiError

_FAILURES_BEFORE_REPORT = 3
_PARENT_SECONDS = 1.0
_LAST_SECONDS = 10.0
_PARENT_ENDED = {
    "category": "error",
    "reason": "The runner's process ended before the task: it was killed, perhaps for want of memory, or it crashed.",
}

Message = dict[str, Any]

_posting = threading.Lock()


def post(message: Message) -> None:
    """Sends a message to the parent; this process ends when the parent is gone."""
    with _posting:
        try:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()
        except OSError:
            os._exit(0)


class Keeper(threading.Thread):
    """Sends heartbeats for one task: every interval, soon after new progress, and sooner again after a failure."""

    def __init__(self, connection: Connection, task: Message) -> None:
        super().__init__(name="keeper", daemon=True)
        self._connection = connection
        self._task = task
        self._interval: float = task["intervalSeconds"]
        self._changed = threading.Condition()
        self._progress: Message = {}
        self._has_news = False
        self._is_over = False
        self._has_parent = True
        self._cancel_at: float | None = None

    def report(self, progress: Message) -> None:
        """New progress."""
        with self._changed:
            self._progress = progress
            self._has_news = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Stops the heartbeats."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def parent_ended(self) -> None:
        """The runner's process has ended: so has the task, when it has not stopped."""
        with self._changed:
            self._has_parent = False
            self._changed.notify_all()

    def run(self) -> None:
        """Sends heartbeats until the task ends."""
        back_off = BackOff(self._interval / 3)
        # The claim was the first heartbeat.
        began = time.monotonic()
        pause = self._interval
        while self._wait(began, pause, back_off.failures == 0):
            if not self._has_parent:
                # Its attempt ends at once and says why. Without this, the lease would end, half a minute later.
                self._end(_PARENT_ENDED)
                return
            if self._cancel_at is not None and time.monotonic() >= self._cancel_at:
                # The runner's process had its time: it computes without a pause, and heartbeats would hold the task for as
                # long as it does.
                if self._end(self._task["cancelBody"]):
                    self._post("cancel-reported")
                return
            began = time.monotonic()
            pause = self._interval
            try:
                self._heartbeat()
                back_off.reset()
            except Exception as error:
                if isinstance(error, ApiError) and error.is_end:
                    self._post("refused", status=error.status, message=str(error))
                    return
                # When the platform refuses the progress, it is dropped: the lease must not end for that.
                if not is_transient(error):
                    self._progress = {}
                began = time.monotonic()
                pause = back_off.next_seconds(error)
                if back_off.failures == _FAILURES_BEFORE_REPORT:
                    self._post("failing", failures=back_off.failures, message=str(error))

    def _wait(self, began: float, pause: float, may_hurry: bool) -> bool:
        """Waits for the next heartbeat: new progress is sent at once, but not more often than three times an interval.
        False at the end."""
        with self._changed:
            while not self._is_over and self._has_parent:
                due = began + (min(pause, self._interval / 3) if self._has_news and may_hurry else pause)
                if self._cancel_at is not None:
                    due = min(due, self._cancel_at)
                left = due - time.monotonic()
                if left <= 0:
                    return True
                self._changed.wait(left)
            return not self._is_over

    def _heartbeat(self) -> None:
        with self._changed:
            self._has_news = False
            body = body_of(self._progress)
        reply = self._put("heartbeat", body)
        if reply.get("cancelRequested") and self._cancel_at is None:
            self._post("cancel-requested")
            self._cancel_at = time.monotonic() + self._task["cancelGraceSeconds"]

    def _end(self, failure: Message) -> bool:
        """Reports the end of the task in place of the runner's process. Without an answer the lease expires."""
        back_off = BackOff(self._interval)
        while not self._is_over:
            try:
                self._put("fail", failure)
                return True
            except Exception as error:
                # Refused: it has ended already.
                if not is_transient(error):
                    return False
                time.sleep(back_off.next_seconds(error))
        return False

    def _put(self, what: str, body: Message) -> Message:
        # A lease is three intervals: two heartbeats may fail before the third must succeed.
        reply = self._connection.call(
            "PUT",
            f"/tasks/{self._task['taskId']}/{what}",
            json=body,
            headers=self._task["headers"],
            silence_seconds=max(1.0, self._interval * 0.8),
            patience="never",
        ).body
        return reply if isinstance(reply, dict) else {}

    def _post(self, kind: str, **fields: Any) -> None:
        post({"kind": kind, "taskId": self._task["taskId"], **fields})


def body_of(progress: Message) -> Message:
    """Progress as the platform reads it."""
    counts = {name: progress[name] for name in ("done", "total", "unit") if name in progress}
    texts: Message = {name: progress[name] for name in ("phase", "message") if name in progress}
    return {**texts, **({"progress": counts} if "done" in counts else {})}


def _watch_parent(keepers: dict[str, Keeper]) -> None:
    """Ends this process after its parent. A process that the parent has forked may hold the pipe open after the parent's
    end."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    held = tuple(keepers.values())
    for keeper in held:
        keeper.parent_ended()
    until = time.monotonic() + _LAST_SECONDS
    for keeper in held:
        keeper.join(max(0.0, until - time.monotonic()))
    os._exit(0)


def main() -> None:
    """Serves the parent until it closes the pipe."""
    # It ends with its parent, which may go on for a while after a signal to all processes.
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError, OSError):
            signal.signal(number, signal.SIG_IGN)
    keepers: dict[str, Keeper] = {}
    watcher = threading.Thread(target=_watch_parent, args=(keepers,), daemon=True)
    if os.name == "posix":
        watcher.start()
    settings = json.loads(sys.stdin.readline())
    connection = Connection(settings["url"], settings["headers"])
    post({"kind": "ready"})
    for line in sys.stdin:
        message: Message = json.loads(line)
        task_id: str = message["taskId"]
        if message["kind"] == "keep":
            keepers[task_id] = Keeper(connection, message)
            keepers[task_id].start()
        elif message["kind"] == "progress" and task_id in keepers:
            keepers[task_id].report(message["progress"])
        elif message["kind"] == "stop" and task_id in keepers:
            keepers.pop(task_id).stop()
    if watcher.is_alive():
        watcher.join()
    os._exit(0)

"""Sends the lines of one task to the platform, in batches and in order."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from datetime import datetime, timezone
from typing import Any

from .._calls.scope import Scope
from .._calls.task_calls import HeldTask
from ..errors import ApiError, SdpError, TaskCancelled
from .task_log import Level

# Less than a second: a process that is killed loses no more.
_BATCH_SECONDS = 0.9
_BATCH_ENTRIES = 500
# Below the platform's 256 KB, with room for the rest of the body.
_BATCH_BYTES = 240 * 1024
_BUFFER_BYTES = 4 * 1024 * 1024
_TAIL_BYTES = 60 * 1024
# A connection that lost its other end is silent. The last lines have only some seconds.
_FIRST_SILENCE_SECONDS = 1.0

log = logging.getLogger("sdp")


class RunLog:
    """A bounded buffer of lines, and the thread that sends them. It counts lines that do not fit and reports them."""

    def __init__(self, calls: HeldTask) -> None:
        self._calls = calls
        self._scope = Scope()
        self._changed = threading.Condition()
        self._entries: deque[bytes] = deque()
        self._bytes = 0
        self._dropped = 0
        self._is_sending = False
        self._is_over = False
        self._hurry = False
        self._sequence = 1
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def add(self, level: Level, message: str, fields: dict[str, Any]) -> None:
        """Adds a line. It never waits and never raises. A forked process has no thread that sends, and perhaps a lock
        that is never released."""
        if os.getpid() != self._process:
            return
        entry = encode_entry(level, message, fields)
        with self._changed:
            # Also when nothing more is sent: a failure carries them.
            if self._bytes + len(entry) > _BUFFER_BYTES:
                self._dropped += 1
                return
            was_empty = not self._entries
            self._say_dropped()
            self._append(entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="sdp-run-log", daemon=True)
                self._thread.start()
            # The thread waits for the first line of a batch, and then for more until the batch is full.
            if was_empty or self._is_full():
                self._changed.notify_all()

    def flush(self, seconds: float) -> str:
        """Waits until all lines were accepted, at most so long. Returns the text of those that were not."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._say_dropped()
            self._hurry = True
            self._changed.notify_all()
            while (self._entries or self._is_sending) and not self._is_over and time.monotonic() < deadline:
                self._changed.wait(max(0.0, deadline - time.monotonic()))
            left = list(self._entries)
        return _text_of(left)

    def close(self) -> None:
        """Stops sending."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._scope.end(TaskCancelled("ended"))

    def _append(self, entry: bytes) -> None:
        self._entries.append(entry)
        self._bytes += len(entry)

    def _say_dropped(self) -> None:
        if self._dropped > 0:
            message = f"{self._dropped} lines were dropped: they came faster than the platform accepted them."
            self._dropped = 0
            self._append(encode_entry("warning", message, {}))

    def _is_full(self) -> bool:
        return len(self._entries) >= _BATCH_ENTRIES or self._bytes >= _BATCH_BYTES

    def _send_all(self) -> None:
        while (batch := self._next_batch()) is not None:
            is_over = self._send(batch)
            with self._changed:
                self._is_sending = False
                self._is_over = self._is_over or is_over
                if not is_over:
                    for _ in batch:
                        self._bytes -= len(self._entries.popleft())
                self._changed.notify_all()
                if self._is_over:
                    return

    def _next_batch(self) -> list[bytes] | None:
        """Waits for lines, and for some more to come; None at the end. They stay in the buffer until accepted."""
        with self._changed:
            while not self._entries and not self._is_over:
                self._changed.wait()
            deadline = time.monotonic() + _BATCH_SECONDS
            while not (self._is_full() or self._hurry or self._is_over) and time.monotonic() < deadline:
                self._changed.wait(max(0.0, deadline - time.monotonic()))
            if self._is_over:
                return None
            batch: list[bytes] = []
            size_bytes = 0
            for entry in self._entries:
                size_bytes += len(entry) + 1
                if len(batch) == _BATCH_ENTRIES or (batch and size_bytes > _BATCH_BYTES):
                    break
                batch.append(entry)
            self._is_sending = True
            return batch

    def _send(self, batch: list[bytes]) -> bool:
        """Sends a batch until there is a definite answer; true when nothing further can be sent."""
        body = b'{"sequence":%d,"entries":[%s]}' % (self._sequence, b",".join(batch))
        try:
            reply = self._calls.connection.call(
                "POST",
                f"{self._calls.path}/logs",
                headers={**self._calls.headers, "content-type": "application/json"},
                body=body,
                first_silence_seconds=_FIRST_SILENCE_SECONDS,
                patience="always",
                scope=self._scope,
            ).body
            following = reply.get("nextSequence") if isinstance(reply, dict) else None
            self._sequence = following if isinstance(following, int) else self._sequence + 1
            return False
        except ApiError as error:
            if error.status in (400, 413):
                # Its lines are lost, those after it are not.
                log.warning("log lines were refused: %s", error)
                self._sequence += 1
                return False
            # An older platform has no such route; and an ended task has no log.
            log.debug("log lines are not sent: %s", error)
            return True
        except SdpError as error:
            log.debug("log lines are not sent: %s", error)
            return True


def encode_entry(level: Level, message: str, fields: dict[str, Any]) -> bytes:
    """A line as JSON, with its time."""
    at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    entry: dict[str, Any] = {"at": at, "level": level, "message": message}
    if fields:
        entry["fields"] = fields
    return json.dumps(entry, ensure_ascii=False, default=str).encode("utf-8", "replace")


def _text_of(entries: list[bytes]) -> str:
    lines = [f"{line['at']} {line['level']} {line['message']}" for line in map(json.loads, entries)]
    encoded = "\n".join(lines).encode()
    return encoded[-_TAIL_BYTES:].decode("utf-8", "ignore")

"""What the code of a task prints, as lines of its run's log; it is still printed."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from typing import Any, TextIO
from weakref import WeakKeyDictionary

from .task_log import Level, TaskLog, current_log

_LONGEST_LINE = 8 * 1024
_LOGGING_FILE = logging.StreamHandler.emit.__code__.co_filename


class CapturedStream:
    """Passes text on to a stream, and lines of a task to its log."""

    def __init__(self, stream: TextIO, level: Level, name: str) -> None:
        self._stream = stream
        self._level: Level = level
        self._fields = {"stream": name}
        # Also for a finalizer that prints, which may run in the middle of a write of the same thread.
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._begun: WeakKeyDictionary[TaskLog, str] = WeakKeyDictionary()

    def write(self, text: str) -> int:
        """Writes text; complete lines go to the log of the task that prints."""
        log = current_log.get()
        if log is None or not log.takes_output:
            return self._stream.write(text)
        self._print(text)
        # A handler of `logging` prints what the log has already.
        if sys._getframe(1).f_code.co_filename != _LOGGING_FILE:
            self._add(log, text)
        return len(text)

    def _print(self, text: str) -> None:
        """A task must not fail because the terminal is gone, or has not this character; its log has the line."""
        with suppress(OSError, ValueError):
            try:
                self._stream.write(text)
            except UnicodeEncodeError:
                encoding = self._stream.encoding
                self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes lines."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flushes the stream."""
        with suppress(OSError, ValueError) if current_log.get() else nullcontext():
            self._stream.flush()

    def end_of(self, log: TaskLog) -> None:
        """The task has ended: a line without a break is complete."""
        with self._lock:
            rest = self._begun.pop(log, "")
        self._line(log, rest)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _add(self, log: TaskLog, text: str) -> None:
        # In a forked process the lock may be held by a thread that does not exist there.
        if os.getpid() != self._process:
            return
        with self._lock:
            *lines, rest = (self._begun.get(log, "") + text).split("\n")
            while len(rest) > _LONGEST_LINE:
                lines.append(rest[:_LONGEST_LINE])
                rest = rest[_LONGEST_LINE:]
            self._begun[log] = rest
        for line in lines:
            self._line(log, line)

    def _line(self, log: TaskLog, line: str) -> None:
        # A progress bar is drawn again and again: only its last state is a line.
        last = line.rstrip("\r").rpartition("\r")[2]
        if last.strip():
            log.line(self._level, last, self._fields)


class Capture:
    """Captures the output of this process while it is open."""

    def __init__(self) -> None:
        self._before: tuple[TextIO, TextIO] | None = None
        self._streams: tuple[CapturedStream, CapturedStream] | None = None

    def start(self) -> None:
        """Replaces the output of the process."""
        self._before = (sys.stdout, sys.stderr)
        self._streams = (
            CapturedStream(sys.stdout, "info", "stdout"),
            CapturedStream(sys.stderr, "warning", "stderr"),
        )
        sys.stdout, sys.stderr = self._streams

    def end_of(self, log: TaskLog) -> None:
        """The task has ended."""
        for stream in self._streams or ():
            stream.end_of(log)

    def stop(self) -> None:
        """Restores the output, unless something else replaced it meanwhile."""
        if self._before is None or self._streams is None:
            return
        if sys.stdout is self._streams[0]:
            sys.stdout = self._before[0]
        if sys.stderr is self._streams[1]:
            sys.stderr = self._before[1]

"""Errors of threads that the code of a task has started, as lines of its run's log; they are still printed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .task_log import TaskLog, trace_of


class ThreadErrors:
    """A thread does not say which task has started it: with several at work an error that ends one is printed alone."""

    def __init__(self) -> None:
        self._logs: set[TaskLog] = set()
        self._before = threading.excepthook

    def start(self) -> None:
        """Notes errors from now on."""
        self._before, threading.excepthook = threading.excepthook, self._note

    def stop(self) -> None:
        """Notes no further errors, unless something else replaced the hook meanwhile."""
        if threading.excepthook == self._note:
            threading.excepthook = self._before

    @contextmanager
    def noted_in(self, log: TaskLog) -> Iterator[None]:
        """The task of this log is at work."""
        self._logs.add(log)
        try:
            yield
        finally:
            self._logs.discard(log)

    def _note(self, args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        logs = tuple(self._logs)
        if len(logs) == 1 and error is not None and not isinstance(error, SystemExit):
            name = "a thread" if args.thread is None else f"the thread {args.thread.name}"
            logs[0].line("error", f"An error ended {name}:\n{trace_of(error)}")
        self._before(args)

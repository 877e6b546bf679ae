"""What the tasks of this process print and log. All runners of the process share it: each alone would note every line."""

from __future__ import annotations

import logging
import threading

from .capture import Capture
from .task_log import RunLogHandler
from .thread_errors import ThreadErrors


class ProcessLogs:
    """Notes lines while a runner of the process wants it."""

    def __init__(self) -> None:
        self.capture = Capture()
        self.thread_errors = ThreadErrors()
        self._handler = RunLogHandler()
        self._lock = threading.Lock()
        self._runners = 0
        self._capturing = 0

    def start(self, *, captures_output: bool) -> None:
        """A runner begins."""
        with self._lock:
            self._runners += 1
            if self._runners == 1:
                logging.getLogger().addHandler(self._handler)
                logging.getLogger("sdp.task").setLevel(logging.DEBUG)
                self.thread_errors.start()
            if captures_output:
                self._capturing += 1
                if self._capturing == 1:
                    self.capture.start()

    def stop(self, *, captures_output: bool) -> None:
        """A runner has ended."""
        with self._lock:
            self._runners -= 1
            if self._runners == 0:
                logging.getLogger().removeHandler(self._handler)
                self.thread_errors.stop()
            if captures_output:
                self._capturing -= 1
                if self._capturing == 0:
                    self.capture.stop()


process_logs = ProcessLogs()

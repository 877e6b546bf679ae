"""Progress of a body that is being sent, and its rate."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is called with the bytes that were sent so far, and with all; after a break with fewer than before."""


class Meter:
    """Counts the bytes sent, reports them to ``progress``, and waits when they exceed ``bytes_per_second``."""

    def __init__(self, total_bytes: int, progress: Progress | None, bytes_per_second: float | None) -> None:
        if bytes_per_second is not None and bytes_per_second <= 0:
            raise ValueError("bytes_per_second must be above 0.")
        self._total_bytes = total_bytes
        self._progress = progress
        self._bytes_per_second = bytes_per_second
        self._from_bytes = 0
        self._sent_bytes = 0
        self._since = time.monotonic()

    def begin(self, offset_bytes: int) -> None:
        """A try begins here."""
        self._from_bytes = self._sent_bytes = offset_bytes
        self._since = time.monotonic()

    def __call__(self, count: int) -> None:
        """So many more bytes were sent."""
        self._sent_bytes += count
        if self._bytes_per_second is not None:
            due = (self._sent_bytes - self._from_bytes) / self._bytes_per_second
            time.sleep(max(0.0, self._since + due - time.monotonic()))
        if self._progress is not None:
            self._progress(self._sent_bytes, self._total_bytes)

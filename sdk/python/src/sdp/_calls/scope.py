"""What ends calls that wait: a task that is cancelled, a runner that stops."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection


class Signal:
    """An event with subscribers. It is set once."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        """True once it was set."""
        return self.event.is_set()

    def set(self) -> None:
        """Sets it and calls the subscribers, in this thread."""
        with self._lock:
            if self.event.is_set():
                return
            self.event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Calls it when the signal is set, at once when it is. Returns the call that ends the subscription."""
        with self._lock:
            is_set = self.event.is_set()
            if not is_set:
                self._callbacks.append(callback)
        if is_set:
            callback()
        return lambda: self._unsubscribe(callback)

    def _unsubscribe(self, callback: Callable[[], None]) -> None:
        with self._lock, suppress(ValueError):
            self._callbacks.remove(callback)


class Scope:
    """Calls that end together: :meth:`end` breaks those under way and refuses new ones."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        # A reader that is closed when its memory is freed may come in the middle of another call of the same thread.
        self._lock = threading.RLock()
        self._connections: set[HTTPConnection] = set()
        self._error: Exception | None = None

    def check(self) -> None:
        """Raises the error that the scope was ended with."""
        if self._error is not None:
            raise self._error

    def wait(self, seconds: float) -> None:
        """A pause that ends with the scope, by its error."""
        self.ended.wait(seconds)
        self.check()

    def end(self, error: Exception) -> None:
        """Ends all calls of the scope; the first error counts."""
        with self._lock:
            if self._error is not None:
                return
            self._error = error
            connections = list(self._connections)
        self.ended.set()
        for connection in connections:
            _break(connection)

    def enter(self, connection: HTTPConnection) -> None:
        """A call begins."""
        with self._lock:
            self.check()
            self._connections.add(connection)

    def leave(self, connection: HTTPConnection) -> None:
        """A call is over."""
        with self._lock:
            self._connections.discard(connection)


def _break(connection: HTTPConnection) -> None:
    """Wakes the thread that waits for the connection; closing it alone would not."""
    held = connection.sock
    if held is not None:
        with suppress(OSError):
            held.shutdown(socket.SHUT_RDWR)

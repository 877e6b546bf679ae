"""Downloads, from the store where the platform names an address there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from ..errors import ApiError, NetworkError
from .http import AT_STORE, Answer, Headers, HttpClient
from .scope import Scope

# A store that cannot be reached from here is not tried again for this long.
_REST_SECONDS = 300.0
# So long a store may be silent before its answer begins.
_SILENCE_SECONDS = 10.0


class Downloads:
    """Opens the bytes of routes. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: dict[str, HttpClient] = {}
        self._rests_until = 0.0

    def open(self, at_platform: Callable[[str], Answer], headers: Headers, scope: Scope | None = None) -> Answer:
        """Opens all bytes of a route of the platform: at the store, or through the platform when that fails.

        `at_platform` makes the platform's call with a query: ``?redirect=true``, or nothing. Raises what it raises.
        """
        if time.monotonic() < self._rests_until:
            return at_platform("")
        answer = at_platform("?redirect=true")
        if answer.status != AT_STORE:
            return answer
        with answer:
            address, etag = answer.headers["location"], answer.headers["etag"]
            size_bytes = answer.headers["x-platform-size-bytes"]
            answer.read()
        try:
            found = self._open_at(address, headers, scope)
            if found.headers["content-length"] != size_bytes:
                found.close()
                raise NetworkError("what answers at the address of the store sends other bytes")
        except (ApiError, NetworkError, ValueError):
            self.avoid_store()
            return at_platform("")
        # The platform's tag is the same for both ways, so a read may begin at one and continue at the other.
        del found.headers["etag"]
        if etag is not None:
            found.headers["etag"] = etag
        return found

    def avoid_store(self) -> None:
        """For a while: it, or what answers in its place, has failed or sent other bytes."""
        self._rests_until = time.monotonic() + _REST_SECONDS

    def close(self) -> None:
        """Closes idle connections."""
        with self._lock:
            stores, self._stores = self._stores, {}
        for store in stores.values():
            store.close()

    def _open_at(self, address: str, headers: Headers, scope: Scope | None) -> Answer:
        parts = urlsplit(address)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if origin not in self._stores:
                self._stores[origin] = HttpClient(origin, {})
            store = self._stores[origin]
        return store.open(
            "GET",
            f"{parts.path}?{parts.query}",
            # The token and all else are for the platform alone.
            headers={"accept-encoding": headers["accept-encoding"]},
            silence_seconds=_SILENCE_SECONDS,
            scope=scope,
        )

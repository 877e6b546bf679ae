"""One HTTP request at a time, without repeats, over connections that are used again."""

from __future__ import annotations

import email.utils
import http.client
import json
import os
import select
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from ..errors import ApiError, NetworkError
from .back_off import NETWORK_FAULTS
from .connect import connect
from .file_bytes import FileBytes
from .proxy import proxy_for
from .scope import Scope

_ERROR_BODY_BYTES = 64 * 1024
# The answer is an address of the bytes at the store: see downloads.py.
AT_STORE = 307
_PIECE_BYTES = 256 * 1024
# The pieces of bodies whose progress is watched.
_WATCHED_PIECE_BYTES = 16 * 1024
_IDLE_CONNECTIONS = 8
# Servers close idle connections after some seconds: a connection that is about to be closed loses the next call.
_IDLE_SECONDS = 3.0

Headers = Mapping[str, "str | bytes"]
Bytes = bytes | bytearray | memoryview
Body = Bytes | FileBytes
Sent = Callable[[int], None]
"""Is called with the length of each piece that was sent."""


class Answer:
    """An answer whose body has not been read yet. Close it, or read it to its end."""

    def __init__(
        self, client: HttpClient, connection: http.client.HTTPConnection, scope: Scope
    ) -> None:
        self._client = client
        self._process = os.getpid()
        self._connection: http.client.HTTPConnection | None = connection
        self._scope = scope
        self._response = connection.getresponse()
        self.status = self._response.status
        self.headers = self._response.headers

    def read(self, size_bytes: int | None = None) -> bytes:
        """The next bytes; empty at the end."""
        try:
            return self._response.read(size_bytes)
        except NETWORK_FAULTS as error:
            raise _network_error(error) from error

    def readinto(self, buffer: Any) -> int:
        """Reads into a buffer; 0 at the end."""
        try:
            return self._response.readinto(buffer)
        except NETWORK_FAULTS as error:
            raise _network_error(error) from error

    def close(self) -> None:
        """The connection is used again when the body was read to its end."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        is_whole = self._response.isclosed() and not self._response.will_close
        self._response.close()
        self._scope.leave(connection)
        # A process that was forked meanwhile shares the connection with its parent.
        if is_whole and self._process == os.getpid():
            self._client.put_back(connection)
        else:
            connection.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class HttpClient:
    """Requests below one address. Threads may share it."""

    def __init__(self, url: str, headers: Headers) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a platform, such as http://127.0.0.1:8080.")
        bare_host = parts.netloc.rpartition("@")[2]
        self.address = parts._replace(netloc=bare_host).geturl()
        """The address without what it says of a person."""
        self._base = parts.path.rstrip("/")
        self._host = parts.hostname
        self._port = parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = dict(headers)
        self._proxy = proxy_for(parts.scheme, self._host, self._port)
        if self._proxy is not None and self._tls is None:
            # The proxy itself reads the requests, so it gets their whole address.
            self._base = f"http://{bare_host}{self._base}"
            self._headers.update(self._proxy.headers)
        # As that of a scope.
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []

    def open(
        self,
        method: str,
        path: str,
        *,
        headers: Headers | None = None,
        body: Body | None = None,
        silence_seconds: float = 60.0,
        answer_seconds: float | None = None,
        scope: Scope | None = None,
        sent: Sent | None = None,
        redirects: bool = False,
    ) -> Answer:
        """Sends a request and returns the answer of a status below 300, with `redirects` also of AT_STORE.

        Raises ApiError for any other status, NetworkError when no answer comes, and the error of an ended scope.
        `answer_seconds`: the longest silence after the last byte, where that is another one.
        """
        scope = scope or Scope()
        all_headers: dict[str, str | bytes] = {**self._headers, **(headers or {})}
        if method != "GET":
            all_headers["content-length"] = str(len(body or b""))
        connection = self._connection(silence_seconds)
        try:
            scope.enter(connection)
            chunks = _chunks(body, sent)
            answer = self._exchange(connection, scope, method, self._base + path, chunks, all_headers, answer_seconds)
            if answer.status >= 300 and not (redirects and answer.status == AT_STORE):
                raise _refusal_of(answer)
            return answer
        except ApiError:
            raise
        except BaseException as error:
            scope.leave(connection)
            connection.close()
            scope.check()
            if isinstance(error, NETWORK_FAULTS) and not isinstance(error, NetworkError):
                raise _network_error(error) from error
            raise

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        scope: Scope,
        method: str,
        path: str,
        body: Iterator[Bytes] | None,
        headers: dict[str, str | bytes],
        answer_seconds: float | None,
    ) -> Answer:
        if connection.sock is None:
            connect(connection)
            scope.check()
        try:
            connection.request(method, path, body=body, headers=headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            # A refusal may come before the whole body was sent.
            try:
                return Answer(self, connection, scope)
            except NETWORK_FAULTS:
                raise error from None
        if answer_seconds is not None:
            connection.sock.settimeout(answer_seconds)
        return Answer(self, connection, scope)

    def put_back(self, connection: http.client.HTTPConnection) -> None:
        """Retains a connection for the next request."""
        self._leave_to_parent()
        with self._lock:
            if len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        """Closes the connections that nothing uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _leave_to_parent(self) -> None:
        """The idle connections of a forked process are those of its parent, whose answers it would take, and the lock may
        be held by a thread that does not exist there."""
        if self._process != os.getpid():
            self._process, self._lock, self._idle = os.getpid(), threading.RLock(), []

    def _connection(self, silence_seconds: float) -> http.client.HTTPConnection:
        self._leave_to_parent()
        while True:
            with self._lock:
                since, connection = self._idle.pop() if self._idle else (0.0, None)
            if connection is None:
                return self._new_connection(silence_seconds)
            if connection.sock is not None and time.monotonic() - since < _IDLE_SECONDS and not _is_over(connection):
                connection.sock.settimeout(silence_seconds)
                return connection
            connection.close()

    def _new_connection(self, silence_seconds: float) -> http.client.HTTPConnection:
        proxy = self._proxy
        host, port = (self._host, self._port) if proxy is None else (proxy.host, proxy.port)
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=silence_seconds)
        connection = http.client.HTTPSConnection(host, port, timeout=silence_seconds, context=self._tls)
        if proxy is not None:
            connection.set_tunnel(self._host, self._port, dict(proxy.headers))
        return connection


def read_json(answer: Answer) -> Any:
    """The whole body, parsed; None for an empty one."""
    with answer:
        text = answer.read()
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise NetworkError("the answer is not JSON") from error


def _chunks(body: Body | None, sent: Sent | None) -> Iterator[Bytes] | None:
    """The time limit of a socket is for all that one call sends, so a large body goes out in pieces."""
    return pieces_to_send(body if isinstance(body, FileBytes) else memoryview(body), sent) if body else None


def pieces_to_send(view: memoryview | FileBytes, sent: Sent | None) -> Iterator[Bytes]:
    """The pieces of a body; `sent` is called after each."""
    size = _PIECE_BYTES if sent is None else _WATCHED_PIECE_BYTES
    for at in range(0, len(view), size):
        piece = view[at : at + size]
        yield piece.read() if isinstance(piece, FileBytes) else piece
        if sent is not None:
            sent(len(piece))


def _is_over(connection: http.client.HTTPConnection) -> bool:
    """An idle connection with something to read was closed by the server."""
    try:
        return bool(select.select([connection.sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _network_error(error: BaseException) -> NetworkError:
    return NetworkError(str(error) or type(error).__name__)


def _refusal_of(answer: Answer) -> ApiError:
    fields: Any = None
    with answer, suppress(ValueError, *NETWORK_FAULTS):
        fields = json.loads(answer.read(_ERROR_BODY_BYTES))
    body = fields if isinstance(fields, dict) else {}
    issues = body.get("errors")
    return ApiError(
        answer.status,
        str(body.get("message") or f"The platform answered {answer.status}."),
        code=str(body.get("code") or ""),
        request_id=answer.headers.get("x-request-id"),
        retry_after_seconds=retry_after(answer.headers.get("retry-after"), answer.headers.get("date")),
        issues=[issue for issue in issues if isinstance(issue, dict)] if isinstance(issues, list) else (),
    )


def retry_after(value: str | None, date: str | None) -> float | None:
    """``Retry-After`` in seconds. A date is compared with that of the answer: the clock here may be wrong."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    until = _time_of(value)
    now = _time_of(date) if date is not None else None
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _time_of(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return None

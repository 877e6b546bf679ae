"""Calls of the runner routes, repeated while the platform cannot be reached. Standard library only."""

from __future__ import annotations

import email.utils
import http.client
import json
import logging
import random
import time
from typing import Any, Callable, Dict, Optional, Tuple
from urllib.parse import urlsplit

SILENCE_SECONDS = 60.0
LONGEST_BACK_OFF_SECONDS = 5.0
TRIES_OF_SERVER_ERRORS = 10

log = logging.getLogger("runner")


class ApiError(Exception):
    """The platform refused a call. `code` is stable, for example `watermark_regression`."""

    def __init__(self, status: int, code: str, message: str, request_id: Optional[str], retry_after: float) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def is_end(self) -> bool:
        """The task is not ours any more."""
        return self.status in (401, 403) or self.code == "task_not_found"

    @property
    def is_outage(self) -> bool:
        """A 404 without a code is a gateway's that has no platform behind it just now."""
        return self.status in (408, 429, 502, 503, 504) or (self.status == 404 and self.code == "")


NETWORK_FAULTS = (OSError, http.client.HTTPException)


class BackOff:
    """Waits that double up to a bound, each shortened by chance."""

    def __init__(self) -> None:
        self.failures = 0
        self._server_errors = 0

    def seconds(self, error: Exception) -> float:
        full = min(LONGEST_BACK_OFF_SECONDS, 0.2 * 2 ** min(self.failures, 10))
        self.failures += 1
        asked = min(error.retry_after, 60.0) if isinstance(error, ApiError) else 0.0
        return max(asked, full * random.uniform(0.5, 1.0))

    def may_go_on(self, error: Exception) -> bool:
        if not isinstance(error, ApiError) or error.is_outage:
            self._server_errors = 0
            return True
        self._server_errors += 1
        return error.status >= 500 and self._server_errors < TRIES_OF_SERVER_ERRORS


class Client:
    """Calls of the runner routes. Each call has a connection of its own, so threads share nothing."""

    def __init__(self, url: str, token: str, user_agent: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemExit("Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.")
        secure = parts.scheme == "https"
        self._connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._host = parts.hostname
        self._port = parts.port or (443 if secure else 80)
        self._base = parts.path.rstrip("/") + "/api/v2/runner"
        self._headers = {
            "authorization": f"Bearer {token}",
            "user-agent": user_agent,
            "connection": "close",
        }

    def open(
        self,
        method: str,
        path: str,
        headers: Optional[Dict[str, str]] = None,
        body: Optional[bytes] = None,
        silence: float = SILENCE_SECONDS,
    ) -> http.client.HTTPResponse:
        """One request, up to the head of a good answer. Raises ApiError, OSError or HTTPException."""
        connection = self._connect(self._host, self._port, timeout=silence)
        try:
            all_headers = {**self._headers, **(headers or {})}
            if method != "GET":
                all_headers["content-length"] = str(len(body or b""))
            connection.request(method, self._base + path, body=body, headers=all_headers)
            answer = connection.getresponse()
            if answer.status < 300:
                # The answer keeps the socket open until it is read or closed.
                return answer
            raise refusal_of(answer)
        except BaseException:
            connection.close()
            raise

    def once(self, method: str, path: str, json_body: Any = None, **options: Any) -> Tuple[int, Any]:
        headers = dict(options.pop("headers", None) or {})
        if json_body is not None:
            options["body"] = json.dumps(json_body).encode()
            headers["content-type"] = "application/json"
        with self.open(method, path, headers, **options) as answer:
            text = answer.read()
        try:
            return answer.status, json.loads(text) if text else None
        except ValueError as error:
            raise ConnectionError("the answer is no JSON") from error

    def call(self, method: str, path: str, json_body: Any = None, **options: Any) -> Tuple[int, Any]:
        """Repeats until there is a definite answer. `wait` and `forever` say how."""
        wait: Callable[[float], None] = options.pop("wait", time.sleep)
        forever: bool = options.pop("forever", False)
        back_off = BackOff()
        while True:
            try:
                return self.once(method, path, json_body, **options)
            except (ApiError,) + NETWORK_FAULTS as error:
                is_server_error = isinstance(error, ApiError) and error.status >= 500
                if not back_off.may_go_on(error) and not (forever and is_server_error):
                    raise
                level = logging.DEBUG if back_off.failures < 3 else logging.WARNING
                log.log(level, "%s %s: %s; trying again", method, path, error)
                wait(back_off.seconds(error))


def refusal_of(answer: http.client.HTTPResponse) -> ApiError:
    try:
        body = json.loads(answer.read(64 * 1024))
    except (ValueError, http.client.HTTPException, OSError):
        body = {}
    fields = body if isinstance(body, dict) else {}
    message = str(fields.get("message") or f"HTTP {answer.status} {answer.reason}")
    retry_after = read_retry_after(answer.headers.get("retry-after"))
    return ApiError(
        answer.status, str(fields.get("code") or ""), message, answer.headers.get("x-request-id"), retry_after
    )


def read_retry_after(value: Optional[str]) -> float:
    if value is None:
        return 0.0
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0

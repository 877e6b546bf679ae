"""Calls of the platform's interface for a user, repeated for some time."""

from __future__ import annotations

import os
import re
import threading
import time
import uuid
from typing import Any
from urllib.parse import urlencode

from .._calls.back_off import BackOff
from .._calls.downloads import Downloads
from .._calls.http import Answer, Body, Headers, HttpClient, read_json
from .._calls.meter import Meter
from .._json import json_text
from .._version import VERSION
from ..errors import ApiError, SettingsError

_SILENCE_SECONDS = 120.0


def is_worth_it(back_off: BackOff, error: Exception) -> bool:
    """Whether to try again. Here a 404 without a code is the platform's own answer, not that of a gateway."""
    return back_off.is_worth_it(error) and not (isinstance(error, ApiError) and error.status == 404)


class Api:
    """Signed-in calls. Threads may share it."""

    def __init__(
        self, url: str | None, token: str | None, username: str | None, password: str | None, retry_seconds: float
    ) -> None:
        address = (url or os.environ.get("SDP_URL", "")).rstrip("/")
        self._credentials = (username, password) if username and password else None
        given = (token or ("" if self._credentials else os.environ.get("SDP_TOKEN", ""))).strip()
        problems = []
        if not address:
            problems.append("Set url, or SDP_URL, to the platform's base address.")
        if not given and self._credentials is None:
            problems.append("Set token, or username and password, or SDP_TOKEN.")
        if given and re.fullmatch(r"[\x21-\x7e]+", given) is None:
            problems.append("The token, or SDP_TOKEN, has characters that no token has.")
        if problems:
            raise SettingsError(problems)
        self.url = address
        self._token = given or None
        self.retry_seconds = retry_seconds
        self._http = HttpClient(address, {"user-agent": f"sdp-client/{VERSION}"})
        self._downloads = Downloads()
        self._lock = threading.Lock()

    def call(
        self, method: str, path: str, *, json: Any = None, query: dict[str, Any] | None = None, **options: Any
    ) -> tuple[int, Any]:
        """Status and parsed body. Raises ApiError, and NetworkError when no answer comes in time."""
        body: Body | None = options.pop("body", None)
        headers: dict[str, str | bytes] = dict(options.pop("headers", {}))
        meter: Meter | None = options.pop("meter", None)
        if json is not None:
            body = json_text(json).encode("utf-8", "replace")
            headers["content-type"] = "application/json"
        if method == "POST" and "x-platform-output-identifier" not in headers:
            # A repeat creates nothing twice. An upload has its own name.
            headers.setdefault("idempotency-key", f'"{uuid.uuid4()}"')
        back_off = BackOff()
        deadline = time.monotonic() + self.retry_seconds
        while True:
            try:
                if meter is not None:
                    meter.begin(0)
                answer = self.open(method, path, query=query, body=body, headers=headers, meter=meter)
                return answer.status, read_json(answer)
            except Exception as error:
                wait = back_off.next_seconds(error)
                # A request under the same key is under way and has no answer yet.
                is_under_way = isinstance(error, ApiError) and error.status == 409 and "under way" in str(error)
                may_repeat = is_worth_it(back_off, error) or is_under_way
                if not may_repeat or time.monotonic() + wait > deadline:
                    raise
                time.sleep(wait)

    def object(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """The body of an answer that is an object."""
        _, body = self.call(method, path, **options)
        return body if isinstance(body, dict) else {}

    def open(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: Body | None = None,
        headers: Headers | None = None,
        meter: Meter | None = None,
        answer_seconds: float | None = None,
        redirects: bool = False,
    ) -> Answer:
        """One try, up to the head of a successful answer; signs in, and again when the sign-in has expired."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        target = f"{path}?{urlencode(given)}" if given else path
        refused: str | None = None
        for is_second in (False, True):
            token = self._signed_in(refused)
            try:
                return self._http.open(
                    method,
                    target,
                    headers={**(headers or {}), "authorization": f"Bearer {token}"},
                    body=body,
                    silence_seconds=_SILENCE_SECONDS,
                    answer_seconds=answer_seconds,
                    sent=meter,
                    redirects=redirects,
                )
            except ApiError as error:
                if error.status != 401 or is_second or self._credentials is None:
                    raise
                refused = token
        raise AssertionError("the second try returns or raises")

    def open_download(self, path: str, headers: Headers) -> Answer:
        """One try to open bytes, from the store where the platform names an address there."""
        return self._downloads.open(
            lambda query: self.open("GET", path + query, headers=headers, redirects=True), headers
        )

    def avoid_store(self) -> None:
        """Opens downloads through the platform for a while."""
        self._downloads.avoid_store()

    def close(self) -> None:
        """Closes idle connections."""
        self._http.close()
        self._downloads.close()

    def _signed_in(self, refused: str | None) -> str:
        """The token, or another one than that which was refused. Threads that were refused together sign in once."""
        with self._lock:
            if self._token is None or self._token == refused:
                assert self._credentials is not None
                username, password = self._credentials
                body = json_text({"username": username, "password": password}).encode()
                headers = {"content-type": "application/json"}
                answer = self._http.open("POST", "/api/authorization/token", headers=headers, body=body)
                self._token = str(read_json(answer)["accessToken"])
            return self._token

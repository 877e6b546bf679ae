"""Calls that are repeated until there is a definite answer."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Literal

from .._json import json_text
from ..errors import ApiError
from .back_off import BackOff, is_transient
from .downloads import Downloads
from .http import Answer, Bytes, Headers, HttpClient, read_json
from .scope import Scope

log = logging.getLogger("sdp")

Patience = Literal["outage", "always", "never"]
"""How long to repeat. ``outage``: while there is no answer, or one that shows an outage, and some times for other
server errors. ``always``: until the answer is definite. ``never``: one try."""

_FAILURES_TO_WARN = 3


@dataclass(frozen=True)
class Reply:
    """Status and parsed body of an answer."""

    status: int
    body: Any


class Connection:
    """Calls below one address."""

    def __init__(self, url: str, headers: Headers) -> None:
        self.http = HttpClient(url, headers)
        self._downloads = Downloads()

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: Bytes | None = None,
        headers: Headers | None = None,
        silence_seconds: float = 60.0,
        first_silence_seconds: float | None = None,
        patience: Patience = "outage",
        scope: Scope | None = None,
    ) -> Reply:
        """Makes a call and reads its answer. Raises ApiError for a definite refusal, and the error of an ended scope;
        NetworkError only without patience. With `first_silence_seconds` the first try waits no longer, and each
        further one twice as long, up to `silence_seconds`."""
        scope = scope or Scope()
        all_headers = dict(headers or {})
        if json is not None:
            body = json_text(json).encode("utf-8", "replace")
            all_headers["content-type"] = "application/json"
        back_off = BackOff()
        while True:
            try:
                first = silence_seconds if first_silence_seconds is None else first_silence_seconds
                silence = min(silence_seconds, first * 2 ** min(back_off.failures, 16))
                answer = self.open(method, path, all_headers, body, silence, scope)
                reply = Reply(answer.status, read_json(answer))
                if back_off.failures >= _FAILURES_TO_WARN:
                    log.info("%s %s: answered again", method, path)
                return reply
            except Exception as error:
                scope.check()
                if not _may_repeat(patience, error, back_off):
                    raise
                level = logging.DEBUG if back_off.failures + 1 < _FAILURES_TO_WARN else logging.WARNING
                log.log(level, "%s %s: %s; trying again", method, path, self._reason(error))
                scope.wait(back_off.next_seconds(error))

    def _reason(self, error: Exception) -> str:
        """Names the address that answered: it may be that of another program, or have a path too many."""
        text = str(error).rstrip(".")
        return f"{self.http.address} answered {error.status}, {text}" if isinstance(error, ApiError) else text

    def open(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: Bytes | None,
        silence_seconds: float,
        scope: Scope,
    ) -> Answer:
        """One try, up to the head of a successful answer."""
        return self.http.open(
            method, path, headers=headers, body=body, silence_seconds=silence_seconds, scope=scope
        )

    def open_download(self, path: str, headers: Headers, silence_seconds: float, scope: Scope) -> Answer:
        """One try to open bytes, from the store where the platform names an address there."""
        return self._downloads.open(
            lambda query: self.http.open(
                "GET", path + query, headers=headers, silence_seconds=silence_seconds, scope=scope, redirects=True
            ),
            headers,
            scope,
        )

    def avoid_store(self) -> None:
        """Opens downloads through the platform for a while."""
        self._downloads.avoid_store()

    def close(self) -> None:
        """Closes idle connections."""
        self.http.close()
        self._downloads.close()


def _may_repeat(patience: Patience, error: Exception, back_off: BackOff) -> bool:
    if patience == "never":
        return False
    return is_transient(error) if patience == "always" else back_off.is_worth_it(error)

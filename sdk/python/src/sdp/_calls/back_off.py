"""How long to wait before a call is made again, and how often."""

from __future__ import annotations

import http.client
import random

from ..errors import ApiError

NETWORK_FAULTS = (OSError, http.client.HTTPException)

_FIRST_SECONDS = 0.2
_LONGEST_RETRY_AFTER_SECONDS = 60.0
# About half a minute of the same 500.
_SERVER_ERRORS_IN_A_ROW = 10


def is_transient(error: BaseException) -> bool:
    """True for temporary errors: no answer, too many calls, a fault of the server."""
    if isinstance(error, ApiError):
        return error.is_outage or error.status >= 500
    return isinstance(error, NETWORK_FAULTS)


class BackOff:
    """Waits that double up to a bound, each shortened by chance."""

    def __init__(self, longest_seconds: float = 5.0) -> None:
        self.failures = 0
        self._longest_seconds = longest_seconds
        self._server_errors = 0

    def reset(self) -> None:
        """To be called after a success."""
        self.failures = 0
        self._server_errors = 0

    def next_seconds(self, error: BaseException) -> float:
        """The wait after one more failure. A longer ``Retry-After`` is obeyed up to a minute."""
        full: float = min(self._longest_seconds, _FIRST_SECONDS * 2 ** min(self.failures, 16))
        self.failures += 1
        asked = (error.retry_after_seconds or 0.0) if isinstance(error, ApiError) else 0.0
        return max(min(asked, _LONGEST_RETRY_AFTER_SECONDS), full * random.uniform(0.5, 1.0))

    def is_worth_it(self, error: BaseException) -> bool:
        """Whether to try again: after each sign of an outage, and after some server errors in a row."""
        is_outage = not isinstance(error, ApiError) or error.is_outage
        if is_outage or not is_transient(error):
            self._server_errors = 0
        else:
            self._server_errors += 1
        return is_transient(error) and self._server_errors < _SERVER_ERRORS_IN_A_ROW

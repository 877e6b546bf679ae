"""Errors that a runner or a program can distinguish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

FailureCategory = Literal["error", "validation", "memory", "timeout"]
"""``error``, ``memory`` and ``timeout`` are tried again, up to the node template's ``maxAttempts``; ``validation``
means that the input or the configuration is wrong, and is never tried again."""

CATEGORIES: tuple[FailureCategory, ...] = ("error", "validation", "memory", "timeout")

CancelReason = Literal["cancelled", "lease-lost", "unauthorized", "shutdown", "ended"]
"""Why a task ends early.

- ``cancelled``: an operator cancelled the run.
- ``lease-lost``: the task is no longer held (claimed by another, timed out, or its session deleted).
- ``unauthorized``: the token was revoked, or its rights were withdrawn.
- ``shutdown``: this process is asked to end; the task is released and no attempt is counted.
- ``ended``: the task's code has returned or raised. Only its calls that are still open get this reason.
"""

_SENTENCES: dict[CancelReason, str] = {
    "cancelled": "The run was cancelled.",
    "lease-lost": "The task is no longer held.",
    "unauthorized": "The token is no longer valid.",
    "shutdown": "The runner is shutting down.",
    "ended": "The task has ended.",
}


class SdpError(Exception):
    """Base of all errors of this package."""


class TaskFailure(SdpError):
    """Raised by a runner to say how its task failed; operators read ``<category>: <reason>``."""

    def __init__(self, category: FailureCategory, reason: str) -> None:
        super().__init__(reason)
        if category not in CATEGORIES:
            raise ValueError(f"The category of a failure is one of {', '.join(CATEGORIES)}, not {category!r}.")
        self.category: FailureCategory = category
        self.reason = reason


class UnreadableData(TaskFailure):
    """Data are not the text or table as which they are read; the message says what is wrong, with the line if it has one.

    In a runner it fails the task as ``validation``, or rejects the input.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("validation", reason)


class TaskCancelled(SdpError):
    """The task must end now; every call for it raises this from now on."""

    def __init__(self, why: CancelReason) -> None:
        super().__init__(_SENTENCES[why])
        self.why: CancelReason = why


class SettingsError(SdpError):
    """Missing or wrong settings, one sentence each, for the person who starts a runner."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class MissingLibrary(SdpError, ImportError):
    """A library that this call needs is not installed; the message names the command that installs it."""


class NetworkError(SdpError, ConnectionError):
    """No complete answer came: a refused, broken or silent connection."""


class ApiError(SdpError):
    """A definite refusal by the platform."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str = "",
        request_id: str | None = None,
        retry_after_seconds: float | None = None,
        issues: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status."""
        self.code = code
        """Stable code, for example ``watermark_regression``; empty when the reply had none."""
        self.request_id = request_id
        """Id of the call in the platform's logs."""
        self.retry_after_seconds = retry_after_seconds
        self.issues = tuple(issues)
        """Faults of the document that was sent, each with ``path`` and ``message``."""

    @property
    def is_end(self) -> bool:
        """True for replies after which a task is no longer held."""
        return self.status in (401, 403) or self.code == "task_not_found"

    @property
    def is_outage(self) -> bool:
        """True for signs of an outage. A 404 without a code comes from a gateway that has no platform behind it."""
        return self.status in (408, 429, 502, 503, 504) or (self.status == 404 and self.code == "")


def message_of(error: BaseException) -> str:
    """The message of any error."""
    return str(error) or type(error).__name__

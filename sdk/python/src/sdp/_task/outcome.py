"""From the result or the error of a runner's code to a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .._text import clip
from ..errors import ApiError, CancelReason, FailureCategory, TaskCancelled, TaskFailure, message_of
from .state import checked_state

REASON_CHARACTERS = 4_000

Outcome = Literal["completed", "no-output", "suspended"]
"""``completed``: outputs were written; they are published and children run. ``no-output``: nothing to write; staged
outputs are dropped, children do not run. ``suspended``: waits for new input or a reprocess; staged outputs are
dropped."""

OUTCOMES: tuple[Outcome, ...] = ("completed", "no-output", "suspended")


@dataclass(frozen=True)
class Completion:
    """What a runner's code may return; None for a field leaves its default."""

    outcome: Outcome | None = None
    """Default: ``completed`` when the run has written an output, else ``no-output``."""
    has_more: bool | None = None
    """Inputs are left: a follow-up task is made. Only for incremental nodes whose watermark moved in this task."""
    status_details: str | None = None
    """A sentence for operators."""
    state: dict[str, Any] | None = None
    """The node's state from now on."""


Result = Outcome | Completion | None
"""What a runner's code may return."""


@dataclass(frozen=True)
class Report:
    """How a task ends: ``complete``, ``fail``, ``release``; ``none`` when it is no longer held."""

    how: Literal["complete", "fail", "release", "none"]
    body: dict[str, Any]
    is_outcome_open: bool = False
    """The code named no outcome: it depends on whether the run has outputs."""


CANCEL_BODY: dict[str, Any] = {"category": "error", "reason": "cancelled"}
"""The platform records every report of a cancelled task as cancelled."""


def report_of_result(result: object, has_more: bool, state: dict[str, Any] | None) -> Report:
    """The report of code that has returned. Raises TypeError and ValueError for a state that is no JSON."""
    if isinstance(result, str) and result in OUTCOMES:
        result = Completion(outcome=result)
    if result is None:
        result = Completion()
    if not isinstance(result, Completion):
        reason = f"The runner returned {result!r:.200}: it may return None, an outcome or a Completion."
        return failure("error", reason)
    body: dict[str, Any] = {"outcome": result.outcome or "completed"}
    # The platform accepts the field only for incremental nodes.
    if has_more if result.has_more is None else result.has_more:
        body["hasMore"] = True
    if result.status_details is not None:
        body["statusDetails"] = clip(result.status_details, REASON_CHARACTERS)
    new_state = state if result.state is None else result.state
    if new_state is not None:
        body["state"] = checked_state(new_state)
    return Report("complete", body, is_outcome_open=result.outcome is None)


def report_of_error(error: BaseException, cancelled: CancelReason | None) -> Report:
    """The report of code that has raised; an error after a cancel is a consequence of it."""
    if isinstance(error, TaskFailure):
        return failure(error.category, error.reason)
    # A loop over new inputs ends with a cancel of its own at a shutdown.
    if cancelled is None and isinstance(error, TaskCancelled) and error.why == "shutdown":
        cancelled = error.why
    if cancelled == "shutdown":
        return Report("release", {"reason": message_of(TaskCancelled("shutdown"))})
    if cancelled == "cancelled":
        return Report("fail", CANCEL_BODY)
    if cancelled is not None:
        return Report("none", {})
    return failure(_category_of(error), _reason_of(error))


def failure(category: FailureCategory, reason: str) -> Report:
    """The report of a failure."""
    return Report("fail", {"category": category, "reason": clip(reason, REASON_CHARACTERS)})


def _category_of(error: BaseException) -> FailureCategory:
    if isinstance(error, MemoryError):
        return "memory"
    return "timeout" if isinstance(error, TimeoutError) else "error"


def _reason_of(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:
        text = "it has no text"
    if isinstance(error, (ApiError, MemoryError)):
        return text or "out of memory"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

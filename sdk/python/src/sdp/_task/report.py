"""Reports the end of a task to the platform, with repeats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._calls.scope import Scope
from .._calls.task_calls import HeldTask, Json
from ..errors import ApiError
from .outcome import Report, failure

_UNREADABLE = "The reason of the failure could not be reported."


class TooLate(Exception):
    """The platform had ended the task before."""


def send_report(calls: HeldTask, report: Report, scope: Scope, more: Json | None = None) -> tuple[str, Json]:
    """Sends a report and repeats it until there is a definite answer; returns how the task ended and the reply.

    The platform replies the same to the same report for ten minutes, so repeats do no harm. A refused result becomes a
    failure with the reason. `more` goes with every form of the report. Raises TooLate; ApiError; the scope's error.
    """
    if report.how == "none":
        raise TooLate("The task is no longer held.")
    while True:
        try:
            return report.how, calls.end(report.how, {**report.body, **(more or {})}, scope)
        except ApiError as error:
            if error.is_end or error.code == "task_finished":
                raise TooLate(str(error)) from error
            following = _instead_of(report, error)
            if following is None:
                raise
            report = following


def _instead_of(report: Report, refusal: ApiError) -> Report | None:
    """What to report after a refusal; None when nothing is left to say."""
    body: dict[str, Any] = report.body
    if report.how == "complete":
        if refusal.code == "output_missing" and report.is_outcome_open:
            return replace(report, body={**body, "outcome": "no-output"}, is_outcome_open=False)
        return failure("error", f"The result was refused: {refusal}")
    if report.how == "fail" and body["reason"] != _UNREADABLE:
        return replace(report, body={**body, "reason": _UNREADABLE})
    return None

"""Annotations, as the platform gets them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from .._inputs.inputs import parse_time

if TYPE_CHECKING:
    from .._calls.task_calls import TaskCalls
    from .._logs.task_log import TaskLog

Moment = datetime | str | float
"""A datetime or ISO 8601 text, without a zone in UTC; or seconds: since 1970, or since the beginning of a recording."""


def annotation_wire(
    start: Moment,
    end: Moment | None,
    label: str,
    text: str,
    tags: Sequence[str],
    channel: str | None,
) -> dict[str, Any]:
    """An annotation of a moment, or of a range when it has an end."""
    return {
        "from": _wire_time(start),
        "to": None if end is None else _wire_time(end),
        "label": label,
        "text": text,
        "tags": list(tags),
        "channel": channel,
    }


def _wire_time(moment: Moment) -> str:
    at = _datetime_of(moment)
    # astimezone would take a time without a zone as that of the machine.
    at = at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _datetime_of(moment: Moment) -> datetime:
    if isinstance(moment, datetime):
        return moment
    if not isinstance(moment, str):
        return datetime.fromtimestamp(float(moment), timezone.utc)
    try:
        return parse_time(moment)
    except ValueError:
        raise ValueError(
            f"'{moment}' is no time: it must be like 2026-03-01T10:00:00Z, a datetime or a number of seconds."
        ) from None


class Annotations:
    """The annotations of one task."""

    def __init__(self, calls: TaskCalls) -> None:
        self._calls = calls
        self._count = 0

    def add(self, annotation: dict[str, Any]) -> None:
        """Marks a moment or a range."""
        self._calls.annotate([annotation])
        self._count += 1

    def warn_unless_published(self, has_output: bool, log: TaskLog) -> None:
        """The platform publishes annotations with outputs, and drops those of a run that has none."""
        if self._count > 0 and not has_output:
            log.warning("The run wrote no output: its annotations (%s) are not published.", self._count)

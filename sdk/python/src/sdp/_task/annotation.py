"""Annotations, as the platform gets them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any


def annotation_wire(
    start: datetime | float,
    end: datetime | float | None,
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


def _wire_time(time: datetime | float) -> str:
    at = time if isinstance(time, datetime) else datetime.fromtimestamp(time, timezone.utc)
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

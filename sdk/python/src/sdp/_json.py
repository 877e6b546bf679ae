"""Values of an author as JSON that the platform accepts."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(value: Any) -> str:
    """Raises TypeError and ValueError for what is no JSON."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except ValueError as error:
        found = _not_finite(value, "$") if "JSON compliant" in str(error) else None
        if found is None:
            raise
        raise ValueError(f"JSON has no {found}; use None for it") from error


def _plain(value: Any) -> Any:
    # Numbers and arrays of numpy, pandas and torch, none of which this package needs.
    if hasattr(value, "item") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _not_finite(value: Any, path: str) -> str | None:
    """The first number that JSON cannot hold, with its path."""
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{float(value)} (at {path})"
    if isinstance(value, dict):
        parts = ((each, f"{path}.{name}") for name, each in value.items())
    elif isinstance(value, (list, tuple)):
        parts = ((each, f"{path}[{index}]") for index, each in enumerate(value))
    else:
        return _not_finite(value.tolist(), path) if hasattr(value, "item") and hasattr(value, "tolist") else None
    return next(filter(None, (_not_finite(each, place) for each, place in parts)), None)

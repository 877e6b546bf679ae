"""Values of an author as JSON that the platform accepts."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any) -> str:
    """Raises TypeError and ValueError for what is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    # Numbers and arrays of numpy, pandas and torch, none of which this package needs.
    if hasattr(value, "item") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

"""Pages by their offset, of a list in which rows come and go between two pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

_PAGE_ROWS = 100

Rows = list[dict[str, Any]]
Read = Callable[[int, int], Rows]
"""Reads the rows from an offset on, at most so many."""


def rows_by_pages(read: Read, limit: int | None) -> Iterator[dict[str, Any]]:
    """The rows in their order, each once. Rows that came before those that were returned are left out."""
    seen: set[str] = set()
    offset = 0
    while limit is None or len(seen) < limit:
        size = _PAGE_ROWS if limit is None else min(_PAGE_ROWS, limit - len(seen) + (1 if seen else 0))
        at, rows = _page_with_seen(read, seen, offset, size) if seen else (0, read(0, size))
        behind = 1 + max((index for index, row in enumerate(rows) if row["id"] in seen), default=-1)
        for row in rows[behind:]:
            if limit is not None and len(seen) >= limit:
                return
            seen.add(row["id"])
            yield row
        # A count may end at a bound.
        if len(rows) < size:
            return
        # The last row is read again: it shows whether others have moved.
        offset = at + len(rows) - 1


def _page_with_seen(read: Read, seen: set[str], offset: int, size: int) -> tuple[int, Rows]:
    """The page at the offset, or the nearest one with a row that was seen. Without any of them: the first page."""
    is_end = False
    for step in count():
        before, after = max(0, offset - step * size), offset + step * size
        for at in (before,) if is_end or step == 0 else (before, after):
            rows = read(at, size)
            if any(row["id"] in seen for row in rows):
                return at, rows
            is_end = is_end or (at == after and len(rows) < size)
        if before == 0 and is_end:
            return 0, read(0, size)
    raise AssertionError("a list has an end")

"""Turns csv tables of any size into JSON lines, one object for each row, within constant memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import sdp

ROWS_BETWEEN_REPORTS = 5_000


@sdp.runner(name="csv-to-json-lines", version="2.0.0", templates=["csv-to-json-lines"])
def convert(task: sdp.Task[dict[str, Any]]) -> None:
    """Writes an output for each new table."""

    def one(item: sdp.Input) -> None:
        task.progress("converting", item.output_identifier)
        # Output and watermark move together: no table is converted twice and none is left out. With several outputs
        # for a table, the last one would carry the watermark.
        task.write(
            json_lines(task, item),
            # Of the run, so that a reprocess writes anew, and of the input, so that a repeat does not.
            identifier=f"rows-{item.output_id}-{task.run_id}",
            source_key=item.source_key,
            content_type="application/x-ndjson",
            metadata={"source": item.output_identifier},
            watermark=item,
        )

    task.each_new_input(one, advance="by-hand")


def json_lines(task: sdp.Task[Any], item: sdp.Input) -> Iterator[str]:
    """The rows of a table as JSON lines."""
    for count, row in enumerate(item.rows(), 1):
        if count % ROWS_BETWEEN_REPORTS == 0:
            task.progress(done=count, unit="rows")
        yield json.dumps({name: typed(cell) for name, cell in row.items()}, ensure_ascii=False) + "\n"


def typed(cell: str) -> Any:
    """Numbers as numbers, nothing as null, all else as text."""
    if cell == "":
        return None
    try:
        value = float(cell)
    except ValueError:
        return cell
    if cell.lstrip("-").isdigit():
        return int(cell)
    # JSON knows no infinity and no NaN.
    return value if math.isfinite(value) else cell


if __name__ == "__main__":
    convert.run()

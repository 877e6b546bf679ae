"""Turns csv tables of any size into JSON lines, one object for each row, with memory that stays flat."""

from __future__ import annotations

import csv
import io
import json
import logging
import os
import sys
from typing import Any, BinaryIO, Iterator, Optional

from platform_client import ApiError
from platform_runner import Runner
from platform_task import Task, TaskFailure

CHUNK_BYTES = 256 * 1024


def work(task: Task) -> Optional[str]:
    for item in task.inputs("since-watermark"):
        task.report("converting", item["outputIdentifier"])
        with task.open_input(item) as stream:
            # Output and watermark move together: no table is converted twice and none is left out. With several outputs
            # for a table, the last one would carry the watermark.
            task.write(
                json_lines(task, stream),
                # Of the run, so that a reprocess writes anew, and of the input, so that a repeat does not.
                identifier=f"rows-{item['outputId']}-{task.claim['runId']}",
                content_type="application/x-ndjson",
                metadata={"source": item["outputIdentifier"]},
                watermark=item["outputId"],
            )
    return "completed" if task.has_written else None


def json_lines(task: Task, stream: BinaryIO) -> Iterator[bytes]:
    rows = csv.DictReader(io.TextIOWrapper(stream, "utf-8-sig", newline=""), strict=True)
    chunk = bytearray()
    try:
        for count, row in enumerate(rows, 1):
            if None in row or None in row.values():
                raise TaskFailure("validation", f"line {rows.line_num}: not as many cells as columns")
            chunk += json.dumps({name: typed(cell) for name, cell in row.items()}, ensure_ascii=False).encode()
            chunk += b"\n"
            if len(chunk) >= CHUNK_BYTES:
                task.check()
                task.report("converting", done=count, unit="rows")
                yield bytes(chunk)
                chunk.clear()
    except (csv.Error, UnicodeDecodeError) as error:
        raise TaskFailure("validation", f"line {rows.line_num}: {error}") from error
    yield bytes(chunk)


def typed(cell: str) -> Any:
    """Numbers as numbers, nothing as null, all else as text."""
    if cell == "":
        return None
    try:
        value = float(cell)
    except ValueError:
        return cell
    if value.is_integer() and cell.lstrip("-").isdigit():
        return int(cell)
    # JSON knows no infinity and no NaN.
    return value if abs(value) < float("inf") else cell


if __name__ == "__main__":
    level = os.environ.get("SDP_RUNNER_LOG", "info").upper()
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(levelname)s %(message)s")
    try:
        Runner("csv-to-json-lines", "1.0.0", ["csv-to-json-lines"], work).run()
    except ApiError as refused:
        raise SystemExit(f"The platform refuses the runner: {refused}") from refused

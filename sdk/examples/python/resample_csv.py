"""Brings csv recordings of any size to a fixed rate, row by row, within constant memory."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal

import sdp

MOST_STEPS = 50_000_000
CHUNK_CHARACTERS = 64 * 1024


@dataclass
class Settings:
    """The node's configuration; its schema is in the manifest."""

    rate_hz: float
    time_column: str | None = None
    time_unit: Literal["s", "ms"] = "s"
    method: Literal["linear", "previous"] = "linear"


@sdp.runner(name="resample-csv", version="2.0.0", templates=["resample-csv"], configuration=Settings)
def resample_all(task: sdp.Task[Settings]) -> None:
    """Writes an output for each new recording."""

    def one(item: sdp.Input) -> None:
        task.progress("resampling", item.output_identifier)
        task.write(
            resample(item.csv(), task.configuration),
            identifier=f"resampled-{item.output_id}-{task.run_id}",
            source_key=item.source_key,
            content_type="text/csv",
            metadata={"source": item.output_identifier, "rateHz": task.configuration.rate_hz},
            watermark=item,
        )

    task.each_new_input(one, advance="by-hand")


def resample(rows: Iterator[list[str]], settings: Settings) -> Iterator[str]:
    """The resampled table: the same columns, from the first row's time to the last row's.

    Numbers are interpolated; other cells keep the value of the row before. Raises TaskFailure ``validation`` with the
    row, the header being row 1.
    """
    columns = [name.strip() for name in next(rows, [""])]
    if settings.time_column is not None and settings.time_column not in columns:
        raise sdp.TaskFailure("validation", f"row 1: there is no column '{settings.time_column}'")
    time_at = 0 if settings.time_column is None else columns.index(settings.time_column)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    for cells in steps(rows, time_at, settings):
        table.writerow(cells)
        if text.tell() >= CHUNK_CHARACTERS:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def steps(rows: Iterator[list[str]], time_at: int, settings: Settings) -> Iterator[list[str]]:
    """The rows at the times of the fixed rate."""
    clock = Clock(settings.time_unit)
    before: tuple[float, list[str]] | None = None
    begin = 0.0
    step = 0
    for row, cells in enumerate(rows, 2):
        now = clock.read(cells[time_at], row)
        if before is None:
            begin = now
        elif now < before[0]:
            raise sdp.TaskFailure("validation", f"row {row}: the time goes back")
        # Computed from the step's number, so that errors do not add up.
        while (at := begin + step / settings.rate_hz) <= now:
            step += 1
            if step > MOST_STEPS:
                raise sdp.TaskFailure("validation", f"more than {MOST_STEPS} steps: is timeUnit right?")
            made = between(before or (now, cells), (now, cells), at, settings.method)
            made[time_at] = clock.write(at)
            yield made
        before = (now, cells)


def between(
    before: tuple[float, list[str]], after: tuple[float, list[str]], at: float, method: Literal["linear", "previous"]
) -> list[str]:
    """The cells at a time between two rows."""
    if at == after[0]:
        return list(after[1])
    if method == "previous":
        return list(before[1])
    share = (at - before[0]) / (after[0] - before[0])
    made: list[str] = []
    for cell, following in zip(before[1], after[1]):
        start, end = to_number(cell), to_number(following)
        made.append(cell if start is None or end is None else to_text(start + (end - start) * share))
    return made


class Clock:
    """Reads times and writes them in the same form."""

    def __init__(self, unit: Literal["s", "ms"]) -> None:
        self._per_second = 1.0 if unit == "s" else 1_000.0
        self._is_numeric: bool | None = None

    def read(self, text: str, row: int) -> float:
        """A time in seconds."""
        cell = text.strip()
        value = to_number(cell)
        if self._is_numeric is None:
            self._is_numeric = value is not None
        try:
            if not self._is_numeric:
                return datetime.fromisoformat(cell.replace("Z", "+00:00")).timestamp()
            if value is not None:
                return value / self._per_second
        except ValueError:
            pass
        raise sdp.TaskFailure("validation", f"row {row}: '{cell}' is not a time")

    def write(self, seconds: float) -> str:
        """A time in the form of the recording."""
        if self._is_numeric:
            return to_text(seconds * self._per_second)
        time = datetime.fromtimestamp(seconds, timezone.utc)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_number(cell: str) -> float | None:
    """The number of a cell; None for other cells."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def to_text(value: float) -> str:
    """Without the noise of binary fractions."""
    return f"{value:.12g}"


if __name__ == "__main__":
    resample_all.run()

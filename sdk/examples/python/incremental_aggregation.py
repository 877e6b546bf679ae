"""Maintains an aggregate over all uploads, and reads only new ones.

Aggregate and watermark are stored by one call, so each table is added exactly once, wherever the process is killed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import sdp


@dataclass
class Settings:
    """The node's configuration."""

    column: str


@dataclass
class Aggregate:
    """A running aggregate of one column."""

    tables: int = 0
    skipped: int = 0
    """Files that are not tables or lack the column."""
    count: int = 0
    sum: float = 0.0
    least: float | None = None
    greatest: float | None = None

    @classmethod
    def of_state(cls, stored: dict[str, Any]) -> Aggregate:
        """As it was stored. JSON writes 1.0 as 1, and the same result must be the same bytes."""
        numbers = {key: None if stored[key] is None else float(stored[key]) for key in ("sum", "least", "greatest")}
        return cls(**{**stored, **numbers})

    def add(self, rows: Iterator[list[str]], column: str) -> None:
        """Adds a table, whose first row is its header; cells without a number are left out."""
        header = [name.strip() for name in next(rows, [])]
        if column not in header:
            self.skipped += 1
            return
        place = header.index(column)
        count, total, least, greatest = self.count, self.sum, self.least, self.greatest
        for cells in rows:
            value = to_number(cells[place])
            if math.isfinite(value):
                count += 1
                total += value
                least = value if least is None else min(least, value)
                greatest = value if greatest is None else max(greatest, value)
        # Only a whole table counts: a broken one has raised by now.
        self.tables += 1
        self.count, self.sum, self.least, self.greatest = count, total, least, greatest

    def present(self) -> dict[str, Any]:
        """As it is written."""
        return {**asdict(self), "mean": self.sum / self.count if self.count else None}


@sdp.runner(
    name="incremental-aggregation", version="2.0.0", templates=["incremental-aggregation"], configuration=Settings
)
def aggregate_all(task: sdp.Task[Settings]) -> sdp.Outcome:
    """Adds the new tables, and writes the aggregate."""
    aggregate = aggregate_at_watermark(task)

    def one(item: sdp.Input) -> None:
        task.progress("adding", item.output_identifier)
        add(task, aggregate, item)
        # Stored together with the watermark, by the step that follows.
        task.state.set({"upTo": item.output_id, "aggregate": asdict(aggregate)})

    task.each_new_input(one)
    current = task.watermark.current
    if current is None:
        return "no-output"
    # Named after its last input: an attempt after a crash finds it, or writes it from the state.
    identifier = f"aggregate-{current}-{task.run_id}"
    # One source: each aggregate takes the place of the one before.
    task.write_json(aggregate.present(), identifier=identifier, source_key="aggregate")
    return "completed"


def aggregate_at_watermark(task: sdp.Task[Settings]) -> Aggregate:
    """The stored aggregate when it ends exactly at the watermark; else, as in a reprocess, computed again."""
    current = task.watermark.current
    if current is None:
        return Aggregate()
    state = task.state.get()
    if state is not None and state["upTo"] == current:
        return Aggregate.of_state(state["aggregate"])
    aggregate = Aggregate()
    for item in task.inputs("all"):
        add(task, aggregate, item)
        if item.output_id == current:
            break
    return aggregate


def add(task: sdp.Task[Settings], aggregate: Aggregate, item: sdp.Input) -> None:
    """One broken file must not block the files after it. With ``on_bad_input="reject"`` it is rejected."""
    try:
        aggregate.add(item.csv(), task.configuration.column)
    except sdp.TaskFailure as failure:
        task.log.warning("%s is left out: %s", item.output_identifier, failure.reason)
        aggregate.skipped += 1


def to_number(cell: str) -> float:
    """The number of a cell; NaN for other cells."""
    try:
        return float(cell)
    except ValueError:
        return math.nan


if __name__ == "__main__":
    aggregate_all.run()

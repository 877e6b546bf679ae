"""The greatest value of one column of each recording."""

from __future__ import annotations

import math
from dataclasses import dataclass

import sdp


@dataclass
class Settings:
    """The node's configuration; its schema is in the manifest."""

    column: str = "speed"


@sdp.runner(
    name="my-runner", version="0.1.0", templates=["my-runner"], configuration=Settings, on_bad_input="reject"
)
def work(task: sdp.Task[Settings]) -> None:
    """Writes an output for each new recording. One that lacks a number in the column is rejected, with the reason."""

    def one(recording: sdp.Input) -> None:
        values = [number(row, task.configuration.column) for row in recording.rows()]
        if not values:
            raise sdp.TaskFailure("validation", "there are no rows")
        task.log.info("%s has %s rows", recording.output_identifier, len(values))
        result = {"recording": recording.output_identifier, "top": max(values), "rows": len(values)}
        # By its source key, what a reprocess writes takes the place of this in dashboards.
        task.write_json(result, source_key=recording.source_key)

    task.each_new_input(one)


def number(row: dict[str, str], column: str) -> float:
    """The value of the column in a row."""
    text = row.get(column, "")
    try:
        # float also reads 1_0, as in a program.
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise sdp.TaskFailure("validation", f"there is no number in column {column}")
    return value


if __name__ == "__main__":
    work.run()

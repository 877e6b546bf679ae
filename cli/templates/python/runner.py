"""The greatest value of one column of each recording."""

from __future__ import annotations

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
    """Writes an output for each new recording. One that lacks the column is put aside, with the reason."""

    def one(recording: sdp.Input) -> None:
        values = [number(row, task.configuration.column) for row in recording.rows()]
        if not values:
            raise sdp.TaskFailure("validation", "there are no rows")
        task.log.info("%s has %s rows", recording.output_identifier, len(values))
        task.write_json({"recording": recording.output_identifier, "top": max(values), "rows": len(values)})

    task.each_new_input(one)


def number(row: dict[str, str], column: str) -> float:
    """The value of the column in a row."""
    try:
        return float(row[column])
    except (KeyError, ValueError):
        raise sdp.TaskFailure("validation", f"there is no number in column {column}") from None


if __name__ == "__main__":
    work.run()

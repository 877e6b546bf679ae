"""The state of a node between its runs: a JSON object that only its runner understands."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._calls.task_calls import Json, TaskCalls


class NodeState:
    """State of the node between its runs."""

    def __init__(self, calls: TaskCalls) -> None:
        self._calls = calls
        self._read: Json | None = None
        self._set: Json | None = None
        self._unstored: Json | None = None
        # Last stored in this task.
        self._stored: Json | None = None

    def get(self) -> dict[str, Any] | None:
        """The state as last set in this task, else as stored by the runs before; None when there is none."""
        state: dict[str, Any] | None = self.read()["state"] if self._set is None else self._set
        return copy.deepcopy(state)

    def set(self, state: dict[str, Any]) -> None:
        """Sets the state: an object of up to 64 KB as JSON.

        It is stored with the next move of the watermark, or when the task completes. A task that fails or is released
        stores nothing more.
        """
        self._set = copy.deepcopy(state)
        self._unstored = self._set

    @property
    def unstored(self) -> dict[str, Any] | None:
        """The state for the next call that can store it; None when it has not changed."""
        return self._unstored

    def restore(self, unstored: dict[str, Any] | None) -> None:
        """Restores an earlier `unstored`, and drops what was set since."""
        # Nothing was set since, or it is stored already.
        if self._unstored is unstored or self._unstored is None:
            return
        self._set = self._stored if unstored is None else unstored
        self._unstored = unstored

    def note_stored(self, state: dict[str, Any] | None) -> None:
        """To be called with the state that a call has stored."""
        self._stored = self._stored if state is None else state
        if self._unstored is state:
            self._unstored = None

    def read(self) -> Json:
        """The platform's answer, read once."""
        if self._read is None:
            self._read = self._calls.state()
        return self._read

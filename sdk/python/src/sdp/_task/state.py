"""The state of a node between its runs: a JSON object that only its runner understands."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._json import json_text

if TYPE_CHECKING:
    from .._calls.task_calls import Json, TaskCalls

_STATE_BYTES = 64 * 1024
_LONGEST_CHARACTER = 4


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
        stores nothing more. Raises TypeError and ValueError for what the platform would refuse.
        """
        checked_state(state)
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


def checked_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state as JSON reads it again. Raises TypeError and ValueError for what the platform would refuse."""
    if not isinstance(state, Mapping):
        raise TypeError(f"The state is a dictionary, not {type(state).__name__}.")
    try:
        text = json_text(state)
    except (TypeError, ValueError) as error:
        raise type(error)(f"The state is no JSON: {error}") from error
    stored: dict[str, Any] = json.loads(text)
    # The platform counts without the spaces of this text.
    if len(text) > _STATE_BYTES // _LONGEST_CHARACTER and (size := _size_of(stored)) > _STATE_BYTES:
        raise ValueError(f"The state holds at most {_STATE_BYTES} bytes as JSON, not {size}.")
    return stored


def _size_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))

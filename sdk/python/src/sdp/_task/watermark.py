"""The watermark of an incremental node: the input up to which all are consumed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._inputs.inputs import InputInfo
from .._outputs.headers import input_id_of

if TYPE_CHECKING:
    from .._calls.task_calls import Json, TaskCalls
    from .state import NodeState


class Watermark:
    """The watermark of an incremental node."""

    def __init__(self, calls: TaskCalls, incremental: Json, state: NodeState, written: Callable[[], None]) -> None:
        self._calls = calls
        self._state = state
        self._written = written
        self._current: int | None = incremental["watermark"]
        self._pending: int | None = incremental["pendingInputs"]
        self._has_moved = False

    @property
    def current(self) -> int | None:
        """Id of the last consumed input; None before the first."""
        return self._current

    @property
    def has_moved(self) -> bool:
        """True once this task moved it."""
        return self._has_moved

    def pending_inputs(self) -> int:
        """Inputs of this task above the watermark, those beyond the cap included."""
        if self._pending is None:
            self._pending = int(self._calls.state()["incremental"]["pendingInputs"])
        return self._pending

    def advance(self, item: InputInfo | int) -> None:
        """Marks all inputs up to this one as consumed, durably and together with the state that was set.

        It publishes all outputs that were written before, so write an input's outputs first. It waits for writes that
        other threads have begun. Setting the present position again publishes what was written since. Raises ApiError
        ``watermark_regression`` for an older input, ``watermark_unknown_input`` for one of another task.
        """
        self._written()
        state = self._state.unstored
        moved = self._calls.advance(input_id_of(item), state)
        self._state.note_stored(state)
        self._note(moved.get("watermark", input_id_of(item)), moved.get("pendingInputs"))

    def note_output(self, item: InputInfo | int) -> None:
        """An output has moved it."""
        self._note(input_id_of(item), None)

    def note_rejection(self, item: InputInfo | int, reply: Any) -> None:
        """An input was rejected, which moves the watermark of an incremental node past it."""
        answer = reply if isinstance(reply, dict) else {}
        self._note(answer.get("watermark", input_id_of(item)), answer.get("pendingInputs"))

    def _note(self, position: int | None, pending: int | None) -> None:
        self._has_moved = self._has_moved or position != self._current
        self._current = position
        self._pending = pending

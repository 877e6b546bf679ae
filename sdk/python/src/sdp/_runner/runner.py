"""Runners, as their authors make and start them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar, overload

from .._task.async_task import AsyncTask
from .._task.outcome import Result
from .._task.task import OnBadInput, Task
from .definition import Handler, RunnerDefinition
from .run import run

C = TypeVar("C")


class Runner(RunnerDefinition):
    """A runner: a function that works on a task, and for which tasks it is started. Made by :func:`runner`."""

    def run(self, **options: Any) -> None:
        """Runs until SIGTERM or SIGINT, then ends the process. Options as for :func:`sdp.run`."""
        run(self, **options)


@overload
def runner(handler: Callable[[Task[Any]], Result]) -> Runner: ...
@overload
def runner(
    *,
    templates: Sequence[str] = ...,
    name: str | None = ...,
    version: str = ...,
    configuration: type[C],
    concurrency: int | None = ...,
    cancel_grace_seconds: float = ...,
    on_bad_input: OnBadInput = ...,
) -> Callable[[Callable[[Task[C]], Result] | Callable[[AsyncTask[C]], Coroutine[Any, Any, Result]]], Runner]: ...
@overload
def runner(
    *,
    templates: Sequence[str] = ...,
    name: str | None = ...,
    version: str = ...,
    concurrency: int | None = ...,
    cancel_grace_seconds: float = ...,
    on_bad_input: OnBadInput = ...,
) -> Callable[
    [Callable[[Task[Any]], Result] | Callable[[AsyncTask[Any]], Coroutine[Any, Any, Result]]], Runner
]: ...
def runner(handler: Handler | None = None, **options: Any) -> Any:
    """Makes a runner of a function that works on one task.

    The function gets a :class:`Task`, a coroutine function an :class:`AsyncTask`. What it returns completes the task;
    an exception fails it: TaskFailure by its category, anything else as ``error``.

    - ``templates``: names of the node templates whose tasks it claims; empty: all that its token may claim.
    - ``name``, ``version``: of the program, shown to operators.
    - ``configuration``: a dataclass or a pydantic model for ``task.configuration``; default: a dictionary.
    - ``concurrency``: tasks at the same time, unless the environment says otherwise; default 1.
    - ``cancel_grace_seconds``: how long the code of a cancelled task may clean up, 0 to 60. Then the end of the task
      is reported, even while the code computes without a pause.
    - ``on_bad_input``: ``reject`` rejects the input for which the handler of ``task.each_new_input`` raises
      TaskFailure of category ``validation``; ``fail`` fails the task.
    """
    if handler is not None:
        return Runner(handler, **options)
    return lambda function: Runner(function, **options)

"""What a runner is, before it is started."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._task.configuration import is_model, read_configuration
from .._task.outcome import Result
from .._task.task import OnBadInput, Task

if TYPE_CHECKING:
    from .._task.async_task import AsyncTask

C = TypeVar("C")

DEFAULT_CANCEL_GRACE_SECONDS = 5.0
# The platform itself ends a cancelled task a lease and a minute after the cancel.
_LONGEST_CANCEL_GRACE_SECONDS = 60.0
_TEMPLATE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Handler = Callable[..., Any]


class Runner:
    """A runner: a function that works on a task, and for which tasks it is started. Made by :func:`runner`."""

    def __init__(
        self,
        handler: Handler,
        *,
        templates: Sequence[str] = (),
        name: str | None = None,
        version: str = "0.0.0",
        configuration: type[Any] | None = None,
        concurrency: int | None = None,
        cancel_grace_seconds: float = DEFAULT_CANCEL_GRACE_SECONDS,
        on_bad_input: OnBadInput = "fail",
    ) -> None:
        _check(handler, templates, configuration, concurrency, cancel_grace_seconds, on_bad_input)
        self.handler = handler
        self.templates = tuple(templates)
        self.name = _product_token(name or next(iter(templates), None) or "runner")
        self.version = _product_token(version)
        self.configuration_type = configuration
        self.concurrency = concurrency
        self.cancel_grace_seconds = float(cancel_grace_seconds)
        self.on_bad_input: OnBadInput = on_bad_input
        functools.update_wrapper(self, handler)

    @property
    def is_async(self) -> bool:
        """True for a coroutine function, which gets an AsyncTask."""
        return inspect.iscoroutinefunction(self.handler)

    def __call__(self, task: Any) -> Any:
        """The function itself, as if it were not decorated."""
        return self.handler(task)

    def read_configuration(self, given: dict[str, Any]) -> Any:
        """The configuration of a task as the type that the runner declares."""
        return read_configuration(self.configuration_type, given)

    def run(self, **options: Any) -> None:
        """Runs until SIGTERM or SIGINT, then ends the process. Options as for :func:`sdp.run`."""
        from .run import run

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


def _check(
    handler: Any, templates: Any, configuration: Any, concurrency: Any, cancel_grace: float, on_bad_input: Any
) -> None:
    if not callable(handler):
        raise TypeError("A runner is made of a function.")
    if isinstance(templates, str):
        raise TypeError("templates must be a list of node template names.")
    wrong = next((name for name in templates if _TEMPLATE.fullmatch(name) is None), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is not the name of a node template.")
    if configuration not in (None, dict) and not is_model(configuration):
        raise TypeError("configuration must be a dataclass or a pydantic model.")
    if concurrency is not None and not 1 <= concurrency <= 1_000:
        raise ValueError("concurrency must be a whole number from 1 to 1000.")
    if not 0 <= cancel_grace <= _LONGEST_CANCEL_GRACE_SECONDS:
        raise ValueError(f"cancel_grace_seconds must be a number from 0 to {_LONGEST_CANCEL_GRACE_SECONDS:g}.")
    if on_bad_input not in ("fail", "reject"):
        raise ValueError("on_bad_input must be 'fail' or 'reject'.")


def _product_token(text: str) -> str:
    """Text that is valid in both a `User-Agent` and an instance id."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:60] or "runner"

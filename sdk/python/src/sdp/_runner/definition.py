"""What a runner is, before it is started."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from .._task.configuration import is_model, read_configuration
from .._task.task import OnBadInput

DEFAULT_CANCEL_GRACE_SECONDS = 5.0
# The platform itself ends a cancelled task a lease and a minute after the cancel.
_LONGEST_CANCEL_GRACE_SECONDS = 60.0
_TEMPLATE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")

Handler = Callable[..., Any]


class RunnerDefinition:
    """A function that works on a task, and for which tasks it is started."""

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

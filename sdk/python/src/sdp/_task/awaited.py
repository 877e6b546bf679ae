"""Calls of an asynchronous task that must be awaited: without it they would never run, and nothing would say so."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar, cast

T = TypeVar("T")
P = ParamSpec("P")


class AwaitedCalls:
    """Knows which of its calls have not begun."""

    def __init__(self) -> None:
        self._not_begun: dict[object, tuple[str, Coroutine[Any, Any, Any]]] = {}

    def check_awaited(self) -> None:
        """Raises RuntimeError when a call was made and has never run."""
        # A call that was cancelled before it began is closed.
        never = [
            (name, call)
            for name, call in self._not_begun.values()
            if inspect.getcoroutinestate(call) == inspect.CORO_CREATED
        ]
        for _, call in never:
            call.close()
        if never:
            raise RuntimeError(f"task.{never[0][0]}() was called without await, so it has not run.")


def awaited(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """A method of :class:`AwaitedCalls` whose calls are known until they begin."""

    @functools.wraps(method)
    def call(*arguments: P.args, **options: P.kwargs) -> Coroutine[Any, Any, T]:
        not_begun = cast(AwaitedCalls, arguments[0])._not_begun
        key = object()

        async def begin() -> T:
            del not_begun[key]
            return await method(*arguments, **options)

        made = begin()
        not_begun[key] = (method.__name__, made)
        return made

    return call

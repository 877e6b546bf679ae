"""Processes that the code of a task forks."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ends_forked() -> Iterator[None]:
    """Ends a process that the code within has forked where the code leaves: only the runner reports the task."""
    runner = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != runner:
            _end(error)
        raise
    if os.getpid() != runner:
        os._exit(0)


def _end(error: BaseException) -> None:
    """As the interpreter does, but without its cleaning up, which waits for threads that only the runner has."""
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        os._exit((error.code or 0) & 0xFF)
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    os.write(2, text.encode("utf-8", "replace"))
    os._exit(1)

"""Processes that the code of a task forks."""

from __future__ import annotations

import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager


def has_default_in_forked(number: signal.Signals) -> None:
    """Lets a signal that this process handles end the processes that it forks, such as the workers of a pool.

    Python runs a handler only between two steps of its own code: one that comes just before a wait, or while a library
    computes, is not run. Python also forgets a signal that a process gets before it has begun, so it is held until then.
    """
    if not hasattr(os, "register_at_fork"):
        return
    handler = signal.getsignal(number)
    masks = threading.local()

    def hold() -> None:
        masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.before)

    def begin() -> None:
        if signal.getsignal(number) is handler:
            signal.signal(number, signal.SIG_DFL)
        release()

    os.register_at_fork(before=hold, after_in_parent=release, after_in_child=begin)


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

"""What the slots of a runner share."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, suppress
from dataclasses import dataclass

from .._calls.connection import Connection
from .._calls.scope import Scope, Signal
from .._heartbeats.heartbeats import Heartbeats
from .._outputs.upload import OutputLimits
from .definition import RunnerDefinition
from .settings import Settings


class SharedLoop:
    """An event loop in a thread, started when it is used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self) -> asyncio.AbstractEventLoop:
        """The loop, running."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run_on, args=(self._loop,), name="sdp-loop", daemon=True).start()
            return self._loop

    def close(self) -> None:
        """Ends the loop and its threads, when nothing uses it any more."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)


def _run_on(loop: asyncio.AbstractEventLoop) -> None:
    """`SystemExit` and `KeyboardInterrupt` of one task end the loop, which the other tasks and the report still need."""
    while True:
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            break
    with closing(loop):
        loop.run_until_complete(_end_left(loop))


async def _end_left(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


@dataclass(frozen=True)
class RunnerParts:
    """A running runner."""

    runner: RunnerDefinition
    settings: Settings
    connection: Connection
    heartbeats: Heartbeats
    limits: OutputLimits
    stopping: Signal
    """Set when the runner stops claiming."""
    aborting: Signal
    """Set when running tasks must end."""
    leaving: Scope
    """Set when the runner stops waiting for the platform's answers."""
    loop: SharedLoop

    @property
    def templates(self) -> list[str]:
        """Names of the node templates whose tasks it claims."""
        return [name + self.settings.template_suffix for name in self.runner.templates]

"""A held task for coroutine functions: the same calls, awaited. They run in threads, beside the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, Literal, ParamSpec, TypeVar

from .._inputs.inputs import Input, InputInfo, InputMode
from .._inputs.text import LONGEST_CHARACTERS, Row
from .._outputs.frames import FrameFormat
from .._outputs.headers import WrittenOutput
from .._outputs.source import Source
from ..errors import FailureCategory, TaskFailure
from .annotation import Moment
from .awaited import AwaitedCalls, awaited
from .configured import C
from .task import NewInputs, Task

if TYPE_CHECKING:
    import pandas
    import polars
    from typing_extensions import Unpack

    from .._outputs.write_options import WriteOptions

T = TypeVar("T")
P = ParamSpec("P")

# One change of threads for so many lines.
_LINES_AT_A_TIME = 1_000

# For calls that wait for coroutines or for other writes. In the few threads of the loop they would hold up the very reads
# that they wait for.
_waiting = ThreadPoolExecutor(32, "sdp-wait")


class AsyncInput:
    """An input of a task. Its metadata are those of ``info``, and of the input itself: ``item.size_bytes``."""

    def __init__(self, item: Input) -> None:
        self.sync = item
        """The same input for code that may wait, for example in ``asyncio.to_thread``."""

    def __getattr__(self, name: str) -> Any:
        if name in InputInfo.__dataclass_fields__ or name == "source_key":
            return getattr(self.sync, name)
        raise AttributeError(name)

    @property
    def info(self) -> InputInfo:
        """The metadata."""
        return self.sync

    @property
    def output_id(self) -> int:
        """Names the input, also as a watermark."""
        return self.sync.output_id

    async def bytes(self, **options: Any) -> bytes:
        """As :meth:`Input.bytes`."""
        return await asyncio.to_thread(self.sync.bytes, **options)

    async def text(self, **options: Any) -> str:
        """As :meth:`Input.text`."""
        return await asyncio.to_thread(self.sync.text, **options)

    async def json(self, **options: Any) -> Any:
        """As :meth:`Input.json`."""
        return await asyncio.to_thread(self.sync.json, **options)

    async def open(self, *, raw: bool = False) -> BinaryIO:
        """As :meth:`Input.open`: a file whose reads wait, for code in a thread."""
        return await asyncio.to_thread(self.sync.open, raw=raw)

    def lines(self, *, max_characters: int = LONGEST_CHARACTERS) -> AsyncIterator[str]:
        """As :meth:`Input.lines`."""
        return _in_thread(self.sync.lines(max_characters=max_characters), _LINES_AT_A_TIME)

    def rows(self, *, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS) -> AsyncIterator[Row]:
        """As :meth:`Input.rows`."""
        return _in_thread(self.sync.rows(delimiter=delimiter, max_characters=max_characters), _LINES_AT_A_TIME)

    def csv(
        self, *, delimiter: str | None = None, max_characters: int = LONGEST_CHARACTERS
    ) -> AsyncIterator[list[str]]:
        """As :meth:`Input.csv`."""
        return _in_thread(self.sync.csv(delimiter=delimiter, max_characters=max_characters), _LINES_AT_A_TIME)

    async def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """As :meth:`Input.to_pandas`."""
        return await asyncio.to_thread(self.sync.to_pandas, **options)

    async def to_polars(self, **options: Any) -> polars.DataFrame:
        """As :meth:`Input.to_polars`."""
        return await asyncio.to_thread(self.sync.to_polars, **options)


class AsyncState:
    """State of the node between its runs."""

    def __init__(self, task: Task[Any]) -> None:
        self._state = task.state

    async def get(self) -> dict[str, Any] | None:
        """As :meth:`NodeState.get`."""
        return await asyncio.to_thread(self._state.get)

    def set(self, state: dict[str, Any]) -> None:
        """As :meth:`NodeState.set`."""
        self._state.set(state)


class AsyncTask(AwaitedCalls, Generic[C]):
    """A held task for a coroutine function. When the task must end, the coroutine is cancelled."""

    def __init__(self, task: Task[C]) -> None:
        super().__init__()
        self.sync = task
        """The same task for code that may wait, for example in ``asyncio.to_thread``."""
        self.state = AsyncState(task)
        self.configuration: C = task.configuration
        self.run_id = task.run_id
        self.attempt = task.attempt
        self.log = task.log
        self.stopping = task.stopping

    def __getattr__(self, name: str) -> Any:
        # Facts of the claim, which need no wait.
        value = getattr(self.sync, name)
        if callable(value):
            raise AttributeError(f"AsyncTask has no {name}; use task.sync.{name} in asyncio.to_thread.")
        return value

    def check(self) -> None:
        """Raises TaskCancelled when the work must end."""
        self.sync.check()

    def progress(self, phase: str | None = None, message: str | None = None, **counts: Any) -> None:
        """As :meth:`Task.progress`."""
        self.sync.progress(phase, message, **counts)

    async def inputs(self, mode: InputMode = "since-watermark") -> AsyncIterator[AsyncInput]:
        """As :meth:`Task.inputs`."""
        async for item in _in_thread(self.sync.inputs(mode), 1):
            yield AsyncInput(item)

    async def previous_output(self) -> InputInfo | None:
        """As :meth:`Task.previous_output`."""
        return await asyncio.to_thread(self.sync.previous_output)

    @awaited
    async def write(self, source: Source | AsyncIterable[Any], **options: Unpack[WriteOptions]) -> WrittenOutput:
        """As :meth:`Task.write`; the source may be an asynchronous iterable, too."""
        if not isinstance(source, AsyncIterable):
            return await _wait_for(self.sync.write, source, **options)
        items = _FromLoop(source, asyncio.get_running_loop())
        try:
            return await _wait_for(self.sync.write, items, **options)
        finally:
            items.end()

    @awaited
    async def write_json(self, value: Any, **options: Unpack[WriteOptions]) -> WrittenOutput:
        """As :meth:`Task.write_json`."""
        return await _wait_for(self.sync.write_json, value, **options)

    @awaited
    async def write_file(self, path: str | os.PathLike[str], **options: Unpack[WriteOptions]) -> WrittenOutput:
        """As :meth:`Task.write_file`."""
        return await _wait_for(self.sync.write_file, path, **options)

    @awaited
    async def write_frame(self, frame: Any, format: FrameFormat = "parquet", **options: Any) -> WrittenOutput:
        """As :meth:`Task.write_frame`."""
        return await _wait_for(self.sync.write_frame, frame, format, **options)

    @awaited
    async def advance(self, item: AsyncInput | InputInfo | int) -> None:
        """As :meth:`Watermark.advance`."""
        await _wait_for(self.sync.watermark.advance, _info(item))

    @awaited
    async def reject(
        self, item: AsyncInput | InputInfo | int, reason: str, category: FailureCategory = "validation"
    ) -> None:
        """As :meth:`Task.reject`."""
        await _wait_for(self.sync.reject, _info(item), reason, category)

    @awaited
    async def annotate(self, start: Moment, label: str, **details: Any) -> None:
        """As :meth:`Task.annotate`."""
        await asyncio.to_thread(self.sync.annotate, start, label, **details)

    @awaited
    async def each_new_input(
        self, handle: Callable[[AsyncInput], Awaitable[object]], *, advance: Literal["each", "by-hand"] = "each"
    ) -> NewInputs:
        """As :meth:`Task.each_new_input`, with a coroutine function as handler."""
        handled = rejected = 0
        async for item in self.inputs("since-watermark"):
            if self.sync.ends_at_shutdown(handled):
                break
            self.check()
            before = self.sync.state.unstored
            try:
                await handle(item)
            except TaskFailure as failure:
                await _wait_for(self.sync.reject_failed, item.sync, failure)
                self.sync.state.restore(before)
                rejected += 1
                continue
            if advance == "each":
                await self.advance(item)
            handled += 1
        return await asyncio.to_thread(self.sync.end_loop, handled, rejected)


async def run_coroutine(handler: Callable[[AsyncTask[C]], Awaitable[T]], task: Task[C]) -> T:
    """Runs a coroutine function with a task. Raises RuntimeError when it left a call of the task unawaited."""
    own = AsyncTask(task)
    result = await handler(own)
    own.check_awaited()
    return result


def _info(item: AsyncInput | InputInfo | int) -> InputInfo | int:
    return item.sync if isinstance(item, AsyncInput) else item


async def _wait_for(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """As ``asyncio.to_thread``, in a thread for what may wait."""
    inside = functools.partial(contextvars.copy_context().run, work, *arguments, **options)
    return await asyncio.get_running_loop().run_in_executor(_waiting, inside)


async def _in_thread(iterator: Iterator[T], at_a_time: int) -> AsyncIterator[T]:
    """The items of an iterator that waits, fetched in a thread, some at a time."""

    def fetch() -> list[T]:
        batch: list[T] = []
        for item in iterator:
            batch.append(item)
            if len(batch) >= at_a_time:
                break
        return batch

    try:
        while batch := await asyncio.to_thread(fetch):
            for item in batch:
                yield item
    finally:
        close = getattr(iterator, "close", None)
        if close is not None:
            await asyncio.to_thread(close)


class _FromLoop(Iterator[Any]):
    """The items of an asynchronous iterable, for a thread beside its loop."""

    def __init__(self, source: AsyncIterable[Any], loop: asyncio.AbstractEventLoop) -> None:
        self._items = source.__aiter__()
        self._loop = loop
        self._lock = threading.Lock()
        self._following: Future[tuple[bool, Any]] | None = None
        self._is_over = False

    def __next__(self) -> Any:
        with self._lock:
            if self._is_over:
                raise CancelledError
            self._following = asyncio.run_coroutine_threadsafe(self._follow(), self._loop)
        has_item, item = self._following.result()
        if not has_item:
            raise StopIteration
        return item

    async def _follow(self) -> tuple[bool, Any]:
        try:
            return True, await self._items.__anext__()
        except StopAsyncIteration:
            return False, None

    def end(self) -> None:
        """The caller no longer waits for the items, and the thread must not."""
        with self._lock:
            self._is_over = True
        if self._following is not None:
            self._following.cancel()

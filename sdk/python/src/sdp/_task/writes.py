"""Outputs of a task as they are written, also by several threads at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from .._inputs.inputs import InputInfo
from .._outputs.headers import WrittenOutput, output_headers, written_output
from .._outputs.source import Source, gzipped, pieces_of

if TYPE_CHECKING:
    from .._calls.task_calls import TaskCalls
    from .watermark import Watermark


class Writes:
    """Writes outputs, names those without an identifier, and tracks those under way."""

    def __init__(self, calls: TaskCalls, run_id: str) -> None:
        self._calls = calls
        self._run_id = run_id
        self._lock = threading.Lock()
        self._under_way: set[Future[None]] = set()
        self._unnamed = (0, 0)
        self.has_output = False
        self._process = os.getpid()

    def write(
        self,
        source: Source,
        watermark: Watermark,
        *,
        identifier: str | None,
        content_type: str | None,
        metadata: Mapping[str, Any] | None,
        source_key: str | None,
        gzip: bool,
        is_gzip: bool,
        moves_to: InputInfo | int | None,
    ) -> WrittenOutput:
        """Writes one output; with `moves_to` it moves the watermark, once all earlier writes are done."""
        name = identifier or self._next_identifier(watermark.current or 0)
        own: Future[None] = Future()
        with self._lock:
            before = set(self._under_way) if moves_to is not None else set()
            self._under_way.add(own)
        try:
            default = "text/plain; charset=utf-8" if isinstance(source, str) else "application/octet-stream"
            headers = output_headers(
                name, content_type or default, metadata, source_key, gzip or is_gzip, moves_to
            )
            pieces = pieces_of(source)
            stored = gzipped(pieces) if gzip else pieces
            output = written_output(*self._calls.write(headers, stored, _waiting_for(before)))
            own.set_result(None)
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                self._under_way.discard(own)
        self.has_output = True
        if moves_to is not None:
            watermark.note_output(moves_to)
        return output

    def wait(self) -> None:
        """Waits for the writes under way; raises what the first to fail raises."""
        with self._lock:
            before = set(self._under_way)
        _waiting_for(before)()

    def _next_identifier(self, current: int) -> str:
        """Counts from the watermark on: an attempt that resumes where the previous one broke off finds the outputs
        from there on, and none of earlier inputs. A forked process would count the same as its parent."""
        if os.getpid() != self._process:
            raise ValueError("A forked process must name its outputs: write(..., identifier=...).")
        with self._lock:
            position, count = self._unnamed
            count = count + 1 if position == current else 1
            self._unnamed = (current, count)
        return f"{self._run_id}.{current}.{count}"


def _waiting_for(futures: set[Future[None]]) -> Callable[[], None]:
    def wait() -> None:
        for future in futures:
            future.result()

    return wait

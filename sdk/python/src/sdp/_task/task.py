"""A held task as the runner's code sees it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal

from .._calls.task_calls import Json, TaskCalls
from .._inputs.inputs import Input, InputInfo, InputMode, input_info, list_inputs, parse_time
from .._json import json_text
from .._logs.task_log import TaskLog
from .._outputs.frames import CONTENT_TYPES, FrameFormat, frame_file
from .._outputs.headers import WrittenOutput, input_id_of
from .._outputs.source import Source
from .._text import clip
from ..errors import FailureCategory, TaskCancelled, TaskFailure
from .annotation import Annotations, Moment, annotation_wire
from .configured import C
from .outcome import REASON_CHARACTERS
from .state import NodeState
from .watermark import Watermark
from .writes import Writes

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from .._outputs.write_options import WriteOptions

OnBadInput = Literal["fail", "reject"]


@dataclass(frozen=True)
class Parent:
    """A parent of the node."""

    node_instance_id: int
    name: str


@dataclass(frozen=True)
class NewInputs:
    """How far :meth:`Task.each_new_input` came."""

    handled: int
    """Inputs that the handler has finished."""
    rejected: int
    """Inputs that were rejected."""
    has_more: bool
    """Inputs are left: the task is completed with ``hasMore``, and a follow-up task comes."""


@dataclass(frozen=True)
class TaskParts:
    """What a task is made of, by the platform's runner or by a test."""

    claim: Json
    calls: TaskCalls
    configuration: Any
    cancelled: threading.Event
    stopping: threading.Event
    report: Callable[[Json], None]
    log: TaskLog
    on_bad_input: OnBadInput = "fail"


class Task(Generic[C]):
    """A held task. Its calls raise TaskCancelled once the task must end.

    The type argument is that of the configuration: ``Task[MySettings]``.
    """

    def __init__(self, parts: TaskParts) -> None:
        claim = parts.claim
        self._parts = parts
        self._has_more = False
        self._writes = Writes(parts.calls, claim["runId"])
        self._annotations = Annotations(parts.calls)
        self.task_id: str = claim["taskId"]
        self.run_id: str = claim["runId"]
        """The same for all attempts at the same work."""
        self.attempt: int = claim["attempt"]
        """From 1."""
        self.max_attempts: int = claim["maxAttempts"]
        self.reason: Literal["input", "reprocess", "follow-up", "retry"] = claim["reason"]
        self.project_id: int = claim["projectId"]
        self.session_id: str = claim["sessionId"]
        self.session_name: str = claim["sessionName"]
        self.node_instance_id: int = claim["nodeInstanceId"]
        self.node_name: str = claim["nodeName"]
        self.node_template: str = claim["nodeTemplate"]
        self.runner_type: str = claim["runnerType"]
        self.parents = tuple(Parent(each["nodeInstanceId"], each["name"]) for each in claim["parents"])
        self.claimed_at: datetime = parse_time(claim["claimedAt"])
        self.max_inputs_per_task: int = claim["incremental"]["maxInputsPerTask"]
        """The most inputs that ``since-watermark`` returns to one task."""
        self.configuration: C = parts.configuration
        """Valid by the node template's schema; an object of the runner's configuration type."""
        self.log = parts.log
        """Writes to the run's log from any thread: ``task.log.info("read %s rows", count)``."""
        self.cancelled = parts.cancelled
        """Set when the work must end now: its results no longer count."""
        self.stopping = parts.stopping
        """Set some time before ``cancelled`` when the process shuts down: time to stop at a consistent point."""
        self.state = NodeState(parts.calls)
        self.watermark = Watermark(parts.calls, claim["incremental"], self.state, self._writes.wait)

    def check(self) -> None:
        """Raises TaskCancelled when the work must end. To be called regularly by work that makes no calls."""
        self._parts.calls.check()

    def wait(self, seconds: float) -> None:
        """A pause that ends at once, by TaskCancelled, when the work must end."""
        self.cancelled.wait(seconds)
        self.check()

    def progress(
        self,
        phase: str | None = None,
        message: str | None = None,
        *,
        done: float | None = None,
        total: float | None = None,
        unit: str | None = None,
    ) -> None:
        """Shows progress to operators. Call it as often as you like. None leaves a field unchanged."""
        fields = {"phase": phase, "message": message, "done": done, "total": total, "unit": unit}
        self._parts.report({name: value for name, value in fields.items() if value is not None})

    def inputs(self, mode: InputMode = "since-watermark") -> Iterator[Input]:
        """The task's inputs, oldest first, fetched by pages.

        ``since-watermark``: those above the watermark, up to ``max_inputs_per_task``, beyond which only an incremental
        node gets a follow-up task. ``latest``: of each parent those that it published last together. ``all``.
        """
        return list_inputs(self._parts.calls, mode)

    def previous_output(self) -> InputInfo | None:
        """The node's own newest output, as of the first call; None when it has none."""
        wire = self.state.read()["previousOutput"]
        return None if wire is None else input_info(wire)

    def write(
        self,
        source: Source,
        *,
        identifier: str | None = None,
        content_type: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        source_key: str | None = None,
        gzip: bool = False,
        content_encoding: Literal["gzip"] | None = None,
        watermark: InputInfo | int | None = None,
    ) -> WrittenOutput:
        """Writes an output of any size from text, bytes, an open file, or an iterable of them.

        It is published with the next move of the watermark, or when the task completes. With ``watermark``, the last
        input that is consumed with it, it moves the watermark there and publishes itself and all that was written
        before, all or none: set it on the last output of an input.

        ``identifier`` is unique in the node: 1 to 100 letters, digits, ``.``, ``_``, ``-``. When the node has an output
        of that name, that one is left unchanged (``created`` is false then). So include the run (``task.run_id``) and
        the input or part of the output. Default: ``<run id>.<watermark>.<n>``, right as long as each attempt writes in
        the same order. ``source_key``, for example ``item.source_key``, names what this is the result of: of outputs
        with the same key dashboards show the newest. ``gzip`` compresses; ``content_encoding="gzip"`` says it is done.

        Raises ApiError, ValueError for options out of bounds, TaskCancelled, and what the source raises.
        """
        return self._writes.write(
            source,
            self.watermark,
            identifier=identifier,
            content_type=content_type,
            metadata=metadata,
            source_key=source_key,
            gzip=gzip,
            is_gzip=content_encoding == "gzip",
            moves_to=watermark,
        )

    def write_json(self, value: Any, **options: Unpack[WriteOptions]) -> WrittenOutput:
        """Writes a value as JSON; numbers and arrays of numpy count as those of Python. Options as for :meth:`write`."""
        options.setdefault("content_type", "application/json")
        return self.write(json_text(value).encode("utf-8"), **options)

    def write_file(self, path: str | os.PathLike[str], **options: Unpack[WriteOptions]) -> WrittenOutput:
        """Writes the bytes of a file. Options as for :meth:`write`."""
        with open(path, "rb") as file:
            return self.write(file, **options)

    def write_frame(
        self,
        frame: pandas.DataFrame | polars.DataFrame | pyarrow.Table,
        format: FrameFormat = "parquet",
        *,
        frame_options: Mapping[str, Any] | None = None,
        **options: Unpack[WriteOptions],
    ) -> WrittenOutput:
        """Writes a frame of pandas or polars, or an Arrow table, as Parquet or csv.

        ``frame_options`` go to the library's own writer, the others are those of :meth:`write`.
        """
        with frame_file(frame, format, dict(frame_options or {})) as file:
            options.setdefault("content_type", CONTENT_TYPES[format])
            return self.write(file, **options)

    def reject(self, item: InputInfo | int, reason: str, category: FailureCategory = "validation") -> None:
        """Rejects one input: operators see it at the node, with the reason, and can hand it out again.

        In an incremental node this moves the watermark to this input and records that no result belongs to it;
        what was written before is published with it, at once. In any other node it is recorded with the task's
        completion.
        """
        self._writes.wait()
        reply = self._parts.calls.reject(input_id_of(item), category, clip(reason, REASON_CHARACTERS))
        self.watermark.note_rejection(item, reply)

    def annotate(
        self,
        start: Moment,
        label: str,
        *,
        end: Moment | None = None,
        text: str = "",
        tags: Sequence[str] = (),
        channel: str | None = None,
    ) -> None:
        """Marks a moment, or with ``end`` a range, of the session with words.

        People see it on the time axis once outputs of this run are published; the same one of a node counts once. A
        time is a datetime or ISO 8601 text, both without a zone in UTC, or seconds: since 1970 or a recording's start.
        """
        self._annotations.add(annotation_wire(start, end, label, text, tags, channel))

    def each_new_input(
        self, handle: Callable[[Input], object], *, advance: Literal["each", "by-hand"] = "each"
    ) -> NewInputs:
        """The loop of an incremental node: handles each input above the watermark, oldest first.

        It moves the watermark (with the state) past each, which publishes what was written for it. It ends at the
        cap, or early at a shutdown; the rest comes in a follow-up task. A shutdown before the first input releases the
        task. ``advance="by-hand"`` leaves moving the watermark to the handler, for example with an output.

        Raises what the handler raises: that input and those after it stay new. Where the runner says
        ``on_bad_input="reject"``, a TaskFailure of category ``validation`` rejects its input instead, and the loop
        continues; the state is then what it was before that input.
        """
        handled = rejected = 0
        for item in self.inputs("since-watermark"):
            if self.ends_at_shutdown(handled):
                break
            self.check()
            before = self.state.unstored
            try:
                handle(item)
            except TaskFailure as failure:
                self.reject_failed(item, failure)
                self.state.restore(before)
                rejected += 1
                continue
            if advance == "each":
                self.watermark.advance(item)
            handled += 1
        return self.end_loop(handled, rejected)

    def ends_at_shutdown(self, handled: int) -> bool:
        """Whether a loop over new inputs must end. Raises TaskCancelled before the first: all would be left unread."""
        if not self.stopping.is_set():
            return False
        if handled == 0 and not self.watermark.has_moved:
            raise TaskCancelled("shutdown")
        return True

    def reject_failed(self, item: Input, failure: TaskFailure) -> None:
        """Rejects the input of a failure when ``on_bad_input`` is ``reject``, else raises the failure."""
        if self._parts.on_bad_input != "reject" or failure.category != "validation":
            raise failure
        self.log.warning("%s is rejected: %s", item.output_identifier, failure.reason)
        self.reject(item, failure.reason)

    def end_loop(self, handled: int, rejected: int) -> NewInputs:
        """Notes whether a loop over new inputs has left some."""
        self._has_more = self.watermark.has_moved and self.watermark.pending_inputs() > 0
        return NewInputs(handled, rejected, self._has_more)

    @property
    def has_more(self) -> bool:
        """Whether the loop over new inputs left some."""
        return self._has_more

    def finish(self) -> None:
        """Waits for writes that threads of the code have begun."""
        self._writes.wait()
        self._annotations.warn_unless_published(self._writes.has_output or self.watermark.has_moved, self.log)

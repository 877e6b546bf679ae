"""What a task needs of the platform, in memory: for tests and replays."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, BinaryIO, cast

from .._calls.http import Bytes, Headers
from .._calls.resumed import Stored
from .._json import json_text
from ..errors import ApiError, TaskCancelled

Json = dict[str, Any]

_GZIP_WINDOW = 31


@dataclass(frozen=True)
class LocalInput:
    """An input with its bytes as stored."""

    wire: Json
    """As the platform lists it."""
    read: Callable[[], bytes]
    """The bytes as stored."""


@dataclass(frozen=True)
class Output:
    """An output that the code has written."""

    identifier: str
    content_type: str
    metadata: Json | None
    data: bytes
    """The bytes, decoded."""
    content_encoding: str | None
    """``gzip`` when it would be stored compressed."""
    stored_bytes: bytes
    """The bytes as they would be stored."""

    @property
    def text(self) -> str:
        """The bytes as text."""
        return self.data.decode("utf-8")

    def json(self) -> Any:
        """The bytes as a JSON document."""
        return json.loads(self.data)

    @property
    def size_bytes(self) -> int:
        """As stored."""
        return len(self.stored_bytes)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the stored bytes."""
        return hashlib.sha256(self.stored_bytes).hexdigest()


@dataclass
class Rejection:
    """An input that the code has rejected."""

    output_id: int
    category: str
    reason: str


@dataclass
class LocalCalls:
    """Serves one task from memory, as the platform would."""

    all_inputs: Sequence[LocalInput]
    watermark: int | None = None
    stored_state: Json | None = None
    previous_output: Json | None = None
    since_ids: frozenset[int] | None = None
    """What `since-watermark` lists; None: the first above the watermark, as many as a task gets."""
    latest_ids: frozenset[int] | None = None
    """What `latest` lists; None: the last input of each node."""
    max_inputs_per_task: int = 100
    outputs: dict[str, Output] = field(default_factory=dict)
    published: set[str] = field(default_factory=set)
    rejected: list[Rejection] = field(default_factory=list)
    annotations: list[Json] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    _consumed: int = field(default=0, init=False)
    """How many of the inputs, which are in the order of their publication, the node has consumed."""

    def __post_init__(self) -> None:
        ids = self._ids()
        listed = [index for index, each in enumerate(ids) if each in (self.since_ids or ())]
        above = [index for index, each in enumerate(ids) if each > (self.watermark or 0)]
        if listed:
            self._consumed = listed[0]
        elif self.watermark is not None and self.watermark in ids:
            self._consumed = ids.index(self.watermark) + 1
        else:
            self._consumed = above[0] if above else len(ids)
        if self.since_ids is None:
            self.since_ids = frozenset(ids[self._consumed :][: self.max_inputs_per_task])

    def check(self) -> None:
        """Raises TaskCancelled once a test has cancelled the task."""
        if self.cancelled.is_set():
            raise TaskCancelled("cancelled")

    def inputs(self, mode: str, cursor: str | None, limit: int) -> Json:
        """One page of inputs."""
        self.check()
        chosen = self._chosen(mode)
        start = int(cursor or 0)
        page = chosen[start : start + limit]
        following = str(start + limit) if start + limit < len(chosen) else None
        return {
            "mode": mode,
            "inputs": [item.wire for item in page],
            "nextCursor": following,
            "incremental": self.incremental(),
        }

    def open_stored(self, stored: Stored) -> BinaryIO:
        """The bytes of an input, as stored."""
        self.check()
        item = next(each for each in self.all_inputs if each.wire["outputId"] == stored.output_id)
        return cast(BinaryIO, io.BytesIO(item.read()))

    def state(self) -> Json:
        """Previous output, state and position of the node."""
        self.check()
        return {
            "previousOutput": self.previous_output,
            "state": self.stored_state,
            "incremental": self.incremental(),
        }

    def advance(self, input_id: int, state: Json | None) -> Json:
        """Moves the watermark; publishes what was written before."""
        self.check()
        self._move(input_id)
        if state is not None:
            self.stored_state = json.loads(json_text(state))
        return self._position()

    def write(
        self, headers: Headers, source: Iterator[Bytes], before_end: Callable[[], None]
    ) -> tuple[Json, bool]:
        """Stores an output."""
        self.check()
        identifier = str(headers["x-platform-output-identifier"])
        is_new = identifier not in self.outputs
        moves_to = int(headers["x-platform-watermark"]) if "x-platform-watermark" in headers else None
        if is_new:
            written = _output(identifier, headers, b"".join(source))
            before_end()
            if moves_to is not None:
                self._check(moves_to)
            self.outputs[identifier] = written
        if moves_to is not None:
            self._move(moves_to)
        output = self.outputs[identifier]
        names = list(self.outputs)
        wire: Json = {
            "outputId": 1_000_000 + names.index(identifier),
            "outputIdentifier": identifier,
            "sizeBytes": output.size_bytes,
            "sha256": output.sha256,
            "createdAt": now(),
        }
        return wire, is_new

    def reject(self, input_id: int, category: str, reason: str) -> Any:
        """Rejects one input."""
        self.check()
        self.rejected.append(Rejection(input_id, category, reason))
        self._move(input_id)
        return self._position()

    def annotate(self, annotations: list[Json]) -> None:
        """Marks moments and ranges of the session."""
        self.check()
        self.annotations += annotations

    def incremental(self) -> Json:
        """The node's position."""
        return {**self._position(), "maxInputsPerTask": self.max_inputs_per_task}

    def end(self, keeps_outputs: bool, state: Json | None) -> None:
        """The task has ended: staged outputs are published or dropped."""
        if keeps_outputs:
            self.published.update(self.outputs)
        if state is not None:
            self.stored_state = state

    def _position(self) -> Json:
        return {"watermark": self.watermark, "pendingInputs": len(self.all_inputs) - self._consumed}

    def _ids(self) -> list[int]:
        return [item.wire["outputId"] for item in self.all_inputs]

    def _chosen(self, mode: str) -> list[LocalInput]:
        if mode == "since-watermark":
            since = self.since_ids or frozenset()
            return [item for item in self.all_inputs if item.wire["outputId"] in since]
        if mode == "all":
            return list(self.all_inputs)
        latest = self.latest_ids
        if latest is None:
            last = {item.wire["nodeInstanceId"]: item.wire["outputId"] for item in self.all_inputs}
            latest = frozenset(last.values())
        return [item for item in self.all_inputs if item.wire["outputId"] in latest]

    def _check(self, input_id: int) -> int:
        """The index of the input, -1 for none. Raises ApiError where the watermark may not move to it."""
        ids = self._ids()
        index = ids.index(input_id) if input_id in ids else -1
        if input_id != self.watermark:
            if index < 0:
                raise ApiError(409, "The input does not belong to this task.", code="watermark_unknown_input")
            if index < self._consumed:
                raise ApiError(409, "The watermark may only move forward.", code="watermark_regression")
        return index

    def _move(self, input_id: int) -> None:
        index = self._check(input_id)
        self._consumed = max(self._consumed, index + 1)
        self.watermark = input_id
        self.published.update(self.outputs)


def now() -> str:
    """The time as the platform writes it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _output(identifier: str, headers: Headers, stored: bytes) -> Output:
    is_gzip = headers.get("content-encoding") == "gzip"
    metadata = headers.get("x-platform-output-metadata")
    return Output(
        identifier=identifier,
        content_type=str(headers["content-type"]),
        metadata=None if metadata is None else json.loads(metadata),
        data=zlib.decompress(stored, _GZIP_WINDOW) if is_gzip else stored,
        content_encoding="gzip" if is_gzip else None,
        stored_bytes=stored,
    )

"""The routes of one held task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Protocol
from urllib.parse import urlencode

from ..errors import ApiError, CancelReason, TaskCancelled
from .connection import Connection, Patience, Reply
from .http import Answer, Bytes, Headers
from .resumed import Stored, StoredBytes
from .scope import Scope

# A store may need minutes to put a large upload together.
_UPLOAD_COMPLETE_SECONDS = 600.0

Json = dict[str, Any]


class TaskCalls(Protocol):
    """What a task needs of the platform. Tests and replays use a local implementation."""

    def check(self) -> None:
        """Raises TaskCancelled once the task must end."""

    def inputs(self, mode: str, cursor: str | None, limit: int) -> Json:
        """One page of inputs."""

    def open_stored(self, stored: Stored) -> BinaryIO:
        """The bytes of an input, as stored."""

    def state(self) -> Json:
        """Previous output, state and position of the node."""

    def advance(self, input_id: int, state: Json | None) -> Json:
        """Moves the watermark; publishes what was written before."""

    def write(self, headers: Headers, source: Iterator[Bytes], before_end: Callable[[], None]) -> tuple[Json, bool]:
        """Writes an output; `before_end` is called before the call that makes it count. True when it is new."""

    def reject(self, input_id: int, category: str, reason: str) -> Any:
        """Rejects one input."""

    def annotate(self, annotations: list[Json]) -> None:
        """Marks moments and ranges of the session."""


class HeldTask:
    """The calls of a task of the platform, in a scope that ends with the task."""

    def __init__(self, connection: Connection, claim: Json, instance_id: str) -> None:
        self.connection = connection
        self.claim = claim
        self.scope = Scope()
        self.path = f"/tasks/{claim['taskId']}"
        self.headers: dict[str, str] = {"x-platform-runner-instance": instance_id}
        if claim.get("traceparent"):
            self.headers["traceparent"] = claim["traceparent"]
        self.on_end: Callable[[CancelReason], None] = lambda why: self.scope.end(TaskCancelled(why))

    def check(self) -> None:
        """Raises TaskCancelled once the task must end."""
        self.scope.check()

    def inputs(self, mode: str, cursor: str | None, limit: int) -> Json:
        """One page of inputs."""
        query = {"mode": mode, "limit": str(limit), **({} if cursor is None else {"cursor": cursor})}
        return self._object("GET", f"/inputs?{urlencode(query)}")

    def open_stored(self, stored: Stored) -> BinaryIO:
        """The bytes of an input, as stored; after a broken connection the read resumes where it broke."""
        return StoredBytes(self, stored)  # type: ignore[return-value]

    def open_input(self, output_id: int, headers: Headers, *, is_first: bool) -> Answer:
        """One try to open the bytes of an input, the first of its read from the store where that is possible."""
        path = f"{self.path}/inputs/{output_id}/data"
        all_headers = {**self.headers, **headers}
        try:
            if is_first:
                return self.connection.open_download(path, all_headers, 60.0, self.scope)
            return self.connection.open("GET", path, all_headers, None, 60.0, self.scope)
        except ApiError as error:
            self._note(error)
            raise

    def avoid_store(self) -> None:
        """Other bytes came: inputs are opened through the platform for a while."""
        self.connection.avoid_store()

    def state(self) -> Json:
        """Previous output, state and position of the node."""
        return self._object("GET", "/state")

    def advance(self, input_id: int, state: Json | None) -> Json:
        """Moves the watermark; publishes what was written before."""
        body = {"inputId": input_id, **({} if state is None else {"state": state})}
        return self._object("PUT", "/watermark", json=body)

    def reject(self, input_id: int, category: str, reason: str) -> Any:
        """Rejects one input."""
        return self.call("PUT", f"/rejections/{input_id}", json={"category": category, "reason": reason}).body

    def annotate(self, annotations: list[Json]) -> None:
        """Marks moments and ranges of the session."""
        self.call("POST", "/annotations", json={"annotations": annotations})

    def end(self, how: str, body: Json, scope: Scope) -> Json:
        """The last call: repeated until the answer is definite, also after the scope of the task has ended."""
        reply = self.connection.call(
            "PUT", f"{self.path}/{how}", json=body, headers=self.headers, patience="always", scope=scope
        )
        return reply.body if isinstance(reply.body, dict) else {}

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        body: Bytes | None = None,
        headers: Headers | None = None,
        silence_seconds: float = 60.0,
        patience: Patience = "outage",
    ) -> Reply:
        """A call for the task."""
        try:
            return self.connection.call(
                method,
                self.path + path,
                json=json,
                body=body,
                headers={**self.headers, **(headers or {})},
                silence_seconds=silence_seconds,
                patience=patience,
                scope=self.scope,
            )
        except ApiError as error:
            self._note(error)
            raise

    def complete_upload(self, path: str) -> Reply:
        """Puts the parts of an upload together."""
        return self.call("POST", f"{path}/complete", silence_seconds=_UPLOAD_COMPLETE_SECONDS)

    def _object(self, method: str, path: str, json: Any = None) -> Json:
        body = self.call(method, path, json=json).body
        return body if isinstance(body, dict) else {}

    def _note(self, error: ApiError) -> None:
        """An answer that ends the task ends all its calls."""
        if error.is_end:
            self.on_end("lease-lost" if error.status == 404 else "unauthorized")
            self.scope.check()

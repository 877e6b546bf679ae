"""A session: its nodes, uploads and dashboards."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import mmap
import os
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from .._calls.http import Bytes
from .._inputs.inputs import parse_time
from .._outputs.frames import CONTENT_TYPES, FrameFormat, frame_file
from .._outputs.source import Source, pieces_of
from ..errors import SdpError
from .api import Api
from .dashboard import Dashboard
from .output import Output, outputs_of
from .resumable import RESUMABLE_BYTES, ResumableUpload
from .run import Run

if TYPE_CHECKING:
    import pandas

_LONGEST_PAUSE_SECONDS = 5.0
_BUSY = ("Processing", "Pending")


class NodeFailed(SdpError):
    """A node has failed while its results were awaited."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"{node.name} has failed: {node.status_details}")
        self.node = node


class WaitTimeout(SdpError, TimeoutError):
    """The nodes were not done in time."""


@dataclass(frozen=True)
class RejectedInput:
    """An input that a run has rejected."""

    output_id: int
    output_identifier: str
    category: str
    reason: str
    run_id: str


@dataclass(frozen=True)
class Node:
    """A node of a session, as it was when it was read."""

    id: int
    name: str
    template: str
    state: str
    """``NeverBegan``, ``Pending``, ``Processing``, ``Succeeded``, ``Failed``, ``Suspended`` or ``Unknown``."""
    status_details: str
    parent_ids: tuple[int, ...]
    current_output_id: int | None
    last_processed: datetime | None
    _api: Api = field(repr=False, compare=False)

    @classmethod
    def of(cls, wire: dict[str, Any], api: Api) -> Node:
        """A node as the platform lists it."""
        processed = wire.get("lastProcessed")
        return cls(
            id=wire["id"],
            name=wire["name"],
            template=wire["nodeTemplateName"] or "",
            state=wire["state"],
            status_details=wire.get("statusDetails") or "",
            parent_ids=tuple(wire["parentIds"]),
            current_output_id=wire.get("currentOutputId"),
            last_processed=None if processed is None else parse_time(processed),
            _api=api,
        )

    def outputs(self) -> list[Output]:
        """The outputs of the node, oldest first."""
        return outputs_of(self._api, self.id)

    @property
    def latest(self) -> Output:
        """The newest output. Raises LookupError when there is none."""
        outputs = self.outputs()
        if not outputs:
            raise LookupError(f"{self.name} has no output.")
        return outputs[-1]

    def runs(self) -> list[Run]:
        """The newest runs of the node, newest first. For Administrators, Developers and Instructors."""
        body = self._api.object("GET", "/api/v2/node-runs", query={"nodeInstanceId": self.id})
        return [Run(wire, self._api) for wire in body["nodeRuns"]]

    def rejected_inputs(self) -> list[RejectedInput]:
        """The inputs that runs have rejected, at most 100."""
        path = f"/api/v2/node-instance/{self.id}/rejected-inputs"
        body = self._api.object("GET", path, query={"pageSize": 100})
        return [
            RejectedInput(
                each["outputId"], each["outputIdentifier"], each["category"], each["reason"], each["runId"]
            )
            for each in body["rejectedInputs"]
        ]

    def explain(self) -> dict[str, Any]:
        """Why the node is in its state."""
        return self._api.object("GET", f"/api/v2/node-instance/{self.id}/explain")


class Session:
    """A session. Each call reads it again."""

    def __init__(self, row: Mapping[str, Any], metadata: Mapping[str, Any] | None, api: Api) -> None:
        self._api = api
        self.id: str = row["id"]
        self.name: str = row["name"]
        self.project_id: int = row["projectId"]
        self.session_template_id: int = row["sessionTemplateId"]
        self.simulation_name: str | None = row.get("simulationName")
        self.metadata = dict(metadata or {})
        self.created_at = parse_time(row["createdAt"])

    def __repr__(self) -> str:
        return f"Session({self.name!r}, {self.id})"

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name, as they are now."""
        body = self._api.object("GET", f"/api/v2/session/{self.id}/node-instances")
        return {wire["name"]: Node.of(wire, self._api) for wire in body["nodeInstances"]}

    def node(self, name: str) -> Node:
        """One node, as it is now. Raises LookupError with the names that there are."""
        nodes = self.nodes
        if name not in nodes:
            raise LookupError(f"{self.name} has no node {name!r}; it has {', '.join(nodes)}.")
        return nodes[name]

    @property
    def dashboards(self) -> list[Dashboard]:
        """The dashboards that nodes of the session have made."""
        body = self._api.object("GET", f"/api/v2/sessions/{self.id}")
        return [Dashboard(each["id"], each["name"], self._api) for each in body["dimensions"]]

    @property
    def dashboard(self) -> Dashboard:
        """The newest dashboard. Raises LookupError when there is none."""
        dashboards = self.dashboards
        if not dashboards:
            raise LookupError(f"{self.name} has no dashboard.")
        return dashboards[-1]

    def upload(
        self,
        data: Source | os.PathLike[str],
        *,
        node: str | None = None,
        identifier: str | None = None,
        content_type: str | None = None,
        gzipped: bool = False,
    ) -> Output | None:
        """Uploads a file (by its path), text, bytes, an open file or an iterable of bytes into an input node.

        ``identifier`` is unique in the node: a repeat under the same name with the same bytes changes nothing. Default:
        the name of the file, else one made of the bytes. None is returned where the project queues uploads. Above 16 MB
        it goes on where the line broke.
        """
        target = self._input_node(node)
        with ExitStack() as stack:
            body, name = _body_of(data, stack)
            digest = hashlib.sha256(body).digest()
            if len(body) > RESUMABLE_BYTES:
                said = {
                    "identifier": identifier or name or digest.hex()[:32],
                    "contentType": content_type or _content_type(identifier or name, data),
                    **({"contentEncoding": "gzip"} if gzipped else {}),
                }
                return self._send_resumable(target, body, digest.hex(), said)
            headers: dict[str, str] = {
                "x-platform-output-identifier": identifier or name or digest.hex()[:32],
                "x-amz-checksum-sha256": base64.b64encode(digest).decode(),
                "content-type": content_type or _content_type(identifier or name, data),
            }
            if gzipped:
                headers["content-encoding"] = "gzip"
            path = f"/api/v2/node-instance/{target.id}/outputs/data"
            status, reply = self._api.call("POST", path, body=body, headers=headers)
        return None if status == 202 else Output.of(reply, self._api)

    def _send_resumable(self, target: Node, body: Bytes, sha256: str, said: Mapping[str, str]) -> Output | None:
        def is_same(output: Output) -> bool:
            return output.output_identifier == said["identifier"] and output.sha256 == sha256

        there = next(filter(is_same, target.outputs()), None)
        if there is not None:
            return there
        output_id = ResumableUpload(self._api, target.id, body, said).send(self._api.retry_seconds)
        return next((output for output in target.outputs() if output.output_id == output_id), None)

    def upload_frame(
        self, frame: Any, identifier: str, *, format: FrameFormat = "csv", **options: Any
    ) -> Output | None:
        """Uploads a frame of pandas or polars, or an Arrow table, as csv or Parquet."""
        with frame_file(frame, format, {}) as file:
            return self.upload(file, identifier=identifier, **{"content_type": CONTENT_TYPES[format], **options})

    def wait(
        self, *, nodes: Iterable[str] | None = None, timeout_seconds: float = 600.0, raise_failed: bool = True
    ) -> dict[str, Node]:
        """Waits until these nodes, else all, have succeeded, and returns them.

        A node of a branch that gets no data never begins: name the nodes that you wait for. Raises NodeFailed when one
        fails (with ``raise_failed=False`` the wait ends, too), and WaitTimeout.
        """
        wanted = None if nodes is None else set(nodes)
        deadline = time.monotonic() + timeout_seconds
        pause = 0.2
        while True:
            found = self.nodes
            if wanted is not None and not wanted <= set(found):
                raise LookupError(f"{self.name} has no node {', '.join(sorted(wanted - set(found)))}.")
            chosen = {name: node for name, node in found.items() if wanted is None or name in wanted}
            failed = next((node for node in _ancestors(chosen, found) if node.state == "Failed"), None)
            if failed is not None and raise_failed:
                raise NodeFailed(failed)
            if failed is not None or all(node.state == "Succeeded" for node in chosen.values()):
                return chosen
            if time.monotonic() + pause > deadline:
                states = ", ".join(f"{node.name}: {node.state}" for node in chosen.values())
                raise WaitTimeout(f"Not done after {timeout_seconds:g} s: {states}.")
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE_SECONDS, pause * 1.5)

    def to_pandas(self, node: str, **options: Any) -> pandas.DataFrame:
        """The newest output of a node as a pandas frame."""
        return self.node(node).latest.to_pandas(**options)

    def _input_node(self, name: str | None) -> Node:
        if name is not None:
            return self.node(name)
        roots = [node for node in self.nodes.values() if not node.parent_ids]
        if len(roots) != 1:
            raise LookupError(f"Name the node to upload to: {', '.join(node.name for node in roots)}.")
        return roots[0]


def _ancestors(chosen: Mapping[str, Node], nodes: Mapping[str, Node]) -> list[Node]:
    """The nodes and all above them: a node below a failed one never runs."""
    by_id = {node.id: node for node in nodes.values()}
    found: dict[int, Node] = {}
    waiting = list(chosen.values())
    while waiting:
        node = waiting.pop()
        if node.id not in found:
            found[node.id] = node
            waiting += [by_id[parent] for parent in node.parent_ids if parent in by_id]
    return list(found.values())


def _body_of(data: Source | os.PathLike[str], stack: ExitStack) -> tuple[Bytes, str | None]:
    """The bytes, without a copy of a file in memory, and the name of the file."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return data, None
    if isinstance(data, str):
        return data.encode("utf-8"), None
    if isinstance(data, os.PathLike):
        return _mapped(stack.enter_context(open(data, "rb")), stack), Path(data).name
    file = stack.enter_context(tempfile.TemporaryFile())
    for piece in pieces_of(data):
        file.write(piece)
    file.flush()
    return _mapped(file, stack), None


def _mapped(file: IO[bytes], stack: ExitStack) -> Bytes:
    if os.fstat(file.fileno()).st_size == 0:
        return b""
    mapped = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    return stack.enter_context(memoryview(cast(Any, mapped)))


def _content_type(name: str | None, data: object) -> str:
    if name is not None and name.endswith(".parquet"):
        return CONTENT_TYPES["parquet"]
    guessed = mimetypes.guess_type(name)[0] if name is not None else None
    return guessed or ("text/plain; charset=utf-8" if isinstance(data, str) else "application/octet-stream")

"""A session: its nodes, uploads and dashboards."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._calls.meter import Meter, Progress
from .._inputs.inputs import parse_time
from .._outputs.frames import CONTENT_TYPES, FrameFormat, format_of, frame_file
from .._outputs.source import Source
from ..errors import SdpError
from .api import Api
from .dashboard import Dashboard
from .output import Output, outputs_of, session_outputs
from .run import Run
from .upload import UploadInfo, body_of, content_type_of, digest_of, identifier_of, send_body

if TYPE_CHECKING:
    import pandas

_LONGEST_PAUSE_SECONDS = 5.0


class NodeFailed(SdpError):
    """A node has failed while its results were awaited."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"{node.name} has failed: {node.status_details}")
        self.node = node


class WaitTimeout(SdpError, TimeoutError):
    """The nodes were not done in time."""


class MissingOutput(SdpError, LookupError):
    """A session has no such node, or the node has no output."""


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
    _session_id: str = field(repr=False, compare=False)
    _session_name: str = field(repr=False, compare=False)
    _api: Api = field(repr=False, compare=False)

    @classmethod
    def of(cls, wire: dict[str, Any], session: Session, api: Api) -> Node:
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
            _session_id=session.id,
            _session_name=session.name,
            _api=api,
        )

    def outputs(self) -> list[Output]:
        """The outputs of the node, oldest first."""
        return outputs_of(self._api, self.id)

    def output(self, identifier: str) -> Output:
        """The output with this identifier. Raises MissingOutput when there is none."""
        for output in outputs_of(self._api, self.id, identifier):
            return output
        raise MissingOutput(f"{self._session_name}: {self.name} has no output {identifier!r}.")

    @property
    def latest(self) -> Output:
        """The newest output. Raises MissingOutput when there is none."""
        newest = {"nodeInstanceId": self.id, "limit": 1}
        for output in session_outputs(self._api, self._session_id, newest):
            return output
        raise MissingOutput(f"{self._session_name}: {self.name} has no output.")

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
        return {wire["name"]: Node.of(wire, self, self._api) for wire in body["nodeInstances"]}

    def node(self, name: str) -> Node:
        """One node, as it is now. Raises MissingOutput with the names that there are."""
        nodes = self.nodes
        if name not in nodes:
            raise MissingOutput(f"{self.name} has no node {name!r}; it has {', '.join(nodes)}.")
        return nodes[name]

    def outputs(self, search: str | None = None) -> Iterator[Output]:
        """The outputs of all nodes, newest first, read page by page.

        ``search`` is a part of the identifier, or of ``fileName``, ``name`` or ``kind`` in the metadata.
        """
        return session_outputs(self._api, self.id, {"search": search})

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
        metadata: Mapping[str, Any] | None = None,
        gzipped: bool = False,
        progress: Progress | None = None,
        bytes_per_second: float | None = None,
        resume_key: str | None = None,
    ) -> Output | None:
        """Uploads a file (by its path), text, bytes, an open file or an iterable of bytes into an input node.

        ``identifier`` is unique in the node: a repeat under the same name with the same bytes changes nothing. Default:
        the name of the file, with a part made of the bytes where an identifier cannot hold it, else one made of the bytes.
        None is returned where the project queues uploads. Above 16 MB it goes on where the line broke; under a
        ``resume_key`` of your own also in a later process, until 24 hours after its last byte.
        ``progress`` is called with the bytes that were sent and with all; ``bytes_per_second`` leaves room on the line.
        """
        target = self._input_node(node)
        with ExitStack() as stack:
            body, name = body_of(data, stack)
            digest = digest_of(body)
            info = UploadInfo(
                identifier=identifier or identifier_of(name, digest),
                content_type=content_type or content_type_of(identifier or name, data),
                is_gzip=gzipped,
                metadata=metadata,
                sha256=digest,
            )
            meter = None
            if progress is not None or bytes_per_second is not None:
                meter = Meter(len(body), progress, bytes_per_second)
            return send_body(self._api, target.id, body, info, meter, resume_key)

    def upload_frame(
        self, frame: Any, identifier: str, *, format: FrameFormat | None = None, **options: Any
    ) -> Output | None:
        """Uploads a frame of pandas or polars, or an Arrow table, as csv or Parquet.

        Without ``format`` an identifier that ends in ``.parquet`` means Parquet, any other csv.
        """
        format = format or format_of(identifier)
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
        """The newest output of a node as a pandas frame. Raises MissingOutput when there is none."""
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

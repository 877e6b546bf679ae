"""A run of a node: its log, and what it got, as a case to run again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from .._inputs.inputs import parse_time
from ..testing.case_files import file_name
from .api import Api
from .output import open_download, outputs_of
from .save import save_download


@dataclass(frozen=True)
class LogEntry:
    """A line of a run's log."""

    at: datetime
    attempt: int
    level: str
    source: str
    """``runner``, or ``platform`` for the platform's own lines."""
    message: str
    fields: Mapping[str, Any]


class Run:
    """A run of a node, as it was when it was read."""

    def __init__(self, wire: Mapping[str, Any], api: Api) -> None:
        self._api = api
        self.details = wire
        """All that the platform says of it, such as ``attempts``."""
        self.id: str = wire["id"]
        self.state: str = wire["state"]
        """``queued``, ``held``, ``waiting``, ``failed``, ``cancelled``, ``completed``, ``no-output``, ``suspended``."""
        self.status_details: str = wire.get("statusDetails") or ""
        self.node_name: str = wire["nodeName"]

    def __repr__(self) -> str:
        return f"Run({self.node_name!r}, {self.state}, {self.id})"

    def logs(
        self, *, attempt: int | None = None, level: str | None = None, search: str | None = None
    ) -> Iterator[LogEntry]:
        """The lines so far, oldest first: of an attempt, of a level and those above it, or with a text."""
        after: int | None = None
        while True:
            query = {"attempt": attempt, "level": level, "search": search, "after": after}
            page = self._api.object("GET", f"/api/v2/node-runs/{self.id}/logs", query=query)
            for each in page["entries"]:
                yield LogEntry(
                    at=parse_time(each["at"]),
                    attempt=each["attempt"],
                    level=each["level"],
                    source=each["source"],
                    message=each["message"],
                    fields=each.get("fields") or {},
                )
            after = page["next"]
            if not page["entries"]:
                return

    def save_case(self, folder: str | Path, *, attempt: int | None = None) -> Path:
        """Saves what an attempt (default: the last) got and what the run wrote, for ``sdp.testing.run_case``.

        For Administrators and Developers.
        """
        root = Path(folder)
        (root / "inputs").mkdir(parents=True, exist_ok=True)
        path = f"/api/v2/node-runs/{self.id}/replay"
        replay = self._api.object("GET", path, query={"attempt": attempt})
        case = {name: replay.pop(name) for name in ("inputs", "state", "previousOutput")}
        modes = replay.pop("modes", {})
        watermark = replay["incremental"]["watermark"]
        for each in case["inputs"]:
            coding = each.get("contentEncoding") or "identity"
            source = f"{path}/inputs/{each['outputId']}/data"
            self._save(source, coding, root / "inputs" / str(each["outputId"]))
        saved = {"caseVersion": 1, "task": replay, "watermark": watermark, **case}
        if "latest" in modes:
            saved["latest"] = modes["latest"]
        _write_json(root / "case.json", saved)
        self._save_outputs(root)
        return root

    def _save_outputs(self, root: Path) -> None:
        """Outputs that were published; those that a failed run has dropped are not expected of it."""
        details = self._api.object("GET", f"/api/v2/node-runs/{self.id}")
        outputs = [
            output
            for each in details["outputs"]
            if each["published"]
            for output in outputs_of(self._api, details["nodeInstanceId"], each["outputIdentifier"])
            if output.output_id == each["outputId"]
        ]
        (root / "outputs").mkdir(exist_ok=True)
        for output in outputs:
            source = f"/api/v2/node-instance/outputs/{output.output_id}/data"
            file = root / "outputs" / file_name(output.output_identifier)
            self._save(source, output.content_encoding or "identity", file)
        described = [
            {
                "identifier": output.output_identifier,
                "contentType": output.content_type,
                "contentEncoding": output.content_encoding,
                "metadata": dict(output.metadata) or None,
                "sizeBytes": output.size_bytes,
                "sha256": output.sha256,
            }
            for output in outputs
        ]
        _write_json(root / "outputs.json", described)

    def _save(self, path: str, coding: str, file: Path) -> None:
        save_download(lambda: open_download(self._api, path, coding), file)


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")

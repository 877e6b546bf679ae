"""The platform as a user or a user's program sees it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .._inputs.frames import library
from .api import Api
from .pages import rows_by_pages
from .query import Filter, parse_query
from .run import Run
from .session import MissingOutput, Session

if TYPE_CHECKING:
    import pandas

_NAMED_SESSIONS = 5
"""So many sessions a warning names."""


class Platform:
    """Signed-in access to a platform.

    ``url`` and ``token`` default to ``SDP_URL`` and ``SDP_TOKEN``. With ``username`` and ``password`` it signs in by
    itself, and again when the sign-in has expired. Calls are repeated for ``retry_seconds`` while the platform cannot
    be reached, and create nothing twice.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        username: str | None = None,
        password: str | None = None,
        retry_seconds: float = 30.0,
    ) -> None:
        self._api = Api(url, token, username, password, retry_seconds)

    def __repr__(self) -> str:
        return f"Platform({self._api.url!r})"

    def __enter__(self) -> Platform:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes idle connections."""
        self._api.close()

    def call(self, method: str, path: str, json: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """Any call of the interface, such as ``platform.call("GET", "/user_data")``; returns the parsed body."""
        return self._api.call(method, path, json=json, query=None if query is None else dict(query))[1]

    def sessions(
        self,
        query: str | Mapping[str, Any] | None = None,
        *,
        project: int | str | None = None,
        template: int | str | None = None,
        limit: int | None = None,
        order_by: str = "-createdAt",
    ) -> list[Session]:
        """Sessions by a query, newest first.

        ``query`` is text such as ``"name contains 'lap' and vehicle.speed >= 80"`` or a filter as the interface has it.
        ``project`` and ``template`` are ids or names. ``order_by`` is a property or a path into the metadata, with
        ``-`` for the greatest first.
        """
        found = self.iterate_sessions(query, project=project, template=template, limit=limit, order_by=order_by)
        return list(found)

    def iterate_sessions(
        self,
        query: str | Mapping[str, Any] | None = None,
        *,
        project: int | str | None = None,
        template: int | str | None = None,
        limit: int | None = None,
        order_by: str = "-createdAt",
    ) -> Iterator[Session]:
        """As :meth:`sessions`, by pages as they are needed.

        Sessions that others make or delete meanwhile let it leave out none of the rest, and return none twice.
        """
        filters = self._filters(query, project, template)
        direction = "desc" if order_by.startswith("-") else "asc"
        document: dict[str, Any] = {"orderBy": [{"path": order_by.lstrip("-"), "direction": direction}]}
        if filters:
            document["filter"] = filters[0] if len(filters) == 1 else {"and": filters}

        def read(offset: int, size: int) -> list[dict[str, Any]]:
            body = self._api.object("POST", "/api/sessions/query", json={**document, "limit": size, "offset": offset})
            rows: list[dict[str, Any]] = body["template"]["sessions"]
            return rows

        for row in rows_by_pages(read, limit):
            yield Session(row, json.loads(row["metadataJson"] or "{}"), self._api)

    def session(self, session_id: str) -> Session:
        """One session by its id."""
        row = self._api.object("GET", f"/api/v2/sessions/{session_id}")
        return Session(row, row.get("metadata"), self._api)

    def run(self, run_id: str) -> Run:
        """One run of a node by its id."""
        return Run(self._api.object("GET", f"/api/v2/node-runs/{run_id}"), self._api)

    def create_session(
        self,
        *,
        project: int | str,
        template: int | str,
        name: str | None = None,
        simulation_name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """Makes a session of a template. Project and template are ids or names."""
        body = {
            "ProjectId": self.project_id(project),
            "SessionTemplateId": self.template_id(template),
            "Name": name,
            "SimulationName": simulation_name,
            "Metadata": None if metadata is None else dict(metadata),
        }
        given = {key: value for key, value in body.items() if value is not None}
        row = self._api.object("POST", "/session", json=given)
        return self.session(row["id"])

    def create_project(self, title: str) -> int:
        """Makes a project, and returns its id."""
        return int(self._api.object("POST", "/projects", json={"Title": title})["id"])

    def project_id(self, project: int | str) -> int:
        """The id of a project by its title. Raises LookupError when there is not exactly one."""
        return project if isinstance(project, int) else self._id("project", "/projects", "title", project)

    def template_id(self, template: int | str) -> int:
        """The id of a session template by its name. Raises LookupError when there is not exactly one."""
        if isinstance(template, int):
            return template
        return self._id("session template", "/api/v2/session/session_templates", "name", template)

    def to_pandas(
        self, sessions: Iterable[Session], node: str, *, missing: Literal["skip", "raise"] = "skip", **options: Any
    ) -> pandas.DataFrame:
        """The newest output of one node of each session as one frame, with the columns ``session`` and ``session_id``.

        Sessions without the node, and those in which it has no output yet, are left out with one warning that names
        them; MissingOutput is raised when all lack it. With ``missing="raise"`` it is raised for the first.
        Needs ``pip install pandas``.
        """
        reader = library("pandas", "to_pandas()")
        parts = []
        lacking: list[str] = []
        for session in sessions:
            try:
                output = session.node(node).latest
            except MissingOutput as error:
                if missing == "raise":
                    raise
                lacking.append(str(error))
                continue
            frame = output.to_pandas(**options)
            frame.insert(0, "session", session.name)
            frame.insert(1, "session_id", session.id)
            parts.append(frame)
        if lacking and not parts:
            raise MissingOutput(f"None of {len(lacking)} sessions has an output of {node}: {_some(lacking)}")
        if lacking:
            text = f"{len(lacking)} of {len(lacking) + len(parts)} sessions are left out: {_some(lacking)}"
            warnings.warn(text, stacklevel=2)
        empty = reader.DataFrame(columns=["session", "session_id"])
        joined: pandas.DataFrame = reader.concat(parts, ignore_index=True) if parts else empty
        return joined

    def _filters(
        self, query: str | Mapping[str, Any] | None, project: int | str | None, template: int | str | None
    ) -> list[Filter]:
        filters: list[Filter] = []
        if project is not None:
            filters.append({"path": "projectId", "op": "eq", "value": self.project_id(project)})
        if template is not None:
            filters.append({"path": "sessionTemplateId", "op": "eq", "value": self.template_id(template)})
        if query:
            filters.append(parse_query(query) if isinstance(query, str) else dict(query))
        return filters

    def _id(self, kind: str, path: str, key: str, name: str) -> int:
        _, rows = self._api.call("GET", path)
        found = [row["id"] for row in rows if row[key] == name]
        if not found:
            raise LookupError(f"There is no {kind} {name!r}.")
        if len(found) > 1:
            ids = ", ".join(map(str, found))
            raise LookupError(f"{len(found)} times there is a {kind} {name!r}: use its id ({ids}).")
        return int(found[0])


def _some(sentences: list[str]) -> str:
    more = len(sentences) - _NAMED_SESSIONS
    return " ".join([*sentences[:_NAMED_SESSIONS], *([f"And {more} more."] if more > 0 else [])])

"""The client for data. The guide's test runs it on a platform."""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sdp.client import MissingOutput, NodeFailed, Platform, QueryError, WaitTimeout, parse_query
from sdp.errors import ApiError, NetworkError, SettingsError, UnreadableData


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = lap", {"path": "name", "op": "eq", "value": "lap"}),
        ("a.b >= 80.5", {"path": "a.b", "op": "gte", "value": 80.5}),
        ("name contains 'a \\'b\\''", {"path": "name", "op": "contains", "value": "a 'b'"}),
        ("a exists", {"path": "a", "op": "exists", "value": True}),
        ("a in [1, 'x', true, null]", {"path": "a", "op": "in", "value": [1, "x", True, None]}),
        (
            "a=1 and (b<2 or c!=3)",
            {
                "and": [
                    {"path": "a", "op": "eq", "value": 1},
                    {"or": [{"path": "b", "op": "lt", "value": 2}, {"path": "c", "op": "ne", "value": 3}]},
                ]
            },
        ),
    ],
)
def test_queries(text: str, expected: dict[str, Any]) -> None:
    assert parse_query(text) == expected


@pytest.mark.parametrize("text", ["", "a", "a >", "a > 1 b", "(a = 1", "a like 1", "a in 1", "a = 'open", "= 1"])
def test_what_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parse_query(text)


class Server:
    """Answers calls from a list, and notes them."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *values: Any) -> None:
                pass

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {key.lower(): value for key, value in self.headers.items()}
                outer.calls.append((self.command, self.path, headers, body))
                status, reply = outer.answers.pop(0)
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


SESSION = {
    "id": "s", "name": "Lap", "projectId": 1, "sessionTemplateId": 2, "createdAt": "2026-01-01T00:00:00.000Z",
}  # fmt: skip


def node(state: str, name: str = "n", node_id: int = 1, parents: tuple[int, ...] = ()) -> dict[str, Any]:
    return {
        "id": node_id, "name": name, "nodeTemplateName": "t", "state": state, "statusDetails": "why",
        "parentIds": list(parents), "currentOutputId": None, "lastProcessed": None,
    }  # fmt: skip


def test_it_signs_in_and_again_when_the_sign_in_has_expired(server: Server) -> None:
    server.answers = [
        (200, {"accessToken": "one"}),
        (200, {"ok": 1}),
        (401, {"message": "expired"}),
        (200, {"accessToken": "two"}),
        (200, {"ok": 2}),
    ]
    platform = Platform(server.url, username="u", password="p")
    assert platform.call("GET", "/user_data") == {"ok": 1}
    assert platform.call("GET", "/user_data") == {"ok": 2}
    assert [headers.get("authorization") for _, _, headers, _ in server.calls] == [
        None, "Bearer one", "Bearer one", None, "Bearer two",
    ]  # fmt: skip


def test_a_post_is_repeated_under_one_key(server: Server) -> None:
    server.answers = [(503, {}), (200, {"id": 7})]
    assert Platform(server.url, token="t").create_project("P") == 7
    keys = {headers["idempotency-key"] for _, _, headers, _ in server.calls}
    assert len(keys) == 1 and len(server.calls) == 2


def test_it_does_not_repeat_for_ever(server: Server) -> None:
    server.answers = [(400, {"message": "Invalid project data.", "errors": [{"path": "$", "message": "m"}]})]
    with pytest.raises(ApiError, match="Invalid project data") as caught:
        Platform(server.url, token="t").create_project("P")
    assert caught.value.issues == ({"path": "$", "message": "m"},)
    with pytest.raises(NetworkError):
        Platform("http://127.0.0.1:9", token="t", retry_seconds=0.3).call("GET", "/projects")
    with pytest.raises(SettingsError):
        Platform("http://127.0.0.1:9", username="u")
    with pytest.raises(SettingsError, match="characters that no token has") as told:
        Platform("http://127.0.0.1:9", token="hat_\u201dsecret")
    assert "secret" not in str(told.value)


def test_sessions_come_by_pages(server: Server) -> None:
    rows = [{**SESSION, "id": str(number), "metadataJson": '{"a": 1}'} for number in range(150)]
    server.answers = [
        (200, [{"id": 3, "title": "P"}, {"id": 4, "title": "Q"}]),
        # A count that ends at a bound does not end the pages.
        (200, {"template": {"sessions": rows[:100], "totalCount": 100, "totalCountIsExact": False}}),
        (200, {"template": {"sessions": rows[99:], "totalCount": 150, "totalCountIsExact": True}}),
    ]
    found = Platform(server.url, token="t").sessions("a > 0", project="Q")
    assert (len(found), found[0].metadata) == (150, {"a": 1})
    body = json.loads(server.calls[1][3])
    assert body["filter"] == {
        "and": [{"path": "projectId", "op": "eq", "value": 4}, {"path": "a", "op": "gt", "value": 0}]
    }
    assert json.loads(server.calls[2][3])["offset"] == 99
    server.answers = [(200, []), (200, [{"id": 3, "name": "T"}, {"id": 4, "name": "T"}])]
    with pytest.raises(LookupError, match="^There is no project 'X'\\.$"):
        Platform(server.url, token="t").sessions(project="X")
    with pytest.raises(LookupError, match="^2 times there is a session template 'T': use its id \\(3, 4\\)\\.$"):
        Platform(server.url, token="t").sessions(template="T")


def output(number: int = 5, **more: Any) -> dict[str, Any]:
    fields = {"outputIdentifier": "x", "sizeBytes": 9, "createdAt": "2026-01-01T00:00:00Z"}
    return {"id": number, "nodeInstanceId": 1, **fields, **more}


def page(*outputs: dict[str, Any], after: str | None = None) -> tuple[int, Any]:
    return 200, {"outputs": list(outputs), "nextCursor": after}


def test_a_file_is_uploaded_with_its_checksum(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "lap.csv"
    file.write_bytes(b"a,b\n" * 100_000)
    server.answers = [(200, SESSION), (200, {"nodeInstances": [node("NeverBegan", "in"), node("x", "n", 2, (1,))]})]
    server.answers.append((201, output(outputIdentifier="lap.csv")))
    session = Platform(server.url, token="t").session("s")
    uploaded = session.upload(file)
    assert uploaded is not None and uploaded.output_id == 5
    method, path, headers, body = server.calls[-1]
    assert (method, path, body) == ("POST", "/api/v2/node-instance/1/outputs/data", file.read_bytes())
    assert headers["content-type"] == "text/csv"
    assert headers["x-platform-output-identifier"] == "lap.csv"
    assert len(headers["x-amz-checksum-sha256"]) == 44
    server.answers = [(200, {"nodeInstances": [node("NeverBegan", "in")]}), (202, {"status": "queued"})]
    assert session.upload(iter([b"a", b"b"]), identifier="x") is None
    assert server.calls[-1][3] == b"ab"


def test_a_wait_ends_with_the_nodes(server: Server) -> None:
    def nodes(*given: dict[str, Any]) -> tuple[int, Any]:
        return 200, {"nodeInstances": list(given)}

    server.answers = [
        (200, SESSION),
        nodes(node("Succeeded", "in"), node("Pending", "n", 2, (1,))),
        nodes(node("Succeeded", "in"), node("Succeeded", "n", 2, (1,))),
    ]
    session = Platform(server.url, token="t").session("s")
    assert session.wait()["n"].state == "Succeeded"
    failed = nodes(node("Failed", "in"), node("NeverBegan", "n", 2, (1,)))
    server.answers = [failed]
    with pytest.raises(NodeFailed, match="in has failed: why"):
        session.wait(nodes=["n"])
    server.answers = [nodes(node("Pending"))] * 3
    with pytest.raises(WaitTimeout, match="n: Pending"):
        session.wait(timeout_seconds=0.4)


def test_a_node_without_outputs_has_an_empty_list(server: Server) -> None:
    server.answers = [(200, SESSION), (200, {"nodeInstances": [node("NeverBegan")]}), (404, {"message": "no"})]
    assert Platform(server.url, token="t").session("s").node("n").outputs() == []


def test_the_outputs_of_a_session_are_read_page_by_page(server: Server) -> None:
    server.answers = [(200, SESSION), page(output(3), output(2), after="7"), page(output(1))]
    found = Platform(server.url, token="t").session("s").outputs(search="lap")
    assert [each.output_id for each in found] == [3, 2, 1]
    path = "/api/v2/session/s/outputs?search=lap"
    assert [call[1] for call in server.calls[1:]] == [path, f"{path}&cursor=7"]


def test_an_output_is_saved_into_a_folder(server: Server, tmp_path: Path) -> None:
    lap = output(outputIdentifier="../lap 1.csv")
    server.answers = [(200, SESSION), (200, {"nodeInstances": [node("Succeeded")]}), page(lap), (200, b"a,b")]
    saved = Platform(server.url, token="t").session("s").node("n").latest.save(tmp_path)
    assert (saved.parent, saved.read_bytes()) == (tmp_path, b"a,b")
    assert [path.name for path in tmp_path.iterdir()] == [saved.name]


def test_series_and_statistics_are_frames(server: Server) -> None:
    pytest.importorskip("pandas")
    keys = ["5:c1", "5:c2", "5:c3"]
    channels = [{"key": key, "name": "speed", "unit": "m/s", "type": "number", "group": ""} for key in keys]
    source = {"name": "lap", "time": {"kind": "absolute"}, "channels": channels}
    at = 1704067200123.456
    series = [{"channel": key, "times": [0, at, at], "values": [1, 9, 3 + i]} for i, key in enumerate(keys)]
    least = {"value": 1, "at": "1970-01-01T00:00:01.000Z"}
    figures = [{"key": key, "min": least, "mean": 2.0 + i, "states": None} for i, key in enumerate(keys)]
    dimensions = {"dimensions": [{"id": 9, "name": "d"}]}
    answers: list[Any] = [SESSION, dimensions, {"sources": [source]}, {"series": series}, {"statistics": figures}]
    server.answers = [(200, answer) for answer in answers]
    dashboard = Platform(server.url, token="t").session("s").dashboard
    frame = dashboard.series("speed", start="1970-01-01T00:00:00Z")
    assert list(frame["speed"]) == [1, 9, 3] and str(frame.index[1]) == "2024-01-01 00:00:00.123456+00:00"
    assert dict(frame.iloc[2]) == {"speed": 3, "lap/speed": 4, "5:c3": 5}
    assert "channels=5%3Ac1" in server.calls[-1][1]
    speed = dict((rows := dashboard.statistics()).loc["speed"])
    assert (speed["mean"], str(speed["min_at"]), speed["states"]) == (2.0, "1970-01-01 00:00:01+00:00", None)
    assert dict(rows["mean"]) == {"speed": 2.0, "lap/speed": 3.0, "5:c3": 4.0}
    with pytest.raises(LookupError, match="it has speed"):
        dashboard.series("height")


def test_sessions_without_an_output_of_the_node_are_left_out_of_a_frame(server: Server) -> None:
    pytest.importorskip("pandas")
    has = node("Succeeded", "laps")
    no_output: list[tuple[int, Any]] = [(200, {"nodeInstances": [has]}), page()]
    no_node: list[tuple[int, Any]] = [(200, {"nodeInstances": [node("Succeeded", "other")]})]
    full: list[tuple[int, Any]] = [
        (200, {"nodeInstances": [has]}),
        page(output(contentType="text/csv")),
        (200, b"lap,top\n7,63\n"),
    ]
    platform = Platform(server.url, token="t")
    rows = [{**SESSION, "id": str(number), "name": f"Lap {number}", "metadataJson": None} for number in range(3)]
    server.answers = [(200, {"template": {"sessions": rows, "totalCount": 3}})]
    sessions = platform.sessions()

    server.answers = [*no_node, *full, *no_output]
    with pytest.warns(UserWarning) as caught:
        frame = platform.to_pandas(sessions, node="laps")
    assert list(frame["session"]) == ["Lap 1"] and list(frame["top"]) == [63]
    assert [str(each.message) for each in caught] == [
        "2 of 3 sessions are left out: Lap 0 has no node 'laps'; it has other. Lap 2: laps has no output."
    ]
    assert caught[0].filename == __file__

    server.answers = [*full, *full, *full]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(platform.to_pandas(iter(sessions), node="laps")) == 3

    server.answers = [*full, *no_output]
    with pytest.raises(MissingOutput, match="^Lap 1: laps has no output.$"):
        platform.to_pandas(sessions, node="laps", missing="raise")

    server.answers = [*no_node, *no_node, *no_output]
    with pytest.raises(MissingOutput, match="^None of 3 sessions has an output of laps: Lap 0 has no node 'laps'"):
        platform.to_pandas(sessions, node="laps")
    assert list(platform.to_pandas([], node="laps").columns) == ["session", "session_id"]


def test_a_table_that_cannot_be_read_is_unreadable_data_and_no_missing_output(server: Server) -> None:
    pytest.importorskip("pandas")
    server.answers = [
        (200, SESSION),
        (200, {"nodeInstances": [node("Succeeded", "laps")]}),
        page(output(contentType="text/csv")),
        (200, b"lap,top\n7,63\n"),
    ]
    platform = Platform(server.url, token="t")
    with pytest.raises(UnreadableData, match="speed"):
        platform.to_pandas([platform.session("s")], node="laps", usecols=["speed"])

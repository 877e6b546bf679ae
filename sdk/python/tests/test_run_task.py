"""Tasks in memory: inputs, outputs, watermark, state, rejections, logs."""

from __future__ import annotations

import gzip
import io
import json
import logging
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import sdp
from sdp.testing import TestInput, run_task


def test_inputs_in_every_form(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"a": 1}')

    def work(task: sdp.Task[Any]) -> None:
        first, second, third = task.inputs("all")
        assert (first.bytes(), first.text(), list(first.lines())) == (b"a,b\n1,2\n", "a,b\n1,2\n", ["a,b", "1,2"])
        assert (list(first.rows()), list(first.csv())) == ([{"a": "1", "b": "2"}], [["a", "b"], ["1", "2"]])
        assert (second.json(), second.content_type, second.output_identifier) == (
            {"a": 1}, "application/json", "a.json",
        )  # fmt: skip
        with third.open() as plain, third.open(raw=True) as raw:
            assert (plain.read(), gzip.decompress(raw.read())) == (b"zipped", b"zipped")
        assert (third.content_encoding, third.metadata, third.node_name) == ("gzip", {"k": 1}, "other")
        with pytest.raises(ValueError, match="more than 3 bytes"):
            first.bytes(3)

    zipped = TestInput(b"zipped", gzip=True, metadata={"k": 1}, node_name="other")
    result = run_task(work, inputs=[b"a,b\n1,2\n", file, zipped])
    assert (result.outcome, result.error) == ("no-output", None)


@pytest.mark.parametrize(
    ("data", "read", "reason"),
    [
        (b"a\n\xff", "text", "line 2: it holds bytes that are not UTF-8 text"),
        (b"\xff", "json", "line 1: it holds bytes that are not UTF-8 text"),
        (b'{"a":\n,}', "json", "line 2: it is no JSON: Expecting value"),
    ],
)
def test_an_input_that_is_no_text_or_json_is_rejected(data: bytes, read: str, reason: str) -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.each_new_input(lambda item: getattr(item, read)())

    result = run_task(work, inputs=[data], on_bad_input="reject")
    assert [each.reason for each in result.rejected] == [reason]


def test_a_task_has_the_latest_input_of_each_parent() -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.write_json([[parent.name for parent in task.parents], [item.text() for item in task.inputs("latest")]])

    result = run_task(work, inputs=["old", TestInput("wind", node_name="weather"), "new"])
    assert result.output.json() == [["input", "weather"], ["wind", "new"]]


class Frame:
    """As those of pandas, polars and pyarrow: it yields the names of its columns."""

    columns = ("time", "speed")

    def __iter__(self) -> Any:
        return iter(self.columns)


@pytest.mark.parametrize(("source", "instead"), [({"top": 3}, "write_json"), (Frame(), "write_frame"), (5, "not int")])
def test_what_yields_only_its_names_is_no_output(source: Any, instead: str) -> None:
    result = run_task(lambda task: task.write(source) and None)
    assert isinstance(result.error, TypeError) and instead in str(result.error)
    assert result.outputs == ()


def test_outputs_of_every_source(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"file")

    def work(task: sdp.Task[Any]) -> None:
        task.write("text")
        task.write(b"bytes", content_type="x/y", metadata={"ü": 1})
        task.write(io.BytesIO(b"stream"))
        task.write(["a", b"b", bytearray(b"c")], gzip=True)
        task.write_file(file)
        assert task.write_json({"a": 1}, identifier="named").created
        assert not task.write_json({"a": 2}, identifier="named").created

    result = run_task(work)
    assert [(each.content_type, each.data) for each in result.outputs] == [
        ("text/plain; charset=utf-8", b"text"),
        ("x/y", b"bytes"),
        ("application/octet-stream", b"stream"),
        ("application/octet-stream", b"abc"),
        ("application/octet-stream", b"file"),
        ("application/json", b'{"a": 1}'),
    ]
    assert result.outputs[1].metadata == {"ü": 1}
    assert result.outputs[3].content_encoding == "gzip"
    run_id = "00000000-0000-7000-8000-000000000002"
    assert [each.identifier for each in result.outputs[:2]] == [f"{run_id}.0.1", f"{run_id}.0.2"]


@pytest.mark.parametrize(
    "options",
    [
        {"identifier": "a b"},
        {"metadata": {"$a": 1}},
        {"metadata": {"a": "x" * 5000}},
        {"metadata": {"a": float("nan")}},
    ],
)
def test_options_that_the_platform_would_refuse(options: dict[str, Any]) -> None:
    result = run_task(lambda task: task.write(b"", **options) and None)
    assert isinstance(result.error, ValueError)


def total(task: sdp.Task[Any]) -> None:
    state = task.state.get() or {"sum": 0}

    def add(item: sdp.Input) -> None:
        for row in item.rows():
            state["sum"] += int(row["v"])
        task.write_json(state)
        task.state.set(state)

    task.each_new_input(add)


def test_an_incremental_task_moves_the_watermark_with_its_state() -> None:
    result = run_task(total, inputs=["v\n1\n", "v\n2\n", "v\n4\n"], max_inputs_per_task=2)
    assert (result.watermark, result.state, result.has_more) == (2, {"sum": 3}, True)
    following = run_task(total, inputs=["v\n1\n", "v\n2\n", "v\n4\n"], state=result.state, watermark=result.watermark)
    assert (following.watermark, following.state, following.has_more) == (3, {"sum": 7}, False)
    assert json.loads(following.output.text) == {"sum": 7}
    assert following.output.identifier.endswith(".2.1")


def test_a_bad_input_fails_the_task_or_is_rejected() -> None:
    inputs = ["v\n1\n", "v,w\n2\n", "v\n4\n"]
    failed = run_task(total, inputs=inputs)
    assert (failed.category, failed.watermark, len(failed.outputs)) == ("validation", 1, 1)
    result = run_task(total, inputs=inputs, on_bad_input="reject")
    assert (result.outcome, result.watermark, result.state) == ("completed", 3, {"sum": 5})
    assert [(each.output_id, each.reason) for each in result.rejected] == [
        (2, "line 2: 1 fields in a table of 2 columns")
    ]
    assert result.logs[0].message == "input-2 is rejected: line 2: 1 fields in a table of 2 columns"


@sdp.runner(on_bad_input="reject")
async def total_async(task: sdp.AsyncTask[Any]) -> sdp.Outcome | None:
    state = await task.state.get() or {"sum": 0}

    async def add(item: sdp.AsyncInput) -> None:
        async for row in item.rows():
            state["sum"] += int(row["v"])
        await task.write_json(state)
        task.state.set(state)

    await task.each_new_input(add)
    async for item in task.inputs("all"):
        task.progress("read", item.output_identifier)
        assert await item.text()

    async def pieces() -> Any:
        yield b"from "
        yield "the loop"

    await task.write(pieces())
    return None


def test_a_coroutine_does_the_same() -> None:
    result = run_task(total_async, inputs=["v\n1\n", "v,w\n2\n", "v\n4\n"])
    assert result.error is None
    assert (result.watermark, result.state, len(result.rejected)) == (3, {"sum": 5}, 1)
    assert [each.data for each in result.outputs] == [b'{"sum": 1}', b'{"sum": 5}', b"from the loop"]
    assert result.progress[-1] == {"phase": "read", "message": "input-3"}


def test_annotations_are_those_that_the_platform_would_get() -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.annotate(1.5, "Brake lock", tags=["brakes"], channel="speed")
        start = datetime(2026, 3, 14, 10, 30, tzinfo=timezone(timedelta(hours=1)))
        task.annotate(start, "Lap 1", end=start + timedelta(minutes=1))

    none: dict[str, Any] = {"to": None, "text": "", "tags": [], "channel": None}
    brake = {"from": "1970-01-01T00:00:01.500Z", "label": "Brake lock", "tags": ["brakes"], "channel": "speed"}
    lap = {"from": "2026-03-14T09:30:00.000Z", "to": "2026-03-14T09:31:00.000Z", "label": "Lap 1"}
    assert run_task(work).annotations == ({**none, **brake}, {**none, **lap})

    async def later(task: sdp.AsyncTask[Any]) -> None:
        await task.annotate(0, "Start", text="Pit exit")

    assert [each["text"] for each in run_task(later).annotations] == ["Pit exit"]


def test_times_of_annotations_without_a_zone_are_utc_and_text_is_iso_8601(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()

    def work(task: sdp.Task[Any]) -> None:
        task.annotate("1970-01-01T00:00:05Z", "label", end="1970-01-01T01:00:06.5+01:00")
        task.annotate("2026-03-14T09:30:00", "label", end=datetime(2026, 3, 14, 9, 31))

    try:
        annotations = run_task(work).annotations
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [(each["from"], each["to"]) for each in annotations] == [
        ("1970-01-01T00:00:05.000Z", "1970-01-01T00:00:06.500Z"),
        ("2026-03-14T09:30:00.000Z", "2026-03-14T09:31:00.000Z"),
    ]

    def wrong(task: sdp.Task[Any]) -> None:
        task.annotate("soon", "label")

    said = "'soon' is no time: it must be like 2026-03-01T10:00:00Z, a datetime or a number of seconds."
    assert str(run_task(wrong).error) == said


def test_ends() -> None:
    assert run_task(lambda task: "suspended").outcome == "suspended"
    assert run_task(lambda task: sdp.Completion(status_details="12 laps")).status_details == "12 laps"
    assert run_task(lambda task: "completed").category == "error"
    assert run_task(lambda task: 7).category == "error"
    dropped = run_task(lambda task: (task.write(b"x"), "no-output")[1])
    assert (dropped.outputs, len(dropped.dropped)) == ((), 1)

    def out_of_memory(task: sdp.Task[Any]) -> None:
        raise MemoryError

    assert run_task(out_of_memory).category == "memory"


def test_lines_of_every_kind_are_kept() -> None:
    def work(task: sdp.Task[Any]) -> None:
        logging.getLogger("x").warning("w")
        task.log.debug("d")
        print("p")

    logs = run_task(work).logs
    assert [(line.level, line.message) for line in logs] == [("warning", "w"), ("debug", "d"), ("info", "p")]


def test_a_missing_library_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    result = run_task(lambda task: next(task.inputs()).to_polars() and None, inputs=["a\n1\n"])
    assert str(result.error) == "to_polars() needs polars: pip install polars"


class TestFrames:
    """Frames, where the libraries are installed."""

    def test_pandas(self) -> None:
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")

        def work(task: sdp.Task[Any]) -> None:
            item = next(task.inputs())
            frame = item.to_pandas()
            assert list(frame["v"]) == [1.5, 2.5]
            task.write_frame(frame, identifier="p")
            task.write_frame(frame, "csv", identifier="c")

        result = run_task(work, inputs=["t;v\n0;1.5\n1;2.5\n"])
        assert result.error is None
        parquet, text = result.outputs
        assert text.text == "t,v\n0,1.5\n1,2.5\n"
        assert (parquet.content_type, text.content_type) == ("application/vnd.apache.parquet", "text/csv")
        assert list(pandas.read_parquet(io.BytesIO(parquet.data))["t"]) == [0, 1]

        def read(task: sdp.Task[Any]) -> None:
            item = next(task.inputs())
            assert item.parquet(["v"]).column_names == ["v"]
            assert list(item.to_pandas(columns=["t"])["t"]) == [0, 1]

        assert run_task(read, inputs=[parquet.data]).error is None
        assert run_task(read, inputs=[b"PAR1 no parquet"]).category == "validation"

    def test_polars(self) -> None:
        pytest.importorskip("polars")

        def work(task: sdp.Task[Any]) -> None:
            for number, item in enumerate(task.inputs()):
                task.write_frame(item.to_polars(), "csv", identifier=str(number))
            task.write_frame(item.to_polars(), identifier="p")

        lines = TestInput('{"v": 1}\n{"v": 2}\n', content_type="application/x-ndjson")
        result = run_task(work, inputs=["v\n1\n2\n", lines])
        assert result.error is None
        assert [each.text for each in result.outputs[:2]] == ["v\n1\n2\n"] * 2
        assert run_task(work, inputs=[result.outputs[2].data]).outputs[0].text == "v\n1\n2\n"

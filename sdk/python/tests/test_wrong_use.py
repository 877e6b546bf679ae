"""Mistakes of authors, and what they are told."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sdp
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp.testing import run_task


def test_code_that_leaves_the_process_fails_its_task_in_a_test_as_on_the_platform() -> None:
    def work(_: sdp.Task) -> None:
        sys.exit("no such car")

    result = run_task(work)
    assert (result.ended_by, result.reason) == ("fail", "SystemExit: no such car")


def test_a_coroutine_that_leaves_the_process_does_so_too() -> None:
    async def work(_: sdp.AsyncTask) -> None:
        sys.exit(3)

    assert run_task(work).reason == "SystemExit: 3"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"identifier": 7}, "ValueError: An output identifier holds 1 to 100 letters, digits, '.', '_', '-': 7."),
        ({"metadata": [1]}, "TypeError: Output metadata are a dictionary, not list."),
        ({"metadata": {1: {2}}}, "TypeError: The output metadata are no JSON: Object of type set"),
    ],
)
def test_an_output_that_the_platform_would_refuse_is_refused_in_a_sentence(options: Any, reason: str) -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.write("x", **options)

    assert (run_task(work).reason or "").startswith(reason)


def test_a_number_is_a_key_of_metadata_as_text() -> None:
    def work(task: sdp.Task[Any]) -> None:
        metadata: Any = {1: 2}
        task.write("x", metadata=metadata)

    assert run_task(work).output.metadata == {"1": 2}


def test_what_a_task_prints_is_in_its_log_when_the_terminal_is_gone_or_has_not_the_character(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    first, second = double.offer(), double.offer()
    runner = start_runner(
        """
import sys
@sdp.runner
def work(task):
    print("größe", flush=True)
    sys.stdout.close()
    print("after", flush=True)
    return "no-output"
""",
        PYTHONIOENCODING="ascii",
    )
    double.until(lambda: second.end)
    assert (first.end, second.end) == (("complete", {"outcome": "no-output"}),) * 2
    assert first.messages == second.messages == ["größe", "after"]
    assert runner.stdout is not None and runner.stdout.readline() == "gr\\xf6\\xdfe\n"


@pytest.mark.parametrize("url", ["http://127.0.0.1:http", "http://127.0.0.1:99999", "http://[::1", "127.0.0.1:8080"])
def test_an_address_that_is_none_is_told_in_a_sentence(url: str) -> None:
    @sdp.runner
    def work(_: sdp.Task[Any]) -> None:
        pass

    with pytest.raises(sdp.SettingsError) as told:
        sdp.start(work, url=url, token="hrt_x")
    assert told.value.problems == ("Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.",)


def test_a_runner_that_is_run_in_a_thread_says_what_starts_it_there() -> None:
    with ThreadPoolExecutor() as threads, pytest.raises(RuntimeError, match=r"sdp\.start\(\)"):
        threads.submit(sdp.Runner(lambda _: None).run, url="http://127.0.0.1:9", token="hrt_x").result()


def test_an_output_whose_watermark_is_refused_is_not_written_in_a_test_as_on_the_platform() -> None:
    def work(task: sdp.Task[Any]) -> None:
        task.watermark.advance(2)
        with pytest.raises(sdp.ApiError) as refused:
            task.write("late", identifier="late", watermark=1)
        assert refused.value.code == "watermark_regression"
        task.write("right", identifier="right")

    result = run_task(work, inputs=["a", "b"])
    assert (result.error, [each.identifier for each in result.outputs]) == (None, ["right"])

"""How a runner is started, and what its switches do."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble
from sdp._runner.settings import Settings, read_settings
from sdp.errors import SettingsError

import sdp

ENVIRONMENT = {"SDP_URL": "http://platform:8080/base/", "SDP_RUNNER_TOKEN": " hrt_x\n"}


@sdp.runner(templates=["t"])
def work(task: sdp.Task[Any]) -> None:
    pass


def read(**environment: str) -> Settings:
    return read_settings(work, {}, {**ENVIRONMENT, **environment})


def test_settings_come_from_the_environment_and_options_go_first() -> None:
    options = {"concurrency": 2, "instance_id": "me", "run_logs": False}
    settings = read_settings(work, options, {**ENVIRONMENT, "SDP_RUNNER_CONCURRENCY": "3"})
    assert (settings.url, settings.token) == ("http://platform:8080/base", "hrt_x")
    assert settings.instance_ids == ("me.1", "me.2")
    assert (settings.run_logs, settings.capture_output, settings.claim_next) == (False, True, True)
    assert (settings.wait_seconds, settings.grace_seconds) == (30, 15)
    assert read(SDP_RUNNER_INSTANCE="me").instance_ids == ("me",)
    with pytest.raises(TypeError, match="There is no option tokens"):
        read_settings(work, {"tokens": "hrt_x"}, ENVIRONMENT)


def test_instance_ids_are_those_of_one_start_alone() -> None:
    first, second = read().instance_ids[0], read().instance_ids[0]
    assert first != second and first.startswith("t:")


def test_settings_that_are_empty_count_as_missing() -> None:
    settings = read(SDP_RUNNER_INSTANCE="", SDP_RUNNER_CONCURRENCY="", SDP_RUNNER_RUN_LOGS="")
    assert len(settings.instance_ids) == 1 and settings.run_logs


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("SDP_URL", "ftp://platform", "https://platform"),
        ("SDP_URL", "http://platform:99999", "http://platform:8080"),
        ("SDP_RUNNER_TOKEN", "a b", "hrt_x"),
        ("SDP_RUNNER_CONCURRENCY", "0", "1"),
        ("SDP_RUNNER_CONCURRENCY", "1001", "1000"),
        ("SDP_RUNNER_WAIT_SECONDS", "61", "60"),
        ("SDP_RUNNER_GRACE_SECONDS", "-1", "0"),
        ("SDP_RUNNER_INSTANCE", "a b", "a:b"),
        ("SDP_RUNNER_TEMPLATE_SUFFIX", "Petra", "-petra"),
        ("SDP_RUNNER_CAPTURE", "perhaps", "off"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_name(name: str, wrong: str, right: str) -> None:
    with pytest.raises(SettingsError, match=name) as refused:
        read(**{name: wrong})
    assert len(refused.value.problems) == 1
    read(**{name: right})


@pytest.mark.parametrize(
    ("switch", "messages", "is_next_asked"),
    [
        ("SDP_RUNNER_CAPTURE", ["logged", "error: bad"], True),
        ("SDP_RUNNER_RUN_LOGS", [], True),
        ("SDP_RUNNER_CLAIM_NEXT", ["logged", "printed", "error: bad"], False),
    ],
)
def test_a_switch_that_is_off_turns_off_what_it_says_and_nothing_else(
    double: PlatformDouble, start_runner: RunnerProcess, switch: str, messages: list[str], is_next_asked: bool
) -> None:
    double.offers_next = True
    task = double.offer()
    code = "task.log.info('logged'); print('printed'); raise sdp.TaskFailure('error', 'bad')"
    start_runner(f"@sdp.runner(templates=['t'])\ndef work(task):\n    {code}", **{switch: "off"})
    double.until(lambda: task.end)
    assert task.end == ("fail", {"category": "error", "reason": "bad"})
    assert task.messages == messages
    assert (task.next is not None) == is_next_asked

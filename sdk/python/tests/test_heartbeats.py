"""The process that renews leases: what it sends when, and what follows when it is ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from platform_double import PlatformDouble
from sdp._calls.connection import Reply
from sdp._heartbeats import process
from sdp._heartbeats.heartbeats import Heartbeats, KeptTask
from sdp._heartbeats.process import Keeper
from sdp.errors import ApiError, NetworkError


class Line:
    """Answers the calls of a keeper, and notes them with their times."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Any]] = []
        self.failures: list[Exception] = []

    def call(self, method: str, path: str, *, json: Any, **options: Any) -> Reply:
        self.calls.append((time.monotonic(), json))
        if self.failures:
            raise self.failures.pop(0)
        return Reply(200, {})

    @property
    def bodies(self) -> list[Any]:
        return [json for _, json in self.calls]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    monkeypatch.setattr(process, "post", lambda message: None)
    return Line()


def kept(line: Line, interval_seconds: float) -> Keeper:
    task = {"taskId": "t", "headers": {}, "intervalSeconds": interval_seconds, "cancelGraceSeconds": 5}
    return Keeper(line, task)  # type: ignore[arg-type]


def until(line: Line, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(line.calls) < count:
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("failure", "bodies"),
    [
        (ApiError(400, "no progress"), [{"phase": "reading"}, {}]),
        (ApiError(503, "unavailable"), [{"phase": "reading"}, {"phase": "reading"}]),
        (NetworkError("silent"), [{"phase": "reading"}, {"phase": "reading"}]),
    ],
)
def test_a_lease_does_not_end_for_progress_that_the_platform_refuses(
    line: Line, failure: Exception, bodies: list[Any]
) -> None:
    line.failures = [failure]
    keeper = kept(line, 0.05)
    keeper.report({"phase": "reading"})
    keeper.start()
    until(line, 2)
    keeper.stop()
    assert line.bodies[:2] == bodies


def test_an_ended_task_has_no_further_heartbeat(line: Line) -> None:
    keeper = kept(line, 0.05)
    keeper.start()
    until(line, 1)
    keeper.stop()
    keeper.join(60)
    assert not keeper.is_alive()


def test_a_failed_heartbeat_is_made_again_sooner_than_the_next_one(line: Line) -> None:
    line.failures = [NetworkError("silent")]
    keeper = kept(line, 1.0)
    keeper.start()
    until(line, 2)
    keeper.stop()
    (first, _), (second, _) = line.calls[:2]
    assert second - first < 1.0


def test_progress_is_sent_before_the_next_heartbeat_and_at_most_three_times_an_interval(line: Line) -> None:
    keeper = kept(line, 2.0)
    began = time.monotonic()
    keeper.start()
    while len(line.calls) < 2:
        keeper.report({"phase": "reading"})
        time.sleep(0.01)
    keeper.stop()
    (first, _), (second, _) = line.calls[:2]
    assert 0.6 < first - began < 2.0
    assert second - first > 0.6


@pytest.fixture
def heartbeats(double: PlatformDouble) -> Iterator[Heartbeats]:
    made = Heartbeats(f"{double.url}/api/v2/runner", {})
    made.start()
    yield made
    made.close()


def keep(heartbeats: Heartbeats, task_id: str) -> None:
    headers = {"x-platform-runner-instance": "me"}
    heartbeats.keep(KeptTask(task_id, headers, 0.1, 5.0, on_cancel=lambda why: None))


def test_tasks_keep_their_leases_when_the_process_that_renews_them_is_killed(
    double: PlatformDouble, heartbeats: Heartbeats
) -> None:
    task = double.offer()
    double.hand_out("me")
    keep(heartbeats, task.task_id)
    heartbeats.report(task.task_id, {"phase": "reading"})
    double.until(lambda: {"phase": "reading"} in [body for _, body in task.heartbeats])
    assert heartbeats._process is not None
    heartbeats._process.kill()
    heartbeats._process.wait()
    before = len(task.heartbeats)
    double.until(lambda: len(task.heartbeats) > before + 3)
    assert task.heartbeats[-1][1] == {"phase": "reading"}


def test_progress_is_cut_to_what_the_platform_takes(double: PlatformDouble, heartbeats: Heartbeats) -> None:
    task = double.offer()
    double.hand_out("me")
    keep(heartbeats, task.task_id)
    heartbeats.report(
        task.task_id, {"phase": "p" * 300, "message": "m" * 5_000, "unit": "u" * 300, "done": 1, "total": -1}
    )
    double.until(lambda: task.heartbeats and task.heartbeats[-1][1])
    sent = task.heartbeats[-1][1]
    assert (len(sent["phase"]), len(sent["message"])) == (255, 4_000)
    assert (sent["progress"]["done"], len(sent["progress"]["unit"])) == (1, 255)
    assert "total" not in sent["progress"]

"""The log of the runner's process."""

from __future__ import annotations

from pathlib import Path

from conftest import RunnerProcess
from platform_double import PlatformDouble


def test_it_has_no_configuration_of_the_task_that_the_end_of_another_claims(
    double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path
) -> None:
    double.offers_next = True
    first, second = (double.offer(configuration={"password": "of the simulator"}) for _ in range(2))
    start_runner("@sdp.runner\ndef work(task):\n    return 'no-output'")
    double.until(lambda: second.end)
    said = (tmp_path / "stderr").read_text()
    assert f'"taskId": "{first.task_id}"' in said and "of the simulator" not in said

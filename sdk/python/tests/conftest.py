"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from platform_double import PlatformDouble


@pytest.fixture
def double() -> Iterator[PlatformDouble]:
    """A server of the runner routes."""
    made = PlatformDouble()
    yield made
    made.close()


RunnerProcess = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_runner(double: PlatformDouble, tmp_path: Path) -> Iterator[RunnerProcess]:
    """Starts a module with a runner as a separate process, as `sdp-runner` does."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, **variables: str) -> subprocess.Popen[str]:
        module = tmp_path / "the_runner.py"
        module.write_text(f"import sdp\n{code}\n")
        environment = {
            **os.environ,
            "SDP_URL": double.url,
            "SDP_RUNNER_TOKEN": double.token,
            "SDP_RUNNER_WAIT_SECONDS": "5",
            **variables,
        }
        with (tmp_path / "stderr").open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "sdp.cli", str(module)],
                env=environment, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()

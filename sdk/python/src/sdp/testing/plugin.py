"""Fixtures for pytest, which finds this module by the package's entry point."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .cases import CaseResult
from .cases import run_case as run_one_case
from .run_task import TaskResult
from .run_task import run_task as run_one_task


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that saves the outputs of cases again."""
    parser.addoption("--update-cases", action="store_true", help="save the outputs of run_case as the expected ones")


@pytest.fixture
def run_task() -> Callable[..., TaskResult]:
    """``sdp.testing.run_task``."""
    return run_one_task


@pytest.fixture
def run_case(request: pytest.FixtureRequest) -> Callable[..., CaseResult]:
    """``sdp.testing.run_case``, with the option ``--update-cases``; it fails the test by itself."""
    update = bool(request.config.getoption("--update-cases"))

    def run(folder: str, runner: Callable[..., object]) -> CaseResult:
        result = run_one_case(folder, runner, update=update)
        result.check()
        return result

    return run

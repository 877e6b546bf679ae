"""Tests of runners without a platform.

    from sdp.testing import run_task

    def test_top_speed():
        result = run_task(top_speed, inputs=[b"time,speed\\n0,41\\n1,63.5\\n"])
        assert json.loads(result.output.text) == {"top": 63.5}

pytest finds the fixtures ``run_task`` and ``run_case`` by itself.
"""

from .cases import CaseError, CaseResult, run_case
from .local_calls import Output, Rejection
from .run_task import LogLine, TaskResult, TestInput, run_task

__all__ = [
    "CaseError",
    "CaseResult",
    "LogLine",
    "Output",
    "Rejection",
    "TaskResult",
    "TestInput",
    "run_case",
    "run_task",
]

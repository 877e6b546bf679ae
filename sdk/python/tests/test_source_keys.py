"""What stays the same of an output when its node makes it again."""

from __future__ import annotations

from typing import Any

import pytest
import sdp
from sdp.testing import TestInput, run_task


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ({}, "run-1.0.1"),
        ({"sourceKey": "lap 3", "$copyOf": {"outputIdentifier": "other"}}, "lap 3"),
        ({"sourceKey": 3, "$copyOf": {"outputId": 1, "outputIdentifier": "lap-3.csv"}}, "lap-3.csv"),
        ({"kind": "recording", "source": {"outputId": 1, "outputIdentifier": "a-run.0.1", "key": "lap 3"}}, "lap 3"),
        ({"kind": "recording", "source": {"outputId": 1, "outputIdentifier": "lap-3.csv"}}, "lap-3.csv"),
        ({"source": {"outputIdentifier": "of its author"}, "$copyOf": None}, "run-1.0.1"),
    ],
)
def test_what_a_node_makes_again_has_the_source_key_of_before(metadata: dict[str, Any], key: str) -> None:
    given = [TestInput(b"", identifier="run-1.0.1", metadata=metadata)]

    def work(task: sdp.Task[Any]) -> None:
        for item in task.inputs("latest"):
            task.write(b"", source_key=item.source_key, metadata={"lap": 3})

    assert [each.metadata for each in run_task(work, inputs=given).outputs] == [{"lap": 3, "sourceKey": key}]


@pytest.mark.parametrize("key", ["", " ", "a\nb", "x" * 256, 3])
def test_a_key_that_the_platform_would_not_know_as_one_is_refused(key: Any) -> None:
    result = run_task(lambda task: task.write(b"", source_key=key) and None)
    assert isinstance(result.error, ValueError)

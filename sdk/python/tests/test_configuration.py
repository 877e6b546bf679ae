"""Configurations as types."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import pytest
import sdp
from sdp.testing import run_task


@dataclass
class Channel:
    name: str
    scale: float = 1.0


@dataclass
class Settings:
    rate_hz: float
    channels: list[Channel] = field(default_factory=list)
    label: str | None = None


def test_a_dataclass_is_made_of_the_configuration() -> None:
    seen: list[Settings] = []

    @sdp.runner(configuration=Settings)
    def work(task: sdp.Task[Settings]) -> None:
        seen.append(task.configuration)

    given = {"rateHz": 10, "channels": [{"name": "v", "scale": 2}], "label": "x", "unknown": 1}
    assert run_task(work, configuration=given).outcome == "no-output"
    assert seen == [Settings(10.0, [Channel("v", 2.0)], "x")]
    assert isinstance(seen[0].rate_hz, float)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "configuration: $.rateHz is missing"),
        ({"rateHz": "fast"}, "configuration: $.rateHz must be of type float, not str"),
        ({"rateHz": 1, "channels": [{}]}, "configuration: $.channels[0].name is missing"),
    ],
)
def test_what_does_not_fit_fails_the_task_for_good(given: dict[str, object], said: str) -> None:
    work = sdp.Runner(lambda task: None, configuration=Settings)
    result = run_task(work, configuration=given)
    assert (result.category, result.reason) == ("validation", said)


class Unit(Enum):
    METRES = "m"
    FEET = "ft"


@dataclass
class Choices:
    unit: Unit = Unit.METRES
    side: Literal["left", "right"] | None = None
    gear: Literal[1, 2] = 1


def test_fields_with_a_choice_get_a_choice_or_fail_the_task_for_good() -> None:
    seen: list[Choices] = []
    work = sdp.Runner(lambda task: seen.append(task.configuration), configuration=Choices)
    assert run_task(work, configuration={"unit": "ft", "side": "left", "gear": 2}).outcome == "no-output"
    assert seen == [Choices(Unit.FEET, "left", 2)]
    for given, said in (
        ({"unit": "km"}, "$.unit must be one of 'm', 'ft', not 'km'"),
        ({"side": "middle"}, "$.side must be one of 'left', 'right', not 'middle'"),
        ({"gear": True}, "$.gear must be one of 1, 2, not True"),
    ):
        result = run_task(work, configuration=given)
        assert (result.category, result.reason) == ("validation", f"configuration: {said}")


def test_a_pydantic_model_is_made_of_the_configuration() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", rate=(float, ...))
    seen = []
    work = sdp.Runner(lambda task: seen.append(task.configuration.rate), configuration=model)
    assert run_task(work, configuration={"rate": "2.5"}).outcome == "no-output"
    assert seen == [2.5]
    assert run_task(work, configuration={}).category == "validation"


def test_wrong_definitions_are_refused() -> None:
    with pytest.raises(ValueError, match="not the name of a node template"):
        sdp.Runner(lambda task: None, templates=["Top Speed"])
    with pytest.raises(TypeError, match="must be a list"):
        sdp.Runner(lambda task: None, templates="top-speed")
    with pytest.raises(TypeError, match="dataclass or a pydantic model"):
        sdp.Runner(lambda task: None, configuration=int)
    with pytest.raises(ValueError, match="from 0 to 60"):
        sdp.Runner(lambda task: None, cancel_grace_seconds=61)

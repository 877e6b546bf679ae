"""The configuration of a node as a dataclass, a pydantic model or a plain dictionary."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Sequence
from typing import Any, Literal, Union

from ..errors import TaskFailure


def read_configuration(model: Any, given: dict[str, Any]) -> Any:
    """Makes the model of a configuration. Raises TaskFailure ``validation`` when they do not fit.

    A field ``rate_hz`` of a dataclass is read from ``rate_hz`` or ``rateHz``; other keys are ignored.
    """
    if model is None:
        return given
    if hasattr(model, "model_validate"):
        try:
            return model.model_validate(given)
        # The error is pydantic's, which is not imported here.
        except ValueError as error:
            raise TaskFailure("validation", f"configuration: {error}") from error
    return _convert(model, given, "$")


def is_model(model: Any) -> bool:
    """True for a type that a configuration can be read as."""
    return isinstance(model, type) and (dataclasses.is_dataclass(model) or hasattr(model, "model_validate"))


def _convert(kind: Any, value: Any, path: str) -> Any:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _dataclass(kind, value, path)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        present = [one for one in arguments if one is not type(None)]
        return _convert(present[0], value, path) if value is not None and len(present) == 1 else value
    if origin is Literal:
        return _choice([(each, each) for each in arguments], value, path)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _choice([(member.value, member) for member in kind], value, path)
    if origin is list and isinstance(value, list):
        return [_convert(arguments[0], item, f"{path}[{at}]") for at, item in enumerate(value)]
    if origin is tuple and isinstance(value, list):
        return tuple(value)
    if origin is dict and isinstance(value, dict):
        return {key: _convert(arguments[1], item, f"{path}.{key}") for key, item in value.items()}
    return _simple(kind, value, path)


def _simple(kind: Any, value: Any, path: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind in (int, float, str, bool):
        is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not is_right:
            raise _fault(path, f"must be of type {kind.__name__}, not {type(value).__name__}")
    return value


def _choice(choices: Sequence[tuple[Any, Any]], value: Any, path: str) -> Any:
    """The choice of this value."""
    for each, chosen in choices:
        # In Python True equals 1.
        if each == value and isinstance(each, bool) == isinstance(value, bool):
            return chosen
    raise _fault(path, f"must be one of {', '.join(repr(each) for each, _ in choices)}, not {value!r}")


def _dataclass(kind: type[Any], value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        raise _fault(path, "must be an object")
    hints = typing.get_type_hints(kind)
    arguments: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        key = next((key for key in (field.name, _camel(field.name)) if key in value), None)
        if key is not None and field.init:
            arguments[field.name] = _convert(hints[field.name], value[key], f"{path}.{key}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise _fault(f"{path}.{_camel(field.name)}", "is missing")
    try:
        return kind(**arguments)
    except (TypeError, ValueError) as error:
        raise _fault(path, str(error)) from error


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _fault(path: str, what: str) -> TaskFailure:
    return TaskFailure("validation", f"configuration: {path} {what}")

"""Finds the runner of a module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .runner import Runner


class NoRunnerError(Exception):
    """There is no such module, or nothing in it that could be a runner."""


def load_runner(target: str) -> Runner:
    """The runner of ``module``, ``module:name`` or ``path/to/file.py[:name]``.

    Without a name it is the module's only runner, or the one named ``runner``, ``main`` or ``run``. A name may also be
    that of a plain function, which then gets all tasks that the token may claim. Raises NoRunnerError, and errors of
    the module.
    """
    place, _, name = _split(target)
    module = _import(place)
    if name:
        found = getattr(module, name, None)
        if isinstance(found, Runner):
            return found
        if callable(found):
            return Runner(found, name=name)
        raise NoRunnerError(f"{place} has no runner named {name}.")
    runners = _runners_of(module)
    if len(runners) == 1:
        return next(iter(runners.values()))
    if not runners:
        raise NoRunnerError(f"{place} has no runner: decorate a function with @sdp.runner.")
    named = next((runners[each] for each in ("runner", "main", "run") if each in runners), None)
    if named is None:
        raise NoRunnerError(f"{place} has several runners, name one: {place}:{' or :'.join(sorted(runners))}")
    return named


def _split(target: str) -> tuple[str, str, str]:
    """A drive letter is not a module."""
    head, colon, name = target.rpartition(":")
    return (head, colon, name) if head and name.isidentifier() and len(head) > 1 else (target, "", "")


def _runners_of(module: ModuleType) -> dict[str, Runner]:
    own: dict[str, Runner] = {}
    for name, value in vars(module).items():
        if isinstance(value, Runner) and value not in own.values():
            own[name] = value
    return own


def _import(place: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    if not place.endswith(".py"):
        if importlib.util.find_spec(place.partition(".")[0]) is None:
            raise NoRunnerError(f"There is no module {place}.")
        return importlib.import_module(place)
    path = Path(place).resolve()
    if not path.is_file():
        raise NoRunnerError(f"There is no file {place}.")
    # Modules beside it are found as if it were started by python.
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles find their module by its name.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    found: ModuleType = module
    return found

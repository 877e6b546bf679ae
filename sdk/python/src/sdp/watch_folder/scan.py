"""The files of a watched folder that are to be sent, and what is known of each."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIDE_SUFFIX = ".meta.json"
MARK_SUFFIX = ".sent"
# Programs write to such names, and rename the file when it is complete.
_UNFINISHED = re.compile(r"\.(part|partial|tmp|temp|crdownload)$", re.IGNORECASE)


@dataclass(frozen=True)
class FoundFile:
    """A file as it was when it was found."""

    name: str
    path: Path
    size_bytes: int
    modified_at_ms: float


def pause_after_scan(scan_seconds: float) -> float:
    """The pause between two scans. Where they take long, the agent must leave the machine and its share to others."""
    return min(max(1.0, 9 * scan_seconds), 30.0)


def files_of(folder: Path) -> tuple[list[FoundFile], dict[str, OSError]]:
    """The folder's files, oldest first, and why others cannot be read; hidden, unfinished and side files are passed over."""
    files: list[FoundFile] = []
    unreadable: dict[str, OSError] = {}
    with os.scandir(folder) as entries:
        for each in filter(lambda entry: _is_wanted(entry.name), entries):
            try:
                found = find(folder, each.name) if each.is_file(follow_symlinks=False) else None
            except OSError as error:
                # One file of a share or a disk may be broken: the others are sent.
                unreadable[each.name] = error
                continue
            if found is not None:
                files.append(found)
    return sorted(files, key=lambda each: (each.modified_at_ms, each.name)), unreadable


def find(folder: Path, name: str) -> FoundFile | None:
    """A file as it is now; None when it is not there."""
    path = folder / name
    try:
        state = path.lstat()
    except FileNotFoundError:
        return None
    return FoundFile(name, path, state.st_size, state.st_mtime_ns / 1e6)


def _is_wanted(name: str) -> bool:
    return not (name.startswith(".") or name.endswith((SIDE_SUFFIX, MARK_SUFFIX)) or _UNFINISHED.search(name))


def metadata_of(found: FoundFile, pattern: re.Pattern[str] | None) -> Mapping[str, Any] | None:
    """The named groups of the pattern in the name, and above them the JSON object in ``NAME.meta.json``.

    None where there is neither. Raises ValueError when the side file holds no JSON object.
    """
    match = None if pattern is None else pattern.search(found.name)
    groups = {} if match is None else {key: value for key, value in match.groupdict().items() if value is not None}
    with if_there():
        return {**groups, **_object_of(found.path.with_name(found.name + SIDE_SUFFIX))} or None
    return groups or None


@contextmanager
def if_there() -> Iterator[None]:
    """Passes over a file that is not there, or cannot be: a long name has no room for a suffix."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise


def _object_of(side: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(side.read_text("utf-8"))
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ValueError(f"{side.name} holds no JSON object.")
    return parsed

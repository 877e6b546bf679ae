"""Downloads as files, which appear under their names when they are complete."""

from __future__ import annotations

import filecmp
import threading
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from .._calls.checksum import read_whole

_PIECE_BYTES = 1024 * 1024
_naming = threading.Lock()


def save_download(opened: Callable[[], BinaryIO], file: Path) -> None:
    """Writes a download to a file."""

    def save() -> None:
        with closing(opened()) as stream, file.open("wb") as target:
            while piece := stream.read(_PIECE_BYTES):
                target.write(piece)

    read_whole(save)


def save_as(opened: Callable[[], BinaryIO], path: Path, *, may_replace: bool) -> None:
    """Writes a download under a name at its end. Raises FileExistsError when it may not replace other bytes there."""
    # Of each caller its own: threads may save under the same name.
    begun = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        save_download(opened, begun)
        with _naming:
            if may_replace or not path.exists():
                begun.replace(path)
            elif not filecmp.cmp(begun, path, shallow=False):
                raise FileExistsError(f"{path} exists with other bytes: save({str(path)!r}) replaces it.")
    finally:
        begun.unlink(missing_ok=True)

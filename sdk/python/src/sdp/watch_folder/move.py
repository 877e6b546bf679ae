"""Moves acknowledged files, also to another disk: an archive is often one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def move_file(source: Path, target: Path, check: Callable[[], None]) -> None:
    """Between file systems a file is copied, under a name that no agent sends, until it is on disk in full.

    ``check`` raises when the file is no longer the one to be moved; the copy of a long file takes minutes.
    """
    check()
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        partial = target.with_name(f"{target.name}.partial")
        try:
            shutil.copyfile(source, partial)
        except OSError:
            # On a full disk the partial file would keep the rest of the room.
            partial.unlink(missing_ok=True)
            raise
        with suppress(PermissionError):  # some network shares keep rights of their own
            shutil.copystat(source, partial)
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        try:
            check()
        except Exception:
            partial.unlink()
            raise
        partial.rename(target)
        source.unlink()

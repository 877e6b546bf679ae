"""The SHA-256 of a read of all bytes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import SdpError

_Result = TypeVar("_Result")


class OtherBytes(SdpError):
    """All bytes came, and they are not those that the platform stores."""


class Checksum:
    """Checks bytes by their tag where that is their SHA-256; another is a tag of the store, and says nothing."""

    def __init__(self, etag: str | None) -> None:
        found = re.fullmatch('"([0-9a-f]{64})"', etag or "")
        self._wanted = found[1] if found else None
        self._digest = hashlib.sha256()

    def update(self, data: Any) -> None:
        """The next bytes."""
        if self._wanted is not None:
            self._digest.update(data)

    def check(self, name: str) -> None:
        """To be called after the last byte. Raises OtherBytes."""
        sha256 = self._digest.hexdigest()
        if self._wanted not in (None, sha256):
            raise OtherBytes(
                f"{name} came with other bytes: their SHA-256 is {sha256}, and the platform has {self._wanted}."
            )


def read_whole(read: Callable[[], _Result]) -> _Result:
    """Reads again, once, after other bytes: the store is not asked then."""
    try:
        return read()
    except OtherBytes:
        return read()

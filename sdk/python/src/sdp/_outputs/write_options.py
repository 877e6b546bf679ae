"""The options of a write, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from .._inputs.inputs import InputInfo


class WriteOptions(TypedDict, total=False):
    """The named arguments of :meth:`sdp.Task.write`."""

    identifier: str | None
    content_type: str | None
    metadata: Mapping[str, Any] | None
    source_key: str | None
    gzip: bool
    content_encoding: Literal["gzip"] | None
    watermark: InputInfo | int | None

"""The options of an output, as headers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._inputs.inputs import InputInfo, parse_time
from .._json import json_text

if TYPE_CHECKING:
    from .._calls.task_calls import Json

IDENTIFIER = re.compile(r"[A-Za-z0-9._-]{1,100}")
_METADATA_BYTES = 4 * 1024
_SOURCE_KEY_CHARACTERS = 255


@dataclass(frozen=True)
class WrittenOutput:
    """An output that the platform has accepted."""

    output_id: int
    output_identifier: str
    size_bytes: int
    """As stored."""
    sha256: str | None
    """None for what was written in several parts."""
    created_at: datetime
    created: bool
    """False when the node had an output of this identifier already; its bytes are unchanged."""


def written_output(wire: Json, created: bool) -> WrittenOutput:
    """An output as the platform describes it."""
    return WrittenOutput(
        output_id=wire["outputId"],
        output_identifier=wire["outputIdentifier"],
        size_bytes=wire["sizeBytes"],
        sha256=wire.get("sha256"),
        created_at=parse_time(wire["createdAt"]),
        created=created,
    )


def input_id_of(item: InputInfo | int) -> int:
    """The id that names an input as a watermark."""
    return item if isinstance(item, int) else item.output_id


def output_headers(
    identifier: str,
    content_type: str,
    metadata: Mapping[str, Any] | None,
    source_key: str | None,
    is_gzip: bool,
    watermark: InputInfo | int | None,
) -> dict[str, str | bytes]:
    """Raises ValueError for what the platform would refuse."""
    if not isinstance(identifier, str) or IDENTIFIER.fullmatch(identifier) is None:
        raise ValueError(f"An output identifier holds 1 to 100 letters, digits, '.', '_', '-': {identifier!r}.")
    headers: dict[str, str | bytes] = {
        "x-platform-output-identifier": identifier,
        "content-type": content_type,
    }
    if is_gzip:
        headers["content-encoding"] = "gzip"
    if metadata is not None or source_key is not None:
        headers["x-platform-output-metadata"] = _metadata_header({} if metadata is None else metadata, source_key)
    if watermark is not None:
        headers["x-platform-watermark"] = str(input_id_of(watermark))
    return headers


def metadata_bytes(json_text: str) -> bytes:
    """The value of the header. No header may hold DEL, which JSON text may."""
    return json_text.replace("\x7f", "\\u007f").encode("utf-8", "replace")


def _metadata_header(metadata: Mapping[str, Any], source_key: str | None) -> bytes:
    if not isinstance(metadata, Mapping):
        raise TypeError(f"Output metadata are a dictionary, not {type(metadata).__name__}.")
    try:
        encoded = metadata_bytes(json_text(dict(metadata) | _source_key(source_key)))
    except (TypeError, ValueError) as error:
        raise type(error)(f"The output metadata are no JSON: {error}") from error
    if len(encoded) > _METADATA_BYTES:
        raise ValueError(f"Output metadata hold at most {_METADATA_BYTES} bytes as JSON, not {len(encoded)}.")
    reserved = next((key for key in map(str, metadata) if key.startswith("$")), None)
    if reserved is not None:
        raise ValueError(f"Metadata keys that begin with '$' are reserved: {reserved!r}.")
    return encoded


def _source_key(key: str | None) -> dict[str, str]:
    if key is None:
        return {}
    is_name = isinstance(key, str) and key.strip() != "" and len(key) <= _SOURCE_KEY_CHARACTERS
    if not is_name or any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in key):
        raise ValueError(f"A source key has 1 to {_SOURCE_KEY_CHARACTERS} characters, and no control characters: {key!r}.")
    return {"sourceKey": key}

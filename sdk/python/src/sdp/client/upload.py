"""Uploads to a node: short ones in one request, long ones so that they go on where the line broke."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._calls.file_bytes import FileBytes
from .._calls.http import pieces_to_send
from .._calls.meter import Meter
from .._json import json_text
from .._outputs.headers import IDENTIFIER, metadata_bytes
from .._outputs.source import Source, pieces_of
from .api import Api
from .output import Output, outputs_of
from .resumable import RESUMABLE_BYTES, ResumableUpload

_NAME_CHARACTERS = 1024
_IDENTIFIER_CHARACTERS = 100
_DIGEST_CHARACTERS = 16
_TYPES = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".parquet": "application/vnd.apache.parquet",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
}


@dataclass(frozen=True)
class UploadInfo:
    """The name, type, metadata and digest of an upload."""

    identifier: str
    content_type: str
    is_gzip: bool
    metadata: Mapping[str, Any] | None
    sha256: bytes

    @property
    def metadata_text(self) -> str | None:
        """The metadata as JSON text."""
        if self.metadata is None:
            return None
        return json_text(dict(self.metadata))

    def headers(self) -> dict[str, str | bytes]:
        """As headers of a plain upload."""
        headers: dict[str, str | bytes] = {
            "x-platform-output-identifier": self.identifier,
            "x-amz-checksum-sha256": base64.b64encode(self.sha256).decode(),
            "content-type": self.content_type,
        }
        if self.is_gzip:
            headers["content-encoding"] = "gzip"
        text = self.metadata_text
        if text is not None:
            headers["x-platform-output-metadata"] = metadata_bytes(text)
        return headers

    def values(self) -> dict[str, str]:
        """As values of ``Upload-Metadata``."""
        text = self.metadata_text
        return {
            "identifier": self.identifier,
            "contentType": self.content_type,
            **({"contentEncoding": "gzip"} if self.is_gzip else {}),
            **({} if text is None else {"metadata": text}),
        }


def send_body(
    api: Api,
    node_instance_id: int,
    body: memoryview | FileBytes,
    info: UploadInfo,
    meter: Meter | None,
    resume_key: str | None,
) -> Output | None:
    """Returns the output; None where the project queues uploads. Raises ApiError and NetworkError."""
    if len(body) <= RESUMABLE_BYTES:
        path = f"/api/v2/node-instance/{node_instance_id}/outputs/data"
        status, reply = api.call("POST", path, body=body, headers=info.headers(), meter=meter)
        return None if status == 202 else Output.of(reply, api)

    metadata = info.metadata_text

    def is_same(output: Output) -> bool:
        return (
            output.sha256 == info.sha256.hex()
            and output.content_type == info.content_type
            and output.content_encoding == ("gzip" if info.is_gzip else None)
            # Metadata that the caller does not name may be any.
            and (metadata is None or output.metadata == json.loads(metadata))
        )

    for there in filter(is_same, outputs_of(api, node_instance_id, info.identifier)):
        return there
    path = f"/api/v2/node-instance/{node_instance_id}/uploads"
    upload = ResumableUpload(api, path, body, info.values(), key=resume_key, meter=meter)
    output_id = upload.send(api.retry_seconds)
    if output_id is None:
        return None
    named = outputs_of(api, node_instance_id, info.identifier)
    return next((each for each in named if each.output_id == output_id), None)


def body_of(data: Source | os.PathLike[str], stack: ExitStack) -> tuple[memoryview | FileBytes, str | None]:
    """The bytes, without a copy of a file in memory, and the name of the file."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return memoryview(data), None
    if isinstance(data, str):
        if _is_file_name(data):
            raise TypeError(f"Text is uploaded as it is, and {data!r} names a file: pass pathlib.Path({data!r}).")
        return memoryview(data.encode("utf-8")), None
    if isinstance(data, os.PathLike):
        return FileBytes(stack.enter_context(open(data, "rb"))), Path(data).name
    file = stack.enter_context(tempfile.TemporaryFile())
    for piece in pieces_of(data):
        file.write(piece)
    file.flush()
    return FileBytes(file), None


def _is_file_name(text: str) -> bool:
    return 0 < len(text) <= _NAME_CHARACTERS and text.isprintable() and os.path.isfile(text)


def identifier_of(name: str | None, sha256: bytes) -> str:
    """The default identifier: the name of the file, where an identifier may hold it."""
    if name is None:
        return sha256.hex()[:32]
    return name if IDENTIFIER.fullmatch(name) else identifier_by_bytes(name, sha256)


def identifier_by_bytes(name: str, sha256: bytes) -> str:
    """A name that the same file has every time, and no other bytes under the same name have."""
    allowed = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return f"{allowed[: _IDENTIFIER_CHARACTERS - _DIGEST_CHARACTERS - 1]}-{sha256.hex()[:_DIGEST_CHARACTERS]}"


def digest_of(body: memoryview | FileBytes) -> bytes:
    """The SHA-256."""
    digest = hashlib.sha256()
    for piece in pieces_to_send(body, None):
        digest.update(piece)
    return digest.digest()


def known_type_of(name: str) -> str | None:
    """The media type of a recording's file by its name, as the command line and the console have it."""
    return _TYPES.get(Path(name).suffix.lower())


def content_type_of(name: str | None, data: object) -> str:
    """The media type by the name."""
    # For packed files mimetypes names the type of what is inside.
    guessed = known_type_of(name) or mimetypes.guess_type(name)[0] if name is not None else None
    return guessed or ("text/plain; charset=utf-8" if isinstance(data, str) else "application/octet-stream")

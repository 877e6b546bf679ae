"""Where the files of a watched folder go: to a session, or to a managed ingest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .._calls.http import Answer, Body, Headers, HttpClient, read_json
from .._calls.meter import Meter, Progress
from .._version import VERSION
from ..client.platform import Platform
from ..client.resumable import RESUMABLE_BYTES, ResumableUpload
from ..client.session import Session
from ..client.upload import UploadInfo, body_of, digest_of, identifier_by_bytes, known_type_of
from ..errors import SdpError, SettingsError
from .scan import FoundFile, find

_SILENCE_SECONDS = 120.0
_RETRY_SECONDS = 10.0


@dataclass(frozen=True)
class Acknowledged:
    """The platform's acknowledgement of a file."""

    identifier: str
    output_id: int | None
    """None where it waits in the queue of its project."""


Send = Callable[[FoundFile, "Mapping[str, Any] | None"], Acknowledged]


def to_session(
    session_id: str,
    *,
    node: str | None = None,
    url: str | None = None,
    token: str | None = None,
    bytes_per_second: float | None = None,
) -> Send:
    """Sends into an input node of a session. Address and token default to ``SDP_URL`` and ``SDP_TOKEN``."""
    platform = Platform(url, token=token, retry_seconds=_RETRY_SECONDS)
    found: list[Session] = []

    def send(file: FoundFile, metadata: Mapping[str, Any] | None) -> Acknowledged:
        # Not before: the platform may be away when the agent starts.
        if not found:
            found.append(platform.session(session_id))
        identifier, sha256 = identifier_of(file.path)
        text = json.dumps(metadata, sort_keys=True)
        key = hashlib.sha256(f"{session_id} {node} {identifier} {sha256} {text}".encode()).hexdigest()
        output = found[0].upload(
            file.path,
            node=node,
            identifier=identifier,
            content_type=_content_type(file.name),
            metadata=metadata,
            progress=_while_unchanged(file),
            bytes_per_second=bytes_per_second,
            resume_key=key,
        )
        return Acknowledged(identifier, None if output is None else output.output_id)

    return send


def to_ingest(
    url_path: str,
    *,
    secret: str | None = None,
    url: str | None = None,
    bytes_per_second: float | None = None,
) -> Send:
    """Sends to a managed ingest. Address and secret default to ``SDP_URL`` and ``SDP_INGEST_SECRET``."""
    address = (url or os.environ.get("SDP_URL", "")).rstrip("/")
    if not address:
        raise SettingsError(["Set url, or SDP_URL, to the platform's base address."])
    given = secret or os.environ.get("SDP_INGEST_SECRET")
    calls = _IngestCalls(address, given)
    path = quote(url_path.strip("/"))

    def send(file: FoundFile, metadata: Mapping[str, Any] | None) -> Acknowledged:
        identifier, sha256 = identifier_of(file.path)
        info = UploadInfo(identifier, _content_type(file.name), False, metadata, bytes.fromhex(sha256))
        with ExitStack() as stack:
            body, _ = body_of(file.path, stack)
            meter = Meter(len(body), _while_unchanged(file), bytes_per_second)
            if len(body) > RESUMABLE_BYTES:
                key = hashlib.sha256(f"{path} {identifier} {sha256} {info.metadata_text}".encode()).hexdigest()
                uploads = f"/api/v2/ingest-uploads/{path}"
                upload = ResumableUpload(calls, uploads, body, info.values(), key=key, meter=meter)
                return Acknowledged(identifier, upload.send(_RETRY_SECONDS))
            meter.begin(0)
            answer = calls.open("POST", f"/ingest/{path}", headers=info.headers(), body=body, meter=meter)
            reply = read_json(answer)
        return Acknowledged(identifier, reply.get("nodeOutputId") if isinstance(reply, dict) else None)

    return send


def _while_unchanged(file: FoundFile) -> Progress:
    """A file that is written anew while it is sent in pieces must not become an output of its old and new bytes."""

    def check(_sent: int, _total: int) -> None:
        # One that is moved away meanwhile is sent to its end.
        if find(file.path.parent, file.name) not in (None, file):
            raise SdpError("The file changed while it was being sent.")

    return check


class _IngestCalls:
    """Calls with the secret of a managed ingest."""

    def __init__(self, address: str, secret: str | None) -> None:
        self._client = HttpClient(address, {"user-agent": f"sdp-client/{VERSION}"})
        self._credentials = {"x-ingest-secret": secret} if secret else {}

    def open(
        self,
        method: str,
        path: str,
        *,
        headers: Headers | None = None,
        body: Body | None = None,
        meter: Meter | None = None,
        answer_seconds: float | None = None,
    ) -> Answer:
        return self._client.open(
            method,
            path,
            headers={**(headers or {}), **self._credentials},
            body=body,
            silence_seconds=_SILENCE_SECONDS,
            answer_seconds=answer_seconds,
            sent=meter,
        )


def identifier_of(path: Path) -> tuple[str, str]:
    """A name that the same file has every time, and no other bytes under the same name have; and the SHA-256."""
    with ExitStack() as stack:
        sha256 = digest_of(body_of(path, stack)[0])
    return identifier_by_bytes(path.name, sha256), sha256.hex()


def _content_type(name: str) -> str:
    return known_type_of(name) or "application/octet-stream"

"""Long uploads, which go on where the line broke (tus 1.0.0)."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from typing import Protocol

from .._calls.back_off import BackOff
from .._calls.file_bytes import FileBytes
from .._calls.http import Answer, Body, Headers
from .._calls.meter import Meter
from ..errors import ApiError, NetworkError
from .api import is_worth_it

RESUMABLE_BYTES = 16 * 1024 * 1024
"""Longer bodies are sent in pieces."""

# A store may need minutes to put a long upload together, after its last byte.
_ASSEMBLY_SECONDS = 600.0
_VERSION = {"tus-resumable": "1.0.0"}
_PIECE = {**_VERSION, "content-type": "application/offset+octet-stream"}
# Another request to the upload ends, or the platform is at another offset: ask for it, and go on.
_ASK_AGAIN = (409, 423)


class Calls(Protocol):
    """Calls with the credentials of the uploading client."""

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
        """One try, up to the head of a successful answer."""
        ...


class ResumableUpload:
    """One upload to the uploads of a node instance or a managed ingest.

    A later process that gives the same ``key``, bytes and metadata goes on where this one ended.
    """

    def __init__(
        self,
        calls: Calls,
        path: str,
        body: memoryview | FileBytes,
        metadata: Mapping[str, str],
        *,
        key: str | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._calls = calls
        self._path = path
        self._body = body
        self._metadata = ",".join(
            f"{key} {base64.b64encode(value.encode('utf-8', 'replace')).decode()}" for key, value in metadata.items()
        )
        self._key = key or str(uuid.uuid4())
        self._meter = meter
        self._may_begin_anew = True
        self._location: str | None = None

    def send(self, retry_seconds: float) -> int | None:
        """Sends all bytes, and returns the id of the output; None where the project queues uploads.

        Raises ApiError, and NetworkError when no byte was accepted for ``retry_seconds``.
        """
        back_off = BackOff()
        reached = 0
        deadline = time.monotonic() + retry_seconds
        while True:
            try:
                offset = self._offset()
                if offset > reached:
                    reached, back_off, deadline = offset, BackOff(), time.monotonic() + retry_seconds
                return self._rest(offset)
            except Exception as error:
                if self._is_over(error):
                    continue
                wait = back_off.next_seconds(error)
                is_asked = isinstance(error, ApiError) and error.status in _ASK_AGAIN
                if not (is_asked or is_worth_it(back_off, error)) or time.monotonic() + wait > deadline:
                    raise
                time.sleep(wait)

    def _is_over(self, error: Exception) -> bool:
        """Whether the platform no longer knows the upload, which is then begun anew, once."""
        if not (isinstance(error, ApiError) and error.status == 404) or self._location is None:
            return False
        may_begin, self._may_begin_anew = self._may_begin_anew, False
        self._location, self._key = None, str(uuid.uuid4())
        return may_begin

    def _offset(self) -> int:
        if self._location is None:
            headers = {**_VERSION, "upload-length": str(len(self._body)), "upload-metadata": self._metadata}
            begun = self._done("POST", self._path, {**headers, "idempotency-key": f'"{self._key}"'})
            self._location = _named(begun, "location")
        return int(_named(self._done("HEAD", self._location, _VERSION), "upload-offset"))

    def _rest(self, offset: int) -> int | None:
        assert self._location is not None
        headers = {**_PIECE, "upload-offset": str(offset)}
        if self._meter is not None:
            self._meter.begin(offset)
        done = self._done("PATCH", self._location, headers, self._body[offset:], self._meter)
        if int(_named(done, "upload-offset")) < len(self._body):
            raise NetworkError("the upload is not complete")
        output_id = done.headers["x-platform-output-id"]
        return None if output_id is None else int(str(output_id))

    def _done(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: Body | None = None,
        meter: Meter | None = None,
    ) -> Answer:
        seconds = None if body is None else _ASSEMBLY_SECONDS
        answer = self._calls.open(method, path, headers=headers, body=body, meter=meter, answer_seconds=seconds)
        answer.read()
        answer.close()
        return answer


def _named(answer: Answer, name: str) -> str:
    """A header of the platform's answer. A gateway may answer in its place, also with 200."""
    value = answer.headers[name]
    if value is None:
        raise NetworkError(f"the answer has no {name}: it is not the platform's")
    return str(value)

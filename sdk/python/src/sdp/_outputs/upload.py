"""Outputs of any size to the platform: one request for small ones, parts for larger ones, within bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._calls.http import Bytes, Headers
from ..errors import NetworkError, SdpError
from .source import PartReader

if TYPE_CHECKING:
    from .._calls.task_calls import HeldTask, Json

# Parts of one size; then the size doubles, so that ten thousand parts hold any output.
_PARTS_OF_ONE_SIZE = 1_000
_TRIES_OF_BROKEN_PARTS = 3


@dataclass(frozen=True)
class OutputLimits:
    """The platform's limits combined with the runner's settings."""

    single_bytes: int
    """Largest output of one request."""
    part_bytes: int
    """Size of a part of larger ones, to begin with."""
    buffer_bytes: int
    """Memory for the parts of one output on their way."""


class Uploads:
    """Writes outputs of one task."""

    def __init__(self, calls: HeldTask, limits: OutputLimits) -> None:
        self._calls = calls
        self._limits = limits

    def write(self, headers: Headers, source: Iterator[Bytes], before_end: Callable[[], None]) -> tuple[Json, bool]:
        """Writes an output; True with it when it is new. The source is not read to its end when it exists already."""
        reader = PartReader(source)
        first: list[bytearray] = []
        size_bytes = 0
        # Full parts even when the last one exceeds a single request: only the last part of an upload may be small.
        while size_bytes <= self._limits.single_bytes and not reader.is_over:
            self._calls.check()
            part = reader.read(self._limits.part_bytes)
            first.append(part)
            size_bytes += len(part)
        if size_bytes <= self._limits.single_bytes:
            before_end()
            reply = self._calls.call("POST", "/outputs", headers=headers, body=b"".join(first))
            return reply.body, reply.status == 201
        return self._upload(headers, first, reader, before_end)

    def _upload(
        self, headers: Headers, first: list[bytearray], reader: PartReader, before_end: Callable[[], None]
    ) -> tuple[Json, bool]:
        started = self._calls.call("POST", "/outputs/uploads", headers=headers)
        upload: Json = started.body
        if "handle" not in upload:
            # An earlier attempt has written it.
            return upload, started.status == 201
        path = f"/outputs/uploads/{upload['handle']}"
        try:
            self._send_parts(path, upload, first, reader)
            before_end()
            reply = self._calls.complete_upload(path)
            return reply.body, reply.status == 201
        except BaseException:
            # It ends with its task anyway.
            if not self._calls.scope.ended.is_set():
                with suppress(SdpError):
                    self._calls.call("DELETE", path, patience="never", silence_seconds=5.0)
            raise

    def _send_parts(self, path: str, upload: Json, first: list[bytearray], reader: PartReader) -> None:
        at_once = max(1, self._limits.buffer_bytes // self._limits.part_bytes)
        on_their_way: dict[Future[None], int] = {}
        with ThreadPoolExecutor(at_once, "sdp-part") as threads:
            number = 0
            while first or not reader.is_over:
                self._calls.check()
                number += 1
                if number > upload["maxParts"]:
                    raise ValueError(f"The output needs more than {upload['maxParts']} parts.")
                size_bytes = self._part_bytes(number, upload)
                while on_their_way and sum(on_their_way.values()) + size_bytes > self._limits.buffer_bytes:
                    _collect(on_their_way)
                part = first.pop(0) if first else reader.read(size_bytes)
                on_their_way[threads.submit(self._send_part, path, number, part)] = len(part)
            while on_their_way:
                _collect(on_their_way)

    def _part_bytes(self, number: int, upload: Json) -> int:
        doubled: int = self._limits.part_bytes * 2 ** ((number - 1) // _PARTS_OF_ONE_SIZE)
        bounded: int = max(upload["minPartBytes"], min(upload["maxPartBytes"], doubled))
        return bounded

    def _send_part(self, path: str, number: int, part: bytearray) -> None:
        """Sends a part until the received bytes match the sent ones."""
        digest = hashlib.sha256(part).hexdigest()
        headers = {"content-type": "application/octet-stream"}
        for _ in range(_TRIES_OF_BROKEN_PARTS):
            reply = self._calls.call("PUT", f"{path}/parts/{number}", headers=headers, body=part).body
            if reply["sizeBytes"] == len(part) and reply.get("sha256", digest) == digest:
                return
        raise NetworkError(f"part {number} arrived changed")


def _collect(on_their_way: dict[Future[None], int]) -> None:
    """Waits for a part; raises what failed."""
    done, _ = wait(on_their_way, return_when=FIRST_COMPLETED)
    for future in done:
        del on_their_way[future]
        future.result()

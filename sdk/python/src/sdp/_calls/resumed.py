"""Reading stored bytes over connections that may break."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import NetworkError, SdpError
from .back_off import BackOff
from .checksum import Checksum, OtherBytes
from .http import Answer, Headers
from .scope import Scope

_SKIP_BYTES = 256 * 1024


@dataclass(frozen=True)
class Stored:
    """An input as it is stored."""

    output_id: int
    size_bytes: int
    content_encoding: str | None


class InputCalls(Protocol):
    """The calls of a held task that a read needs."""

    scope: Scope

    def check(self) -> None:
        """Raises TaskCancelled once the task must end."""

    def open_input(self, output_id: int, headers: Headers, *, is_first: bool) -> Answer:
        """One try to open the bytes of an input, the first of its read from the store where that is possible."""

    def avoid_store(self) -> None:
        """Other bytes came: inputs are opened through the platform for a while."""


class StoredBytes(io.RawIOBase):
    """The stored bytes of an input; after a break it asks for the rest by Range, or skips what it has already.

    Where the platform announces their SHA-256 they are checked: the last bytes of a wrong read are never handed out.
    """

    def __init__(self, calls: InputCalls, stored: Stored) -> None:
        self._calls = calls
        self._stored = stored
        self._received = 0
        self._etag: str | None = None
        self._checksum = Checksum(None)
        self._answer: Answer | None = None
        self._is_first = True
        self._back_off = BackOff()

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a part of the buffer; 0 at the end."""
        while self._received < self._stored.size_bytes:
            self._calls.check()
            try:
                if self._answer is None:
                    self._answer = self._open()
                count = self._answer.readinto(buffer)
                if count == 0:
                    raise NetworkError("the answer broke off")
                self._received += count
                self._checksum.update(memoryview(buffer)[:count])
                if self._received == self._stored.size_bytes:
                    self._checksum.check(f"Input {self._stored.output_id}")
                self._back_off.reset()
                return count
            except Exception as error:
                self._close_answer()
                self._calls.check()
                if isinstance(error, OtherBytes):
                    self._calls.avoid_store()
                if not self._back_off.is_worth_it(error):
                    raise
                self._calls.scope.wait(self._back_off.next_seconds(error))
        self._close_answer()
        return 0

    def close(self) -> None:
        """Ends the read."""
        self._close_answer()
        super().close()

    def _open(self) -> Answer:
        """Asks for exactly the stored bytes: plain bytes stay plain on the way, and gzip stays gzip."""
        coding = self._stored.content_encoding or "identity"
        headers = {"accept-encoding": coding}
        if self._received > 0:
            headers["range"] = f"bytes={self._received}-"
            # Only a strong tag is allowed there.
            if self._etag is not None and not self._etag.startswith("W/"):
                headers["if-range"] = self._etag
        # A read that broke at the store continues through the platform.
        is_first, self._is_first = self._is_first, False
        answer = self._calls.open_input(self._stored.output_id, headers, is_first=is_first)
        try:
            self._check(answer, coding)
        except BaseException:
            answer.close()
            raise
        return answer

    def _check(self, answer: Answer, coding: str) -> None:
        name = f"Input {self._stored.output_id}"
        sent = answer.headers.get("content-encoding") or "identity"
        if sent != coding:
            raise SdpError(f"{name} came as {sent} and is stored as {coding}.")
        etag = answer.headers.get("etag")
        if self._received > 0 and etag != self._etag:
            raise SdpError(f"{name} changed while it was read.")
        self._etag = etag
        if self._received == 0:
            self._checksum = Checksum(etag)
            return
        if answer.status != 206:
            self._skip(answer)
            return
        start = re.match(r"bytes (\d+)-", answer.headers.get("content-range") or "")
        if start is None or int(start[1]) != self._received:
            raise SdpError(f"{name} came with another range than was asked for.")

    def _skip(self, answer: Answer) -> None:
        left = self._received
        while left > 0:
            dropped = len(answer.read(min(left, _SKIP_BYTES)))
            if dropped == 0:
                raise NetworkError("the answer broke off")
            left -= dropped

    def _close_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.close()

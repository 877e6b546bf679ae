"""An output of a node: its metadata and its bytes."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from .._calls.back_off import BackOff
from .._calls.checksum import Checksum, OtherBytes, read_whole
from .._calls.http import Answer
from .._inputs import frames
from .._inputs.inputs import parse_time
from .._inputs.text import Row, read_json, read_lines, read_named_rows, read_text
from ..errors import ApiError, NetworkError, SdpError
from .api import Api, is_worth_it
from .save import save_as

if TYPE_CHECKING:
    import pandas
    import polars

_BUFFER_BYTES = 256 * 1024
_PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Output:
    """An output of a node."""

    output_id: int
    node_instance_id: int
    output_identifier: str
    content_type: str | None
    content_encoding: str | None
    """``gzip`` when it is stored compressed; it is read decoded."""
    size_bytes: int
    """As stored."""
    sha256: str | None
    metadata: Mapping[str, Any]
    created_at: datetime
    _api: Api = field(repr=False, compare=False)

    @classmethod
    def of(cls, wire: dict[str, Any], api: Api) -> Output:
        """An output as the platform lists it."""
        return cls(
            output_id=wire["id"],
            node_instance_id=wire["nodeInstanceId"],
            output_identifier=wire["outputIdentifier"],
            content_type=wire.get("contentType"),
            content_encoding=wire.get("contentEncoding"),
            size_bytes=wire["sizeBytes"],
            sha256=wire.get("sha256"),
            metadata=wire.get("metadata") or {},
            created_at=parse_time(wire["createdAt"]),
            _api=api,
        )

    def open(self) -> BinaryIO:
        """The decoded bytes as a binary file; after a broken connection the read resumes where it broke."""
        return open_download(self._api, f"/api/v2/node-instance/outputs/{self.output_id}/data")

    def bytes(self) -> bytes:
        """All bytes, decoded."""

        def read() -> bytes:
            with closing(self.open()) as stream:
                return stream.read()

        return read_whole(read)

    def text(self) -> str:
        """All of it as UTF-8 text, without a byte order mark. Raises UnreadableData for bytes that are not text."""
        return read_text(self.bytes())

    def json(self) -> Any:
        """All of it, parsed as JSON. Raises UnreadableData, with the line, for what is no JSON."""
        return read_json(self.bytes())

    def lines(self) -> Iterator[str]:
        """The lines of a text of any size. Raises UnreadableData, with the line, for bytes that are not text."""
        with closing(self.open()) as stream:
            yield from read_lines(stream)

    def rows(self) -> Iterator[Row]:
        """The rows of a delimited table of any size, by the names of its header.

        Raises UnreadableData, with the line, when it is not a table.
        """
        with closing(self.open()) as stream:
            yield from read_named_rows(stream)

    def save(self, target: str | os.PathLike[str]) -> Path:
        """Writes the bytes to a file, or into a folder under the output's identifier. Returns the file.

        A file that you name is replaced. In a folder one with other bytes is not: FileExistsError is raised.
        """
        path = Path(target)
        is_folder = path.is_dir()
        if is_folder:
            path = path / (re.sub(r"[^A-Za-z0-9._-]+", "_", self.output_identifier).lstrip(".") or "output")
        save_as(self.open, path, may_replace=not is_folder)
        return path

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """A table as a pandas frame: Parquet, csv, JSON or JSON lines. Needs ``pip install pandas``.

        Raises UnreadableData when it cannot be read as one.
        """
        return frames.to_pandas(self, options)

    def to_polars(self, **options: Any) -> polars.DataFrame:
        """A table as a polars frame. Needs ``pip install polars``."""
        return frames.to_polars(self, options)


def outputs_of(api: Api, node_instance_id: int, identifier: str | None = None) -> list[Output]:
    """The outputs of a node, oldest first; with ``identifier`` at most the one of that name."""
    query = {"identifier": identifier}
    try:
        _, body = api.call("GET", f"/api/v2/node-instance/{node_instance_id}/outputs", query=query)
    except ApiError as error:
        # The platform answers so for a node without outputs, too.
        if error.status == 404:
            return []
        raise
    # An earlier platform answers with all of them.
    return [Output.of(wire, api) for wire in body if identifier in (None, wire["outputIdentifier"])]


def session_outputs(api: Api, session_id: str, query: Mapping[str, Any]) -> Iterator[Output]:
    """The outputs of a session that match, newest first, page by page."""
    cursor: str | None = None
    while True:
        page = api.object("GET", f"/api/v2/session/{session_id}/outputs", query={**query, "cursor": cursor})
        for wire in page["outputs"]:
            yield Output.of(wire, api)
        cursor = page["nextCursor"]
        if cursor is None:
            return


def open_download(api: Api, path: str, coding: str = "identity") -> BinaryIO:
    """The bytes of a route as a binary file, in the coding that is asked for."""
    return cast(BinaryIO, io.BufferedReader(_Download(api, path, coding), _BUFFER_BYTES))


class _Download(io.RawIOBase):
    """The bytes of a route; after a break it asks for the rest. They are checked where their SHA-256 is announced."""

    def __init__(self, api: Api, path: str, coding: str) -> None:
        self._api = api
        self._path = path
        self._coding = coding
        self._answer: Answer | None = None
        self._is_first = True
        self._received = 0
        self._length: int | None = None
        self._etag: str | None = None
        self._checksum = Checksum(None)
        self._back_off = BackOff()
        self._failures = 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a part of the buffer; 0 at the end."""
        while True:
            try:
                if self._answer is None:
                    self._answer = self._open()
                count = self._answer.readinto(buffer)
                if count == 0 and self._length is not None and self._received < self._length:
                    raise NetworkError("the answer broke off")
                self._received += count
                self._checksum.update(memoryview(buffer)[:count])
                if self._received == self._length:
                    self._checksum.check(self._path)
                self._failures = 0
                return count
            except Exception as error:
                self._close_answer()
                if isinstance(error, OtherBytes):
                    self._api.avoid_store()
                self._failures += 1
                if self._failures > 8 or not is_worth_it(self._back_off, error):
                    raise
                time.sleep(self._back_off.next_seconds(error))

    def close(self) -> None:
        """Ends the download."""
        self._close_answer()
        super().close()

    def _open(self) -> Answer:
        headers = {"accept-encoding": self._coding}
        if self._received > 0:
            headers["range"] = f"bytes={self._received}-"
        # A download that broke at the store continues through the platform.
        is_first, self._is_first = self._is_first, False
        if is_first:
            answer = self._api.open_download(self._path, headers)
        else:
            answer = self._api.open("GET", self._path, headers=headers)
        sent = answer.headers.get("content-encoding") or "identity"
        if sent != self._coding:
            answer.close()
            raise SdpError(f"{self._path} came as {sent}, not as {self._coding}.")
        if self._received == 0:
            length = answer.headers.get("content-length")
            self._length = int(length) if length is not None else None
            self._etag = answer.headers.get("etag")
            self._checksum = Checksum(self._etag)
        elif answer.headers.get("etag") != self._etag:
            answer.close()
            raise SdpError("The output changed while it was read.")
        elif answer.status != 206:
            skip = self._received
            while skip > 0 and (piece := answer.read(min(skip, _PIECE_BYTES))):
                skip -= len(piece)
        return answer

    def _close_answer(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.close()

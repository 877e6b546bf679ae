"""A held task: its inputs survive broken connections, its outputs may be of any size. Standard library only."""

from __future__ import annotations

import gzip
import http.client
import io
import json
import threading
from typing import Any, BinaryIO, Dict, Iterable, Iterator, List, Optional, Tuple
from urllib.parse import urlencode

from platform_client import NETWORK_FAULTS, ApiError, BackOff, Client, log

PART_BYTES = 8 * 1024 * 1024
REASON_CHARACTERS = 4000


class TaskFailure(Exception):
    """Raised by the work: `error`, `memory` and `timeout` are tried again, `validation` never is."""

    def __init__(self, category: str, reason: str) -> None:
        super().__init__(reason)
        self.category = category


class Cancelled(Exception):
    """The work is to end now: `cancelled`, `lease-lost` or `shutdown`."""


def clip(text: str, characters: int = REASON_CHARACTERS) -> str:
    """What the platform can store: no NUL, no lone surrogates, bounded."""
    clean = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= characters else clean[: characters - 1] + "…"


class Task:
    """A held task. Its methods raise Cancelled once the work is to end."""

    def __init__(self, client: Client, limits: Dict[str, Any], claim: Dict[str, Any], instance_id: str) -> None:
        self.claim = claim
        self._limits = limits
        self.configuration: Dict[str, Any] = claim["configuration"]
        self.path = f"/tasks/{claim['taskId']}"
        self.headers = {"x-platform-runner-instance": instance_id}
        if claim.get("traceparent"):
            self.headers["traceparent"] = claim["traceparent"]
        self.progress: Dict[str, Any] = {}
        self.has_written = False
        self.watermark: Optional[int] = claim["incremental"]["watermark"]
        self.watermark_moved = False
        self.why_cancelled: Optional[str] = None
        self._client = client
        self._cancelled = threading.Event()
        self._unnamed = 0

    def cancel(self, why: str) -> None:
        if not self._cancelled.is_set():
            self.why_cancelled = why
            self._cancelled.set()

    def check(self) -> None:
        """To be called now and then by work that makes no calls."""
        if self._cancelled.is_set():
            raise Cancelled(self.why_cancelled)

    def wait(self, seconds: float) -> None:
        """A pause that ends at once when the work is to end."""
        if self._cancelled.wait(seconds):
            raise Cancelled(self.why_cancelled)

    def report(self, phase: str, message: str = "", done: Optional[float] = None, unit: str = "") -> None:
        """What operators read, from the next heartbeat on."""
        self.progress = {"phase": clip(phase, 255), "message": clip(message)}
        if done is not None:
            self.progress["progress"] = {"done": done, "unit": unit}

    def call(self, method: str, path: str, json_body: Any = None, **options: Any) -> Tuple[int, Any]:
        self.check()
        headers = {**self.headers, **options.pop("headers", {})}
        try:
            return self._client.call(
                method, self.path + path, json_body, headers=headers, wait=self.wait, **options
            )
        except ApiError as error:
            self._note(error)
            raise

    def state(self) -> Dict[str, Any]:
        """Previous output, the node's state and where it stands: previousOutput, state, incremental."""
        return self.call("GET", "/state")[1]

    def inputs(self, mode: str = "since-watermark") -> Iterator[Dict[str, Any]]:
        """Inputs, oldest first, by pages. Modes: since-watermark, latest, all."""
        cursor: Optional[str] = None
        while True:
            query = {"mode": mode, "limit": "100", **({} if cursor is None else {"cursor": cursor})}
            page = self.call("GET", f"/inputs?{urlencode(query)}")[1]
            yield from page["inputs"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def open_input(self, item: Dict[str, Any]) -> BinaryIO:
        """The decoded bytes of an input; a connection that breaks is opened again where it broke."""
        stored = io.BufferedReader(StoredBytes(self, item), 256 * 1024)
        if item["contentEncoding"] == "gzip":
            return gzip.GzipFile(fileobj=stored, mode="rb")  # type: ignore[return-value]
        return stored  # type: ignore[return-value]

    def open_stored(self, item: Dict[str, Any], from_byte: int) -> http.client.HTTPResponse:
        """One try to open the stored bytes from a byte on; raises as Client.open."""
        self.check()
        headers = {**self.headers, "accept-encoding": item["contentEncoding"] or "identity"}
        if from_byte > 0:
            headers["range"] = f"bytes={from_byte}-"
        try:
            return self._client.open("GET", f"{self.path}/inputs/{item['outputId']}/data", headers)
        except ApiError as error:
            self._note(error)
            raise

    def write(
        self,
        chunks: Iterable[bytes],
        identifier: Optional[str] = None,
        content_type: str = "application/octet-stream",
        metadata: Optional[Dict[str, Any]] = None,
        watermark: Optional[int] = None,
    ) -> Dict[str, Any]:
        """Writes an output of any size: one request up to the limit that whoami tells (16 MB), parts of 8 MB above.
        With `watermark`, the id of an input, the watermark moves there at once, and this output and all that were
        written before are published: give it to the last output of an input. Else it is published when the watermark
        moves or the task completes."""
        if identifier is None:
            self._unnamed += 1
            # An attempt that begins where one broke off meets the outputs from there on, and none from before.
            identifier = f"{self.claim['runId']}.{self.watermark or 0}.{self._unnamed}"
        headers = {"x-platform-output-identifier": identifier, "content-type": content_type}
        if metadata is not None:
            # UTF-8 bytes, one character each: http.client writes headers as latin-1.
            headers["x-platform-output-metadata"] = json.dumps(metadata, ensure_ascii=False).encode().decode("latin-1")
        if watermark is not None:
            headers["x-platform-watermark"] = str(watermark)
        output = self._write(parts_of(chunks, self._limits["upload"]), headers)
        self.has_written = True
        if watermark is not None:
            self._note_watermark(watermark)
        return output

    def advance(self, input_id: int, state: Optional[Dict[str, Any]] = None) -> None:
        """Everything up to this input is consumed; durable at once, together with the node's state. All outputs that
        were written before are published: write what belongs to an input first."""
        body = {"inputId": input_id, **({} if state is None else {"state": state})}
        self.call("PUT", "/watermark", body)
        self._note_watermark(input_id)

    def has_more(self) -> bool:
        """Inputs are left after this task, which moved the watermark."""
        return self.watermark_moved and self.state()["incremental"]["pendingInputs"] > 0

    def end(self, how: str, body: Dict[str, Any]) -> Any:
        """The last call: repeated until the platform's answer is definite. The same end gets the same answer."""
        path = f"{self.path}/{how}"
        return self._client.call("PUT", path, body, headers=self.headers, forever=True)[1]

    def _write(self, parts: Iterator[bytes], headers: Dict[str, str]) -> Dict[str, Any]:
        first: List[bytes] = []
        for part in parts:
            first.append(part)
            if sum(map(len, first)) > self._limits["maxOutputBytes"]:
                return self._write_parts(first, parts, headers)
        return self.call("POST", "/outputs", headers=headers, body=b"".join(first))[1]

    def _write_parts(self, first: List[bytes], more: Iterator[bytes], headers: Dict[str, str]) -> Dict[str, Any]:
        status, upload = self.call("POST", "/outputs/uploads", headers=headers)
        if status == 200:
            # An earlier attempt has written it.
            return upload
        uploads = f"/outputs/uploads/{upload['handle']}"
        try:
            self._send_parts(uploads, first, more)
        except BaseException:
            # It ends with its task anyway.
            self._give_up(uploads)
            raise
        # A store may need minutes to put it together.
        return self.call("POST", f"{uploads}/complete", silence=600.0)[1]

    def _send_parts(self, uploads: str, first: List[bytes], more: Iterator[bytes]) -> None:
        number = 0
        while first:
            number += 1
            # A part that is sent twice replaces itself.
            self.call("PUT", f"{uploads}/parts/{number}", body=first.pop(0))
            following = next(more, None) if not first else None
            if following is not None:
                first.append(following)

    def _give_up(self, uploads: str) -> None:
        try:
            self._client.once("DELETE", self.path + uploads, headers=self.headers, silence=5.0)
        except (ApiError,) + NETWORK_FAULTS as error:
            log.debug("upload: %s", error)

    def _note_watermark(self, input_id: int) -> None:
        if input_id != self.watermark:
            self.watermark_moved = True
            self._unnamed = 0
        self.watermark = input_id

    def _note(self, error: ApiError) -> None:
        if error.is_end:
            self.cancel("lease-lost")
            raise Cancelled("lease-lost") from error


class StoredBytes(io.RawIOBase):
    """The stored bytes of an input; after a break it asks for the rest by Range, or skips what it has already."""

    def __init__(self, task: Task, item: Dict[str, Any]) -> None:
        self._task = task
        self._item = item
        self._received = 0
        self._answer: Optional[http.client.HTTPResponse] = None
        self._back_off = BackOff()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._item["sizeBytes"]
        while self._received < size:
            self._task.check()
            try:
                if self._answer is None:
                    self._answer = self._open()
                count = self._answer.readinto(buffer)
                if count == 0:
                    raise ConnectionError("the answer broke off")
                self._received += count
                self._back_off.failures = 0
                return count
            except (ApiError,) + NETWORK_FAULTS as error:
                self._close_answer()
                if not self._back_off.may_go_on(error):
                    raise
                self._task.wait(self._back_off.seconds(error))
        return 0

    def close(self) -> None:
        self._close_answer()
        super().close()

    def _open(self) -> http.client.HTTPResponse:
        answer = self._task.open_stored(self._item, self._received)
        if answer.status != 206:
            skip = self._received
            while skip > 0:
                dropped = len(answer.read(min(skip, 256 * 1024)))
                if dropped == 0:
                    raise ConnectionError("the answer broke off")
                skip -= dropped
        elif not answer.headers.get("content-range", "").startswith(f"bytes {self._received}-"):
            raise ValueError("The platform sent another range than was asked for.")
        return answer

    def _close_answer(self) -> None:
        if self._answer is not None:
            self._answer.close()
            self._answer = None


def parts_of(chunks: Iterable[bytes], limits: Dict[str, int]) -> Iterator[bytes]:
    """Parts of one size; only the last is smaller."""
    size = min(limits["maxPartBytes"], max(limits["minPartBytes"], PART_BYTES))
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)

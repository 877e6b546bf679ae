"""What a runner owes the platform, with nothing but the standard library: claims, a heartbeat thread, inputs that survive
broken connections, outputs of any size, and a report for every end. The contract is runner-api.v1.yaml.

Nothing in here knows what the runner computes; see runner.py for that.
"""

from __future__ import annotations

import email.utils
import gzip
import http.client
import io
import json
import logging
import os
import random
import re
import secrets
import signal
import socket
import threading
import time
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Tuple
from urllib.parse import urlencode, urlsplit

MEBIBYTE = 1024 * 1024
PART_BYTES = 8 * MEBIBYTE
CLAIM_WAIT_SECONDS = 30
SILENCE_SECONDS = 60.0
LONGEST_BACK_OFF_SECONDS = 5.0
TRIES_OF_SERVER_ERRORS = 10
REASON_CHARACTERS = 4000

log = logging.getLogger("runner")


class ApiError(Exception):
    """The platform refused a call. `code` is stable, for example `watermark_regression`."""

    def __init__(self, status: int, code: str, message: str, request_id: Optional[str], retry_after: float) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def is_end(self) -> bool:
        """The task is not ours any more."""
        return self.status in (401, 403) or self.code == "task_not_found"

    @property
    def is_outage(self) -> bool:
        """A 404 without a code is a gateway's that has no platform behind it just now."""
        return self.status in (408, 429, 502, 503, 504) or (self.status == 404 and self.code == "")


class TaskFailure(Exception):
    """Raised by the work: `error`, `memory` and `timeout` are tried again, `validation` never is."""

    def __init__(self, category: str, reason: str) -> None:
        super().__init__(reason)
        self.category = category


class Cancelled(Exception):
    """The work is to end now: `cancelled`, `lease-lost` or `shutdown`."""


class Stopping(Exception):
    """The process was told to end while it waited for a task."""


NETWORK_FAULTS = (OSError, http.client.HTTPException)


class BackOff:
    """Waits that double up to a bound, each shortened by chance."""

    def __init__(self) -> None:
        self.failures = 0

    def seconds(self, error: Exception) -> float:
        full = min(LONGEST_BACK_OFF_SECONDS, 0.2 * 2 ** min(self.failures, 10))
        self.failures += 1
        asked = min(error.retry_after, 60.0) if isinstance(error, ApiError) else 0.0
        return max(asked, full * random.uniform(0.5, 1.0))

    def may_go_on(self, error: Exception) -> bool:
        if not isinstance(error, ApiError) or error.is_outage:
            return True
        return error.status >= 500 and self.failures + 1 < TRIES_OF_SERVER_ERRORS


class Client:
    """Calls of the runner routes. Each call has a connection of its own, so threads share nothing."""

    def __init__(self, url: str, token: str, user_agent: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemExit("Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.")
        secure = parts.scheme == "https"
        self._connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._host = parts.hostname
        self._port = parts.port or (443 if secure else 80)
        self._base = parts.path.rstrip("/") + "/api/v2/runner"
        self._headers = {
            "authorization": f"Bearer {token}",
            "user-agent": user_agent,
            "connection": "close",
        }

    def open(
        self,
        method: str,
        path: str,
        headers: Optional[Dict[str, str]] = None,
        body: Optional[bytes] = None,
        silence: float = SILENCE_SECONDS,
    ) -> http.client.HTTPResponse:
        """One request, up to the head of a good answer. Raises ApiError, OSError or HTTPException."""
        connection = self._connect(self._host, self._port, timeout=silence)
        try:
            all_headers = {**self._headers, **(headers or {})}
            if method != "GET":
                all_headers["content-length"] = str(len(body or b""))
            connection.request(method, self._base + path, body=body, headers=all_headers)
            answer = connection.getresponse()
            if answer.status < 300:
                # The answer keeps the socket open until it is read or closed.
                return answer
            raise refusal_of(answer)
        except BaseException:
            connection.close()
            raise

    def once(self, method: str, path: str, json_body: Any = None, **options: Any) -> Tuple[int, Any]:
        headers = dict(options.pop("headers", None) or {})
        if json_body is not None:
            options["body"] = json.dumps(json_body).encode()
            headers["content-type"] = "application/json"
        with self.open(method, path, headers, **options) as answer:
            text = answer.read()
        try:
            return answer.status, json.loads(text) if text else None
        except ValueError as error:
            raise ConnectionError("the answer is no JSON") from error

    def call(self, method: str, path: str, json_body: Any = None, **options: Any) -> Tuple[int, Any]:
        """Repeats until there is a definite answer. `wait` and `forever` say how."""
        wait: Callable[[float], None] = options.pop("wait", time.sleep)
        forever: bool = options.pop("forever", False)
        back_off = BackOff()
        while True:
            try:
                return self.once(method, path, json_body, **options)
            except (ApiError,) + NETWORK_FAULTS as error:
                is_server_error = isinstance(error, ApiError) and error.status >= 500
                if not back_off.may_go_on(error) and not (forever and is_server_error):
                    raise
                level = logging.DEBUG if back_off.failures < 3 else logging.WARNING
                log.log(level, "%s %s: %s; trying again", method, path, error)
                wait(back_off.seconds(error))


def refusal_of(answer: http.client.HTTPResponse) -> ApiError:
    try:
        body = json.loads(answer.read(64 * 1024))
    except (ValueError, http.client.HTTPException, OSError):
        body = {}
    fields = body if isinstance(body, dict) else {}
    message = str(fields.get("message") or f"HTTP {answer.status} {answer.reason}")
    retry_after = read_retry_after(answer.headers.get("retry-after"))
    return ApiError(
        answer.status, str(fields.get("code") or ""), message, answer.headers.get("x-request-id"), retry_after
    )


def read_retry_after(value: Optional[str]) -> float:
    if value is None:
        return 0.0
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def clip(text: str, characters: int = REASON_CHARACTERS) -> str:
    """What the platform can store: no NUL, no lone surrogates, bounded."""
    clean = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= characters else clean[: characters - 1] + "…"


class Heartbeats(threading.Thread):
    """Keeps a task's lease, and hears that the task is to end."""

    def __init__(self, client: Client, task: "Task") -> None:
        super().__init__(name="heartbeats", daemon=True)
        self._client = client
        self._task = task
        self._over = threading.Event()

    def stop(self) -> None:
        self._over.set()

    def run(self) -> None:
        interval = float(self._task.claim["heartbeatIntervalSeconds"])
        pause = interval
        while not self._over.wait(pause):
            try:
                # A lease is three intervals: a silent beat must leave time for the next.
                _, beat = self._client.once(
                    "PUT",
                    f"{self._task.path}/heartbeat",
                    self._task.progress,
                    headers=self._task.headers,
                    silence=max(1.0, interval * 0.8),
                )
                pause = interval
                if beat["cancelRequested"]:
                    self._task.cancel("cancelled")
            except ApiError as error:
                if error.is_end:
                    self._task.cancel("lease-lost")
                    return
                if not error.is_outage and error.status < 500:
                    # What we say of our progress must not cost the lease.
                    self._task.progress = {}
                pause = interval / 4
            except NETWORK_FAULTS as error:
                log.warning("heartbeat: %s", error)
                pause = interval / 4


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
        With `watermark`, the id of an input, it is published at once and the watermark moves there; else it is
        published when the task completes."""
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
        """Everything up to this input is consumed; durable at once, together with the node's state."""
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


class Runner:
    """Claims tasks of some node templates, one at a time, until SIGTERM or SIGINT."""

    def __init__(self, name: str, version: str, templates: List[str], work: Callable[[Task], Optional[str]]) -> None:
        self._templates = templates
        self._work = work
        token = os.environ.get("SDP_RUNNER_TOKEN", "").strip()
        if not token:
            raise SystemExit("Set SDP_RUNNER_TOKEN to a runner token.")
        self._client = Client(os.environ.get("SDP_URL", ""), token, f"{name}/{version}")
        host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:30]
        self.instance_id = f"{name}:{host}:{os.getpid()}:{secrets.token_hex(4)}"
        self._limits: Dict[str, Any] = {}
        self._is_stopping = False
        self._is_waiting = False
        self._task: Optional[Task] = None

    def run(self) -> None:
        """Returns when it was told to end and nothing is held any more."""
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        try:
            self._limits = self._learn_limits()
            log.info("%s takes tasks of %s", self.instance_id, ", ".join(self._templates))
            while not self._is_stopping:
                claim = self._claim()
                if claim is not None:
                    self._perform(claim)
        except Stopping:
            self._withdraw()
        log.info("stopped")

    def _on_signal(self, *_: Any) -> None:
        if self._is_stopping:
            os._exit(1)
        self._is_stopping = True
        if self._task is not None:
            self._task.cancel("shutdown")
        if self._is_waiting:
            raise Stopping()

    def _learn_limits(self) -> Dict[str, Any]:
        self._is_waiting = True
        try:
            return self._client.call("GET", "/whoami")[1]["limits"]
        finally:
            self._is_waiting = False

    def _claim(self) -> Optional[Dict[str, Any]]:
        self._is_waiting = True
        try:
            if self._is_stopping:
                raise Stopping()
            began = time.monotonic()
            claim = self._send_claim(CLAIM_WAIT_SECONDS, forever=True)
            if claim is None and time.monotonic() - began < 1:
                # It was not meant to wait.
                time.sleep(random.uniform(0.5, 1.0))
            return claim
        finally:
            self._is_waiting = False

    def _send_claim(self, wait_seconds: int, **options: Any) -> Optional[Dict[str, Any]]:
        body = {"instanceId": self.instance_id, "templates": self._templates, "waitSeconds": wait_seconds}
        return self._client.call("POST", "/tasks/claim", body, silence=wait_seconds + 15.0, **options)[1]

    def _withdraw(self) -> None:
        """A newer claim ends the waiting one and gives up a task that was on its way to us; it may bring one itself."""
        body = {"instanceId": self.instance_id, "templates": self._templates, "waitSeconds": 0}
        try:
            _, claim = self._client.once("POST", "/tasks/claim", body, silence=3.0)
            if claim is not None:
                self._task_of(claim).end("release", {"reason": "The runner is shutting down."})
        except (ApiError,) + NETWORK_FAULTS as error:
            log.debug("withdrawal: %s", error)

    def _task_of(self, claim: Dict[str, Any]) -> Task:
        return Task(self._client, self._limits, claim, self.instance_id)

    def _perform(self, claim: Dict[str, Any]) -> None:
        task = self._task_of(claim)
        self._task = task
        if self._is_stopping:
            task.cancel("shutdown")
        beats = Heartbeats(self._client, task)
        beats.start()
        log.info("task %s of %s, attempt %s", claim["taskId"], claim["nodeTemplate"], claim["attempt"])
        try:
            how, body = self._attempt(task)
            self._report(task, how, body)
        finally:
            beats.stop()
            self._task = None

    def _attempt(self, task: Task) -> Tuple[str, Dict[str, Any]]:
        """Does the work and says how it ended."""
        try:
            outcome = self._work(task)
            return "complete", {
                "outcome": outcome or "completed",
                **({"hasMore": True} if task.has_more() else {}),
            }
        except TaskFailure as failure:
            return "fail", {"category": failure.category, "reason": clip(str(failure))}
        except MemoryError as error:
            return "fail", {"category": "memory", "reason": clip(str(error) or "out of memory")}
        except Exception as error:  # noqa: BLE001 - whatever the work raises is reported
            if task.why_cancelled == "shutdown":
                return "release", {"reason": "The runner is shutting down."}
            if task.why_cancelled is not None:
                return "fail", {"category": "error", "reason": task.why_cancelled}
            log.exception("task failed")
            return "fail", {"category": "error", "reason": clip(f"{type(error).__name__}: {error}")}

    def _report(self, task: Task, how: str, body: Dict[str, Any]) -> None:
        if task.why_cancelled == "lease-lost":
            log.warning("the task is held no more")
            return
        try:
            log.info("task ended by %s: %s", how, task.end(how, body))
        except ApiError as error:
            if error.code == "output_missing" and not task.has_written:
                self._report(task, "complete", {**body, "outcome": "no-output"})
            elif how == "complete" and not error.is_end and error.code != "task_finished":
                self._report(task, "fail", {"category": "error", "reason": clip(f"The result was refused: {error}")})
            else:
                log.warning("the end of the task was refused: %s", error)
                if error.status in (401, 403):
                    raise

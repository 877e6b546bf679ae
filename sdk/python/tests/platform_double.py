"""A small server of the runner routes, for tests of the runner's process. The conformance kit judges the protocol."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

LIMITS: Json = {
    "maxOutputBytes": 64 * 1024,
    "upload": {"minPartBytes": 32 * 1024, "maxPartBytes": 64 * 1024, "maxParts": 10_000},
}


@dataclass
class Task:
    """A task that the double offers."""

    inputs: list[bytes]
    configuration: Json = field(default_factory=dict)
    lease_seconds: float = 30.0
    task_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    instance_id: str | None = None
    watermark: int | None = None
    outputs: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, Json] = field(default_factory=dict)
    rejections: dict[int, Json] = field(default_factory=dict)
    logs: list[Json] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    heartbeats: list[tuple[float, Json]] = field(default_factory=list)
    parts: dict[int, bytes] = field(default_factory=dict)
    upload: Json | None = None
    end: tuple[str, Json] | None = None
    next: Json | None = None
    cancel_requested: bool = False
    # So many calls of log lines are lost on their way, and their connections stay silent.
    silent_logs: int = 0
    calls: list[float] = field(default_factory=list)

    @property
    def messages(self) -> list[str]:
        return [entry["message"] for entry in self.logs]


class Stalls:
    """Times in which this process did not run: the machine was busy."""

    tick_seconds = 0.05

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []
        self.last = time.monotonic()
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        while True:
            time.sleep(self.tick_seconds)
            now = time.monotonic()
            if now - self.last > 2 * self.tick_seconds:
                self.times.append((self.last, now))
            self.last = now

    def within(self, since: float, until: float) -> float:
        return sum(max(0.0, min(until, end) - max(since, begin)) for begin, end in self.times)


class PlatformDouble:
    """Serves tasks over HTTP."""

    token = "hrt_test"

    def __init__(self) -> None:
        self.waiting: list[Task] = []
        self.tasks: dict[str, Task] = {}
        self.claims: list[Json] = []
        self.offers_logs = True
        self.offers_next = False
        self.signed_off: list[str] = []
        self.ports: dict[str, int] = {}
        """From which port the last call of each path came, of an output by its identifier."""
        self.changed = threading.Condition()
        self.closing = threading.Event()
        self.stalls = Stalls()
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *values: Any) -> None:
                pass

            def handle_one(self) -> None:
                double.serve(self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def offer(self, *inputs: bytes, **fields: Any) -> Task:
        task = Task(list(inputs), **fields)
        with self.changed:
            self.tasks[task.task_id] = task
            self.waiting.append(task)
            self.changed.notify_all()
        return task

    def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)

    def longest_silence(self, task: Task) -> float:
        """Seconds between two calls for the task, without those in which this process did not run."""
        between = zip(task.calls, task.calls[1:])
        return max((later - sooner - self.stalls.within(sooner, later) for sooner, later in between), default=0.0)

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def serve(self, call: BaseHTTPRequestHandler) -> None:
        body = call.rfile.read(int(call.headers.get("content-length") or 0))
        path = call.path.removeprefix("/api/v2/runner")
        self.ports[call.headers.get("x-platform-output-identifier", path)] = call.client_address[1]
        try:
            status, reply = self.answer(call.command, path, dict(call.headers.items()), body)
        except Refusal as refusal:
            status, reply = refusal.status, {"code": refusal.code, "message": refusal.code}
        data = reply if isinstance(reply, bytes) else b"" if reply is None else json.dumps(reply).encode()
        try:
            call.send_response(status)
            call.send_header("content-length", str(len(data)))
            call.end_headers()
            call.wfile.write(data)
        except OSError:
            call.close_connection = True

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any]:
        if path == "/whoami":
            return 200, {"limits": LIMITS, "expiresAt": "2030-01-01T00:00:00.000Z"}
        if path == "/tasks/claim":
            return self.claim(json.loads(body))
        if path.startswith("/instances/"):
            self.signed_off.append(path.removeprefix("/instances/"))
            return 204, None
        match = re.match(r"/tasks/([^/?]+)(/.*)", path)
        if match is None:
            raise Refusal(404, "not_found")
        task = self.tasks.get(match[1])
        if task is None or task.end is not None or task.instance_id != headers.get("x-platform-runner-instance"):
            raise Refusal(404, "task_not_found")
        task.calls.append(time.monotonic())
        return self.answer_task(task, method, match[2], {key.lower(): value for key, value in headers.items()}, body)

    def claim(self, body: Json) -> tuple[int, Any]:
        self.claims.append(body)
        deadline = time.monotonic() + body["waitSeconds"]
        with self.changed:
            number = len(self.claims)
            while not self.waiting and time.monotonic() < deadline and not self.is_replaced(body, number):
                self.changed.wait(0.05)
            if not self.waiting or self.is_replaced(body, number):
                return 204, None
            return 200, self.hand_out(body["instanceId"])

    def is_replaced(self, body: Json, number: int) -> bool:
        return any(later["instanceId"] == body["instanceId"] for later in self.claims[number:])

    def hand_out(self, instance_id: str) -> Json:
        task = self.waiting.pop(0)
        task.instance_id = instance_id
        task.calls.append(time.monotonic())
        return {
            "taskId": task.task_id, "runId": task.run_id, "attempt": 1, "maxAttempts": 3, "reason": "input",
            "projectId": 1, "sessionId": str(uuid.uuid4()), "sessionName": "s", "nodeInstanceId": 2,
            "nodeName": "n", "nodeTemplate": "t", "runnerType": "r", "configuration": task.configuration,
            "parents": [{"nodeInstanceId": 1, "name": "in"}], "claimedAt": "2026-01-01T00:00:00.000Z",
            "leaseExpiresAt": "2026-01-01T00:00:30.000Z", "heartbeatIntervalSeconds": task.lease_seconds / 3,
            "incremental": self.incremental(task), "traceparent": None,
        }  # fmt: skip

    def incremental(self, task: Task) -> Json:
        pending = len(task.inputs) - (task.watermark or 0)
        return {"watermark": task.watermark, "pendingInputs": pending, "maxInputsPerTask": 100}

    def answer_task(self, task: Task, method: str, path: str, headers: Json, body: bytes) -> tuple[int, Any]:
        if path == "/heartbeat":
            task.heartbeats.append((time.monotonic(), json.loads(body)))
            return 200, {"cancelRequested": task.cancel_requested}
        if path.startswith("/inputs"):
            return self.inputs(task, path, headers)
        if path == "/state":
            return 200, {"previousOutput": None, "state": None, "incremental": self.incremental(task)}
        if path == "/watermark":
            task.watermark = json.loads(body)["inputId"]
            return 200, self.incremental(task)
        if path.startswith("/rejections/"):
            task.watermark = int(path.rpartition("/")[2])
            task.rejections[task.watermark] = json.loads(body)
            return 200, self.incremental(task)
        if path == "/logs":
            return self.logs(task, json.loads(body))
        if path.startswith("/outputs"):
            return self.outputs(task, path, headers, body)
        said = json.loads(body)
        task.next = said.pop("next", None)
        task.end = (path.removeprefix("/"), said)
        if not self.offers_next or task.next is None:
            return 200, {"taskId": task.task_id}
        return 200, {"taskId": task.task_id, "next": self.hand_out(str(task.instance_id)) if self.waiting else None}

    def inputs(self, task: Task, path: str, headers: Json) -> tuple[int, Any]:
        match = re.match(r"/inputs/(\d+)/data", path)
        if match is not None:
            data = task.inputs[int(match[1]) - 1]
            return 200, data
        listed = [
            {"outputId": number, "nodeInstanceId": 1, "nodeName": "in", "outputIdentifier": f"in-{number}",
             "contentType": "text/csv", "contentEncoding": None, "sizeBytes": len(data), "sha256": None,
             "metadata": None, "createdAt": "2026-01-01T00:00:00.5Z"}
            for number, data in enumerate(task.inputs, 1)
            if number > (task.watermark or 0)
        ]  # fmt: skip
        return 200, {"mode": "all", "inputs": listed, "nextCursor": None, "incremental": self.incremental(task)}

    def logs(self, task: Task, body: Json) -> tuple[int, Any]:
        if not self.offers_logs:
            raise Refusal(404, "not_found")
        if task.silent_logs > 0:
            task.silent_logs -= 1
            self.closing.wait()
            raise Refusal(503, "unavailable")
        task.sequences.append(body["sequence"])
        task.logs += body["entries"]
        return 200, {"nextSequence": body["sequence"] + 1, "truncated": False}

    def outputs(self, task: Task, path: str, headers: Json, body: bytes) -> tuple[int, Any]:
        if path == "/outputs":
            return 201, self.store(task, headers, body)
        if path == "/outputs/uploads":
            task.upload = headers
            return 201, {"handle": "h", **LIMITS["upload"]}
        part = re.match(r"/outputs/uploads/h/parts/(\d+)", path)
        if part is not None:
            task.parts[int(part[1])] = body
            return 200, {"part": int(part[1]), "sizeBytes": len(body)}
        assert task.upload is not None
        return 201, self.store(task, task.upload, b"".join(task.parts[number] for number in sorted(task.parts)))

    def store(self, task: Task, headers: Json, body: bytes) -> Json:
        name = headers["x-platform-output-identifier"]
        task.outputs[name] = body
        metadata = headers.get("x-platform-output-metadata")
        if metadata is not None:
            task.metadata[name] = json.loads(metadata.encode("latin-1"))
        if "x-platform-watermark" in headers:
            task.watermark = int(headers["x-platform-watermark"])
        return {
            "outputId": len(task.outputs), "outputIdentifier": name, "sizeBytes": len(body), "sha256": None,
            "createdAt": "2026-01-01T00:00:00.000Z",
        }  # fmt: skip


class Refusal(Exception):
    """A refusal by the double."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code

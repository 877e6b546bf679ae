"""How a runner is started: options first, then the environment, then defaults."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..errors import SettingsError
from .definition import RunnerDefinition

_INSTANCE = re.compile(r"[A-Za-z0-9._:-]{1,120}")
_SUFFIX = re.compile(r"(-[a-z0-9]+)*")
_MEBIBYTES = 1024 * 1024

OPTIONS: dict[str, str] = {
    "url": "SDP_URL",
    "token": "SDP_RUNNER_TOKEN",
    "concurrency": "SDP_RUNNER_CONCURRENCY",
    "instance_id": "SDP_RUNNER_INSTANCE",
    "wait_seconds": "SDP_RUNNER_WAIT_SECONDS",
    "grace_seconds": "SDP_RUNNER_GRACE_SECONDS",
    "run_logs": "SDP_RUNNER_RUN_LOGS",
    "capture_output": "SDP_RUNNER_CAPTURE",
    "claim_next": "SDP_RUNNER_CLAIM_NEXT",
    "template_suffix": "SDP_RUNNER_TEMPLATE_SUFFIX",
    "part_bytes": "",
    "buffer_bytes": "",
}
"""Options of :func:`sdp.run` and their environment variables."""


@dataclass(frozen=True)
class Settings:
    """Checked settings of a runner at work."""

    url: str
    token: str
    instance_ids: tuple[str, ...]
    wait_seconds: int
    grace_seconds: float
    run_logs: bool
    capture_output: bool
    claim_next: bool
    part_bytes: int
    buffer_bytes: int
    template_suffix: str


class _Reader:
    def __init__(self, options: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._options = options
        self._environment = environment
        self.problems: list[str] = []

    def text(self, name: str) -> str:
        given = self._options.get(name)
        return str(self._environment.get(OPTIONS[name], "") if given is None else given).strip()

    def number(self, name: str, initial: float, least: float, most: float) -> float:
        text = self.text(name)
        try:
            value = float(text) if text else initial
        except ValueError:
            value = -1
        if not least <= value <= most:
            where = f" ({OPTIONS[name]})" if OPTIONS[name] else ""
            self.problems.append(f"{name}{where} must be a number from {least:g} to {most:g}.")
            return initial
        return value

    def switch(self, name: str, initial: bool) -> bool:
        text = self.text(name).lower()
        if text not in ("", "1", "true", "on", "yes", "0", "false", "off", "no"):
            self.problems.append(f"{name} ({OPTIONS[name]}) must be on or off.")
        return initial if text == "" else text in ("1", "true", "on", "yes")


def read_settings(
    runner: RunnerDefinition, options: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> Settings:
    """Raises SettingsError with all that is missing or wrong."""
    unknown = set(options) - set(OPTIONS)
    if unknown:
        raise TypeError(f"There is no option {', '.join(sorted(unknown))}.")
    read = _Reader(options, environment)
    url = read.text("url")
    if not _is_address(url):
        read.problems.append("Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.")
    token = read.text("token")
    if re.fullmatch(r"[\x21-\x7e]+", token) is None:
        read.problems.append("Set SDP_RUNNER_TOKEN to a runner token.")
    concurrency = int(read.number("concurrency", runner.concurrency or 1, 1, 1_000))
    instance_id = read.text("instance_id") or _own_instance_id(runner)
    if _INSTANCE.fullmatch(instance_id) is None:
        read.problems.append("instance_id (SDP_RUNNER_INSTANCE) must hold 1 to 120 characters of A-Za-z0-9._:-.")
    template_suffix = read.text("template_suffix")
    if _SUFFIX.fullmatch(template_suffix) is None:
        read.problems.append("template_suffix (SDP_RUNNER_TEMPLATE_SUFFIX) must be like -petra.")
    settings = Settings(
        url=url.rstrip("/"),
        token=token,
        instance_ids=_instance_ids(instance_id, concurrency),
        wait_seconds=int(read.number("wait_seconds", 30, 0, 60)),
        grace_seconds=read.number("grace_seconds", 15, 0, 86_400),
        run_logs=read.switch("run_logs", True),
        capture_output=read.switch("capture_output", True),
        claim_next=read.switch("claim_next", True),
        part_bytes=int(read.number("part_bytes", 8 * _MEBIBYTES, 1, 2**40)),
        buffer_bytes=int(read.number("buffer_bytes", 32 * _MEBIBYTES, 1, 2**40)),
        template_suffix=template_suffix,
    )
    if read.problems:
        raise SettingsError(read.problems)
    return settings


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    # Its port, too, is read only when it is asked for.
    except ValueError:
        return False


def _own_instance_id(runner: RunnerDefinition) -> str:
    """Unique, also for the second start of a container with the same host name and pid."""
    host = re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:30]
    return f"{runner.name[:50]}:{host}:{os.getpid()}:{secrets.token_hex(4)}"


def _instance_ids(instance_id: str, concurrency: int) -> tuple[str, ...]:
    if concurrency == 1:
        return (instance_id,)
    return tuple(f"{instance_id}.{number}" for number in range(1, concurrency + 1))

"""A runner as a separate process."""

from __future__ import annotations

import faulthandler
import logging
import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, Literal, NoReturn

from ..errors import ApiError, SettingsError, message_of
from .definition import RunnerDefinition
from .forked import has_default_in_forked
from .json_lines import log_to_standard_error
from .running import RunningRunner
from .settings import read_settings


_EXIT_SECONDS = 5.0
_SIGNAL_SECONDS = 0.5


def run(runner: RunnerDefinition, **options: Any) -> None:
    """Runs a runner until it gets a signal, and ends the process.

    Code 0: after SIGTERM or SIGINT; it stops claiming, lets tasks finish for the grace time, then releases them. Code
    1: settings are missing, or the platform refuses the runner. A second signal ends the process at once.

    Options override the environment: ``url`` (``SDP_URL``), ``token`` (``SDP_RUNNER_TOKEN``), ``concurrency``
    (``SDP_RUNNER_CONCURRENCY``), ``instance_id`` (``SDP_RUNNER_INSTANCE``), ``wait_seconds``
    (``SDP_RUNNER_WAIT_SECONDS``), ``grace_seconds`` (``SDP_RUNNER_GRACE_SECONDS``), ``run_logs``
    (``SDP_RUNNER_RUN_LOGS``), ``capture_output`` (``SDP_RUNNER_CAPTURE``), ``template_suffix``
    (``SDP_RUNNER_TEMPLATE_SUFFIX``), ``part_bytes``, ``buffer_bytes``.

    With ``SDP_REPLAY_CASE`` in the environment it works on that saved case instead and claims nothing.
    """
    case = os.environ.get("SDP_REPLAY_CASE", "")
    if case:
        from ..testing.replay import replay

        _exit(replay(runner, case, os.environ.get("SDP_REPLAY_OUT") or None))
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("run() takes the signals of the process, which only its main thread can; here use sdp.start().")
    # Prints the stack where native code crashes; a standard error that is no file cannot have it.
    with suppress(AttributeError, OSError, RuntimeError, ValueError):
        faulthandler.enable()
    log_to_standard_error(os.environ.get("SDP_RUNNER_LOG", ""))
    try:
        running = RunningRunner(runner, read_settings(runner, options))
    except SettingsError as error:
        _fail(*error.problems)
    _exit(_run(running), at_once=running.has_left_code)


def _run(running: RunningRunner) -> int:
    """The process's code at the end."""
    # Its put may be called from a signal handler while a get waits, which the locks of events do not allow.
    messages: queue.SimpleQueue[Literal["stop", "ended"]] = queue.SimpleQueue()
    stops = 0
    runner = os.getpid()

    def on_signal(_number: int, _frame: Any) -> None:
        nonlocal stops
        if os.getpid() != runner:
            # Ctrl-C of a terminal goes to a forked process too: the runner's grace is that of its task.
            return
        stops += 1
        if stops > 1:
            os._exit(1)
        messages.put("stop")

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    has_default_in_forked(signal.SIGTERM)
    failures: list[BaseException] = []
    _begin(running, messages, failures)
    while _next(messages) == "stop":
        running.request_stop()
    try:
        if failures:
            raise failures[0]
        running.wait()
    except BaseException as error:
        if stops > 0 and not isinstance(error, ApiError):
            return 0
        _print(_sentence(error))
        return 1
    return 0


def _next(messages: queue.SimpleQueue[Literal["stop", "ended"]]) -> Literal["stop", "ended"]:
    """The next message. A signal that another thread gets, or that comes just before the wait, does not end the wait
    of this thread, whose handler then runs at its end."""
    while True:
        with suppress(queue.Empty):
            return messages.get(timeout=_SIGNAL_SECONDS)


def _begin(
    running: RunningRunner, messages: queue.SimpleQueue[Literal["stop", "ended"]], failures: list[BaseException]
) -> None:
    """The start waits for the platform, so it must not hold up the thread that gets the signals."""
    def begin() -> None:
        try:
            running.begin()
            running.on_end(lambda: messages.put("ended"))
        except BaseException as error:
            failures.append(error)
            messages.put("ended")

    threading.Thread(target=begin, name="sdp-start", daemon=True).start()


def _sentence(error: BaseException) -> str:
    if not isinstance(error, ApiError):
        return message_of(error)
    hint = " Is SDP_RUNNER_TOKEN one of this platform, and still valid?" if error.status == 401 else ""
    return f"The platform refuses the runner (HTTP {error.status}): {error}{hint}"


def _print(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _fail(*lines: str) -> NoReturn:
    _print(*lines)
    raise SystemExit(1)


def _exit(code: int, at_once: bool = False) -> NoReturn:
    # The interpreter waits for the threads of pools, and unloads modules that other threads still use.
    end = threading.Timer(0 if at_once else _EXIT_SECONDS, _end, (code,))
    end.daemon = True
    end.start()
    if at_once:
        end.join()
    raise SystemExit(code)


def _end(code: int) -> None:
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)

"""The log of one task: from the author's calls, `logging` and printed lines to a buffer."""

from __future__ import annotations

import contextvars
import json
import logging
import re
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from .._text import clip_bytes

Level = Literal["debug", "info", "warning", "error"]

MESSAGE_BYTES = 8 * 1024
_FIELDS_BYTES = 4 * 1024
_FIELDS_LEVELS = 20
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# What else a record has came by `extra`.
_OF_RECORDS = frozenset(vars(logging.makeLogRecord({}))) | {"asctime", "message", "sdp_log", "taskName"}

Sink = Callable[[Level, str, "dict[str, Any]"], None]
"""Accepts one line. It must not raise."""

current_log: contextvars.ContextVar[TaskLog | None] = contextvars.ContextVar("sdp_task_log", default=None)
"""The log of the task in whose context the code runs; copied to coroutines and by `contextvars.copy_context`."""

_logger = logging.getLogger("sdp.task")


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    # Python 3.10 has no parameter for it.
    _Adapter = logging.LoggerAdapter


class TaskLog(_Adapter):
    """Writes to the run's log, from any thread and in any context."""

    def __init__(self, sink: Sink, *, takes_output: bool = True) -> None:
        super().__init__(_logger, {})
        self._sink = sink
        self.takes_output = takes_output
        """Printed lines belong to it."""

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """Marks the record as one of this task."""
        kwargs["extra"] = {**(kwargs.get("extra") or {}), "sdp_log": self}
        return msg, kwargs

    def line(self, level: Level, message: str, fields: dict[str, Any] | None = None) -> None:
        """One line of the run's log, and of nothing else."""
        self._sink(level, clip_bytes(message, MESSAGE_BYTES), fields or {})


class RunLogHandler(logging.Handler):
    """Passes records of `logging` to the log of the task in whose context they are made."""

    def emit(self, record: logging.LogRecord) -> None:
        """Adds a record to its run's log."""
        log: TaskLog | None = getattr(record, "sdp_log", None) or current_log.get()
        # Lines of the kit about its own calls are not the author's, and sending them would cause more of them.
        if log is None or record.name == "sdp":
            return
        try:
            message = record.getMessage()
            if record.exc_info and record.exc_info[1] is not None:
                message = f"{message}\n{trace_of(record.exc_info[1])}"
            log.line(level_of(record.levelno), message, _fields_of(record))
        except Exception:
            self.handleError(record)


def _fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What `extra` gave, and whose record it is. It is replaced by a sentence where the platform would refuse it, and with
    it all lines that are sent together."""
    fields = {} if record.name == "sdp.task" else {"logger": record.name}
    extra = {name: value for name, value in vars(record).items() if name not in _OF_RECORDS}
    if not extra:
        return fields
    try:
        text = json.dumps({**fields, **extra}, ensure_ascii=False, default=_plain)
        text = _ESCAPED_NUL.sub(r"\1", text)
        if len(text.encode("utf-8", "replace")) > _FIELDS_BYTES:
            return {**fields, "omitted": f"The fields hold more than {_FIELDS_BYTES} bytes."}
        # JSON has no infinite numbers.
        fitting: dict[str, Any] = json.loads(text, parse_constant=str)
    except Exception:
        return {**fields, "omitted": "The fields have no JSON form."}
    if _levels_of(fitting) > _FIELDS_LEVELS:
        return {**fields, "omitted": f"The fields have more than {_FIELDS_LEVELS} levels."}
    return fitting


def _plain(value: Any) -> Any:
    # Numbers of numpy, pandas and torch.
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else str(value)


def _levels_of(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(_levels_of, value.values() if isinstance(value, dict) else value), default=0)


def level_of(number: int) -> Level:
    """The platform's level of a level of `logging`."""
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warning"
    return "info" if number >= logging.INFO else "debug"


def trace_of(error: BaseException) -> str:
    """The stack of an error; of a long one its end, which names the error."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    encoded = text.encode("utf-8", "replace")
    most_bytes = MESSAGE_BYTES - 512
    return text if len(encoded) <= most_bytes else "…" + encoded[-most_bytes:].decode("utf-8", "ignore")

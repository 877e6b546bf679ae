"""Write runners for the Simulation Data Platform, and work with its data.

A runner is a function that works on a task:

    import sdp

    @sdp.runner(templates=["top-speed"])
    def top_speed(task):
        for item in task.inputs("latest"):
            task.write_json({"top": max(float(row["speed"]) for row in item.rows())})

``sdp-runner my_module`` starts it. :mod:`sdp.client` reads and writes sessions, :mod:`sdp.testing` tests runners.
"""

from ._inputs.inputs import Input, InputInfo, InputMode
from ._inputs.text import Row
from ._outputs.headers import WrittenOutput
from ._outputs.source import Source
from ._runner.load import NoRunnerError, load_runner
from ._runner.run import run
from ._runner.runner import Runner, runner
from ._runner.running import RunningRunner, start
from ._task.async_task import AsyncInput, AsyncState, AsyncTask
from ._task.outcome import Completion, Outcome
from ._task.state import NodeState
from ._task.task import NewInputs, Parent, Task
from ._task.watermark import Watermark
from ._version import VERSION as __version__
from .errors import (
    ApiError,
    CancelReason,
    FailureCategory,
    MissingLibrary,
    NetworkError,
    SdpError,
    SettingsError,
    TaskCancelled,
    TaskFailure,
    UnreadableData,
)

__all__ = [
    "ApiError",
    "AsyncInput",
    "AsyncState",
    "AsyncTask",
    "CancelReason",
    "Completion",
    "FailureCategory",
    "Input",
    "InputInfo",
    "InputMode",
    "MissingLibrary",
    "NetworkError",
    "NewInputs",
    "NoRunnerError",
    "NodeState",
    "Outcome",
    "Parent",
    "Row",
    "Runner",
    "RunningRunner",
    "SdpError",
    "SettingsError",
    "Source",
    "Task",
    "TaskCancelled",
    "TaskFailure",
    "UnreadableData",
    "Watermark",
    "WrittenOutput",
    "__version__",
    "load_runner",
    "run",
    "runner",
    "start",
]

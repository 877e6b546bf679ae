"""The runner's process: heartbeats, logs, signals, concurrency."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from conftest import RunnerProcess
from platform_double import PlatformDouble


def ended(process: object, seconds: float = 60.0) -> int:
    return int(process.wait(seconds))  # type: ignore[attr-defined]


def test_a_task_is_done_and_its_lines_are_in_the_log_of_its_run(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer(b"a,b\n1,2\n")
    process = start_runner(
        """
import contextvars, logging, sys, threading
@sdp.runner(templates=["t"])
def work(task):
    logging.getLogger("mine").info("by logging", extra={})
    task.log.warning("by the task: %s", 7)
    print("printed")
    print("an error", file=sys.stderr)
    copied = contextvars.copy_context()
    thread = threading.Thread(target=lambda: copied.run(print, "from a thread"))
    thread.start(); thread.join()
    sys.stdout.write("no line break")
    task.progress("rows", done=3, total=4, unit="rows")
    task.write_json([row for item in task.inputs() for row in item.rows()], metadata={"größe": "ü"})
"""
    )
    double.until(lambda: task.end)
    assert task.end == ("complete", {"outcome": "completed"})
    (name,) = task.outputs
    assert name == f"{task.run_id}.0.1"
    assert json.loads(task.outputs[name]) == [{"a": "1", "b": "2"}]
    assert task.metadata[name] == {"größe": "ü"}
    assert [(entry["level"], entry["message"]) for entry in task.logs] == [
        ("info", "by logging"),
        ("warning", "by the task: 7"),
        ("info", "printed"),
        ("warning", "an error"),
        ("info", "from a thread"),
        ("info", "no line break"),
    ]
    assert task.logs[0]["fields"] == {"logger": "mine"}
    assert task.sequences == sorted(set(task.sequences)) and task.sequences[0] == 1
    process.send_signal(signal.SIGTERM)
    assert ended(process) == 0
    assert double.signed_off != []
    assert "printed" in str(process.stdout and process.stdout.read())


def test_a_failure_is_in_the_log_with_its_stack(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer()
    start_runner("@sdp.runner(templates=['t'])\ndef work(task):\n    return {}['missing']")
    double.until(lambda: task.end)
    assert task.end == ("fail", {"category": "error", "reason": "KeyError: 'missing'"})
    assert "the_runner.py" in task.messages[-1] and task.messages[-1].endswith("KeyError: 'missing'")
    assert task.logs[-1]["level"] == "error"


def test_a_platform_without_logs_gets_the_last_lines_with_the_failure(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    double.offers_logs = False
    task = double.offer()
    start_runner("@sdp.runner\ndef work(task):\n    print('before')\n    raise sdp.TaskFailure('validation', 'bad')")
    double.until(lambda: task.end)
    assert task.end is not None
    how, body = task.end
    assert (how, body["category"], body["reason"]) == ("fail", "validation", "bad")
    assert [line.split(" ", 1)[1] for line in body["logTail"].splitlines()] == [
        "info before",
        "error validation: bad",
    ]


def test_many_lines_come_in_batches_and_in_order(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer()
    start_runner("@sdp.runner\ndef work(task):\n    for n in range(3000):\n        print(n)\n    return 'no-output'")
    double.until(lambda: task.end)
    assert task.messages == [str(number) for number in range(3000)]
    assert 6 <= len(task.sequences) <= 20


def test_heartbeats_go_on_while_c_code_holds_the_interpreter(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer(lease_seconds=3)
    start_runner(
        """
import ctypes
@sdp.runner
def work(task):
    # PyDLL does not release the interpreter's lock: no other thread of this process runs.
    ctypes.PyDLL(None).sleep(8)
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    assert double.longest_silence(task) < 3
    assert len(task.heartbeats) >= 5


def test_progress_comes_with_heartbeats(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer(lease_seconds=3)
    start_runner(
        """
@sdp.runner
def work(task):
    task.progress("reading", "input 1", done=1, total=2, unit="inputs")
    task.wait(1)
    task.progress(done=2)
    task.wait(1)
    return "no-output"
"""
    )
    double.until(lambda: task.end)
    bodies = [body for _, body in task.heartbeats if body]
    assert bodies[0]["progress"] == {"done": 1, "total": 2, "unit": "inputs"}
    assert bodies[-1] == {
        "phase": "reading", "message": "input 1", "progress": {"done": 2, "total": 2, "unit": "inputs"},
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_loop_over_new_inputs_that_a_shutdown_ends_before_its_first_input_gives_the_task_back(
    double: PlatformDouble, start_runner: RunnerProcess, kind: str
) -> None:
    task = double.offer(b"a")
    call = "await task.each_new_input(one)" if kind == "async def" else "task.each_new_input(one)"
    process = start_runner(
        f"""
@sdp.runner
{kind} work(task):
    {kind} one(item):
        raise AssertionError("an input after the shutdown")
    task.stopping.wait(60)
    {call}
"""
    )
    double.until(lambda: task.instance_id)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == 0
    assert task.end == ("release", {"reason": "The runner is shutting down."})
    assert [entry for entry in task.logs if entry["level"] == "error"] == []


@pytest.mark.parametrize("busy", ["task.wait(60)", "import ctypes; ctypes.PyDLL(None).sleep(60)", "time.sleep(60)"])
def test_a_cancel_ends_the_task_also_when_its_code_does_not_stop(
    double: PlatformDouble, start_runner: RunnerProcess, busy: str
) -> None:
    task = double.offer(lease_seconds=1)
    start_runner(f"import time\n@sdp.runner(cancel_grace_seconds=0.5)\ndef work(task):\n    {busy}")
    double.until(lambda: task.heartbeats)
    task.cancel_requested = True
    double.until(lambda: task.end, 40)
    assert task.end == ("fail", {"category": "error", "reason": "cancelled"})


def test_sigterm_lets_a_task_finish(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer()
    process = start_runner(
        """
@sdp.runner
def work(task):
    print("begun")
    task.stopping.wait(20)
    task.wait(0.5)
    task.write("done")
"""
    )
    double.until(lambda: task.messages)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == 0
    assert task.end == ("complete", {"outcome": "completed"})


@pytest.mark.parametrize("code", ["task.wait(60)", "time.sleep(60)"])
def test_sigterm_releases_a_task_after_the_grace(
    double: PlatformDouble, start_runner: RunnerProcess, code: str
) -> None:
    task = double.offer()
    process = start_runner(
        f"import time\n@sdp.runner\ndef work(task):\n    print('begun')\n    {code}", SDP_RUNNER_GRACE_SECONDS="0.5"
    )
    double.until(lambda: task.messages)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert ended(process) == 0
    assert task.end == ("release", {"reason": "The runner is shutting down."})
    assert time.monotonic() - began < 30


def test_a_second_signal_ends_the_process_at_once(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer()
    process = start_runner("@sdp.runner\ndef work(task):\n    print('begun')\n    task.wait(60)")
    double.until(lambda: task.messages)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    assert ended(process, 10) == 1


def test_the_heartbeat_process_ends_with_a_killed_runner(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    task = double.offer(lease_seconds=1)
    process = start_runner("@sdp.runner\ndef work(task):\n    task.wait(60)")
    double.until(lambda: task.heartbeats)
    process.kill()
    process.wait()
    time.sleep(2.0)
    count = len(task.heartbeats)
    time.sleep(1.5)
    assert len(task.heartbeats) == count


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_tasks_run_at_the_same_time(double: PlatformDouble, start_runner: RunnerProcess, kind: str) -> None:
    tasks = [double.offer() for _ in range(3)]
    pause = "time.sleep(0.01)" if kind == "def" else "await asyncio.sleep(0.01)"
    start_runner(
        f"""
import asyncio, time
here = []
@sdp.runner(templates=["t"], concurrency=3)
{kind} work(task):
    here.append(task.run_id)
    while len(here) < 3:
        {pause}
    return "no-output"
"""
    )
    double.until(lambda: all(task.end for task in tasks))
    assert [task.end and task.end[0] for task in tasks] == ["complete"] * 3
    assert len({task.instance_id for task in tasks}) == 3


def test_outputs_above_one_request_go_in_parts(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    task = double.offer()
    start_runner(
        "@sdp.runner\ndef work(task):\n    task.write((bytes([n % 251]) * 1000 for n in range(300)), identifier='big')",
    )
    double.until(lambda: task.end)
    assert task.outputs["big"] == b"".join(bytes([n % 251]) * 1000 for n in range(300))
    assert len(task.parts) > 1


def test_the_next_task_comes_with_the_end_of_one_where_the_platform_offers_that(
    double: PlatformDouble, start_runner: RunnerProcess
) -> None:
    double.offers_next = True
    tasks = [double.offer() for _ in range(5)]
    start_runner("@sdp.runner(templates=['t'])\ndef work(task):\n    return 'no-output'")
    double.until(lambda: all(task.end for task in tasks))
    assert tasks[0].next == {"waitSeconds": 0, "templates": ["t"]}
    assert len(double.claims) <= 2


def test_a_suffix_is_part_of_every_name_that_it_claims_for(double: PlatformDouble, start_runner: RunnerProcess) -> None:
    double.offers_next = True
    task = double.offer()
    start_runner(
        "@sdp.runner(templates=['t'])\ndef work(task):\n    return 'no-output'", SDP_RUNNER_TEMPLATE_SUFFIX="-petra"
    )
    double.until(lambda: task.end)
    assert double.claims[0]["templates"] == ["t-petra"]
    assert task.next == {"waitSeconds": 0, "templates": ["t-petra"]}


def test_a_missing_setting_is_said(double: PlatformDouble, start_runner: RunnerProcess, tmp_path: Path) -> None:
    process = start_runner("@sdp.runner\ndef work(task): pass", SDP_URL="nothing", SDP_RUNNER_CONCURRENCY="none")
    assert ended(process) == 1
    said = (tmp_path / "stderr").read_text().splitlines()
    assert said == [
        "Set SDP_URL to the platform's base address, for example http://127.0.0.1:8080.",
        "concurrency (SDP_RUNNER_CONCURRENCY) must be a number from 1 to 1000.",
    ]

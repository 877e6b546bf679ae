"""The agent of a capture machine without a platform: files that change at the worst moment."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from sdp._calls.back_off import BackOff
from sdp.errors import ApiError, SdpError
from sdp.watch_folder import Acknowledged, FoundFile, watch_folder
from sdp.watch_folder.move import move_file
from sdp.watch_folder.scan import pause_after_scan


def test_a_file_that_is_written_anew_before_it_is_moved_away_stays_and_is_sent(tmp_path: Path) -> None:
    latest, archive = tmp_path / "latest.csv", tmp_path / "sent"
    latest.write_text("first")
    sent: list[str] = []

    def send(file: FoundFile, _metadata: object) -> Acknowledged:
        sent.append(file.path.read_text())
        return Acknowledged(f"sent-{len(sent)}", len(sent))

    def say(line: str) -> None:
        if line.endswith("output 1"):
            latest.write_text("the second")

    assert watch_folder(tmp_path, send, settle_seconds=0.001, move_to=archive, once=True, say=say) == 0
    assert sent == ["first", "the second"]
    assert (archive / "latest.csv").read_text() == "the second"


def test_a_file_that_is_written_anew_while_it_is_copied_to_another_disk_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    latest, archive = tmp_path / "latest.csv", tmp_path / "archive"
    latest.write_text("first")
    archive.mkdir()
    rename = Path.rename

    def to_another_disk(self: Path, target: Path) -> Path:
        if self == latest:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    def check() -> None:
        if (archive / "latest.csv.partial").exists():
            latest.write_text("the second")
            raise SdpError("The file changed.")

    monkeypatch.setattr(Path, "rename", to_another_disk)
    with pytest.raises(SdpError):
        move_file(latest, archive / "latest.csv", check)
    assert latest.read_text() == "the second"
    assert not list(archive.iterdir())


def test_the_journal_forgets_files_that_left_the_folder_once_they_are_many(tmp_path: Path) -> None:
    def row(name: str, found: Path | None = None) -> str:
        state = None if found is None else found.stat()
        size, modified = (1, 1) if state is None else (state.st_size, state.st_mtime_ns / 1e6)
        return json.dumps(
            {"file": name, "sizeBytes": size, "modifiedAtMs": modified, "identifier": "is", "outputId": 1}
        )

    there = tmp_path / "there.csv"
    there.write_text("a")
    journal = tmp_path / ".sdp-sent.jsonl"
    rows = [row("there.csv", there), *(row(f"gone-{number}.csv") for number in range(10_010))]
    journal.write_text("".join(f"\n{each}\n" for each in rows))
    (tmp_path / "new.csv").write_text("a")
    sent: list[str] = []

    def send(file: FoundFile, _metadata: object) -> Acknowledged:
        sent.append(file.name)
        return Acknowledged(file.name, 2)

    assert watch_folder(tmp_path, send, settle_seconds=0.001, once=True, say=lambda _: None) == 0
    assert sent == ["new.csv"]
    assert [json.loads(line)["file"] for line in journal.read_text().splitlines() if line] == ["there.csv", "new.csv"]


def send_all(folder: Path, fails: Callable[[str], int | None]) -> tuple[int, list[str], list[str]]:
    """Sends the folder's files once: the number of those that are left, what was sent, and what was said."""
    sent: list[str] = []
    said: list[str] = []

    def send(file: FoundFile, _metadata: object) -> Acknowledged:
        status = fails(file.name)
        if status is not None:
            raise ApiError(status, f"answered {status}")
        sent.append(file.name)
        return Acknowledged(file.name, len(sent))

    return watch_folder(folder, send, settle_seconds=0.001, once=True, say=said.append), sent, said


def fill(folder: Path, *names: str) -> None:
    for index, name in enumerate(names):
        (folder / name).write_text(name)
        os.utime(folder / name, (index, index))


def test_files_for_which_the_server_fails_hold_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackOff, "next_seconds", lambda _, error: 0.0)
    fill(tmp_path, "bad-1.csv", "bad-2.csv", "good-1.csv", "bad-3.csv", "good-2.csv")
    left, sent, _ = send_all(tmp_path, lambda name: 500 if name.startswith("bad") else None)
    assert (left, sent) == (3, ["good-1.csv", "good-2.csv"])


def test_a_file_that_changes_while_it_is_sent_is_not_said_to_wait_for_ten_minutes(tmp_path: Path) -> None:
    said: list[str] = []

    class TestOver(BaseException):
        """A watch ends only with its process."""

    def send(file: FoundFile, _metadata: object) -> Acknowledged:
        if said:
            raise ApiError(400, "Refused.")
        with file.path.open("a") as more:
            more.write("more")
        raise SdpError("The file changed while it was being sent.")

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            raise TestOver

    fill(tmp_path, "latest.csv")
    with pytest.raises(TestOver):
        watch_folder(tmp_path, send, settle_seconds=0.001, say=say)
    assert said == [
        "latest.csv: The file changed while it was being sent. It is sent when it has stopped changing.",
        "latest.csv: Refused. It is tried again in 10 minutes.",
    ]


def test_a_session_that_is_not_there_is_a_refusal_and_no_outage(tmp_path: Path) -> None:
    fill(tmp_path, "1.csv", "2.csv")
    assert send_all(tmp_path, lambda _: 404) == (2, [], ["1.csv: answered 404", "2.csv: answered 404"])


def test_while_the_server_fails_for_all_no_file_is_put_off_and_the_oldest_is_sent_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BackOff, "next_seconds", lambda _, error: 0.0)
    fill(tmp_path, "1.csv", "2.csv", "3.csv")
    answers = iter([503] * 7)
    left, sent, _ = send_all(tmp_path, lambda _: next(answers, None))
    assert (left, sent) == (0, ["1.csv", "2.csv", "3.csv"])


def test_a_file_that_cannot_be_looked_at_holds_up_no_other_and_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "broken.csv", "good.csv")
    lstat = Path.lstat

    def failing(self: Path) -> os.stat_result:
        if self.name == "broken.csv":
            raise OSError(errno.EIO, "Input/output error")
        return lstat(self)

    monkeypatch.setattr(Path, "lstat", failing)
    assert send_all(tmp_path, lambda _: None) == (
        1,
        ["good.csv"],
        ["broken.csv: [Errno 5] Input/output error", "good.csv: output 1"],
    )


def test_scans_use_at_most_a_tenth_of_the_time_and_are_half_a_minute_apart_at_most() -> None:
    assert [pause_after_scan(seconds) for seconds in (0.01, 0.5, 60.0)] == [1.0, 4.5, 30.0]


def test_a_name_that_is_no_text_is_said_to_a_reader_that_takes_text_alone(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"lap-\xff.csv")).write_text("a")
    except OSError:
        pytest.skip("this file system has no such names")
    said: list[bytes] = []
    sent = watch_folder(
        tmp_path,
        lambda file, _: Acknowledged("lap", 1),
        settle_seconds=0.001,
        once=True,
        say=lambda line: said.append(line.encode("utf-8")),
    )
    assert (sent, said) == (0, [b"lap-\\udcff.csv: output 1"])


def test_a_file_that_was_noted_before_the_agent_ended_is_moved_by_the_next_one_and_not_sent_again(tmp_path: Path) -> None:
    fill(tmp_path, "1.csv")
    assert send_all(tmp_path, lambda _: None)[:2] == (0, ["1.csv"])

    def send(file: FoundFile, _metadata: object) -> Acknowledged:
        raise AssertionError(f"{file.name} is sent again")

    assert watch_folder(tmp_path, send, settle_seconds=60.0, move_to=tmp_path / "sent", once=True, say=print) == 0
    assert (tmp_path / "sent" / "1.csv").read_text() == "1.csv"

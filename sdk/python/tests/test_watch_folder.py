"""The agent of a capture machine without a platform: files that change at the worst moment."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from sdp.errors import SdpError
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


def test_scans_use_at_most_a_tenth_of_the_time_and_are_half_a_minute_apart_at_most() -> None:
    assert [pause_after_scan(seconds) for seconds in (0.01, 0.5, 60.0)] == [1.0, 4.5, 30.0]

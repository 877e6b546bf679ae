"""Outputs saved into one folder, of which some have the same name."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sdp.client import Output, Platform
from test_client import Server, output, server  # noqa: F401

PIECE = b"0,1\n" * 300_000


def outputs(url: str, count: int) -> list[Output]:
    api = Platform(url, token="t")._api
    return [Output.of(output(number, outputIdentifier="lap.csv"), api) for number in range(count)]


def test_into_a_folder_no_file_with_other_bytes_is_replaced(server: Server, tmp_path: Path) -> None:  # noqa: F811
    first, second = outputs(server.url, 2)
    server.answers = [(200, b"1\n"), (200, b"1\n"), (200, b"2\n"), (200, b"2\n")]
    assert first.save(tmp_path) == first.save(tmp_path) == tmp_path / "lap.csv"
    with pytest.raises(FileExistsError, match=r"lap.csv exists with other bytes: save\('.*lap.csv'\) replaces it.$"):
        second.save(tmp_path)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"1\n"]
    assert second.save(tmp_path / "lap.csv").read_bytes() == b"2\n"


def test_threads_that_save_under_one_name_do_not_mix_their_bytes(server: Server, tmp_path: Path) -> None:  # noqa: F811
    server.answers = [(200, PIECE)] * 8
    begin = threading.Barrier(8)

    def save(one: Output) -> Path:
        begin.wait()
        return one.save(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        saved = set(pool.map(save, outputs(server.url, 8)))
    assert saved == set(tmp_path.iterdir()) == {tmp_path / "lap.csv"}
    assert (tmp_path / "lap.csv").read_bytes() == PIECE


def test_a_save_that_is_interrupted_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Output) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Output, "open", interrupt)
    with pytest.raises(KeyboardInterrupt):
        outputs("http://127.0.0.1:9", 1)[0].save(tmp_path)
    assert list(tmp_path.iterdir()) == []

"""The client beside others: lists that change meanwhile, and threads that share it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
from sdp.client import ApiError, Platform

Change = Callable[[list[str]], None]


def listed(ids: list[str], monkeypatch: pytest.MonkeyPatch, change: Change) -> tuple[Platform, list[int]]:
    """A platform whose sessions change after its first page, and the sizes of its pages."""
    platform = Platform("http://127.0.0.1:9", token="t")
    sizes: list[int] = []

    def query(_: str, __: str, *, json: Mapping[str, Any]) -> dict[str, Any]:
        page = ids[json["offset"] : json["offset"] + json["limit"]]
        sizes.append(len(page))
        if len(sizes) == 1:
            change(ids)
        common = {"projectId": 1, "sessionTemplateId": 2, "createdAt": "2026-01-01T00:00:00Z", "metadataJson": None}
        return {"template": {"sessions": [{**common, "id": each, "name": each} for each in page]}}

    monkeypatch.setattr(platform._api, "object", query)
    return platform, sizes


def insert(ids: list[str]) -> None:
    ids[:0] = [f"new-{number}" for number in range(130)]


def delete(ids: list[str]) -> None:
    del ids[10:80]


def nothing(_: list[str]) -> None:
    pass


@pytest.mark.parametrize("change", [nothing, insert, delete])
def test_no_session_is_lost_or_doubled_when_others_are_made_or_deleted(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [str(number) for number in range(450)]
    platform, _ = listed(list(there), monkeypatch, change)
    assert [session.id for session in platform.sessions()] == there


def test_sessions_are_as_many_as_asked_for_even_when_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [str(number) for number in range(450)]
    platform, sizes = listed(list(there), monkeypatch, insert)
    assert [session.id for session in platform.sessions(limit=250)] == there[:250]
    assert sum(sizes) <= 250 + 130 + len(sizes) + 100
    platform, sizes = listed(list(there), monkeypatch, nothing)
    assert [session.id for session in platform.sessions(limit=10)] == there[:10] and sizes == [10]


def test_threads_whose_sign_in_has_expired_sign_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = Platform("http://127.0.0.1:9", username="u", password="p")
    both_refused = threading.Barrier(2)
    sign_ins = count(1)

    def open(method: str, target: str, *, headers: Mapping[str, str], **_: Any) -> str:
        if target == "/api/authorization/token":
            return f"token-{next(sign_ins)}"
        if headers["authorization"] == "Bearer token-1":
            both_refused.wait()
            raise ApiError(401, "expired")
        return headers["authorization"]

    monkeypatch.setattr(platform._api._http, "open", open)
    monkeypatch.setattr("sdp.client.api.read_json", lambda answer: {"accessToken": answer})
    with ThreadPoolExecutor(2) as pool:
        answers: list[Any] = list(pool.map(lambda _: platform._api.open("GET", "/user_data"), range(2)))
    assert answers == ["Bearer token-2"] * 2

"""Names of the files of a case."""

from __future__ import annotations

from urllib.parse import quote


def file_name(identifier: str) -> str:
    """The name of an output's file."""
    return quote(identifier, safe="") if identifier not in (".", "..") else identifier.replace(".", "%2E")

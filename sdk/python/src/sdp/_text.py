"""Text that the platform can store."""

from __future__ import annotations


def clip(text: str, characters: int) -> str:
    """No NUL, no lone surrogates, bounded."""
    clean = str(text).replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= characters else clean[: characters - 1] + "…"


def clip_bytes(text: str, size_bytes: int) -> str:
    """As :func:`clip`, bounded by its bytes as UTF-8."""
    encoded = text.replace("\0", "").encode("utf-8", "replace")
    if len(encoded) <= size_bytes:
        return encoded.decode("utf-8")
    return encoded[: size_bytes - 3].decode("utf-8", "ignore") + "…"

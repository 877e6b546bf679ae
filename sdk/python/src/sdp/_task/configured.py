"""The type of a task's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    C = TypeVar("C", default=Any)
else:
    from typing import TypeVar

    # Python before 3.13 knows no default. Type checkers do, so `sdp.Task` alone is `sdp.Task[Any]` for them.
    C = TypeVar("C")

"""Sessions, uploads, results and dashboards of a platform.

    from sdp.client import Platform

    platform = Platform("http://127.0.0.1:8080", username="me", password="...")
    sessions = platform.sessions(project="Test track", limit=10)
    frame = platform.to_pandas(sessions, node="laps")
"""

from ..errors import ApiError, NetworkError, UnreadableData
from .dashboard import Channel, Dashboard
from .output import Output
from .platform import Platform
from .query import QueryError, parse_query
from .run import LogEntry, Run
from .session import MissingOutput, Node, NodeFailed, RejectedInput, Session, WaitTimeout

__all__ = [
    "ApiError",
    "Channel",
    "Dashboard",
    "LogEntry",
    "MissingOutput",
    "NetworkError",
    "Node",
    "NodeFailed",
    "Output",
    "Platform",
    "QueryError",
    "RejectedInput",
    "Run",
    "Session",
    "UnreadableData",
    "WaitTimeout",
    "parse_query",
]

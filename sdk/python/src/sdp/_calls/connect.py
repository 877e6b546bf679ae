"""The beginning of a connection."""

from __future__ import annotations

import http.client

from ..errors import NetworkError
from .back_off import NETWORK_FAULTS

# Nothing ends a call that waits for its connection: a runner that is asked to stop waits so long.
_MOST_SECONDS = 10.0


def connect(connection: http.client.HTTPConnection) -> None:
    """Connects within some seconds, however long the answers may take. Raises NetworkError."""
    silence_seconds = connection.timeout or _MOST_SECONDS
    connection.timeout = min(silence_seconds, _MOST_SECONDS)
    try:
        connection.connect()
    except NETWORK_FAULTS as error:
        raise NetworkError(f"no connection to {connection.host}:{connection.port}: {error}") from error
    connection.sock.settimeout(silence_seconds)

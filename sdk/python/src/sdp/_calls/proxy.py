"""The proxy on the way to the platform, as the environment names it for most programs of a machine."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ..errors import SettingsError


@dataclass(frozen=True)
class Proxy:
    """Where a proxy listens."""

    host: str
    port: int
    headers: Mapping[str, str]
    """With its user and password, if it has them."""


def proxy_for(scheme: str, host: str, port: int | None) -> Proxy | None:
    """The proxy of ``HTTPS_PROXY`` or ``HTTP_PROXY``, unless ``NO_PROXY`` names the host; on Windows and macOS, where
    these are not set, that of the system's settings. Raises SettingsError for a proxy of another kind."""
    address = getproxies().get(scheme)
    # No proxy reaches this machine by such a name.
    if not address or _is_loopback(host) or proxy_bypass(host if port is None else f"{host}:{port}"):
        return None
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        port = parts.port or 80
    except ValueError:
        raise _unknown(scheme) from None
    if parts.scheme != "http" or not parts.hostname:
        raise _unknown(scheme)
    credentials = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    encoded = base64.b64encode(credentials.encode()).decode()
    headers = {"proxy-authorization": f"Basic {encoded}"} if parts.username else {}
    return Proxy(parts.hostname, port, headers)


def _unknown(scheme: str) -> SettingsError:
    return SettingsError([f"{scheme.upper()}_PROXY must name a proxy as in http://proxy.example.org:3128."])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False

"""Who may ask: pages of this arena, under a name that is really this machine's.

A page of another site that is open in the same browser can send requests to this machine, and with a host name that it
lets point here (DNS rebinding) even read the answers. So the name a request was sent to must be one of ours (an address
written in numbers cannot be such a trick), and a request that plays must come from a page of that same host.
"""

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"0.0.0.0", "::", ""})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def own_names(host: str) -> frozenset[str]:
    """The names under which an arena that listens on `host` may be asked."""
    names = {host.lower()} | LOOPBACK_NAMES
    if not is_loopback(host):
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return frozenset(names - EVERYWHERE)


def is_own_host(header: str | None, names: Collection[str], everywhere: bool) -> bool:
    """Whether a request's Host is ours; where we listen on every address, any address in numbers is."""
    if not header or "@" in header:
        return False
    try:
        name = (urlsplit(f"//{header}").hostname or "").rstrip(".")
    except ValueError:
        return False
    return name in names or (everywhere and _is_address(name))


def is_own_page(origin: str | None, host: str | None) -> bool:
    """Whether the page that asks came from the host it asks; a client that is no browser sends no origin."""
    return origin is None or urlsplit(origin).netloc == host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

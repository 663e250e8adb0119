"""host:port, as a person writes it."""

import ipaddress
import re
from typing import NamedTuple

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?")
_EVERY_INTERFACE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not bound


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def reachable(self) -> "Address":
        """Where a client on this machine connects: a wildcard cannot be connected to."""
        return Address(_EVERY_INTERFACE.get(self.host, self.host), self.port)


def parse_address(value: str) -> Address:
    """Raises ValueError with a phrase that says what is wrong."""
    host, colon, port_text = value.rpartition(":")
    if not colon:
        raise ValueError("which has no port")
    if not host:
        raise ValueError("which has no host")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            raise ValueError("whose host is not an IPv6 address") from None
    elif ":" in host:
        raise ValueError("not host:port (an IPv6 address needs brackets)")
    elif not _HOST.fullmatch(host):
        raise ValueError("whose host is not a name or an address")
    if not (port_text.isascii() and port_text.isdecimal() and len(port_text) <= 5):
        raise ValueError("whose port is not a number")
    port = int(port_text)
    if not 1 <= port <= 65535:
        raise ValueError("whose port is not 1 to 65535")
    return Address(host, port)

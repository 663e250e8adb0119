"""Looks whether addresses can be listened on, so that a taken port is one line, not a trace."""

import contextlib
import errno
import socket

from forq.address import Address
from forq.refused import Refused


def check_free(addresses: dict[str, Address]) -> None:
    """Takes variable names with their addresses, holds all of them at once, and lets go."""
    with contextlib.ExitStack() as held:
        for variable, address in addresses.items():
            listener = held.enter_context(_unbound(variable, address))
            # As gunicorn does: an address with only old connections left counts as free.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(tuple(address))
                listener.listen(1)
            except OSError as error:
                raise Refused(_reason(variable, address, error)) from error


def _unbound(variable: str, address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        socket.getaddrinfo(address.host, address.port, family, socket.SOCK_STREAM)
    except OSError as error:
        raise Refused(_reason(variable, address, error)) from error
    return socket.socket(family, socket.SOCK_STREAM)


def _reason(variable: str, address: Address, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        problem = "is in use by another process; stop that one or choose another port"
    else:
        problem = f"cannot be listened on: {error.strerror}"
    return f"{variable} {address} {problem}"

"""Who may come in: the key, and a limit on guessing it."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from queues.errors import ForqError

FAILURES: Final = 5
WINDOW_S: Final = 60.0
ADDRESSES: Final = 10_000
_KEYS: Final = frozenset({b"x-api-key", b"authorization"})

Headers = Iterable[tuple[bytes, bytes]]


class Throttle:
    """Remembers the last failures of a bounded number of addresses."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # address → when it failed, FAILURES times at the most
        self._addresses: OrderedDict[str, tuple[float, ...]] = OrderedDict()

    def blocked_s(self, address: str) -> float:
        """For how long the address is still blocked."""
        times = self._addresses.get(address, ())
        if len(times) < FAILURES or times[-1] - times[0] >= WINDOW_S:
            return 0.0
        return max(0.0, times[-1] + WINDOW_S - self._clock())

    def failed(self, address: str) -> None:
        times = self._addresses.pop(address, ())
        self._addresses[address] = (*times, self._clock())[-FAILURES:]
        if len(self._addresses) > ADDRESSES:
            self._addresses.popitem(last=False)


class Gate:
    def __init__(self, secret: str, *, trust_proxy: bool, throttle: Throttle | None = None) -> None:
        self._secret = secret.encode()
        self._trust_proxy = trust_proxy
        self._throttle = throttle or Throttle()

    def check(self, headers: Headers, client: tuple[str, int] | None, *, basic: bool) -> None:
        """Pass for a right key; ``basic`` also takes it as a browser's password."""
        for name, value in headers:
            if name == b"x-api-key":
                if hmac.compare_digest(value, self._secret):
                    return
            elif name == b"authorization" and hmac.compare_digest(
                _credential(value, basic=basic), self._secret
            ):
                return
        # A browser comes without a key first, to be told how to show one: that is no guess.
        if not basic or any(name in _KEYS for name, _ in headers):
            self._count(self._address(headers, client))
        challenge = b'Basic realm="Forq: any user name, the key as password"'
        raise ForqError(
            "unauthorized", headers=((b"www-authenticate", challenge if basic else b"Bearer"),)
        )

    def _count(self, address: str) -> None:
        blocked_s = self._throttle.blocked_s(address)
        if blocked_s:
            retry_after = str(int(blocked_s) + 1).encode()
            raise ForqError("too_many_requests", headers=((b"retry-after", retry_after),))
        self._throttle.failed(address)

    def _address(self, headers: Headers, client: tuple[str, int] | None) -> str:
        if self._trust_proxy:
            forwarded = [value for name, value in headers if name == b"x-forwarded-for"]
            if forwarded:
                return forwarded[-1].rsplit(b",", 1)[-1].strip().decode("latin-1")
        return client[0] if client else ""


def _credential(authorization: bytes, *, basic: bool) -> bytes:
    scheme, _, credential = authorization.partition(b" ")
    scheme = scheme.lower()
    if scheme == b"bearer":
        return credential.strip()
    if basic and scheme == b"basic":
        try:
            return base64.b64decode(credential, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""

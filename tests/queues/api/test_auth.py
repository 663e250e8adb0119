"""A right key always passes; guessing is slowed down per address, in bounded memory."""

from __future__ import annotations

import base64

import pytest

from queues.api.auth import ADDRESSES, FAILURES, WINDOW_S, Gate, Throttle
from queues.errors import ForqError

SECRET = "the-secret-of-the-gate-0123456789-äöü"
KEY = SECRET.encode()
Header = tuple[bytes, bytes]


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(clock: Clock) -> Gate:
    return Gate(SECRET, trust_proxy=False, throttle=Throttle(clock))


@pytest.fixture
def proxied(clock: Clock) -> Gate:
    return Gate(SECRET, trust_proxy=True, throttle=Throttle(clock))


def outcome(
    gate: Gate, *headers: Header, address: str | None = "192.0.2.1", basic: bool = False
) -> str:
    client = None if address is None else (address, 40_000)
    try:
        gate.check(headers, client, basic=basic)
    except ForqError as error:
        return error.code
    return "passed"


def guess(gate: Gate, address: str = "192.0.2.1") -> str:
    return outcome(gate, (b"x-api-key", b"a guess"), address=address)


@pytest.mark.parametrize(
    "header",
    [
        (b"x-api-key", KEY),
        (b"authorization", b"Bearer " + KEY),
        (b"authorization", b"bearer " + KEY),
        (b"authorization", b"BEARER  " + KEY),
    ],
)
def test_the_right_key_passes(gate: Gate, header: Header) -> None:
    assert outcome(gate, (b"host", b"x"), header) == "passed"


@pytest.mark.parametrize(
    "header",
    [
        (b"x-api-key", b""),
        (b"x-api-key", KEY[:-1]),
        (b"x-api-key", KEY + b"x"),
        (b"x-api-key", KEY.upper()),
        (b"x-api-key", SECRET.encode("latin-1")),
        (b"x-api-key", b"Bearer " + KEY),
        (b"authorization", KEY),
        (b"authorization", b""),
        (b"authorization", b"Bearer"),
        (b"authorization", b"Bearer x" + KEY),
        (b"authorization", b"Basic " + base64.b64encode(b":" + KEY)),
        (b"authorization", b"Digest " + KEY),
        (b"cookie", KEY),
    ],
)
def test_nothing_else_does(gate: Gate, header: Header) -> None:
    assert outcome(gate, header) == "unauthorized"


def test_a_missing_key_is_refused(gate: Gate) -> None:
    with pytest.raises(ForqError) as raised:
        gate.check([], ("192.0.2.1", 1), basic=False)

    assert (raised.value.status, raised.value.code) == (401, "unauthorized")
    assert raised.value.headers == ((b"www-authenticate", b"Bearer"),)


def test_a_browser_may_send_the_key_as_a_password(gate: Gate) -> None:
    right = base64.b64encode(b"anybody:" + KEY)

    assert outcome(gate, (b"authorization", b"Basic " + right), basic=True) == "passed"
    for wrong in (base64.b64encode(KEY), b"", b"%", b"=", right[:-2], b"\xff"):
        header = (b"authorization", b"Basic " + wrong)
        assert outcome(gate, header, basic=True, address=wrong.hex()) == "unauthorized"


def test_one_right_key_is_enough(gate: Gate) -> None:
    wrong, right = (b"x-api-key", b"wrong"), (b"authorization", b"Bearer " + KEY)

    assert outcome(gate, wrong, right) == "passed"
    assert outcome(gate, right, wrong) == "passed"


def test_five_failures_block_an_address_for_a_minute(gate: Gate, clock: Clock) -> None:
    assert [guess(gate) for _ in range(FAILURES)] == ["unauthorized"] * FAILURES
    assert guess(gate) == "too_many_requests"
    clock.now += WINDOW_S - 0.001
    assert guess(gate) == "too_many_requests"
    clock.now += 0.001
    assert guess(gate) == "unauthorized"


def test_after_a_block_five_further_guesses_are_heard(gate: Gate, clock: Clock) -> None:
    for _ in range(3):
        assert [guess(gate) for _ in range(FAILURES + 1)] == [
            *["unauthorized"] * FAILURES,
            "too_many_requests",
        ]
        clock.now += WINDOW_S


def test_guesses_during_a_block_do_not_prolong_it(gate: Gate, clock: Clock) -> None:
    for _ in range(FAILURES):
        guess(gate)
    for _ in range(59):
        clock.now += 1
        assert guess(gate) == "too_many_requests"
    clock.now += 1

    assert guess(gate) == "unauthorized"


def test_the_block_says_how_long_it_lasts(gate: Gate, clock: Clock) -> None:
    for _ in range(FAILURES):
        guess(gate)
    clock.now += 20.5

    with pytest.raises(ForqError) as raised:
        gate.check([], ("192.0.2.1", 1), basic=False)

    assert (raised.value.status, raised.value.code) == (429, "too_many_requests")
    assert raised.value.headers == ((b"retry-after", b"40"),)


def test_a_right_key_passes_though_its_address_is_blocked(gate: Gate) -> None:
    for _ in range(FAILURES + 3):
        guess(gate)

    assert outcome(gate, (b"x-api-key", KEY)) == "passed"
    assert guess(gate) == "too_many_requests"


def test_failures_that_lie_further_apart_do_not_add_up(gate: Gate, clock: Clock) -> None:
    for _ in range(50):
        assert guess(gate) == "unauthorized"
        clock.now += WINDOW_S / (FAILURES - 1)


def test_any_five_failures_within_a_minute_count(gate: Gate, clock: Clock) -> None:
    """Also when an earlier one lies just over a minute back."""
    assert guess(gate) == "unauthorized"
    clock.now += 57
    for _ in range(4):
        assert guess(gate) == "unauthorized"
        clock.now += 1

    assert [guess(gate), guess(gate)] == ["unauthorized", "too_many_requests"]


def test_addresses_are_counted_apart(gate: Gate) -> None:
    for _ in range(FAILURES + 1):
        guess(gate, "192.0.2.1")

    assert guess(gate, "192.0.2.2") == "unauthorized"
    assert guess(gate, "2001:db8::1") == "unauthorized"
    assert outcome(gate, address=None) == "unauthorized"


def test_ports_do_not_tell_addresses_apart(gate: Gate) -> None:
    for port in range(FAILURES):
        with pytest.raises(ForqError, match="unauthorized"):
            gate.check([], ("192.0.2.1", port), basic=False)

    with pytest.raises(ForqError, match="too_many_requests"):
        gate.check([], ("192.0.2.1", 99), basic=False)


def test_a_forwarded_address_is_believed_only_where_a_proxy_is_trusted(
    gate: Gate, proxied: Gate
) -> None:
    for number in range(FAILURES):
        outcome(gate, (b"x-forwarded-for", b"198.51.100.%d" % number))
        outcome(proxied, (b"x-forwarded-for", b"198.51.100.%d" % number))

    assert outcome(gate, (b"x-forwarded-for", b"198.51.100.99")) == "too_many_requests"
    assert outcome(proxied, (b"x-forwarded-for", b"198.51.100.99")) == "unauthorized"


def test_of_forwarded_addresses_the_rightmost_counts(proxied: Gate) -> None:
    for number in range(FAILURES):
        outcome(proxied, (b"x-forwarded-for", b"10.0.0.%d, 198.51.100.7" % number))

    for value in (b"198.51.100.7", b"a,b,198.51.100.7 ", b",198.51.100.7"):
        assert outcome(proxied, (b"x-forwarded-for", value)) == "too_many_requests"
    twice = [(b"x-forwarded-for", b"203.0.113.1"), (b"x-forwarded-for", b"198.51.100.7")]
    assert outcome(proxied, *twice) == "too_many_requests"
    assert outcome(proxied, *reversed(twice)) == "unauthorized"
    assert outcome(proxied, (b"x-forwarded-for", b"\xff\xfe")) == "unauthorized"


def test_without_a_forwarded_address_the_connections_counts(proxied: Gate) -> None:
    for _ in range(FAILURES):
        guess(proxied)

    assert guess(proxied) == "too_many_requests"


def test_a_bounded_number_of_addresses_is_remembered(clock: Clock) -> None:
    throttle = Throttle(clock)
    for number in range(2 * ADDRESSES):
        throttle.failed(f"2001:db8::{number:x}")

    assert len(throttle._addresses) == ADDRESSES


def test_the_address_that_failed_longest_ago_is_forgotten_first(clock: Clock) -> None:
    throttle = Throttle(clock)
    for _ in range(FAILURES):
        throttle.failed("persistent")
    for number in range(ADDRESSES - 1):
        throttle.failed(str(number))
    assert throttle.blocked_s("persistent") > 0

    throttle.failed("one more")

    assert throttle.blocked_s("persistent") == 0
    for _ in range(FAILURES - 1):
        throttle.failed(str(ADDRESSES - 2))
    assert throttle.blocked_s(str(ADDRESSES - 2)) > 0

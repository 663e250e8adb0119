"""Everything under /api/ asks for the key; who guesses is slowed down."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.contract.answers import assert_no_content, assert_refused
from tests.contract.wire import Wire
from tests.live import SECRET, LiveServer, live_server

PATH = "/api/v1/queues/q/messages?waitMs=0"
BROWSER_PATHS = ["/api/docs", "/api/openapi.json"]
_addresses = (f"10.0.{high}.{low}" for high, low in itertools.product(range(256), repeat=2))

Headers = list[tuple[str, str]]
Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("proxied")
    with live_server(folder, FORQ_TRUST_PROXY_HEADERS="true") as running:
        yield running


@pytest.fixture(scope="module")
def anyone(behind_proxy: LiveServer) -> Iterator[httpx.Client]:
    """A client without a key of its own."""
    with httpx.Client(base_url=behind_proxy.url, timeout=20) as client:
        yield client


@pytest.fixture
def ask(anyone: httpx.Client) -> Ask:
    """Asks as a client whose address has not been seen before."""
    address = next(_addresses)

    def get(path: str, *headers: tuple[str, str], method: str = "GET") -> httpx.Response:
        return anyone.request(method, path, headers=[("X-Forwarded-For", address), *headers])

    return get


def basic(password: str, user: str = "anyone") -> tuple[str, str]:
    return "Authorization", f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def assert_unauthorized(response: httpx.Response, challenge: str = "Bearer") -> None:
    assert_refused(response, 401, "unauthorized")
    assert response.headers["www-authenticate"].startswith(challenge)


@pytest.mark.parametrize(
    "headers",
    [
        [("X-API-Key", SECRET)],
        [("x-api-key", SECRET)],
        [("Authorization", f"Bearer {SECRET}")],
        [("Authorization", f"bearer {SECRET}")],
        [("Authorization", f"BEARER   {SECRET}")],
        [("X-API-Key", "wrong"), ("Authorization", f"Bearer {SECRET}")],
        [("X-API-Key", SECRET), ("Authorization", "Bearer wrong")],
        [("X-API-Key", SECRET), ("Authorization", "Basic !")],
    ],
)
def test_a_right_key(ask: Ask, headers: Headers) -> None:
    assert_no_content(ask(PATH, *headers))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-API-Key", "")],
        [("X-API-Key", SECRET[:-1])],
        [("X-API-Key", SECRET + "x")],
        [("X-API-Key", SECRET.upper())],
        [("X-API-Key", f"Bearer {SECRET}")],
        [("X-API-Key", f"{SECRET},{SECRET}")],
        [("Authorization", SECRET)],
        [("Authorization", "Bearer")],
        [("Authorization", f"Token {SECRET}")],
        [("Authorization", f"Bearer{SECRET}")],
        [("Authorization", f"Bearer {SECRET}, Bearer {SECRET}")],
        [basic(SECRET)],
        [("X-Api-Keys", SECRET)],
        [("X-API_Key", SECRET)],
        [("Cookie", f"X-API-Key={SECRET}")],
    ],
)
def test_a_wrong_key(ask: Ask, headers: Headers) -> None:
    assert_unauthorized(ask(PATH, *headers))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/queues/q/messages"),
        ("POST", "/api/v1/queues/q/messages/batch"),
        ("POST", "/api/v1/queues/q/messages/claim"),
        ("POST", "/api/v1/queues/q/messages/ack"),
        ("POST", "/api/v1/queues/q/messages/x/nack"),
        ("DELETE", "/api/v1/queues/q/messages"),
        ("GET", "/api/v1/queues"),
        ("GET", "/api/v1/queues/no%20name/messages"),
        ("GET", "/api/"),
        ("GET", "/api/nothing/here"),
        ("GET", "/%61pi/v1/queues/q/messages"),
        ("OPTIONS", "/api/v1/queues/q/messages"),
        ("HEAD", "/api/v1/queues/q/messages"),
    ],
)
def test_everything_under_api_asks_first(ask: Ask, method: str, path: str) -> None:
    response = ask(path, method=method)
    if method == "HEAD":
        assert response.status_code == 401
    else:
        assert_unauthorized(response)


@pytest.mark.parametrize("path", ["/", "/apis", "/api", "/metrics", "/nothing"])
def test_elsewhere_nobody_asks(ask: Ask, path: str) -> None:
    assert_refused(ask(path), 404, "not_found.path")


def test_a_key_in_bytes_no_text_has(behind_proxy: LiveServer) -> None:
    wire = Wire(behind_proxy)
    address = next(_addresses).encode()
    for header in (b"X-API-Key: \xff\xfe", b"Authorization: Bearer \xe9", b"Authorization: \xff"):
        wire.send(
            b"GET /api/v1/queues/q/messages HTTP/1.1\r\nHost: forq\r\n"
            b"X-Forwarded-For: " + address + b"\r\n" + header + b"\r\n\r\n"
        )
        answer = wire.answer()
        assert (answer.status, answer.code) == (401, "unauthorized")
    wire.close()


@pytest.mark.parametrize("path", BROWSER_PATHS)
def test_a_browser_may_give_the_key_as_its_password(ask: Ask, path: str) -> None:
    for user in ("", "anyone", "é"):
        assert ask(path, basic(SECRET, user)).status_code == 200
    for header in (("X-API-Key", SECRET), ("Authorization", f"Bearer {SECRET}")):
        assert ask(path, header).status_code == 200


@pytest.mark.parametrize("path", BROWSER_PATHS)
def test_a_browser_is_asked_for_a_password(ask: Ask, path: str) -> None:
    assert_unauthorized(ask(path), "Basic realm=")
    assert_unauthorized(ask(path, basic("wrong")), "Basic realm=")
    assert_unauthorized(ask(path, ("Authorization", "Basic %%%")), "Basic realm=")
    as_user = ("Authorization", f"Basic {b64encode(f'{SECRET}:'.encode()).decode()}")
    assert_unauthorized(ask(path, as_user), "Basic realm=")


def assert_throttled(response: httpx.Response) -> None:
    assert_refused(response, 429, "too_many_requests")
    assert 1 <= int(response.headers["retry-after"]) <= 60


def test_five_failures_and_bad_keys_have_to_wait(ask: Ask) -> None:
    for number in range(5):
        assert_unauthorized(ask(PATH, ("X-API-Key", f"guess {number}")))
    for guess in (("X-API-Key", "guess"), ("Authorization", "Bearer guess"), basic("guess")):
        assert_throttled(ask(PATH, guess))
    assert_throttled(ask(PATH))
    assert_throttled(ask("/api/docs", basic("guess")))


def test_a_valid_key_always_passes(ask: Ask) -> None:
    for _ in range(5):
        ask(PATH)
    assert_throttled(ask(PATH))
    assert_no_content(ask(PATH, ("X-API-Key", SECRET)))
    assert_no_content(ask(PATH, ("Authorization", f"Bearer {SECRET}")))
    assert_throttled(ask(PATH))


def test_a_valid_key_does_not_count_as_a_failure(ask: Ask) -> None:
    for _ in range(10):
        assert_no_content(ask(PATH, ("X-API-Key", SECRET)))
    assert_unauthorized(ask(PATH))


def test_behind_a_proxy_the_rightmost_address_counts(anyone: httpx.Client) -> None:
    guilty, innocent = next(_addresses), next(_addresses)
    for number in range(5):
        anyone.get(PATH, headers={"X-Forwarded-For": f"10.9.9.{number},{guilty}"})
    assert_throttled(anyone.get(PATH, headers={"X-Forwarded-For": guilty}))
    assert_throttled(anyone.get(PATH, headers={"X-Forwarded-For": f"{innocent} ,  {guilty}"}))
    several = [("X-Forwarded-For", innocent), ("X-Forwarded-For", guilty)]
    assert_throttled(anyone.get(PATH, headers=several))
    for forwarded in (innocent, f"{guilty}, {innocent}"):
        assert_unauthorized(anyone.get(PATH, headers={"X-Forwarded-For": forwarded}))


def test_without_a_proxy_an_address_cannot_be_made_up(tmp_path: Path) -> None:
    # A server of its own: on the shared one, others' guesses from this address count too.
    with live_server(tmp_path) as server, httpx.Client(base_url=server.url) as client:
        answers = [
            client.get(PATH, headers={"X-Forwarded-For": next(_addresses)}) for _ in range(6)
        ]
    for answer in answers[:5]:
        assert_unauthorized(answer)
    assert_throttled(answers[5])

"""The rules of the message operations: names, limits, times, and which rules a queue has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from queues.engine.engine import Engine
from queues.engine.waiting import Waiter
from queues.errors import ForqError
from queues.limits import MAX_CONTENT_BYTES
from queues.rules import QueueRules
from queues.services.messages import MessageService, check_message, check_queue
from queues.store.operations import Claimed, NewMessage, Prolonged, Rejected, Settled
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.desk import Desk
from tests.queues.moved_time import MovedTimeLoop

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000
DAY_MS = 86_400_000
QUEUE_RULES = QueueRules(max_attempts=2, backoff_ms=(1_000,), visibility_ms=10_000)
DLQ_RULES = QueueRules(max_attempts=2, backoff_ms=(9_000,), visibility_ms=20_000)


@pytest.fixture
def anyio_backend() -> object:
    return "asyncio", {"loop_factory": MovedTimeLoop}


@pytest.fixture
async def loop() -> MovedTimeLoop:
    running = asyncio.get_running_loop()
    assert isinstance(running, MovedTimeLoop)
    return running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_sqlite(tmp_path / "forq.db")


@pytest.fixture
async def service(path: Path, loop: MovedTimeLoop) -> AsyncIterator[MessageService]:
    engine = Engine(SQLiteStore(path, full=False), rules=QUEUE_RULES, clock=loop.now_ms)
    engine.start()
    yield MessageService(engine, queue_rules=QUEUE_RULES, dlq_rules=DLQ_RULES, clock=loop.now_ms)
    await engine.close()


async def claim(
    service: MessageService,
    queue: str = "q",
    *,
    wait_ms: int = 0,
    visibility_ms: int | None = None,
) -> list[Claimed]:
    waiter = service.claim(
        queue, limit=10, wait_ms=wait_ms, visibility_ms=visibility_ms, on_wait=lambda _: None
    )
    return await waiter.future


@pytest.mark.parametrize(
    "queue",
    [
        "a",
        "A.b_c-9",
        ".",
        "..",
        "-",
        "x" * 64,
        "x" * 64 + "-dlq",
        "-dlq",
        "a-dlq-dlq",
        "x" * 60 + "-dlq",
    ],
)
def test_names_that_are_fine(queue: str) -> None:
    check_queue(queue)


@pytest.mark.parametrize(
    "queue",
    [
        "",
        "x" * 65,
        "x" * 65 + "-dlq",
        "x" * 64 + "-DLQ",
        "a b",
        "a/b",
        "a\n",
        "a\0",
        "é",
        "\N{FULLWIDTH LATIN SMALL LETTER A}",
        "a%20",
        "a:b",
    ],
)
def test_names_that_are_not(queue: str) -> None:
    with pytest.raises(ForqError, match=r"bad_request\.queue\.invalid_name"):
        check_queue(queue)


async def test_no_operation_takes_a_name_that_is_not_fine(service: MessageService) -> None:
    with pytest.raises(ForqError, match="invalid_name"):
        await service.produce("a b", [NewMessage("x")], 1)
    with pytest.raises(ForqError, match="invalid_name"):
        await claim(service, "a b")
    with pytest.raises(ForqError, match="invalid_name"):
        await service.ack("a b", [Settled(1)])
    with pytest.raises(ForqError, match="invalid_name"):
        await service.nack("a b", [Rejected(1)])
    with pytest.raises(ForqError, match="invalid_name"):
        await service.extend("a b", [Prolonged(1, 1, 1_000)])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "x" * MAX_CONTENT_BYTES,
        "é" * (MAX_CONTENT_BYTES // 2),
        "€" * (MAX_CONTENT_BYTES // 3) + "x",
        "\U0001f680" * (MAX_CONTENT_BYTES // 4),
        "\0" * MAX_CONTENT_BYTES,
    ],
    ids=lambda content: f"{len(content)} {content[:1]!a}",
)
def test_content_up_to_the_limit_in_bytes(content: str) -> None:
    check_message(NewMessage(content), T)


@pytest.mark.parametrize(
    "content",
    [
        "x" * (MAX_CONTENT_BYTES + 1),
        "é" * (MAX_CONTENT_BYTES // 2) + "x",
        "€" * (MAX_CONTENT_BYTES // 3) + "éé",
        "\U0001f680" * (MAX_CONTENT_BYTES // 4) + "x",
    ],
    ids=lambda content: f"{len(content)} {content[:1]!a}",
)
def test_content_over_the_limit_in_bytes(content: str) -> None:
    with pytest.raises(ForqError) as raised:
        check_message(NewMessage(content), T)

    assert raised.value.code == "bad_request.body.content.exceeds_limit"
    assert raised.value.status == 400


@pytest.mark.parametrize("process_after", [0, T - 10_000, T, T + 1, T + 366 * DAY_MS])
def test_times_that_are_fine(process_after: int) -> None:
    check_message(NewMessage("x", process_after), T)


@pytest.mark.parametrize(
    ("process_after", "code"),
    [
        (T - 10_001, "bad_request.body.processAfter.in_past"),
        (1, "bad_request.body.processAfter.in_past"),
        (-1, "bad_request.body.processAfter.in_past"),
        (-(10**30), "bad_request.body.processAfter.in_past"),
        (T + 366 * DAY_MS + 1, "bad_request.body.processAfter.too_far"),
        (10**30, "bad_request.body.processAfter.too_far"),
    ],
)
def test_times_that_are_not(process_after: int, code: str) -> None:
    with pytest.raises(ForqError) as raised:
        check_message(NewMessage("x", process_after), T)

    assert raised.value.code == code


async def test_one_bad_message_keeps_the_whole_batch_out(service: MessageService) -> None:
    with pytest.raises(ForqError, match="exceeds_limit"):
        await service.produce(
            "q", [NewMessage("fine"), NewMessage("x" * (MAX_CONTENT_BYTES + 1))], 1
        )

    assert await claim(service) == []


@pytest.mark.parametrize("queue", ["q-dlq", "-dlq", "q-dlq-dlq"])
async def test_nothing_is_produced_to_a_dead_letter_queue(
    service: MessageService, queue: str
) -> None:
    with pytest.raises(ForqError, match=r"bad_request\.queue\.produce_to_dlq"):
        await service.produce(queue, [NewMessage("x")], 1)


async def test_a_message_goes_its_way(service: MessageService) -> None:
    produced = await service.produce("q", [NewMessage("a"), NewMessage("b")], 2)
    a, b = await claim(service)

    assert [a.id, b.id] == produced.ids
    assert await service.extend("q", [Prolonged(a.id, a.receipt, 60_000)]) == [True]
    assert await service.ack("q", [Settled(a.id, a.receipt), Settled(a.id)]) == [True, False]
    assert await service.nack("q", [Rejected(b.id, b.receipt)]) == [True]
    assert [m.content for m in await claim(service, wait_ms=2_000)] == ["b"]


@pytest.mark.parametrize(
    ("visibility_ms", "lease_ms"), [(None, 10_000), (3_000, 3_000), (60_000, 60_000)]
)
async def test_the_lease_is_the_queues_unless_the_claim_names_one(
    service: MessageService, loop: MovedTimeLoop, visibility_ms: int | None, lease_ms: int
) -> None:
    await service.produce("q", [NewMessage("a")], 1)
    await claim(service, visibility_ms=visibility_ms)
    start = loop.now_ms()

    assert len(await claim(service, wait_ms=lease_ms + 1_000)) == 1

    assert loop.now_ms() - start == pytest.approx(lease_ms, abs=2)


async def test_a_dead_letter_queue_has_rules_of_its_own(
    service: MessageService, path: Path, loop: MovedTimeLoop
) -> None:
    store = SQLiteStore(path, full=False)
    store.open()
    await Desk(store).produce("q-dlq", "buried", now=loop.now_ms())
    await store.close()
    start = loop.now_ms()

    (first,) = await claim(service, "q-dlq")
    (second,) = await claim(service, "q-dlq", wait_ms=30_000)
    assert loop.now_ms() - start == pytest.approx(DLQ_RULES.visibility_ms, abs=2)

    assert second.id == first.id
    assert service.rules("q-dlq") == DLQ_RULES
    assert service.rules("q") == QUEUE_RULES


async def test_a_nack_in_a_dead_letter_queue_waits_by_its_rules(
    service: MessageService, path: Path, loop: MovedTimeLoop
) -> None:
    store = SQLiteStore(path, full=False)
    store.open()
    await Desk(store).produce("q-dlq", "buried", now=loop.now_ms())
    await store.close()
    (first,) = await claim(service, "q-dlq")
    start = loop.now_ms()

    assert await service.nack("q-dlq", [Rejected(first.id, first.receipt)]) == [True]
    assert len(await claim(service, "q-dlq", wait_ms=30_000)) == 1

    assert loop.now_ms() - start == pytest.approx(DLQ_RULES.backoff_ms[0], abs=2)


async def test_who_leaves_gets_nothing_and_what_is_released_comes_back(
    service: MessageService,
) -> None:
    waiting: list[Waiter] = []
    waiter = service.claim("q", limit=1, wait_ms=30_000, visibility_ms=None, on_wait=waiting.append)
    await asyncio.sleep(1)
    assert waiting == [waiter]

    service.leave(waiter)
    await service.produce("q", [NewMessage("a")], 1)
    messages = await claim(service)
    service.release("q", messages)

    assert waiter.future.result() == []
    assert [(m.content, m.attempts) for m in await claim(service)] == [("a", 1)]

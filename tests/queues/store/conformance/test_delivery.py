"""Messages come out as they went in, once, and in the order the contract names."""

from __future__ import annotations

import pytest

from queues.limits import MAX_CONTENT_BYTES
from queues.store.operations import Claim, NewMessage
from tests.queues.desk import LEASE_MS, Desk, contents, produce

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


async def test_a_message_is_delivered_once_with_all_that_belongs_to_it(desk: Desk) -> None:
    (given,) = await desk.produce("orders", NewMessage("one", priority=7), now=T)

    (message,) = await desk.claim("orders", 10, now=T + 1)

    assert (message.id, message.content, message.attempts, message.priority) == (given, "one", 1, 7)
    assert await desk.claim("orders", 10, now=T + 2) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "\0",
        "before\0after",
        "\r\n\t\x7f\x1b",
        "é e\N{COMBINING ACUTE ACCENT}",
        "\ufeff\ufffe\uffff\N{REPLACEMENT CHARACTER}",
        "\U0001f469\u200d\U0001f680 \U0010ffff",
        "0x4000000000000000",
        "1e400",
        "x" * MAX_CONTENT_BYTES,
        "\U0001f680" * (MAX_CONTENT_BYTES // 4),
    ],
    ids=lambda content: ascii(content)[:24],
)
async def test_contents_come_back_as_they_were_sent(desk: Desk, content: str) -> None:
    await desk.produce("q", content, now=T)

    (message,) = await desk.claim("q", now=T)

    assert message.content == content
    assert await desk.ack("q", message, now=T) == [True]


async def test_ids_are_given_in_the_order_of_the_messages(desk: Desk) -> None:
    given = await desk.produce("q", "a", "b", "c", now=T)

    claimed = await desk.claim("q", 3, now=T)

    assert [(m.id, m.content) for m in claimed] == list(zip(given, "abc", strict=True))


async def test_a_claim_takes_no_more_than_it_asks_for(desk: Desk) -> None:
    await desk.produce("q", "a", "b", "c", now=T)

    assert contents(await desk.claim("q", 2, now=T)) == ["a", "b"]
    assert contents(await desk.claim("q", 2, now=T)) == ["c"]


async def test_order_is_priority_high_to_low_then_arrival(desk: Desk) -> None:
    await desk.produce("q", NewMessage("low", priority=-100), NewMessage("a", priority=1), now=T)
    await desk.produce("q", "zero", NewMessage("high", priority=100), now=T)
    await desk.produce("q", NewMessage("b", priority=1), NewMessage("-1", priority=-1), now=T + 1)

    claimed = await desk.claim("q", 10, now=T + 2)

    assert contents(claimed) == ["high", "a", "b", "zero", "-1", "low"]


async def test_order_holds_across_claims(desk: Desk) -> None:
    wanted = [f"{priority}/{n}" for priority in (3, 2, 1) for n in range(4)]
    arriving = sorted(wanted, key=lambda text: text[2:])
    for text in arriving:
        await desk.produce("q", NewMessage(text, priority=int(text[0])), now=T)

    delivered = [(await desk.claim("q", now=T))[0].content for _ in wanted]

    assert delivered == wanted


async def test_arrival_decides_within_one_millisecond_and_over_a_clock_that_steps_back(
    desk: Desk,
) -> None:
    for number, now in enumerate([T, T, T, T - 5_000, T - 5_000, T + 1]):
        await desk.produce("q", str(number), now=now)

    assert contents(await desk.claim("q", 10, now=T + 2)) == ["0", "1", "2", "3", "4", "5"]


async def test_queues_do_not_mix(desk: Desk) -> None:
    await desk.produce("a", "of a", now=T)
    await desk.produce("b", "of b", now=T)
    await desk.produce("a-dlq", "of a-dlq", now=T)
    await desk.produce("A", "of A", now=T)

    for queue in ("a", "b", "a-dlq", "A"):
        assert contents(await desk.claim(queue, 10, now=T)) == [f"of {queue}"]


async def test_an_unknown_queue_is_empty(desk: Desk) -> None:
    assert await desk.claim("nobody-sent-here", 10, now=T) == []


async def test_a_claim_sees_what_its_own_group_produced(desk: Desk) -> None:
    claim = Claim("q", 5, LEASE_MS)

    await desk.commit(produce("q", "a"), produce("q", "b"), claim, now=T)

    assert contents(claim.messages) == ["a", "b"]


async def test_claims_of_one_group_share_in_their_order(desk: Desk) -> None:
    await desk.produce("q", "a", "b", "c", now=T)
    claims = [Claim("q", 2, 1_000), Claim("q", 2, 60_000), Claim("q", 2, 1_000)]

    await desk.commit(*claims, now=T)

    assert [contents(claim.messages) for claim in claims] == [["a", "b"], ["c"], []]


async def test_deliveries_of_one_message_have_receipts_of_their_own(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    seen = set()
    for _ in range(50):
        (message,) = await desk.claim("q", now=T)
        seen.add(message.receipt)
        await desk.release("q", message, now=T)

    assert len(seen) == 50


async def test_a_thousand_messages_go_through_in_one_operation_each(desk: Desk) -> None:
    texts = [str(number) for number in range(1_000)]
    given = await desk.produce("q", *texts, now=T)

    claimed = await desk.claim("q", 1_000, now=T)

    assert [(m.id, m.content) for m in claimed] == list(zip(given, texts, strict=True))
    assert await desk.ack("q", *claimed, now=T) == [True] * 1_000
    assert await desk.claim_due("q", 1_000, now=T + LEASE_MS) == []

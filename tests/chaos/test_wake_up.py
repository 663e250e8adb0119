"""How long a message takes to a consumer that waits for it, and to whom it goes.

Three tries, the best counts: other work on the machine can only make it slower.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from statistics import quantiles

import pytest

from tests.chaos.queue_client import QueueClient, messages
from tests.chaos.wire import Answer, run
from tests.live import LiveServer, live_server

WAITING = 100
ROUNDS = 300
TRIES = 3


@pytest.fixture(scope="module")
def two_servers(
    server: LiveServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[LiveServer]]:
    """Two API processes on one database."""
    folder = tmp_path_factory.mktemp("second")
    with live_server(folder, FORQ_DB_PATH=str(server.database)) as second:
        yield [server, second]


@pytest.mark.parametrize(
    ("producer", "median_ms", "nearly_all_ms"),
    [
        (0, 5, 25),
        # What another process does is looked for every 5 ms.
        (1, 10, 40),
    ],
    ids=["produced here", "produced by another process"],
)
def test_a_message_reaches_one_of_100_waiting_consumers_within_milliseconds(
    two_servers: list[LiveServer], producer: int, median_ms: float, nearly_all_ms: float
) -> None:
    seen = []
    for number in range(TRIES):
        queue = f"wake-{producer}-{number}"
        ports = (two_servers[0].port, two_servers[producer].port)
        hundredths = quantiles(run(measure(*ports, queue), within_s=20), n=100)
        seen.append((round(hundredths[49], 1), round(hundredths[98], 1)))
        if hundredths[49] < median_ms and hundredths[98] < nearly_all_ms:
            return
    pytest.fail(f"median and 99th percentile in ms: {seen}")


async def measure(consumers_port: int, producers_port: int, queue: str) -> list[float]:
    """Milliseconds from the answer to the producer until the message is here, round by round."""
    arrived: asyncio.Queue[tuple[QueueClient, Answer]] = asyncio.Queue()

    def wait(client: QueueClient) -> None:
        def arrive(claim: asyncio.Future[Answer]) -> None:
            if not claim.cancelled():
                arrived.put_nowait((client, claim.result()))

        client.send_claim(wait_ms=30_000).add_done_callback(arrive)

    line = [await QueueClient.open(consumers_port, queue) for _ in range(WAITING)]
    for client in line:
        wait(client)
    producer = await QueueClient.open(producers_port, queue)
    took_ms = []
    for number in range(ROUNDS):
        produced = await producer.produce(f"{number}")
        client, answer = await arrived.get()
        took_ms.append(1000 * max(0.0, answer.at - produced.at))
        (message,) = messages(answer)
        assert message.content == f"{number}"
        await client.ack(message)
        wait(client)
    assert arrived.empty()
    return took_ms


def test_waiting_consumers_are_served_in_the_order_they_came(
    two_servers: list[LiveServer],
) -> None:
    for producer in two_servers:
        run(stand_in_line(two_servers[0].port, producer.port), within_s=10)


async def stand_in_line(consumers_port: int, producers_port: int) -> None:
    queue = f"line-{producers_port}"
    line = [await QueueClient.open(consumers_port, queue) for _ in range(20)]
    claims = []
    for client in line:
        claims.append(client.send_claim(wait_ms=5_000))
        # Nothing tells that a request has arrived; so long it never takes.
        await asyncio.sleep(0.01)
    producer = await QueueClient.open(producers_port, queue)
    contents = [f"{number}" for number in range(len(line))]
    await producer.produce_batch(contents[:7])
    for content in contents[7:]:
        await producer.produce(content)
    received = [messages(await claim) for claim in claims]
    assert [each.content for (each,) in received] == contents

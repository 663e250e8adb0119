"""Long random lives of one queue, step by step against the plain model of it.

Two stores on one database take turns, as two processes would. Every step's outcome is known
beforehand to the last detail: who is delivered, in which order, at which attempt.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from queues import ids
from queues.limits import DEDUP_WINDOW_MS
from queues.rules import QueueRules
from queues.store.interface import StoreError
from queues.store.operations import (
    Ack,
    Claim,
    Due,
    Extend,
    Nack,
    NewMessage,
    Operation,
    Produce,
    Prolonged,
    Rejected,
    Release,
    Settled,
)
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.model import QueueModel

QUEUE = "orders.v1"
RULES = QueueRules(max_attempts=3, backoff_ms=(1_000, 5_000))
START = 1_700_000_000_000

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["", "\0", "a\0b", "\N{BOM}", "e\N{COMBINING ACUTE ACCENT}", "\U0001f680" * 999, "\uffff", "'"]
)
keys = st.none() | st.sampled_from(["k", "\0\U0001f511"])
delays = st.sampled_from([0, 0, 0, 1, 1_000, 7_000])
leases = st.sampled_from([300_000, 3_600_000, 5_000, 1_000])
# Which of the receipts ever seen a client comes with; a twin differs only in the id's tail.
receipts = st.sampled_from(["current", "current", "current", "none", "stale", "foreign", "twin"])


class QueueLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        path = make_sqlite(Path(self.folder.name) / "forq.db")
        self.stores = [SQLiteStore(path, full=False) for _ in range(2)]
        for store in self.stores:
            store.open()
        self.model = QueueModel(RULES)
        self.now = START
        self.last_id = 0
        self.seen: list[int] = []
        self.past_receipts: dict[int, list[int]] = {}
        self.group: list[tuple[Operation, Callable[[], None]]] = []
        self.is_open = False

    def teardown(self) -> None:
        try:
            self.nothing_is_lost()
        finally:
            for store in self.stores:
                self.runner.run(store.close())
            self.folder.cleanup()
            self.runner.close()

    def do(self, operation: Operation, check: Callable[[], None]) -> None:
        """Carry out an operation, or add it to the open group.

        ``check`` holds its outcome against the model.
        """
        self.group.append((operation, check))
        if not self.is_open:
            self.commit()

    def commit(self) -> None:
        group, self.group, self.is_open = self.group, [], False
        self.runner.run(self.store.commit([operation for operation, _ in group], self.now))
        for _, check in group:
            check()

    @rule()
    @precondition(lambda self: not self.is_open)
    def open_a_group(self) -> None:
        self.is_open = True

    @rule()
    @precondition(lambda self: len(self.group) > 1)
    def close_the_group(self) -> None:
        self.commit()

    @rule()
    @precondition(lambda self: not self.is_open)
    def the_other_process_takes_over(self) -> None:
        self.stores.reverse()

    @property
    def store(self) -> SQLiteStore:
        return self.stores[0]

    @rule(
        fresh=st.lists(
            st.builds(NewMessage, any_text, delays, st.integers(-2, 2), keys),
            min_size=1,
            max_size=4,
        )
    )
    def produce(self, fresh: list[NewMessage]) -> None:
        timed = [
            each._replace(process_after=self.now + each.process_after)
            if each.process_after
            else each
            for each in fresh
        ]
        operation = Produce(QUEUE, timed, RULES)

        def check() -> None:
            assert operation.error is None
            duplicates = 0
            for given, new in zip(operation.ids, timed, strict=True):
                first = self.model.holder(new.dedup_key, self.now)
                if first is not None:
                    duplicates += 1
                    assert given == first
                    continue
                assert given > self.last_id
                assert ids.received_at(given) == self.now
                self.last_id = given
                self.seen.append(given)
                self.model.add(given, new, self.now)
            assert operation.duplicates == duplicates

        self.do(operation, check)

    @rule()
    def produce_the_impossible(self) -> None:
        fresh = [NewMessage("lost", dedup_key="k"), NewMessage("\ud800")]
        operation = Produce(QUEUE, fresh, RULES)

        def check() -> None:
            assert isinstance(operation.error, StoreError)

        self.do(operation, check)

    @rule(limit=st.integers(1, 6), lease_ms=leases)
    def claim(self, limit: int, lease_ms: int) -> None:
        operation = Claim(QUEUE, limit, lease_ms)

        def check() -> None:
            expected = self.model.next_in_line(limit)
            assert [
                (each.id, each.content, each.priority, each.attempts) for each in operation.messages
            ] == [
                (each.id, each.new.content, each.new.priority, each.attempts + 1)
                for each in expected
            ]
            for message, delivery in zip(expected, operation.messages, strict=True):
                past = self.past_receipts.setdefault(message.id, [])
                assert delivery.receipt not in past
                past.append(delivery.receipt)
                self.model.deliver(message, delivery.receipt, self.now + lease_ms)

        self.do(operation, check)

    def pick(self, number: int, kind: str) -> tuple[int, int | None]:
        """Some message, gone or not, and a receipt for it; mostly one that is being processed."""
        held = [each.id for each in self.model.messages.values() if self.is_held(each.id)]
        among = held if held and number < 900 else self.seen
        if not among:
            return ids.NOBODY, ids.NOBODY
        message_id = among[number % len(among)]
        past = self.past_receipts.get(message_id, [])
        if kind == "none":
            return message_id, None
        if kind == "current" and past:
            return message_id, past[-1]
        if kind == "twin" and past:
            return ids.join(ids.key_of(message_id), ids.tail_of(message_id) ^ 1), past[-1]
        if kind == "stale" and len(past) > 1:
            return message_id, past[number % (len(past) - 1)]
        others = [each for of_one in self.past_receipts.values() for each in of_one]
        wrong = others[number % len(others)] if others else 1
        return message_id, wrong if wrong not in past else wrong ^ 2

    def is_held(self, message_id: int) -> bool:
        return self.model.held(message_id, None, self.now) is not None

    @rule(number=st.integers(0, 999), kind=receipts)
    def ack(self, number: int, kind: str) -> None:
        settled = Settled(*self.pick(number, kind))
        operation = Ack(QUEUE, [settled])

        def check() -> None:
            assert operation.done == [self.model.ack(settled, self.now)]

        self.do(operation, check)

    @rule(number=st.integers(0, 999), kind=receipts, delay_ms=st.none() | delays)
    def nack(self, number: int, kind: str, delay_ms: int | None) -> None:
        rejected = Rejected(*self.pick(number, kind), delay_ms, "because")
        operation = Nack(QUEUE, [rejected], RULES)

        def check() -> None:
            assert operation.done == [self.model.nack(rejected, self.now)]

        self.do(operation, check)

    @rule(number=st.integers(0, 999), kind=receipts, visibility_ms=leases)
    def extend(self, number: int, kind: str, visibility_ms: int) -> None:
        message_id, receipt = self.pick(number, kind)
        prolonged = Prolonged(message_id, receipt or 1, visibility_ms)
        operation = Extend(QUEUE, [prolonged])

        def check() -> None:
            assert operation.done == [self.model.extend(prolonged, self.now)]

        self.do(operation, check)

    @rule(number=st.integers(0, 999), kind=receipts)
    def release(self, number: int, kind: str) -> None:
        message_id, receipt = self.pick(number, kind)
        settled = Settled(message_id, receipt or 1)
        self.do(Release(QUEUE, [settled]), lambda: self.model.release(settled, self.now))

    @rule()
    def due(self) -> None:
        self.do(Due(RULES), lambda: self.model.let_time_pass(self.now))

    @rule()
    @precondition(lambda self: not self.is_open)
    def due_in_small_steps(self) -> None:
        """As the engine does it: go on while the store says that something is over."""
        for _ in range(2 * len(self.model.messages) + 2):
            self.runner.run(self.store.commit([Due(RULES, limit=1)], self.now))
            if self.store.next_due_ms is None or self.store.next_due_ms > self.now:
                break
        else:
            pytest.fail("time does not come to an end")
        self.model.let_time_pass(self.now)

    @rule(ms=st.sampled_from([1, 1, 1, 999, 1_000, 4_999]))
    @precondition(lambda self: not self.is_open)
    def time_passes(self, ms: int) -> None:
        self.now += ms

    @rule(number=st.integers(0, 99), before=st.sampled_from([0, 0, 1]))
    @precondition(lambda self: not self.is_open and self.model.times())
    def time_passes_to_the_end_of_a_lease_or_delay(self, number: int, before: int) -> None:
        times = self.model.times()
        self.now = max(self.now, times[number % len(times)] - before)

    @rule(number=st.integers(0, 99), before=st.sampled_from([0, 1]))
    @precondition(lambda self: not self.is_open and self.left_keys())
    def a_key_comes_again_when_its_window_ends(self, number: int, before: int) -> None:
        left = self.left_keys()
        key, left_at = left[number % len(left)]
        self.now = max(self.now, left_at + DEDUP_WINDOW_MS - before)
        self.produce([NewMessage("again", dedup_key=key)])

    def left_keys(self) -> list[tuple[str, int]]:
        return [(key, at) for key, (_, at) in self.model.keys.items() if at is not None]

    @initialize(fresh=st.integers(0, 8))
    def some_messages(self, fresh: int) -> None:
        self.produce([NewMessage(str(number), priority=number % 2) for number in range(fresh)])

    @invariant()
    def the_next_time_is_never_known_too_late(self) -> None:
        """A store that has not yet noticed the other's work will do so with its next group."""
        if not self.is_open and self.model.times() and not self.store.changed():
            assert self.store.next_due_ms is not None
            assert self.store.next_due_ms <= self.model.times()[0]

    def nothing_is_lost(self) -> None:
        """What the model still has and has not failed is delivered when all leases are over."""
        if self.group:
            self.commit()
        self.is_open = False
        self.now = max([self.now, *self.model.times()])
        self.due()
        for limit in (7, 1_000):
            self.claim(limit, 1_000)


# A pass takes some ten seconds; a failure first looks for the shortest life that shows it.
@pytest.mark.timeout(360)
def test_a_queue_lives_as_the_model_says() -> None:
    run_state_machine_as_test(
        QueueLife,
        settings=settings(
            max_examples=300,
            stateful_step_count=60,
            deadline=None,
            print_blob=True,
            phases=[Phase.reuse, Phase.generate, Phase.shrink],
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )

"""Requests made from the OpenAPI document, right ones and wrong ones, each answer checked by it.

The checks are all that schemathesis has: no 5xx, no status, content type or header that is not
described, bodies as their schemas say, wrong requests refused, right ones not, no way past the key,
no method that is not described.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, HookContext, Response, SerializationContext
from schemathesis.core import NotSet

from queues.api.openapi.document import encoded
from queues.api.openapi.operations import OPERATIONS
from queues.api.openapi.parts import JSON, NDJSON
from queues.limits import MAX_WAIT_MS, PROCESS_AFTER_MAX_AHEAD_MS
from tests.live import SECRET, LiveServer, live_server

SHORT_MS = 20
REFUSALS = [400, 401, 404, 405, 413, 429]
schema = schemathesis.openapi.from_dict(
    json.loads(encoded()),
    config=schemathesis.Config.from_dict(
        {
            "seed": 77,
            "generation": {"max-examples": 250, "database": "none"},
            "checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}},
        }
    ),
)


@schemathesis.serializer(NDJSON)
def to_lines(context: SerializationContext, value: Any) -> bytes:
    # What is no list of messages must not become one by being written as a line.
    lines = value if isinstance(value, list) else [[value]]
    return "\n".join(json.dumps(line) for line in lines).encode()


@schema.hook
def filter_case(context: HookContext, case: Case[Any]) -> bool:
    return is_truly_wrong_if_meant_so(case)


def is_truly_wrong_if_meant_so(case: Case[Any]) -> bool:
    """Schemathesis takes a body left out for a wrong one, even where it may be left out."""
    body = case.operation.definition.raw.get("requestBody", {"required": True})
    meant = case.meta is not None and case.meta.generation.mode.is_negative
    return not (meant and isinstance(case.body, NotSet) and not body["required"])


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server that believes us that each request comes from somebody else.

    Else the many wrong keys would be answered with 429, which proves little.
    """
    with live_server(
        tmp_path_factory.mktemp("schemathesis"), FORQ_TRUST_PROXY_HEADERS="true"
    ) as running:
        yield running


@pytest.fixture(scope="module")
def producer(trusting: LiveServer) -> Iterator[httpx.Client]:
    with trusting.client() as client:
        yield client


_addresses = (f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in count())


def headers() -> dict[str, str]:
    return {"X-API-Key": SECRET, "X-Forwarded-For": next(_addresses)}


def make_test(operation_id: str) -> Any:
    @schema.include(operation_id=operation_id).parametrize()
    def test(case: Case[Any], trusting: LiveServer, producer: httpx.Client) -> None:
        mend(case)
        see_that_nobody_waits(case, producer)
        case.call_and_validate(base_url=trusting.url, headers=headers(), timeout=5)

    return test


# One function each: the tests that schemathesis makes of one function all have the same id, of
# which pytest-xdist runs but one.
for each in OPERATIONS:
    globals()[f"test_{each.id}_does_what_the_document_says"] = make_test(each.id)


def test_what_was_taken_can_be_settled_as_the_document_says(
    trusting: LiveServer, producer: httpx.Client
) -> None:
    """Follows the document's links, from messages taken to what can be done with them."""
    settled: set[str] = set()
    machine = schema.as_state_machine()

    class Consumer(machine):  # type: ignore[valid-type,misc]  # made at run time
        def before_call(self, case: Case[Any]) -> None:
            mend(case)
            see_that_nobody_waits(case, producer)

        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:
            return {"base_url": trusting.url, "headers": headers(), "timeout": 5}

        def validate_response(self, response: Response, case: Case[Any], **kwargs: Any) -> None:
            if is_truly_wrong_if_meant_so(case):
                super().validate_response(response, case, **kwargs)
            if response.status_code == 204:
                settled.add(name(case))

    Consumer.run(
        settings=settings(
            max_examples=60,
            stateful_step_count=10,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
    )
    assert settled >= {"ack", "nack", "extend"}


def name(case: Case[Any]) -> str:
    operation_id: str = case.operation.definition.raw["operationId"]
    return operation_id


def mend(case: Case[Any]) -> None:
    """Put right what no schema can say: how a whole number is written, and what time it is."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    case.body = whole(case.body)
    now_ms = time.time_ns() // 1_000_000
    for message in messages_in(case.body):
        if message.get("processAfter"):
            message["processAfter"] = now_ms + message["processAfter"] % PROCESS_AFTER_MAX_AHEAD_MS


def whole(value: Any) -> Any:
    """The same with 3 for 3.0, which JSON schema takes for the same number."""
    if isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return [whole(each) for each in value]
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    return value


def messages_in(body: Any) -> list[dict[str, Any]]:
    match body:
        case {"messages": [*messages]} | [*messages]:
            return [message for message in messages if isinstance(message, dict)]
        case {"content": _}:
            return [body]
    return []


def see_that_nobody_waits(case: Case[Any], producer: httpx.Client) -> None:
    """Let a request that would wait find a message; where none can be sent, let it wait less."""
    if name(case) == "claim":
        # A copy, since this may be an example of the document's.
        case.body = {} if isinstance(case.body, NotSet) else deepcopy(case.body)
        case.media_type = JSON
    wish = {"consume": case.query, "claim": case.body}.get(name(case))
    if not isinstance(wish, dict):
        return
    wait_ms = wish.get("waitMs")
    wait_ms = str(MAX_WAIT_MS if wait_ms is None else wait_ms)
    if wait_ms.isdigit() and int(wait_ms) <= SHORT_MS:
        return
    messages = case.formatted_path.removesuffix("/claim")
    sent = producer.post(messages, json={"content": "for whoever waits"})
    if sent.status_code != 204 and wait_ms.isdigit():
        wish["waitMs"] = SHORT_MS

"""Every operation that is served, one entry each. A new one needs no more than its entry here."""

from __future__ import annotations

from typing import Annotated, Final

from queues import limits
from queues.api import schemas
from queues.api.openapi import examples
from queues.api.openapi.parts import (
    IF_NONE_MATCH,
    MESSAGE_ID,
    NDJSON,
    PRODUCE_QUEUE,
    QUEUE,
    RECEIPT,
    REQUIRED_RECEIPT,
    WAIT,
    Answer,
    Body,
    Content,
    Operation,
)

_MESSAGES: Final = "/api/v1/queues/{queue}/messages"
_WAITING: Final = ("forq.unhealthy", "shutting_down")
_WRITING: Final = ("overloaded", *_WAITING)
_MESSAGE_CODES: Final = (
    "bad_request.body.content.exceeds_limit",
    "bad_request.body.processAfter.in_past",
    "bad_request.body.processAfter.too_far",
)
_SETTLED: Final = Answer(
    status=200,
    description="What it was done to and what it came too late for, in the order sent.",
    content=Content(kind=schemas.Settlement, examples=examples.SETTLED),
)
_BATCH_CODES: Final = (
    "bad_request.messageId.invalid",
    "bad_request.receipt.invalid",
    *_WRITING,
)
_UNCHANGED: Final = Answer(
    status=304, description="The copy that If-None-Match names is current.", headers=("ETag",)
)

OPERATIONS: Final = (
    Operation(
        id="produce",
        tag="Produce",
        method="POST",
        path=_MESSAGES,
        summary="Produce a message",
        description="Stores one message; the answer's header names its id.",
        parameters=(PRODUCE_QUEUE,),
        body=Body(contents=(Content(kind=schemas.ProduceBody, examples=examples.PRODUCE),)),
        answers=(
            Answer(
                status=204,
                description="Stored, or known already by its dedupKey: "
                "then the id is that of the first one.",
                headers=("X-Forq-Message-Id", "X-Forq-Duplicate"),
            ),
        ),
        codes=(*_MESSAGE_CODES, *_WRITING),
    ),
    Operation(
        id="produceBatch",
        tag="Produce",
        method="POST",
        path=f"{_MESSAGES}/batch",
        summary="Produce many messages",
        description=f"Stores 1 to {limits.MAX_BATCH:,} messages, all or none, sent as one JSON "
        "object or as NDJSON with one message a line.",
        parameters=(PRODUCE_QUEUE,),
        body=Body(
            contents=(
                Content(kind=schemas.ProduceBatchBody, examples=examples.BATCH),
                Content(
                    media=NDJSON,
                    kind=Annotated[list[schemas.ProduceBody], schemas.Batch],
                    examples=examples.LINES,
                ),
            )
        ),
        answers=(
            Answer(
                status=200,
                description="All are stored; their ids in the order sent.",
                content=Content(kind=schemas.Ids, examples=examples.IDS),
            ),
        ),
        codes=(*_MESSAGE_CODES, *_WRITING),
    ),
    Operation(
        id="consume",
        tag="Consume",
        method="GET",
        path=_MESSAGES,
        summary="Consume a message",
        description="Takes the next message under a lease, and waits for one if there is none.",
        parameters=(QUEUE, WAIT),
        answers=(
            Answer(
                status=200,
                description="A message, yours until its lease is over.",
                content=Content(kind=schemas.ConsumedMessage, examples=examples.CONSUMED),
                message_at="",
            ),
            Answer(status=204, description="None came in time."),
        ),
        codes=_WAITING,
    ),
    Operation(
        id="claim",
        tag="Consume",
        method="POST",
        path=f"{_MESSAGES}/claim",
        summary="Claim messages",
        description="Takes up to max messages at once under a lease of your choice; "
        "a call without a body takes one on the defaults.",
        parameters=(QUEUE,),
        body=Body(
            contents=(Content(kind=schemas.ClaimBody, examples=examples.CLAIM),), required=False
        ),
        answers=(
            Answer(
                status=200,
                description="The messages in order of delivery; none if none came in time.",
                content=Content(kind=schemas.ClaimedMessages, examples=examples.CLAIMED),
                message_at="/messages/0",
            ),
        ),
        codes=_WAITING,
    ),
    Operation(
        id="ack",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/{{id}}/ack",
        summary="Acknowledge a message",
        description="The work is done: the message is deleted. "
        "Without a receipt the answer is 204 even if there was nothing to delete.",
        parameters=(QUEUE, MESSAGE_ID, RECEIPT),
        answers=(Answer(status=204, description="The message is gone."),),
        codes=("not_found.message", *_WRITING),
    ),
    Operation(
        id="nack",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/{{id}}/nack",
        summary="Give a message back",
        description="The work failed: the message is delivered again after a delay, "
        "or counts as failed if this was its last attempt.",
        parameters=(QUEUE, MESSAGE_ID, RECEIPT),
        body=Body(
            contents=(Content(kind=schemas.NackBody, examples=examples.NACK),), required=False
        ),
        answers=(Answer(status=204, description="The message is back in its queue."),),
        codes=("not_found.message", *_WRITING),
    ),
    Operation(
        id="extend",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/{{id}}/extend",
        summary="Extend a lease",
        description="The work takes longer: the lease now ends that long from now.",
        parameters=(QUEUE, MESSAGE_ID, REQUIRED_RECEIPT),
        body=Body(contents=(Content(kind=schemas.ExtendBody, examples=examples.EXTEND),)),
        answers=(Answer(status=204, description="The lease has its new end."),),
        codes=("not_found.message", *_WRITING),
    ),
    Operation(
        id="ackBatch",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/ack",
        summary="Acknowledge many messages",
        description="Deletes every message whose receipt is still the current one.",
        parameters=(QUEUE,),
        body=Body(contents=(Content(kind=schemas.AckBatchBody, examples=examples.ACK_BATCH),)),
        answers=(_SETTLED,),
        codes=_BATCH_CODES,
    ),
    Operation(
        id="nackBatch",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/nack",
        summary="Give many messages back",
        description="Gives back every message whose receipt is still the current one.",
        parameters=(QUEUE,),
        body=Body(contents=(Content(kind=schemas.NackBatchBody, examples=examples.NACK_BATCH),)),
        answers=(_SETTLED,),
        codes=_BATCH_CODES,
    ),
    Operation(
        id="extendBatch",
        tag="Settle",
        method="POST",
        path=f"{_MESSAGES}/extend",
        summary="Extend many leases",
        description="Moves the end of every lease whose receipt is still the current one.",
        parameters=(QUEUE,),
        body=Body(
            contents=(Content(kind=schemas.ExtendBatchBody, examples=examples.EXTEND_BATCH),)
        ),
        answers=(_SETTLED,),
        codes=_BATCH_CODES,
    ),
    Operation(
        id="healthcheck",
        tag="Server",
        method="GET",
        path="/healthcheck",
        summary="Ask for the server's health",
        description="For probes and load balancers; needs no key, and takes HEAD as well.",
        answers=(Answer(status=204, description="The server works and reaches its database."),),
        access="open",
        codes=("forq.unhealthy",),
    ),
    Operation(
        id="openapi",
        tag="Server",
        method="GET",
        path="/api/openapi.json",
        summary="Read this description as OpenAPI",
        description="The OpenAPI 3.1 document of this server; takes HEAD as well.",
        parameters=(IF_NONE_MATCH,),
        answers=(
            Answer(
                status=200,
                description="The document.",
                content=Content(kind={"type": "object", "required": ["openapi", "paths"]}),
                headers=("ETag",),
            ),
            _UNCHANGED,
        ),
        access="browser",
    ),
    Operation(
        id="docs",
        tag="Server",
        method="GET",
        path="/api/docs",
        summary="Read this description as a page",
        description="The same for people; a browser asks for the key as a password, "
        "with any user name. Takes HEAD as well.",
        parameters=(IF_NONE_MATCH,),
        answers=(
            Answer(
                status=200,
                description="The page.",
                content=Content(media="text/html", kind={"type": "string"}),
                headers=("ETag",),
            ),
            _UNCHANGED,
        ),
        access="browser",
    ),
    Operation(
        id="docsStyle",
        tag="Server",
        method="GET",
        path="/api/docs.css",
        summary="Load the page's style sheet",
        description="What makes the page look as it does; takes HEAD as well.",
        parameters=(IF_NONE_MATCH,),
        answers=(
            Answer(
                status=200,
                description="The style sheet.",
                content=Content(media="text/css", kind={"type": "string"}),
                headers=("ETag",),
            ),
            _UNCHANGED,
        ),
        access="browser",
    ),
)

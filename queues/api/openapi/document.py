"""The OpenAPI 3.1 document, built from the table of operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from queues.api import schemas
from queues.api.openapi import words
from queues.api.openapi.operations import OPERATIONS
from queues.api.openapi.parts import JSON, Answer, Content, Example, Operation, Parameter
from queues.errors import STATUS_BY_CODE, BodyTooLarge

Json = dict[str, Any]

_SECURITY: Final[dict[str, list[Json]]] = {
    "key": [{"ApiKey": []}, {"Bearer": []}],
    "browser": [{"ApiKey": []}, {"Bearer": []}, {"Basic": []}],
    "open": [],
}
_SECURITY_SCHEMES: Final = {
    "ApiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The server's secret.",
    },
    "Bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The server's secret, as Authorization: Bearer.",
    },
    "Basic": {
        "type": "http",
        "scheme": "basic",
        "description": "For a browser that reads the documentation: any user name, "
        "the server's secret as password.",
    },
}
_HEADERS: Final[dict[str, tuple[str, Any, bool]]] = {
    "X-Forq-Message-Id": ("The message's id.", schemas.MessageId, True),
    "X-Forq-Duplicate": (
        "There if the message was known by its dedupKey and not stored again.",
        {"const": "true"},
        False,
    ),
    "Retry-After": ("Seconds until a next try makes sense.", {"type": "integer"}, True),
    "Allow": ("The methods that this path knows.", {"type": "string"}, True),
    "ETag": ("Names this version of the answer.", {"type": "string"}, True),
    "WWW-Authenticate": ("How to show the key.", {"type": "string"}, True),
    "X-Request-Id": (
        "Where the failure was unforeseen: finds it in the server's log.",
        {"type": "string", "format": "uuid"},
        False,
    ),
}
_ERROR_HEADERS: Final = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    429: ("Retry-After",),
    500: ("X-Request-Id",),
}
# The answers to requests that reach no operation at all.
_ELSEWHERE: Final = {"NotFound": "not_found.path", "MethodNotAllowed": "method_not_allowed"}


@cache
def document() -> Json:
    return Builder(OPERATIONS).build()


@cache
def encoded() -> bytes:
    return msgspec.json.encode(document())


class Builder:
    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(operations)
        kinds = list(_kinds(self._operations))
        found, self._components = msgspec.json.schema_components(
            kinds, ref_template="#/components/schemas/{name}"
        )
        # Types are not all hashable, and each is looked up by what it is, not by what it equals.
        self._schema_by_kind = {id(kind): schema for kind, schema in zip(kinds, found, strict=True)}

    def build(self) -> Json:
        paths: dict[str, Json] = {}
        for operation in self._operations:
            paths.setdefault(operation.path, {})[operation.method.lower()] = self._operation(
                operation
            )
        codes = {code for each in self._operations for code in each.all_codes}
        codes.update(_ELSEWHERE.values())
        return {
            "openapi": "3.1.0",
            "info": {
                "title": words.TITLE,
                "summary": words.SUMMARY,
                "description": words.INTRODUCTION,
                "version": "1",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "This server"}],
            "security": _SECURITY["key"],
            "tags": [
                {"name": name, "description": description}
                for name, description in words.TAGS.items()
            ],
            "paths": paths,
            "components": {
                "securitySchemes": _SECURITY_SCHEMES,
                "headers": {
                    name: {"description": text, "required": required, "schema": self._schema(kind)}
                    for name, (text, kind, required) in _HEADERS.items()
                },
                "responses": {
                    name: _error(STATUS_BY_CODE[code], [code]) for name, code in _ELSEWHERE.items()
                },
                "schemas": {
                    **{name: _plain(each) for name, each in sorted(self._components.items())},
                    "Error": _error_schema([code for code in STATUS_BY_CODE if code in codes]),
                },
            },
        }

    def _operation(self, operation: Operation) -> Json:
        entry: Json = {
            "operationId": operation.id,
            "tags": [operation.tag],
            "summary": operation.summary,
            "description": operation.description,
            "security": _SECURITY[operation.access],
        }
        if operation.parameters:
            entry["parameters"] = [self._parameter(each) for each in operation.parameters]
        if operation.body is not None:
            entry["requestBody"] = {
                "required": operation.body.required,
                "content": {each.media: self._content(each) for each in operation.body.contents},
            }
        entry["responses"] = {
            **{str(answer.status): self._answer(answer) for answer in operation.answers},
            **{str(status): _error(status, codes) for status, codes in errors(operation).items()},
        }
        return entry

    def _parameter(self, parameter: Parameter) -> Json:
        return {
            "name": parameter.name,
            "in": parameter.place,
            "description": parameter.description,
            "required": parameter.required,
            "schema": self._schema(parameter.kind),
            "example": parameter.example,
        }

    def _content(self, content: Content) -> Json:
        entry: Json = {"schema": self._schema(content.kind)}
        if content.examples:
            entry["examples"] = _examples(content.examples)
        return entry

    def _answer(self, answer: Answer) -> Json:
        entry: Json = {"description": answer.description}
        if answer.headers:
            entry["headers"] = _header_references(answer.headers)
        if answer.content is not None:
            entry["content"] = {answer.content.media: self._content(answer.content)}
        if answer.message_at is not None:
            entry["links"] = {
                name: {
                    "operationId": name,
                    "description": description,
                    "parameters": {
                        "path.queue": "$request.path.queue",
                        "path.id": f"$response.body#{answer.message_at}/id",
                        "header.X-Forq-Receipt": f"$response.body#{answer.message_at}/receipt",
                    },
                }
                for name, description in words.LINKS.items()
            }
        return entry

    def _schema(self, kind: Any) -> Json:
        return kind if isinstance(kind, dict) else _plain(self._schema_by_kind[id(kind)])


def errors(operation: Operation) -> dict[int, list[str]]:
    """The errors an operation can end with: status → codes."""
    found: dict[int, list[str]] = {}
    for code in operation.all_codes:
        found.setdefault(STATUS_BY_CODE[code], []).append(code)
    if operation.body is not None:
        too_large = BodyTooLarge()
        found[too_large.status] = [too_large.code]
    return dict(sorted(found.items()))


def _kinds(operations: Iterable[Operation]) -> Iterator[Any]:
    """The types that schemas are to be made of."""
    kinds = [kind for _, kind, _ in _HEADERS.values()]
    for operation in operations:
        kinds += [parameter.kind for parameter in operation.parameters]
        kinds += [answer.content.kind for answer in operation.answers if answer.content]
        kinds += [content.kind for content in operation.body.contents] if operation.body else []
    return (kind for kind in kinds if not isinstance(kind, dict))


def _plain(schema: Any) -> Any:
    """msgspec's "this or null" as one schema with two types, which is easier to read."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    match schema:
        case {"anyOf": [{"type": str(name)} as first, {"type": "null"}], **rest}:
            return {**_plain(first), "type": [name, "null"], **rest}
    return {name: _plain(value) for name, value in schema.items()}


def _error(status: int, codes: list[str]) -> Json:
    entry: Json = {"description": words.MEANING_BY_STATUS[status]}
    if status in _ERROR_HEADERS:
        entry["headers"] = _header_references(_ERROR_HEADERS[status])
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/Error"},
            {"properties": {"code": {"enum": codes}}},
        ]
    }
    shown = {
        code: {"summary": words.MEANING_BY_CODE[code], "value": {"code": code}} for code in codes
    }
    entry["content"] = {JSON: {"schema": schema, "examples": shown}}
    return entry


def _error_schema(codes: list[str]) -> Json:
    return {
        "title": "Error",
        "description": "Why a request failed, as a code that programs can tell apart.",
        "type": "object",
        "properties": {"code": {"type": "string", "enum": codes}},
        "required": ["code"],
        "additionalProperties": False,
    }


def _examples(examples: Iterable[Example]) -> Json:
    return {
        example.summary.lower().replace(",", "").replace(" ", "-"): {
            "summary": example.summary,
            "value": example.value,
        }
        for example in examples
    }


def _header_references(names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}

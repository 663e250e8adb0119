"""The OpenAPI document, arranged for a person to read."""

from __future__ import annotations

import json
import re
from typing import Any

from queues.api.openapi import curl, words
from queues.api.openapi.document import document, errors
from queues.api.openapi.fields import field, fields
from queues.api.openapi.operations import OPERATIONS
from queues.api.openapi.parts import NDJSON, Operation
from queues.errors import STATUS_BY_CODE, BodyTooLarge

Json = dict[str, Any]


def page() -> Json:
    """What the template needs."""
    return {
        "info": document()["info"],
        "groups": [
            {
                "name": name,
                "description": description,
                "operations": [_operation(each) for each in OPERATIONS if each.tag == name],
            }
            for name, description in words.TAGS.items()
        ],
        "codes": _codes(),
    }


def _operation(operation: Operation) -> Json:
    entry = document()["paths"][operation.path][operation.method.lower()]
    body = entry.get("requestBody", {})
    return {
        "operation": operation,
        "path": re.findall(r"/[^/]+", operation.path),
        "curl": curl.lines(operation),
        "parameters": [
            (
                each["in"],
                field(each["name"], {**each["schema"], **each}, required=each["required"]),
            )
            for each in entry.get("parameters", ())
        ],
        "bodies": [
            (
                media + (" · one a line" if media == NDJSON else ""),
                body["required"],
                _fields(content),
            )
            for media, content in body.get("content", {}).items()
        ],
        "answers": [
            _answer(entry["responses"][str(each.status)], each.status) for each in operation.answers
        ],
        "errors": [
            (status, words.MEANING_BY_STATUS[status], codes)
            for status, codes in errors(operation).items()
        ],
    }


def _answer(response: Json, status: int) -> Json:
    headers = document()["components"]["headers"]
    media = next(iter(response.get("content", ())), "")
    content = response["content"][media] if media else {}
    example = next(iter(content.get("examples", {}).values()), None)
    return {
        "status": status,
        "description": response["description"],
        "headers": [
            field(
                name,
                {**headers[name]["schema"], **headers[name]},
                required=headers[name]["required"],
            )
            for name in response.get("headers", ())
        ],
        "media": media,
        "fields": _fields(content),
        "example": json.dumps(example["value"], indent=2) if example else "",
    }


def _fields(content: Json) -> list[Any]:
    return list(fields(content.get("schema", {}), document()["components"]["schemas"]))


def _codes() -> list[tuple[str, str, str]]:
    """Every code that can occur: its statuses and its meaning."""
    too_large = BodyTooLarge()
    occurring = document()["components"]["schemas"]["Error"]["properties"]["code"]["enum"]
    return [
        (
            code,
            f"{STATUS_BY_CODE[code]}, {too_large.status}"
            if code == too_large.code
            else f"{STATUS_BY_CODE[code]}",
            words.MEANING_BY_CODE[code],
        )
        for code in occurring
    ]

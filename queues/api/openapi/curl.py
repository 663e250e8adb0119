"""Operations as lines for a shell, in which FORQ is the server's address and FORQ_AUTH_SECRET
its secret."""

from __future__ import annotations

import json
import shlex

from queues.api.openapi.parts import NDJSON, Content, Operation


def lines(operation: Operation) -> list[str]:
    """One command for each media type that the operation takes."""
    contents = operation.body.contents if operation.body else (None,)
    return [_line(operation, content) for content in contents]


def _line(operation: Operation, content: Content | None) -> str:
    parts = ["curl -i"]
    if operation.method != "GET" and content is None:
        parts[0] += f" -X {operation.method}"
    parts[0] += f' "$FORQ{_target(operation)}"'
    if operation.access != "open":
        parts.append('-H "X-API-Key: $FORQ_AUTH_SECRET"')
    parts += [
        f'-H "{parameter.name}: ${parameter.variable}"'
        for parameter in operation.parameters
        if parameter.place == "header" and parameter.variable
    ]
    before = ""
    if content is not None:
        parts.append(f"-H {shlex.quote(f'Content-Type: {content.media}')}")
        value = content.examples[0].value
        if content.media == NDJSON:
            texts = " ".join(shlex.quote(json.dumps(each)) for each in value)
            before = f"printf '%s\\n' {texts} |\n"
            parts.append("--data-binary @-")
        else:
            parts.append(f"-d {shlex.quote(json.dumps(value))}")
    return before + " \\\n  ".join(parts)


def _target(operation: Operation) -> str:
    path = operation.path
    query = []
    for parameter in operation.parameters:
        value = f"${parameter.variable}" if parameter.variable else str(parameter.example)
        if parameter.place == "path":
            path = path.replace(f"{{{parameter.name}}}", value)
        elif parameter.place == "query":
            query.append(f"{parameter.name}={value}")
    return f"{path}?{'&'.join(query)}" if query else path

"""A JSON schema as rows of a table: one for each field, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Field:
    name: str
    kind: str
    required: bool
    rule: str
    description: str


def fields(schema: Json, components: Json, prefix: str = "") -> Iterator[Field]:
    """The fields of an object (of a list: of each), those of objects inside under a full name."""
    schema = _resolved(schema, components)
    if schema.get("type") == "array":
        yield from fields(schema["items"], components, prefix)
        return
    for name, part in schema.get("properties", {}).items():
        full_name = f"{prefix}{name}"
        yield field(full_name, part, required=name in schema.get("required", ()))
        if part.get("type") == "array":
            yield from fields(part["items"], components, f"{full_name}[].")


def field(name: str, schema: Json, *, required: bool) -> Field:
    rule = "; ".join(_rules(schema))
    return Field(name, _kind(schema), required, rule, schema.get("description", ""))


def _resolved(schema: Json, components: Json) -> Json:
    if "$ref" in schema:
        found: Json = components[schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _kind(schema: Json) -> str:
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "array":
        items = schema["items"]
        return "objects" if "$ref" in items else f"{_kind(items)}s"
    return str(kind)


def _rules(schema: Json) -> Iterator[str]:
    """What a value must be like; a pattern is for programs, its description for people."""
    match schema:
        case {"minimum": low, "maximum": high}:
            yield f"{number(low)} to {number(high)}"
        case {"minimum": low}:
            yield f"at least {number(low)}"
    match schema:
        case {"minLength": low, "maxLength": high}:
            yield f"{number(low)} to {number(high)} characters"
        case {"maxLength": high}:
            yield f"at most {number(high)} characters"
    if "minItems" in schema:
        yield f"{number(schema['minItems'])} to {number(schema['maxItems'])} of them"
    if "default" in schema:
        yield f"default {number(schema['default'])}"


def number(value: int) -> str:
    return f"{value:,}".replace("-", "−")  # noqa: RUF001 - a minus for readers

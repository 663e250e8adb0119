"""JSON in which a name stands twice is refused, at any depth and however it is spelled."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import example, given, settings
from msgspec import UNSET, Struct, UnsetType

from queues.api import schemas
from queues.api.strict_json import StrictDecoder
from queues.errors import ForqError


class Node(Struct, forbid_unknown_fields=True):
    """All shapes that the API's bodies have, to any depth."""

    text: str | None | UnsetType = UNSET
    number: int | UnsetType = UNSET
    texts: list[str] | UnsetType = UNSET
    node: Node | None | UnsetType = UNSET
    nodes: list[Node] | UnsetType = UNSET


NODE = StrictDecoder(Node)
spaces = st.sampled_from(["", "", "", " ", "\t", "\r\n", "\n  "])


def written(text: str) -> st.SearchStrategy[str]:
    """A string as JSON, its characters escaped or not, in every way there is."""

    def ways(character: str) -> list[str]:
        units = character.encode("utf-16-be")
        pairs = [units[at : at + 2] for at in range(0, len(units), 2)]
        escaped = "".join(f"\\u{pair.hex()}" for pair in pairs)
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        return [plain, plain, escaped, "\\/" if character == "/" else plain]

    if not text:
        return st.just('""')
    letters = [st.sampled_from(ways(character)) for character in text]
    return st.tuples(*letters).map(lambda parts: '"' + "".join(parts) + '"')


contents = st.text('"\\', max_size=4) | st.text(
    st.sampled_from('"\\/:,{}[]abu \n\0') | st.characters(exclude_categories=["Cs"]), max_size=6
)
strings = contents.flatmap(written)


@st.composite
def documents(draw: st.DrawFn, depth: int = 3) -> str:
    """An object with any of Node's names, some of them perhaps more than once."""
    values: dict[str, st.SearchStrategy[str]] = {
        "text": strings | st.just("null"),
        "number": st.integers(-9, 9).map(str),
        "texts": st.lists(strings, max_size=3).map(lambda each: f"[{','.join(each)}]"),
    }
    if depth:
        inner = documents(depth - 1)
        values["node"] = inner | st.just("null")
        values["nodes"] = st.lists(inner, max_size=2).map(lambda each: f"[ {' , '.join(each)}]")
    names = draw(st.lists(st.sampled_from(sorted(values)), max_size=4))
    if not draw(st.integers(0, 3)):
        names += names[:1]
    else:
        names = list(dict.fromkeys(names))
    members = [
        f"{draw(spaces)}{draw(written(name))}{draw(spaces)}:{draw(spaces)}{draw(values[name])}"
        for name in names
    ]
    return "{" + ",".join(members) + draw(spaces) + "}"


class Twice(Exception):
    pass


def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Twice
    return dict(pairs)


def plain(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            value = plain(value)
        elif isinstance(value, list):
            value = [plain(each) if isinstance(each, Node) else each for each in value]
        if value is not UNSET:
            found[name] = value
    return found


@settings(max_examples=300)
@given(documents())
@example('{"text":"a","text":"b"}')
@example('{"text":null,"t\\u0065xt":null}')
@example('{"text":"\\\\"}')
@example('{"text":"\\\\","text":"\\""}')
@example('{"text":"\\\\\\"text\\":"}')
@example('{"text":"\\\\\\\\\\"","number":1}')
@example('{"nodes":[{},{"node":{"number":1,"number":1}}]}')
@example('{"nodes":[],"nodes":[]}')
def test_a_name_that_stands_twice_is_refused_and_nothing_else_is(text: str) -> None:
    try:
        expected = json.loads(text, object_pairs_hook=refuse_twice)
    except Twice:
        with pytest.raises(ForqError, match=r"bad_request\.body\.invalid"):
            NODE.decode(text.encode())
    else:
        assert plain(NODE.decode(text.encode())) == expected


@given(st.text(max_size=20), contents)
def test_any_content_is_taken_however_json_writes_it(first: str, second: str) -> None:
    messages = [{"content": each} for each in (first, second)]
    try:
        body = json.dumps({"messages": messages}, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return

    decoded = schemas.PRODUCE_BATCH.decode(body).messages

    assert [each.content for each in decoded] == [first, second]
    escaped = schemas.PRODUCE_BATCH.decode(json.dumps({"messages": messages}).encode()).messages
    assert escaped == decoded


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"null",
        b"[]",
        b'"text"',
        b"1",
        b"{",
        b'{"content":"a"} x',
        b'{"content":"a"}{"content":"a"}',
        b"{'content':'a'}",
        b'{"content":"a",}',
        b'{"content":1}',
        b'{"content":null}',
        b'{"content":["a"]}',
        b'{"Content":"a"}',
        b'{"content":"a","more":1}',
        b'{"content":"a","content":"a"}',
        b'{"content":"a","priority":1.0}',
        b'{"content":"a","priority":1e1}',
        b'{"content":"a","priority":"1"}',
        b'{"content":"a","priority":true}',
        b'{"content":"a","priority":NaN}',
        b'{"content":"a","priority":-Infinity}',
        b'{"content":"a","priority":01}',
        b'{"content":"a","priority":101}',
        b'{"content":"a","priority":-101}',
        b'{"content":"\xff"}',
        b'{"content":"\xc0\x80"}',
        b'{"content":"\xed\xa0\x80"}',
        b'{"content":"\\ud800"}',
        b'{"content":"\\udc00\\ud800"}',
        b'{"content":"\\x41"}',
        b'{"content":"\n"}',
        b'{"content":"\0"}',
        b'\xef\xbb\xbf{"content":"a"}',
        '{"content":"a"}'.encode("utf-16"),
        b'{"content":' + b"[" * 100_000,
        b'{"content":' + b'{"content":' * 100_000,
    ],
    ids=lambda body: ascii(body[:40]),
)
def test_what_is_not_quite_the_body_asked_for_is_refused(body: bytes) -> None:
    with pytest.raises(ForqError, match=r"bad_request\.body\.invalid"):
        schemas.PRODUCE.decode(body)


def test_null_and_absence_are_both_fine_where_a_field_is_optional() -> None:
    body = b'{"content":"a","processAfter":null,"priority":null,"dedupKey":null}'

    decoded = schemas.PRODUCE.decode(body)

    assert (decoded.processAfter, decoded.priority, decoded.dedupKey) == (None, None, None)
    assert schemas.PRODUCE.decode(b'{"content":"a"}').priority is UNSET

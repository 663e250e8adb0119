"""The OpenAPI document is sound, and says what is served: no less, no more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from queues.api import urls
from queues.api.auth import Gate
from queues.api.express import QUEUES, Express
from queues.api.openapi.document import Builder, document, encoded
from queues.api.openapi.operations import OPERATIONS
from queues.api.openapi.parts import Answer, Operation
from queues.errors import STATUS_BY_CODE, BodyTooLarge
from queues.services.messages import MessageService
from tests.live import SECRET, LiveServer

ROOT = Path(__file__).parents[3]
Json = dict[str, Any]


def described() -> Iterator[tuple[str, str, Json]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def contents() -> Iterator[tuple[str, Json]]:
    """Every body in the document, sent or answered."""
    for path, method, operation in described():
        parts = {"body": operation.get("requestBody", {}), **operation["responses"]}
        for name, part in parts.items():
            for media, content in part.get("content", {}).items():
                yield f"{method} {path} {name} {media}", content


def error_codes(response: Json) -> list[str]:
    schema = response["content"]["application/json"]["schema"]
    codes: list[str] = schema["allOf"][1]["properties"]["code"]["enum"]
    return codes


async def nowhere(*_: object) -> None:
    raise AssertionError("no request is made")


def express_routes() -> Iterator[tuple[str, str]]:
    messages = cast("MessageService", None)
    express = Express(messages, Gate("", trust_proxy=False), nowhere)
    for steps, methods in express._routes.items():
        rest = "/".join(step or "{id}" for step in steps)
        for method in methods:
            yield f"{QUEUES}{{queue}}/{rest}", method


def test_the_document_is_valid_openapi() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(document()).iter_errors()] == []


def test_every_schema_in_it_is_valid() -> None:
    for schema in document()["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for _, content in contents():
        Draft202012Validator.check_schema(content["schema"])


def test_it_describes_every_route_of_the_express_lane_and_no_other() -> None:
    found = {(path, method) for path, method, _ in described() if path.startswith(QUEUES)}

    assert found == set(express_routes())


def test_it_describes_every_view_and_no_other() -> None:
    found = {path for path in document()["paths"] if not path.startswith(QUEUES)}

    assert found == {f"/{pattern.pattern}" for pattern in urls.urlpatterns}


def test_a_path_allows_the_methods_described(api: httpx.Client) -> None:
    allowed, expected = {}, {}
    for path, methods in document()["paths"].items():
        answer = api.request("PATCH", path.format(queue="q", id="x"))
        assert answer.status_code == 405
        allowed[path] = set(answer.headers["Allow"].split(", ")) - {"HEAD"}
        expected[path] = {method.upper() for method in methods}

    assert allowed == expected


def test_operations_have_names_of_their_own_and_words_for_people() -> None:
    names = [operation["operationId"] for _, _, operation in described()]
    tags = {tag["name"] for tag in document()["tags"]}

    assert len(names) == len(set(names))
    for _, _, operation in described():
        assert operation["summary"]
        assert operation["description"].endswith(".")
        assert set(operation["tags"]) <= tags


def test_it_names_every_code_that_the_server_can_give_and_no_other() -> None:
    named = {
        code
        for _, _, operation in described()
        for status, response in operation["responses"].items()
        if int(status) >= 400
        for code in error_codes(response)
    }
    for response in document()["components"]["responses"].values():
        named |= set(error_codes(response))

    assert named == set(codes_in_the_source())
    assert document()["components"]["schemas"]["Error"]["properties"]["code"]["enum"] == [
        code for code in STATUS_BY_CODE if code in named
    ]


def codes_in_the_source() -> Iterator[str]:
    for file in [*(ROOT / "queues").rglob("*.py"), *(ROOT / "forq").rglob("*.py")]:
        if "openapi" in file.parts:
            continue
        tree = ast.parse(file.read_text())
        if file.name == "errors.py":
            # The table names all there are; the classes below it name those in use.
            tree.body = [part for part in tree.body if isinstance(part, ast.ClassDef)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and node.value in STATUS_BY_CODE:
                yield str(node.value)


def test_a_code_stands_under_its_status() -> None:
    too_large = BodyTooLarge()
    for _, _, operation in described():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                codes = error_codes(response)
                assert codes
                for code in codes:
                    assert int(status) in (STATUS_BY_CODE[code], too_large.status)
                    assert int(status) != too_large.status or code == too_large.code


def test_an_error_has_exactly_one_field() -> None:
    schema = document()["components"]["schemas"]["Error"]
    validator = Draft202012Validator(schema)

    assert validator.is_valid({"code": "internal"})
    assert not validator.is_valid({"code": "internal", "detail": "why"})
    assert not validator.is_valid({"code": "no_such_code"})
    assert not validator.is_valid({})


@pytest.mark.parametrize(
    ("path", "schemes"),
    [
        ("/healthcheck", []),
        ("/api/docs", [{"ApiKey": []}, {"Bearer": []}, {"Basic": []}]),
        ("/api/v1/queues/{queue}/messages", [{"ApiKey": []}, {"Bearer": []}]),
    ],
)
def test_it_says_who_may_come_in(path: str, schemes: list[Json]) -> None:
    assert document()["paths"][path]["get"]["security"] == schemes


def test_what_asks_for_a_key_can_answer_that_it_is_wrong() -> None:
    for _, _, operation in described():
        statuses = {int(status) for status in operation["responses"]}
        assert (401 in statuses) == bool(operation["security"])


def test_every_body_that_a_client_writes_has_an_example() -> None:
    for _, _, operation in described():
        for content in operation.get("requestBody", {}).get("content", {}).values():
            assert content["examples"]


def test_examples_are_what_their_schemas_say() -> None:
    components = document()["components"]
    checked = 0
    for name, content in contents():
        validator = Draft202012Validator({**content["schema"], "components": components})
        for example in content.get("examples", {}).values():
            assert [error.message for error in validator.iter_errors(example["value"])] == [], name
            checked += 1
    for _, _, operation in described():
        for parameter in operation.get("parameters", ()):
            Draft202012Validator(parameter["schema"]).validate(parameter["example"])
            checked += 1
    assert checked > 100


def test_an_operation_more_is_an_entry_more() -> None:
    added = Operation(
        id="purge",
        tag="Settle",
        method="DELETE",
        path="/api/v1/queues/{queue}/messages",
        summary="Purge",
        description="All gone.",
        answers=(Answer(status=204, description="Gone."),),
        codes=("not_found.queue",),
    )

    built = Builder([*OPERATIONS, added]).build()

    assert set(built["paths"][added.path]) == {"post", "get", "delete"}
    assert set(built["paths"][added.path]["delete"]["responses"]) == {
        "204",
        "401",
        "404",
        "429",
        "500",
    }
    assert (
        "not_found.queue" in built["components"]["schemas"]["Error"]["properties"]["code"]["enum"]
    )


def test_it_is_served_as_json_with_a_tag_to_ask_again(api: httpx.Client) -> None:
    answer = api.get("/api/openapi.json")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content == encoded()
    etag = answer.headers["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{16}"', etag)

    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = api.get("/api/openapi.json", headers={"If-None-Match": known})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["ETag"] == etag
    for unknown in ('"other"', etag.strip('"'), ""):
        again = api.get("/api/openapi.json", headers={"If-None-Match": unknown})
        assert again.status_code == 200


def test_head_is_answered_like_get_without_the_body(api: httpx.Client) -> None:
    got, headed = api.get("/api/openapi.json"), api.head("/api/openapi.json")

    assert headed.status_code == 200
    assert headed.content == b""
    assert headed.headers["ETag"] == got.headers["ETag"]
    assert headed.headers["Content-Length"] == got.headers["Content-Length"]


def test_it_takes_the_key_in_every_way_it_says(server: LiveServer) -> None:
    url = f"{server.url}/api/openapi.json"

    assert httpx.get(url, headers={"X-API-Key": SECRET}).status_code == 200
    assert httpx.get(url, headers={"Authorization": f"Bearer {SECRET}"}).status_code == 200
    assert httpx.get(url, auth=("anyone", SECRET)).status_code == 200
    refused = httpx.get(url)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic ")

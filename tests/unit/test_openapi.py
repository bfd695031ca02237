"""The OpenAPI document describes every operation that is open to HTTP, whole and without a path of the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

import docs_openapi
from credenda.errors import CredendaError, Forbidden, Invalid, Unauthenticated
from credenda.interfaces.json_schema import FILE_FIELD, build_openapi
from credenda.operation import Operation, Rest
from credenda.operations import OPERATIONS

DOCUMENT = build_openapi(version="1.2.3")
ROUTES = [(operation, route) for operation in OPERATIONS.values() for route in operation.rest]
each_route = pytest.mark.parametrize(
    ("operation", "route"), ROUTES, ids=[f"{route.method} {route.path}" for _, route in ROUTES]
)


def walk(part: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - any part of the document
    """Give every object of the document."""
    if isinstance(part, dict):
        yield cast("dict[str, Any]", part)
        for one in cast("dict[str, Any]", part).values():
            yield from walk(one)
    elif isinstance(part, list):
        for one in cast("list[Any]", part):
            yield from walk(one)


def found(reference: str) -> Any:  # noqa: ANN401 - any part of the document
    place: Any = DOCUMENT
    for name in reference.removeprefix("#/").split("/"):
        place = place[name]
    return place


def described(route: Rest) -> dict[str, Any]:
    return DOCUMENT["paths"][route.path][route.method.lower()]


def body(route: Rest) -> dict[str, Any]:
    (media,) = described(route).get("requestBody", {"content": {"": {"schema": {}}}})["content"].values()
    return media["schema"]


def headers(route: Rest) -> set[str]:
    parameters = [found(one["$ref"]) for one in described(route).get("parameters", []) if "$ref" in one]
    return {one["name"] for one in parameters}


def test_it_says_what_it_is_and_is_plain_json() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    assert DOCUMENT["info"]["version"] == "1.2.3"
    assert json.loads(json.dumps(DOCUMENT, allow_nan=False)) == DOCUMENT
    assert build_openapi(version="1.2.3") == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    references = {part["$ref"] for part in walk(DOCUMENT) if "$ref" in part}
    assert len(references) > 50
    assert all(found(reference) is not None for reference in references)


def test_every_definition_and_input_is_a_schema() -> None:
    schemas = [*DOCUMENT["components"]["schemas"].values(), *map(body, (route for _, route in ROUTES))]
    schemas += [part["schema"] for part in walk(DOCUMENT) if "schema" in part]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)


@each_route
def test_every_input_has_one_place(operation: Operation, route: Rest) -> None:
    part = described(route)
    placed = [one["name"] for one in part.get("parameters", []) if "$ref" not in one]
    placed += [one for one in body(route).get("properties", {}) if one != FILE_FIELD]
    files = {one.name for one in operation.params_at("rest") if one.is_path}
    wanted = {one.name for one in operation.params_at("rest")} - files - set(route.without)
    assert sorted(placed) == sorted(wanted)
    in_path = [one for one in part.get("parameters", []) if one.get("in") == "path"]
    assert [one["name"] for one in in_path] == list(route.in_path)
    assert all(one["required"] for one in in_path)
    assert not (route.method == "GET" and "requestBody" in part)
    required = {one.name for one in operation.params_at("rest") if one.required} - files - set(route.without)
    stated = {one["name"] for one in part.get("parameters", []) if one.get("required")}
    assert required <= stated | set(body(route).get("required", []))


@each_route
def test_every_route_names_its_permission_and_its_errors(operation: Operation, route: Rest) -> None:
    part = described(route)
    assert part["security"] == [{"token": [operation.scope]}]
    expected = {str(error.http_status) for error in (*operation.errors, Invalid, Unauthenticated, Forbidden)}
    assert expected | {str(route.status), "default"} <= part["responses"].keys()
    for status, response in part["responses"].items():
        if status == "202" and operation.long:
            assert found(response["content"]["application/json"]["schema"]["$ref"])["properties"]["state"]
        elif status != str(route.status):
            assert list(found(response["$ref"])["content"]) == ["application/problem+json"]


def test_the_errors_are_those_of_the_table_of_errors() -> None:
    responses = DOCUMENT["components"]["responses"]
    kinds = [kind for kind in CredendaError.__subclasses__() if not kind.__name__.startswith("_")]
    assert {kind.__name__ for kind in kinds} | {"CredendaError", "PreconditionFailed"} == responses.keys()
    for kind in kinds:
        schema = responses[kind.__name__]["content"]["application/problem+json"]["schema"]
        assert schema["allOf"][1]["properties"]["code"]["const"] == kind.code


def test_operations_have_names_of_their_own() -> None:
    names = [part["operationId"] for path in DOCUMENT["paths"].values() for part in path.values()]
    assert len(names) == len(set(names)) == len(ROUTES) + len(["job-events"])
    assert {name for name, operation in OPERATIONS.items() if operation.rest} <= set(names)


def test_a_request_that_must_not_run_twice_takes_a_key() -> None:
    taking = {operation.name for operation, route in ROUTES if "Idempotency-Key" in headers(route)}
    assert {"remember", "correct", "resolve", "undo", "hold"} <= taking
    assert not taking & {"search", "get", "delete", "pin", "erase"}
    for name in taking:
        assert OPERATIONS[name].writes
        assert not OPERATIONS[name].idempotent


def test_files_are_sent_and_never_named() -> None:
    (sent,) = (body(route) for route in OPERATIONS["import"].rest)
    assert sent["required"] == [FILE_FIELD]
    assert "multipart/form-data" in described(OPERATIONS["import"].rest[0])["requestBody"]["content"]
    (export,) = OPERATIONS["export"].rest
    assert list(described(export)["responses"]["200"]["content"]) == ["application/octet-stream"]
    paths = {param.name for operation in OPERATIONS.values() for param in operation.params if param.is_path}
    named = {name for _, route in ROUTES for name in body(route).get("properties", {})}
    asked = {one.get("name") for _, route in ROUTES for one in described(route).get("parameters", [])}
    assert not paths & (named | asked)


def test_the_script_writes_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "openapi.json"
    monkeypatch.setattr("sys.argv", ["docs_openapi.py", str(target)])
    assert docs_openapi.main() == 0
    assert json.loads(target.read_text(encoding="utf-8"))["paths"].keys() == DOCUMENT["paths"].keys()

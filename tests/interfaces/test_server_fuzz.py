"""Every input of every route is sent values that nobody means: the answer is a declared problem, never a 500."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from httpx2 import Response

from credenda.interfaces.json_schema import FILE_FIELD, build_openapi
from credenda.operation import Operation, Param, Rest
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock

from .served import Site, serving

START = "2026-03-01T09:00:00Z"
DOCUMENT = build_openapi(version="1")
ROUTES = [(operation, route) for operation in OPERATIONS.values() for route in operation.rest]
NASTY: list[Any] = [
    *("", " ", "\x00", "\ud800", "\u202e", "null", "' OR 1=1 --", "../../etc/passwd", "x" * 20_000, "9" * 400, "-1"),
    *(-1, 0, 10**400, 1e308, 0.5, True, [], [""], ["\x00"], {}, {"": ""}, {"\x00": "\x00"}, [[]], {"a": {"b": []}}),
    *("9999-12-31T23:59:59.999999Z", "0001-01-01", "2026-13-01", "m1-ffffff", "e1-ffffff", "memory", "active"),
]
EVERY = int(os.environ.get("FUZZ_EVERY", "7"))
"""One in so many values is sent, another one for each input; all of them with FUZZ_EVERY=1."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with serving(tmp_path_factory.mktemp("fuzz") / "memory.db", ManualClock(START)) as opened:
        opened.send("POST", "/v1/memories", json={"content": "I live in Linz."})
        opened.settle()
        yield opened


def choose(place: int) -> list[Any]:
    return [value for number, value in enumerate(NASTY) if (number + place) % EVERY == 0]


def send(site: Site, route: Rest, param: Param, value: Any) -> Response:  # noqa: ANN401 - anything
    """Send one value in the place of an input, as JSON that may not be Unicode; the others are left out."""
    path = route.path
    for name in route.in_path:
        word = value if name == param.name and isinstance(value, str) else "m1-000000"
        path = path.replace(f"{{{name}}}", "".join(f"%{byte:02x}" for byte in word.encode("utf-8", "replace")) or "x")
    if param.kind_at("rest") == "upload":
        return site.send(route.method, path, files={FILE_FIELD: ("x.json", json.dumps(value).encode())})
    if route.method == "GET":
        words = cast("list[Any]", value) if isinstance(value, list) else [value]
        texts = [str(word).encode("utf-8", "replace").decode() for word in words]
        return site.send("GET", path, params={param.name: texts})
    body = {} if param.name in route.in_path else {param.name: value}
    return site.send(route.method, path, content=json.dumps(body), headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(("operation", "route"), ROUTES, ids=[f"{route.method} {route.path}" for _, route in ROUTES])
def test_no_value_breaks_a_route(operation: Operation, route: Rest, site: Site) -> None:
    declared = DOCUMENT["paths"][route.path][route.method.lower()]["responses"]
    for place, param in enumerate(operation.params_at("rest")):
        if param.name in route.without:
            continue
        for value in choose(place):
            answered = send(site, route, param, value)
            told = f"{param.name}={json.dumps(value)[:60]} {answered.status_code} {answered.text[:200]}"
            assert answered.status_code < 500, told
            assert str(answered.status_code) in declared or answered.status_code in {400, 413, 415}, told
            if answered.status_code >= 400:
                assert answered.headers["content-type"] == "application/problem+json", told
                assert answered.json()["title"], told


def test_the_memory_is_whole_after_all_that(site: Site, tmp_path: Path) -> None:
    del tmp_path
    assert site.send("POST", "/v1/doctor", json={}).json()["ok"] is True

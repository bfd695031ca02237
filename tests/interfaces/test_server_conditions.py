"""Versions over HTTP: an edit happens to the version that its caller has seen, or not at all. Bounds of JSON bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, limits
from credenda.operation import Operation, Rest
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock

from .agent import swing
from .served import Site, serving

START = "2026-03-01T09:00:00Z"
GUARDED = [
    (operation, route)
    for operation in OPERATIONS.values()
    for route in operation.rest
    if route.versioned and route.method != "GET"
]
each_guarded = pytest.mark.parametrize(
    ("operation", "route"), GUARDED, ids=[f"{route.method} {route.path}" for _, route in GUARDED]
)
INPUTS: Mapping[str, Mapping[str, Any]] = {
    "correct": {"value": "Vienna"},
    "set-status": {"status": "archived"},
    "resolve": {"keep": "afternoon"},
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serving(tmp_path / "memory.db", ManualClock(START)) as opened:
        with Credenda(opened.parts.for_user("ana"), workers=False) as ana:
            for text in ("I live in Linz.", "I play chess."):
                ana.remember(text, topic="home")
            ana.settle()
            swing(ana)
        yield opened


def prepare(site: Site, operation: Operation, route: Rest) -> str:
    """Bring a resource into a state in which the operation is possible, and return its path."""
    if route.path.startswith("/v1/contests"):
        return f"/v1/contests/{site.send('GET', '/v1/contests').json()[0]['id']}"
    if route.path.startswith("/v1/jobs"):
        job = site.send("POST", "/v1/dreams", json={"dry_run": True}, headers={"Prefer": "respond-async"}).json()
        if operation.name == "retry":
            site.send("POST", f"/v1/jobs/{job['id']}/cancel", json={})
        return f"/v1/jobs/{job['id']}"
    (memory,) = site.send("GET", "/v1/memories", params={"attribute": "residence"}).json()["items"]
    path = f"/v1/memories/{memory['id']}"
    before = {"restore": "forget", "promote": "demote"}.get(operation.name)
    if before:
        assert site.send("POST", f"{path}/{before}", json={}).status_code == 200
    return path


def test_every_edit_of_what_has_versions_takes_them() -> None:
    names = {operation.name for operation, _ in GUARDED}
    edits = {"correct", "forget", "restore", "delete", "pin", "unpin", "promote", "demote", "set-status"}
    assert names == edits | {"resolve", "retry", "cancel"}


@each_guarded
def test_an_edit_needs_the_version_that_its_caller_has_seen(operation: Operation, route: Rest, site: Site) -> None:
    place = prepare(site, operation, route)
    path, body = place + route.path.partition("{id}")[2], INPUTS.get(operation.name, {})
    seen = site.send("GET", place).headers["ETag"]
    before = site.send("GET", place).json()
    for tag in ('"another"', f"W/{seen}", '"a", "b"'):
        refused = site.send(route.method, path, json=body, headers={"If-Match": tag})
        told = refused.json()
        assert (refused.status_code, told["code"], told["status"]) == (412, "precondition_failed", 412), told
        assert f'"{told["ids"]["version"]}"' == seen == refused.headers["ETag"]
        assert "expected" in told["ids"]
        assert site.send("GET", place).json() == before
    done = site.send(route.method, path, json=body, headers={"If-Match": f'"another", {seen}'})
    assert done.status_code == route.status, done.text
    after = site.send("GET", place)
    changed = after.status_code == 404 or after.headers["ETag"] != seen
    assert changed or operation.name == "unpin"  # it was not pinned


@each_guarded
def test_a_star_and_no_header_name_any_version(operation: Operation, route: Rest, site: Site) -> None:
    path = prepare(site, operation, route) + route.path.partition("{id}")[2]
    body = INPUTS.get(operation.name, {})
    assert site.send(route.method, path, json=body, headers={"If-Match": "*"}).status_code == route.status


def test_of_two_edits_of_one_version_the_second_is_refused_with_both_versions(site: Site) -> None:
    path = prepare(site, OPERATIONS["pin"], OPERATIONS["pin"].rest[0])
    tag = {"If-Match": site.send("GET", path).headers["ETag"]}
    pinned = site.send("POST", f"{path}/pin", json={}, headers=tag)
    refused = site.send("POST", f"{path}/forget", json={}, headers=tag)
    assert refused.status_code == 412
    assert refused.json()["ids"] == {
        "version": pinned.headers["ETag"].strip('"'),
        "expected": tag["If-Match"].strip('"'),
    }
    assert site.send("GET", path).json()["status"] == "active"


def test_reading_a_memory_does_not_change_its_version(site: Site) -> None:
    path = prepare(site, OPERATIONS["pin"], OPERATIONS["pin"].rest[0])
    tag = site.send("GET", path).headers["ETag"]
    site.send("POST", "/v1/search", json={"query": "Where do I live?"})
    site.settle()
    assert site.send("GET", path).headers["ETag"] == tag


def test_a_correction_answers_with_the_version_of_nothing_else(site: Site) -> None:
    path = prepare(site, OPERATIONS["correct"], OPERATIONS["correct"].rest[0])
    corrected = site.send("PATCH", path, json={"value": "Vienna"})
    assert "ETag" not in corrected.headers  # the new memory has another path
    assert site.send("GET", f"/v1/memories/{corrected.json()['id']}").headers["ETag"]


@pytest.mark.parametrize("tag", ["", "m1.1", '"', '"a" "b"'])
def test_a_header_that_cannot_be_read_changes_nothing(tag: str, site: Site) -> None:
    path = prepare(site, OPERATIONS["forget"], OPERATIONS["forget"].rest[0])
    refused = site.send("POST", f"{path}/forget", json={}, headers={"If-Match": tag})
    assert refused.status_code in {400, 412}
    assert site.send("GET", path).json()["status"] == "active"


def test_where_nothing_has_versions_the_header_is_refused(site: Site) -> None:
    refused = site.send("POST", "/v1/memories", json={"content": "I like tea."}, headers={"If-Match": '"a"'})
    assert (refused.status_code, refused.json()["title"]) == (400, "If-Match has no meaning here")


def nest(depth: int) -> Any:  # noqa: ANN401 - JSON
    return {"a": nest(depth - 1)} if depth else "x"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ({"content": nest(limits.HTTP_DEPTH)}, f"the body is nested deeper than {limits.HTTP_DEPTH} levels"),
        ({"content": "x", "tags": ["t"] * (limits.HTTP_BATCH + 1)}, "a list or object in the body has more than"),
        ({str(number): 1 for number in range(limits.HTTP_BATCH + 1)}, "a list or object in the body has more than"),
    ],
)
def test_a_body_is_neither_too_deep_nor_too_wide(body: Any, title: str, site: Site) -> None:  # noqa: ANN401 - JSON
    refused = site.send("POST", "/v1/memories", json=body)
    assert (refused.status_code, refused.json()["code"]) == (413, "limit_exceeded")
    assert refused.json()["title"].startswith(title)


def test_a_body_within_the_bounds_is_looked_at(site: Site) -> None:
    near = site.send("POST", "/v1/memories", json={"content": nest(limits.HTTP_DEPTH - 1)})
    assert near.status_code == 422


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/audit", "/v1/jobs", "/v1/scores"])
def test_a_cursor_is_opaque_and_of_one_list_of_one_user(path: str, site: Site, tmp_path: Path) -> None:
    for _ in range(2):
        site.send("POST", "/v1/scores", json={"response": "You live in Linz.", "context": "I live in Linz."})
    cursor = site.send("GET", path, params={"limit": 1}).json()["next_cursor"]
    if path == "/v1/audit":  # nothing is recorded without tokens
        cursor = "AAAAAAAAAAEAAAAA"
    else:
        assert site.send("GET", path, params={"limit": 1, "cursor": cursor}).status_code == 200
        others = {"/v1/memories", "/v1/audit", "/v1/jobs", "/v1/scores"} - {path}
        assert all(site.send("GET", other, params={"cursor": cursor}).status_code == 404 for other in others)
    for forged in (f"{cursor[:-1]}{'A' if cursor[-1] != 'A' else 'B'}", cursor + "=", "m1-000000", "1", "ü"):
        assert site.send("GET", path, params={"cursor": forged}).status_code == 404, forged
    with serving(tmp_path / "other.db", ManualClock(START), tokens=True) as other:
        refused = other.send("GET", path, other.token("bob"), params={"cursor": cursor})
        assert refused.status_code == 404

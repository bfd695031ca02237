"""The matrix of doors × operations × callers, made from the tables: 401, 403 and 404, and nothing of another tenant."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response

from credenda import Credenda
from credenda.interfaces.authorization import ROLE_SCOPES, SCOPES
from credenda.interfaces.mcp.tool_specs import Route, ToolSpec, build_tools
from credenda.model.server import MemberRole
from credenda.operation import Operation, Rest
from credenda.operations import OPERATIONS
from credenda.services.access import add_member, remove_member
from credenda.testing import ManualClock

from .agent import say, swing
from .oauth import connect
from .served import BASE, Site, closing_parts, serving
from .test_result_schemas import GIVEN

START = "2026-03-01T09:00:00Z"
SECRET = "Zanzibar"
ROUTES = [(operation, route) for operation in OPERATIONS.values() for route in operation.rest]
TOOLS = [(offer, route) for offer in build_tools(toolset="full").values() for route in offer.routes]
NAMING = frozenset({"id", "change_id", "cause", "event_ids"})
"""Inputs that name a row."""
BY_ROUTE: dict[str, Mapping[str, Any]] = {
    "/v1/history": {"entity": "user", "attribute": "residence"},
    "/v1/undo": {"source": "human", "dry_run": True},
    "/v1/reindex": {"model": "hashed"},
    "/v1/extractions": {"text": "I live in Linz.", "dry_run": "true", "model": "openai:gpt-5-mini"},
}
"""What a route is called with where that differs from its operation."""
each_route = pytest.mark.parametrize(
    ("operation", "route"), ROUTES, ids=[f"{route.method} {route.path}" for _, route in ROUTES]
)
each_tool = pytest.mark.parametrize(
    ("offer", "way"), TOOLS, ids=[f"{offer.name} {route.operation.name}" for offer, route in TOOLS]
)


@pytest.fixture(scope="module")
def module_backend() -> None:
    """Keep on SQLite the file that each test copies."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a database in which ana and bob have beliefs, and ana a contest."""
    path = tmp_path_factory.mktemp("matrix") / "memory.db"
    with Credenda.open(path, user="ana", clock=ManualClock(START), workers=False) as ana:
        ana.remember(f"I live in {SECRET}.", topic="home", session="s", tags=["place"])
        say(ana, f"My sister Eva works at {SECRET}.")
        swing(ana)
        with ana.for_user("bob", workers=False) as bob:
            say(bob, "I live in Bremen.")
            swing(bob)
    return path


class Scene:
    """A copy of the database, ready to be served, and what an operation is called with."""

    def __init__(self, folder: Path, template: Path) -> None:
        self.folder = folder
        self.db = folder / "memory.db"
        shutil.copy(template, self.db)

    def given(self, name: str, user: str) -> dict[str, Any]:
        """Prepare a user's memory for an operation, and return its inputs, with ids of this user."""
        wanted = GIVEN.get(name, {})
        with Credenda.open(self.db, user=user, clock=ManualClock(START), workers=False) as memory:
            found = dict(wanted(memory, self.folder) if callable(wanted) else wanted)
        if "confirm" in found:
            found["confirm"] = user
        found.pop("export", None)
        return found

    def serve(self) -> Any:  # noqa: ANN401 - a context manager of a site
        return serving(self.db, ManualClock(START), tokens=True, settings={"drift_roots": str(self.folder)})


@pytest.fixture
def scene(tmp_path: Path, template: Path) -> Scene:
    return Scene(tmp_path, template)


def names_a_row(given: Mapping[str, Any]) -> bool:
    return bool(NAMING & given.keys())


def view(db: Path) -> list[object]:
    """Return all that can be seen of ana's memory."""
    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False, read_only=True) as ana:
        return [ana.list(status=None, limit=50).items, ana.stats().events, ana.manage.contests()]


@pytest.mark.requirement("R-190", "R-191", "R-192", "R-201", "R-202")
@each_route
def test_a_route_serves_its_owner_alone(operation: Operation, route: Rest, scene: Scene) -> None:
    mine = BY_ROUTE.get(route.path) or scene.given(operation.name, "ana")
    foreign = mine if names_a_row(mine) else BY_ROUTE.get(route.path) or scene.given(operation.name, "bob")
    before = view(scene.db)
    with scene.serve() as site:
        assert_refused(site, partial(site.call, route, operation, mine), operation)
        bobs = site.call(route, operation, foreign, connect_fully(site, "bob"))
        assert bobs.status_code == (404 if names_a_row(mine) else route.status), bobs.text
        assert SECRET not in bobs.text
        assert view(scene.db) == before
        assert_member_refused(site, partial(site.call, route, operation, mine), operation)
        anas = site.call(route, operation, mine, connect_fully(site, "ana"))
        assert anas.status_code == route.status, anas.text


@each_tool
def test_a_tool_serves_its_owner_alone(offer: ToolSpec, way: Route, scene: Scene) -> None:
    operation = way.operation
    found = scene.given(operation.name, "ana")
    given = {one.name: found[one.param.name] for one in way.inputs if one.param.name in found}
    before = view(scene.db)
    with scene.serve() as site:
        assert site.tool(offer.name, given).status_code == 401
        assert site.tool(offer.name, given, "credenda_none").status_code == 401
        others = [scope for scope in SCOPES if scope != operation.scope]
        assert code_of(site.tool(offer.name, given, site.token("ana", others))) == "forbidden"
        bobs = site.tool(offer.name, given, site.token("bob"))
        assert code_of(bobs) == ("not_found" if names_a_row(found) else "")
        assert SECRET not in bobs.text
        assert view(scene.db) == before
        assert code_of(site.tool(offer.name, given, site.token("ana"))) == ""


@each_route
def test_a_member_may_call_what_the_role_permits(operation: Operation, route: Rest, scene: Scene) -> None:
    """The owner of a shared memory may call everything, in its own name and with its ids."""
    mine = BY_ROUTE.get(route.path) or scene.given(operation.name, "ana")
    with scene.serve() as site:
        with closing_parts(site, "ana") as parts:
            add_member(parts, "eva", role="owner")
        evas = site.call(route, operation, mine, site.token("ana", member="eva"))
        assert evas.status_code == route.status, evas.text


def connect_fully(site: Site, user: str) -> str:
    """Connect an OAuth client with every scope, and return its access token."""
    return connect(site, user, " ".join(SCOPES), resource=BASE)["access_token"]


def assert_member_refused(site: Site, call: Callable[[str], Response], operation: Operation) -> None:
    """Check what members of each role get beyond the role, and what someone gets who is a member no more."""
    with closing_parts(site, "ana") as ana:
        add_member(ana, "eva", role="reader")
        token = site.token("ana", member="eva")
        for role in MemberRole:
            if operation.scope not in ROLE_SCOPES[role]:
                add_member(ana, "eva", role=role)
                assert call(token).status_code == 403, role
        remove_member(ana, "eva")
    assert call(token).status_code == 401


def code_of(response: Response) -> str:
    assert response.status_code == 200, response.text
    result = response.json()["result"]
    return result["structuredContent"]["code"] if result["isError"] else ""


def assert_refused(site: Site, call: Callable[[str], Response], operation: Operation) -> None:
    """Check what a caller gets who has no token, a wrong one, an expired or revoked one, or too few scopes."""
    for token in ("", "credenda_none", site.token("ana") + "x"):
        refused = call(token)
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
        assert refused.headers["WWW-Authenticate"].startswith("Bearer")
        assert SECRET not in refused.text
    refused = call(site.token("ana", [scope for scope in SCOPES if scope != operation.scope]))
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    challenge = refused.headers["WWW-Authenticate"]
    assert challenge.startswith(f'Bearer error="insufficient_scope", scope="{operation.scope}", resource_metadata="')


@pytest.mark.parametrize("path", ["/metrics", "/nothing", "/", "/v1/users", "/mcp"])
def test_every_other_page_needs_a_token_too(path: str, scene: Scene) -> None:
    with scene.serve() as site:
        assert site.send("GET", path).status_code == 401
        assert site.send("POST", path).status_code == 401


def test_only_the_pages_for_machines_need_none(scene: Scene) -> None:
    with scene.serve() as site:
        for path in ("/livez", "/readyz", "/openapi.json"):
            assert site.send("GET", path).status_code == 200
            assert SECRET not in site.send("GET", path).text

"""The matrix of the A2A door: operations × bindings × versions × callers, made from the table of operations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from httpx2 import Response

from credenda.interfaces.authorization import SCOPES
from credenda.operation import Operation
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock

from .peer import CARD, WAYS, Peer, Way, list_questions, read_task
from .served import Site, serving
from .test_server_matrix import SECRET, START, view

Call = Callable[[Peer, str], Response]
CALLS: dict[str, Call] = {
    "remember": lambda peer, _: peer.send("I play chess."),
    "outcome": lambda peer, task: peer.call("get", {"id": task}),
    "contests": lambda peer, _: peer.send({"skill": "resolve_conflicts"}),
    "resolve": lambda peer, task: peer.send({"resolution": "keep_existing"}, taskId=task),
}
"""How an agent makes the server call an operation; the second argument is a task of ana that waits for an answer."""
NAMING = {"outcome", "resolve"}
OPEN = [operation for operation in OPERATIONS.values() if "a2a" in operation.doors]
each_way = pytest.mark.parametrize("way", WAYS, ids=str)


def begin(site: Site, way: Way) -> str:
    """Begin a task of ana that asks about her secret, and return its id."""
    ana = Peer(site, way, site.token("ana"))
    ana.begin(f"I live in {SECRET}.")
    task = ana.begin("I live in Bremen.")
    site.settle()
    assert list_questions(ana.get(task["id"]))[0]["values"] == [SECRET, "Bremen"]
    return task["id"]


def test_every_operation_that_is_open_to_agents_is_called() -> None:
    assert {operation.name for operation in OPEN} == CALLS.keys()


@pytest.mark.requirement("D-013", "R-182", "R-192", "R-201", "R-202")
@each_way
@pytest.mark.parametrize("operation", OPEN, ids=lambda operation: operation.name)
def test_an_operation_serves_its_owner_alone(operation: Operation, way: Way, tmp_path: Path) -> None:
    call = CALLS[operation.name]
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        task = begin(site, way)
        before = view(tmp_path / "memory.db")
        for token in ("", "credenda_none", site.token("ana") + "x"):
            refused = call(Peer(site, way, token), task)
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
        lesser = site.token("ana", [scope for scope in SCOPES if scope != operation.scope])
        refused = call(Peer(site, way, lesser), task)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), refused.text
        challenge = f'Bearer error="insufficient_scope", scope="{operation.scope}"'
        assert refused.headers["WWW-Authenticate"].startswith(challenge)
        bobs = call(Peer(site, way, site.token("bob")), task)
        assert SECRET not in bobs.text
        assert is_not_found(bobs) == (operation.name in NAMING), bobs.text
        assert view(tmp_path / "memory.db") == before
        assert "status" in read_task(call(Peer(site, way, site.token("ana")), task))


def is_not_found(response: Response) -> bool:
    error = response.json().get("error")
    return error is not None and error["code"] in {404, -32001}


@pytest.mark.requirement("R-183")
def test_the_card_is_public_and_a_list_shows_own_tasks_only(tmp_path: Path) -> None:
    with serving(tmp_path / "memory.db", ManualClock(START), tokens=True) as site:
        begin(site, WAYS[0])
        card = site.send("GET", CARD)
        assert card.status_code == 200
        assert card.json()["securitySchemes"]["bearer"]["httpAuthSecurityScheme"] == {"scheme": "Bearer"}
        assert SECRET not in card.text
        headers = {"A2A-Version": "1.0"}
        assert site.send("GET", "/a2a/tasks", headers=headers).status_code == 401
        listed = site.send("GET", "/a2a/tasks", site.token("bob"), headers=headers).json()
        assert (listed["tasks"], listed["totalSize"]) == ([], 0)
        assert site.send("GET", "/a2a/tasks", site.token("ana"), headers=headers).json()["totalSize"] == 2

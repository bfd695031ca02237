"""Which door offers which operation, and that no remote door takes a path of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextvars import Context
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from credenda.errors import Forbidden, Invalid, Unauthenticated
from credenda.interfaces.authorization import ServerFile, invoke, make_local_principal, use_principal
from credenda.interfaces.json_schema import Definitions, build_openapi
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.interfaces.serialize import to_jsonable
from credenda.model.report import (
    BackupReport,
    DriftReport,
    EraseReceipt,
    ExportReport,
    ImportReport,
    ScanReport,
    SyncReport,
)
from credenda.operation import DOORS, NOT_A_SKILL, REMOTE, Door, Operation, Param, Scope
from credenda.operations import OPERATIONS

SKILLS = {"remember", "outcome", "contests", "resolve"}
NOT_BY_HTTP = {"test", "replay", "undo-where", "backup", "rebuild", "scan", "drift", "files"}
PATHS = ("/etc/passwd", Path("/etc/passwd"), "relative.txt", ["/srv"])


class _Owned:
    user = "ana"


_UNTOUCHED: Any = _Owned()
"""In place of a memory: whatever is called on it is an `AttributeError`."""

each = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
each_remote = pytest.mark.parametrize("door", sorted(REMOTE))


@pytest.fixture(autouse=True)
def ana_calls() -> Iterator[None]:
    with use_principal(make_local_principal("ana")):
        yield


@each
@each_remote
def test_no_remote_door_accepts_a_path_of_the_server(operation: Operation, door: Door) -> None:
    for param in operation.params:
        if not param.is_path:
            continue
        assert param.kind_at(door) in {None, "upload", "download"}
        for path in PATHS:
            with pytest.raises(Invalid):
                invoke(_UNTOUCHED, operation, {param.name: path}, door=door)


@each
@each_remote
def test_a_remote_door_takes_only_what_the_table_opens_to_it(operation: Operation, door: Door) -> None:
    with pytest.raises(Invalid):
        invoke(_UNTOUCHED, operation, {"progress": print}, door=door)
    for param in set(operation.params) - set(operation.params_at(door)):
        with pytest.raises(Invalid):
            invoke(_UNTOUCHED, operation, {param.name: param.default}, door=door)


@each
def test_a_closed_door_refuses_and_says_why(operation: Operation) -> None:
    for door, reason in operation.closed.items():
        assert len(reason.split()) >= 3
        assert door != "python"
        if door in REMOTE:
            with pytest.raises(Invalid, match=re.escape(reason)):
                invoke(_UNTOUCHED, operation, {}, door=door)


def test_a_file_that_the_server_made_reaches_the_operation(tmp_path: Path) -> None:
    class Recorded:
        user = "ana"

        class data:  # noqa: N801 - it stands for the attribute of a memory
            @staticmethod
            def export(**given: object) -> dict[str, object]:
                return given

    memory: Any = Recorded
    sent = invoke(memory, OPERATIONS["export"], {"path": ServerFile(tmp_path), "format": "mcp-memory"}, door="rest")
    assert sent == {"path": tmp_path, "format": "mcp-memory"}


@pytest.mark.parametrize("door", ["mcp", "rest"])
def test_a_remote_door_calls_nothing_without_a_principal_with_the_scope_and_the_tenant(door: Door) -> None:
    def call() -> object:
        return invoke(_UNTOUCHED, OPERATIONS["stats"], {}, door=door)

    with pytest.raises(Unauthenticated):
        Context().run(call)
    owner = make_local_principal("ana")
    for other in (replace(owner, scopes=frozenset[Scope]({"memory:write"})), replace(owner, tenant="bob")):
        with use_principal(other), pytest.raises(Forbidden):
            call()
    with pytest.raises(AttributeError):
        call()


def test_an_entry_with_a_path_is_open_to_a_remote_door_only_with_what_takes_its_place() -> None:
    bare = Param(name="path", type=Path, help="A file.")
    with pytest.raises(ValueError, match="takes a path"):
        replace(OPERATIONS["stats"], params=(bare,))
    nowhere = {**NOT_A_SKILL, "mcp": "it names a file", "rest": "it names a file"}
    assert replace(OPERATIONS["stats"], params=(bare,), closed=nowhere).doors == {"python", "cli"}
    closed = replace(OPERATIONS["stats"], params=(replace(bare, remote="nothing"),))
    assert closed.params_at("rest") == ()
    assert closed.params_at("cli") == closed.params


LOCAL_RESULTS = {
    "backup": BackupReport(path="/srv/copy.db", size_bytes=1, users=1),
    "drift": DriftReport(roots=("/srv/code",), score=100, findings=(), memories=0),
    "erase": EraseReceipt(
        rows=1, windows_searched=1, remaining_matches=0, backups=("/srv/old.db",), exported="/srv/out.jsonl"
    ),
    "export": ExportReport(path="/srv/out.jsonl", rows={}),
    "files": SyncReport(path="/srv/pages"),
    "import": ImportReport(path="/srv/in.json", format="chatgpt"),
    "scan": ScanReport(root="/srv/code", files=0, added=0, changed=0, unchanged=0, removed=0, binary=0, passed_over=0),
}
"""A result of every operation whose result names paths of the machine."""
NAMES_OF_PATHS = frozenset({"path", "paths", "root", "roots", "backup", "backups", "exported", "folder", "file"})


@pytest.mark.parametrize("name", LOCAL_RESULTS)
def test_a_remote_caller_sees_no_path_of_the_server(name: str) -> None:
    result = LOCAL_RESULTS[name]
    assert "/srv" in str(to_jsonable(result))
    shown = to_jsonable(result, remote=True)
    assert "/srv" not in str(shown)
    known = Definitions(remote=True)
    known.schema_of(type(result))
    assert set(known.schemas[type(result).__name__]["properties"]) == set(shown)


@each
def test_no_result_schema_for_another_machine_has_a_field_for_a_path(operation: Operation) -> None:
    known = Definitions(remote=True)
    known.schema_of(operation.output)
    fields = {name for schema in known.schemas.values() for name in schema.get("properties", {})}
    assert not fields & NAMES_OF_PATHS


def test_the_openapi_document_describes_no_path_of_the_server() -> None:
    schemas = build_openapi(version="1")["components"]["schemas"]
    assert {"ImportReport", "EraseReceipt"} <= schemas.keys()
    for name, schema in schemas.items():
        assert not NAMES_OF_PATHS & schema.get("properties", {}).keys(), name


def test_another_agent_may_hand_over_messages_and_answer_contests_only() -> None:
    assert {name for name, operation in OPERATIONS.items() if "a2a" in operation.doors} == SKILLS


def test_every_operation_that_is_open_to_http_has_a_route_and_no_other() -> None:
    closed = {name for name, operation in OPERATIONS.items() if "rest" not in operation.doors}
    assert closed == NOT_BY_HTTP
    routes = [(one.method, one.path) for operation in OPERATIONS.values() for one in operation.rest]
    assert len(routes) == len(set(routes))
    for operation in OPERATIONS.values():
        assert bool(operation.rest) == ("rest" in operation.doors), operation.name
        for route in operation.rest:
            assert route.path.startswith("/v1/")
            assert set(route.in_path) <= {param.name for param in operation.params_at("rest")}
            assert not (route.method == "GET" and operation.writes), operation.name


def test_permissions_fit_what_an_operation_does() -> None:
    for name, operation in OPERATIONS.items():
        if not operation.writes and name not in {"backup", "audit", "verify-audit", "export-audit", "compliance"}:
            assert operation.scope == "memory:read", name
        if operation.writes:
            assert operation.scope != "memory:read", name
    erasing = {name for name, operation in OPERATIONS.items() if operation.scope == "memory:erase"}
    assert erasing == {"delete-where", "erase", "apply-policies"}


def test_the_doors_of_the_table_are_those_that_are_reviewed() -> None:
    assert DOORS == ("python", "cli", "mcp", "rest", "a2a")
    assert all("python" in operation.doors for operation in OPERATIONS.values())
    behind = {route.operation.name for offer in build_tools(toolset="full").values() for route in offer.routes}
    assert behind == {name for name, operation in OPERATIONS.items() if "mcp" in operation.doors}


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("POST", "/v1/memories", "remember"),
        ("GET", "/v1/memories", "list"),
        ("GET", "/v1/memories/{id}", "get"),
        ("PATCH", "/v1/memories/{id}", "correct"),
        ("DELETE", "/v1/memories/{id}", "delete"),
        ("GET", "/v1/memories/{id}/history", "history"),
        ("GET", "/v1/memories/{id}/why", "why"),
        *[
            ("POST", f"/v1/memories/{{id}}/{verb}", verb)
            for verb in ("pin", "promote", "demote", "restore", "feedback")
        ],
        ("POST", "/v1/memories/{id}/status", "set-status"),
        ("POST", "/v1/search", "search"),
        ("POST", "/v1/context", "context"),
        ("GET", "/v1/contests", "contests"),
        ("POST", "/v1/contests/{id}/resolution", "resolve"),
        ("POST", "/v1/consolidations", "consolidate"),
        ("POST", "/v1/dreams", "dream"),
        ("GET", "/v1/jobs/{id}", "job"),
        ("GET", "/v1/audit", "audit"),
        ("POST", "/v1/reindex", "reembed"),
        ("GET", "/v1/changes", "changes"),
        ("POST", "/v1/changes/{change_id}/undo", "undo"),
        ("GET", "/v1/stats", "stats"),
        ("POST", "/v1/export", "export"),
        ("POST", "/v1/imports", "import"),
        ("DELETE", "/v1/me", "erase"),
    ],
)
def test_the_routes_of_the_contract(method: str, path: str, name: str) -> None:
    assert (method, path) in {(one.method, one.path) for one in OPERATIONS[name].rest}

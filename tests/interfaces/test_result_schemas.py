"""The result of every operation is what its generated schema says, as JSON and as a tool answers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from credenda import Credenda
from credenda.interfaces.authorization import invoke
from credenda.interfaces.json_schema import Definitions
from credenda.interfaces.mcp.results import build_answer, build_output_schema
from credenda.interfaces.serialize import encode, to_jsonable
from credenda.operation import Operation
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock, ScriptedModel

from .agent import say, swing

Given = Callable[[Credenda, Path], Mapping[str, Any]] | Mapping[str, Any]


def _event(mem: Credenda, _: Path) -> dict[str, Any]:
    memory = mem.list(attribute="residence").items[0]
    return {"id": mem.why(memory.id).evidence[0][0].id}


def _memory(mem: Credenda, _: Path) -> dict[str, Any]:
    return {"id": mem.list(attribute="residence").items[0].id}


def _contest(mem: Credenda, _: Path) -> dict[str, Any]:
    return {"id": mem.manage.contests()[0].id, "keep": "afternoon"}


def _forgotten(mem: Credenda, place: Path) -> dict[str, Any]:
    return {"id": mem.forget(_memory(mem, place)["id"]).id}


def _note(_: Credenda, place: Path) -> dict[str, Any]:
    (place / "note.txt").write_text("The office is in Vienna.\n", encoding="utf-8")
    return {"path": place / "note.txt"}


def _project(mem: Credenda, place: Path) -> dict[str, Any]:
    folder = place / "project"
    folder.mkdir()
    (folder / "main.py").write_text("def serve() -> None:\n    pass\n", encoding="utf-8")
    say(mem, "We use the function `vanished()` in `gone/away.py`.")
    return {"path": folder}


def _roots(mem: Credenda, place: Path) -> dict[str, Any]:
    return {"roots": [_project(mem, place)["path"]]}


def _held(mem: Credenda, _: Path) -> dict[str, Any]:
    mem.manage.hold("a lawsuit")
    return {"reason": "it is settled"}


def _held_only(mem: Credenda, place: Path) -> dict[str, Any]:
    _held(mem, place)
    return {}


def _change(mem: Credenda, place: Path) -> dict[str, Any]:
    return {"change_id": mem.why(_memory(mem, place)["id"]).changes[-1].id, "cascade": True}


def _cause(mem: Credenda, place: Path) -> dict[str, Any]:
    return {"cause": mem.why(_memory(mem, place)["id"]).evidence[0][0].id}


def _job(mem: Credenda, _: Path) -> dict[str, Any]:
    return {"id": mem.jobs.list().items[0].id}


def _call(mem: Credenda, _: Path) -> dict[str, Any]:
    return {"id": mem.jobs.start("consolidate", {"dry_run": True}).id}


def _assertions(_: Credenda, place: Path) -> dict[str, Any]:
    path = place / "beliefs.test"
    path.write_text("expect: residence(user) == Rome; contested: meeting_time(user)\n", encoding="utf-8")
    return {"path": path, "reextract": True}


GIVEN: dict[str, Given] = {
    "test": _assertions,
    "replay": lambda mem, place: {"session": "s", "without": _memory(mem, place)["id"]},
    "remember": {"content": "I play chess."},
    "search": {"query": "Where do I live?", "explain": True},
    "context": {"query": "Where do I live?"},
    "get": _memory,
    "event": _event,
    "plan-deletion": _memory,
    "why": _memory,
    "uses": _memory,
    "session": lambda mem, _place: {"session": mem.inspect.sessions().items[0].session},
    "changes": _cause,
    "history": _memory,
    "diff": {"since": "2026-02-01"},
    "correct": lambda mem, place: {**_memory(mem, place), "value": "Vienna"},
    "forget": _memory,
    "restore": _forgotten,
    "delete": _memory,
    "feedback": lambda mem, place: {**_memory(mem, place), "useful": True},
    "pin": _memory,
    "unpin": _memory,
    "resolve": _contest,
    "outcome": lambda mem, place: {"event_ids": [_event(mem, place)["id"]]},
    "set-status": lambda mem, place: {**_memory(mem, place), "status": "archived"},
    "status-history": _memory,
    "undo": _change,
    "undo-where": {"source": "human", "dry_run": True},
    "decay": {"dry_run": True},
    "promote": lambda mem, _place: {"id": mem.manage.demote(mem.list(attribute="residence").items[0].id).id},
    "demote": _memory,
    "consolidate": {"force": True},
    "schedule": {"run": True},
    "delete-where": {"topic": "home"},
    "erase": lambda _mem, place: {"confirm": "ana", "export": place / "last.jsonl"},
    "policy": {"days": 30},
    "hold": {"reason": "a lawsuit"},
    "lift-hold": _held,
    "holds": _held_only,
    "backup": lambda _mem, place: {"path": place / "backup.db"},
    "rebuild": {"reextract": True, "dry_run": True},
    "extract": {"text": "I live in Linz.", "dry_run": True},
    "export": lambda _mem, place: {"path": place / "all.jsonl"},
    "import": _note,
    "scan": _project,
    "drift": _roots,
    "files": lambda _mem, place: {"dir": place / "pages"},
    "contest": lambda mem, _place: {"id": mem.manage.contests()[0].id},
    "job": _job,
    "cancel": _call,
    "retry": lambda mem, place: {"id": mem.jobs.cancel(_call(mem, place)["id"]).id},
    "preview-extraction": {"text": "I moved to Vienna. I like tea."},
    "preview-context": {"query": "Where do I live?"},
    "score": {"response": "You live in Graz. You like coffee.", "context": "I live in Graz."},
    "scores": lambda mem, _place: {"limit": len(mem.inspect.score("You live in Graz.", "I live in Graz.").claims)},
    "export-audit": lambda _mem, place: {"path": place / "audit.jsonl"},
    "compliance": lambda _mem, place: {"path": place / "report.jsonl"},
}
"""What each operation is called with; those that are not named need nothing."""
MARKS = {"backup": pytest.mark.sqlite_file}  # a backup is a copy of the file


@pytest.fixture
def told(tmp_path: Path) -> Any:  # noqa: ANN401 - a memory with something of everything
    clock = ManualClock("2026-03-01T09:00:00Z")
    path = tmp_path / "memory.db"
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed") as mem:
        mem.remember("I live in Linz.", topic="home", session="s", tags=["place"], metadata={"page": 3})
        say(mem, "I moved to Graz.", "I like tea.", "I like tea.", "My sister Eva works at Acme.")
        swing(mem)
    with Credenda.open(path, user="ana", clock=clock, workers=False, llm=ScriptedModel(), embedder="hashed") as mem:
        yield mem


def _closed(schema: Any) -> Any:  # noqa: ANN401 - any part of a schema
    """Allow no property that a schema does not name."""
    if isinstance(schema, list):
        return [_closed(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    known = {name: _closed(one) for name, one in cast("dict[str, Any]", schema).items()}
    return known if not isinstance(known.get("properties"), dict) else {"additionalProperties": False, **known}


def _check(value: object, schema: Mapping[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(encode(value)), _closed(schema), jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "operation", [pytest.param(one, id=name, marks=MARKS.get(name, ())) for name, one in OPERATIONS.items()]
)
def test_every_result_is_what_its_schema_says(operation: Operation, told: Credenda, tmp_path: Path) -> None:
    wanted = GIVEN.get(operation.name, {})
    given = wanted(told, tmp_path) if callable(wanted) else wanted
    value = invoke(told, operation, given)
    known = Definitions()
    schema = known.schema_of(operation.output)
    _check(value, {**schema, "$defs": known.schemas})
    if "mcp" in operation.doors:
        told_to_models = build_answer(operation, given, value)
        jsonschema.validate(to_jsonable(told_to_models), build_output_schema([operation]))


def test_every_operation_that_needs_an_input_is_called_with_it() -> None:
    for name, operation in OPERATIONS.items():
        assert name in GIVEN or not any(param.required for param in operation.params), name


def test_a_schema_refuses_what_is_missing_or_of_another_type() -> None:
    known = Definitions()
    schema = {**known.schema_of(OPERATIONS["get"].output), "$defs": known.schemas}
    with pytest.raises(jsonschema.ValidationError):
        _check({"id": "m1"}, schema)


def test_descriptions_come_from_the_docstrings() -> None:
    known = Definitions()
    known.schema_of(OPERATIONS["stats"].output)
    known.schema_of(OPERATIONS["get"].output)
    stats, memory = known.schemas["Stats"], known.schemas["Memory"]
    assert stats["description"] == "Counts of a tenant's rows and pending work."
    assert stats["properties"]["by_type"]["description"] == "Active memories by type."
    assert memory["properties"]["valid_from"]["description"] == "The time from which it was true; None if it never was."
    assert memory["properties"]["recorded_at"]["format"] == "date-time"


def test_two_classes_of_one_name_have_two_definitions() -> None:
    first, second = (make_dataclass("Same", [(name, int)]) for name in ("one", "other"))
    second.__module__ = "package.later"
    known = Definitions()
    references = {known.schema_of(kind)["$ref"] for kind in (first, second, first)}
    assert references == {"#/$defs/Same", "#/$defs/LaterSame"}
    assert list(known.schemas["LaterSame"]["properties"]) == ["other"]

"""One body of operations through Python, the command line, REST and MCP: the same JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, cast

import pytest

from credenda import Credenda
from credenda.interfaces.authorization import invoke
from credenda.interfaces.mcp.results import build_answer
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.interfaces.serialize import to_jsonable
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock

from .served import Site, serving
from .terminal import Terminal

START = "2026-03-01T09:00:00Z"
FREE = frozenset(
    {
        *("took_ms", "last_accessed", "access_count", "decay_score", "settled", "believed", "contests_opened"),
        *("tokens", "bytes", "earned"),
    }
)
"""Fields that depend on the time of day, on when a process closed the memory, on the letters of its ids, or on what
the database server has around it.
"""
_TAG = re.compile(r"\b([emckj][0-9]+)-[0-9a-f]{6}\b")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T[0-9:.]+Z")
_DAY = re.compile(r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2} [A-Z][a-z]{2} \d{4})\b")


class Near(float):
    """A number that equals those a ten-thousandth away: a score falls with the seconds since a message."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and abs(float(self) - float(other)) < 1e-4

    __hash__ = float.__hash__


class Door(Protocol):
    def run(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        """Call an operation, and return its result as JSON."""
        ...

    def settle(self) -> None: ...


class InPython:
    def __init__(self, db: Path) -> None:
        self.memory = Credenda.open(db, user="ana", workers=False)

    def run(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        return to_jsonable(invoke(self.memory, OPERATIONS[name], given))

    def answer(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        """Return what a tool would answer."""
        operation = OPERATIONS[name]
        return to_jsonable(build_answer(operation, given, invoke(self.memory, operation, given)))

    def settle(self) -> None:
        self.memory.settle()


class OnCommandLine:
    def __init__(self, folder: Path) -> None:
        self.terminal = Terminal(folder)

    def run(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        args = [name]
        for param in OPERATIONS[name].params:
            if param.name not in given:
                continue
            value = given[param.name]
            flag = (param.option or param.name).replace("_", "-")
            if param.kind == "flag":
                on, _, off = flag.partition("/")
                args += [f"--{on}" if value else f"--{off or f'no-{on}'}"]
                continue
            values = cast("list[Any]", value) if isinstance(value, list) else [value]
            for one in values:
                args += [str(one)] if param.positional else [f"--{flag}", str(one)]
        args += ["--yes"] if name in {"delete", "restore"} else []
        found = self.terminal.json(*args)
        if name == "feedback":  # a person is told that it was noted
            return None
        return {key: value for key, value in found.items() if key != "contests"} if name == "remember" else found

    def settle(self) -> None:
        """Do nothing: a command settles by itself."""


class OverRest:
    def __init__(self, site: Site, clock: ManualClock) -> None:
        self.site, self.clock = site, clock

    def run(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        operation = OPERATIONS[name]
        answered = self.site.call(operation.rest[0], operation, given)
        assert answered.status_code == operation.rest[0].status, answered.text
        return answered.json() if answered.content else None

    def settle(self) -> None:
        self.site.settle()
        self.clock.advance(timedelta(seconds=1))


class OverMcp:
    def __init__(self, site: Site, clock: ManualClock) -> None:
        self.site, self.clock = site, clock

    def run(self, name: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        offer, way = next(
            (offer, way)
            for offer in build_tools(toolset="full").values()
            for way in offer.routes
            if way.operation.name == name
        )
        arguments = {one.name: given[one.param.name] for one in way.inputs if one.param.name in given}
        answered = self.site.tool(offer.name, arguments)
        assert not answered.json()["result"]["isError"], answered.text
        return answered.json()["result"]["structuredContent"]

    def settle(self) -> None:
        self.site.settle()
        self.clock.advance(timedelta(seconds=1))


def live_through(door: Door, ids: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Call one operation after the other, and yield each result; `ids` are given to those that need one."""
    for text in ("I live in Linz.", "I moved to Graz.", "My sister Eva works at Acme.", "I like tea."):
        yield "remember", door.run("remember", content=text, session="s", topic="home")
        door.settle()
    yield "search", door.run("search", query="Where do I live?", limit=5)
    yield "context", door.run("context", query="Where do I live?", token_budget=500)
    yield "preview-context", door.run("preview-context", query="Where do I live?", token_budget=500)
    yield "preview-extraction", door.run("preview-extraction", text="I moved to Wels. I like tea.", session="s")
    yield "score", door.run("score", response="You live in Graz. You like coffee.", context="I live in Graz.")
    yield "costs", door.run("costs", since="2026-01-01", until="2026-02-01")
    yield "list", door.run("list", limit=3)
    yield "list", door.run("list", attribute="residence")
    yield "why", door.run("why", id=ids["residence"])
    yield "history", door.run("history", id=ids["residence"])
    yield "correct", door.run("correct", id=ids["residence"], value="Vienna", reason="a slip")
    yield "forget", door.run("forget", id=ids["tea"], reason="enough")
    yield "restore", door.run("restore", id=ids["tea"])
    yield "pin", door.run("pin", id=ids["tea"])
    yield "get", door.run("get", id=ids["tea"])
    yield "unpin", door.run("unpin", id=ids["tea"])
    yield "demote", door.run("demote", id=ids["tea"])
    yield "promote", door.run("promote", id=ids["tea"])
    yield "feedback", door.run("feedback", id=ids["tea"], useful=True)
    yield "set-status", door.run("set-status", id=ids["tea"], status="archived", reason="rest")
    yield "set-status", door.run("set-status", id=ids["tea"], status="active")
    yield "status-history", door.run("status-history", id=ids["tea"])
    yield "contests", door.run("contests")
    yield "diff", door.run("diff", since="2020-01-01", until="2020-02-01")
    yield "core", door.run("core")
    yield "decay", door.run("decay", dry_run=True)
    yield "lifecycle", door.run("lifecycle", dry_run=True)
    yield "consolidate", door.run("consolidate", dry_run=True, force=True)
    yield "dream", door.run("dream", dry_run=True, steps=["merge"])
    yield "compress", door.run("compress", dry_run=True)
    yield "doctor", door.run("doctor")
    yield "delete", door.run("delete", id=ids["tea"])
    yield "list", door.run("list", status="deleted")
    yield "stats", door.run("stats")


class _Ids(dict[str, str]):
    """The ids of memories in one database, looked up when they are first needed."""

    def __init__(self, db: Path) -> None:
        super().__init__()
        self._db = db

    def __missing__(self, name: str) -> str:
        with Credenda.open(self._db, user="ana", workers=False) as memory:
            found = [one for one in memory.list(limit=50).items if name in (one.attribute or "") + (one.value or "")]
        self[name] = found[0].id
        return self[name]


def normalise(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Drop what differs between databases and moments."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {name: normalise(one) for name, one in table.items() if name not in FREE}
    if isinstance(value, list):
        return [normalise(one) for one in cast("list[Any]", value)]
    if isinstance(value, str):
        return _DAY.sub("DAY", _TIME.sub("TIME", _TAG.sub(r"\1", value)))
    return Near(value) if isinstance(value, float) else value


@pytest.fixture
def in_python(tmp_path: Path) -> Iterator[list[tuple[str, Any]]]:
    db = tmp_path / "python.db"
    door = InPython(db)
    yield [(name, normalise(result)) for name, result in live_through(door, _Ids(db))]
    door.memory.close()


def test_the_command_line_gives_the_json_of_python(tmp_path: Path, in_python: list[tuple[str, Any]]) -> None:
    door = OnCommandLine(tmp_path)
    for (name, result), expected in zip(live_through(door, _Ids(door.terminal.db)), in_python, strict=True):
        assert (name, normalise(result)) == expected


def test_rest_gives_the_json_of_python(tmp_path: Path, in_python: list[tuple[str, Any]]) -> None:
    db = tmp_path / "memory.db"
    clock = ManualClock(START)
    with serving(db, clock) as site:
        for (name, result), expected in zip(live_through(OverRest(site, clock), _Ids(db)), in_python, strict=True):
            assert (name, normalise(result)) == expected


def test_mcp_gives_the_answers_that_are_made_of_the_results_of_python(tmp_path: Path) -> None:
    class Answering(InPython):
        run = InPython.answer

    db, other = tmp_path / "memory.db", tmp_path / "other.db"
    answering = Answering(other)
    expected = [(name, normalise(result)) for name, result in live_through(answering, _Ids(other))]
    answering.memory.close()
    clock = ManualClock(START)
    with serving(db, clock) as site:
        for (name, result), wanted in zip(live_through(OverMcp(site, clock), _Ids(db)), expected, strict=True):
            assert (name, normalise(result)) == wanted

"""Private text is written to no file, whichever operation, input and door brings it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, cast

import pytest
from click.testing import CliRunner

from credenda import Credenda, CredendaError, Invalid, NotFound
from credenda.interfaces.authorization import invoke
from credenda.interfaces.cli.main import cli
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.interfaces.web.routes import PAGES
from credenda.operation import Operation, Param
from credenda.operations import OPERATIONS
from credenda.testing import ManualClock

from .agent import swing
from .pages import HTML, Person, serving_pages, tell
from .peer import WAYS, Peer
from .served import serving
from .terminal import NO_SETTINGS, Terminal

pytestmark = pytest.mark.sqlite_file  # the bytes of the file are searched
START: Final = "2026-03-01T09:00:00Z"
WORD: Final = "zorkmid"
PRIVATE: Final = f"Ana keeps bees. <Private why='{WORD}'>\nHer {WORD} <private>is {WORD}</private> {WORD}.</private>"
BEES: Final = "keeps bees"
WORDS: Final = {"text", "names", "table", "tables"}
SHOWN: Final = {
    *(("remember", one) for one in ("content", "topic", "tags", "metadata", "claims")),
    *(("correct", one) for one in ("text", "value", "reason")),
    *((name, "reason") for name in ("forget", "set-status", "hold")),
    ("import", "path"),
}
"""The inputs whose other words are stored: without them these tests would prove nothing."""
SPOKEN: Final = f"Off the record: Ana keeps bees in her {WORD}."
Ids = Mapping[str, str]
Call = Callable[[Path, Operation, Mapping[str, Any]], str]
"""Calls an operation at a door, and returns all that the door answers."""


def seed(db: Path) -> dict[str, str]:
    """Believe something, with a contest about it, and return ids by what they name."""
    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False, embedder="none") as memory:
        claims = [{"quote": "I live in Linz", "entity": "user", "attribute": "residence", "value": "Linz"}]
        event = memory.remember("I live in Linz.", session="s", claims=claims).event_ids[0]
        swing(memory)
        (contest,) = memory.manage.contests()
        held = memory.list(attribute="residence").items[0].id
    return {"memory": held, "event": event, "contest": contest.id}


def fill(param: Param, folder: Path) -> Any:  # noqa: ANN401 - as a door takes it
    """Return private text in the form of an input."""
    if param.is_path:
        inside = folder / "source"
        inside.mkdir(exist_ok=True)
        (inside / "note.md").write_text(f"# Notes\n\n{PRIVATE}\n", "utf-8")
        (inside / "code.py").write_text(f'"""{PRIVATE}"""\n\n\ndef keep(x="{PRIVATE!r}"): ...\n', "utf-8")
        return str(inside / "note.md")
    match param.kind:
        case "names":
            return [PRIVATE]
        case "table":
            return {f"Bee <private>{WORD}</private>": PRIVATE}  # a shell splits name and value at the first "="
        case "tables":
            return [{"quote": PRIVATE, "entity": PRIVATE, "attribute": PRIVATE, "value": PRIVATE, "scope": PRIVATE}]
        case _:
            return PRIVATE


def fill_required(operation: Operation, param: Param, ids: Ids) -> Any:  # noqa: ANN401 - as above
    if param.name in {"id", "event_ids", "cause"}:
        kind = "contest" if operation.name in {"resolve", "contest"} else "event" if operation.name == "event" else ""
        return ids[kind or "memory"]
    if param.choices:
        return "archived" if "archived" in param.choices else param.choices[0]
    return {"flag": True, "time": START, "integer": 3, "number": 0.5}.get(param.kind, "Ana likes tea.")


def list_inputs(operation: Operation) -> list[Param]:
    """Return the inputs in which words may stand: none that takes some words only, and no id."""
    return [
        one
        for one in operation.params
        if one.name not in {"id", "confirm", "event_ids", "change_id", "cause", "cursor", "anchor"}
        and (one.is_path or (one.kind in WORDS and not one.choices))
    ]


def build_calls(operation: Operation, folder: Path, ids: Ids) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each input with private text, among what else the operation needs."""
    for param in list_inputs(operation):
        needed = {one.name: fill_required(operation, one, ids) for one in operation.params if one.required}
        given = {**needed, param.name: fill(param, folder)}
        if param.name in {"topic", "claims", "tags", "metadata"} and "content" in needed:
            given["content"] = PRIVATE
        if operation.name == "import" and param.name != "path":
            given["path"] = str(folder / "notes.md")
            Path(given["path"]).write_text("Ana likes tea.", encoding="utf-8")
        if operation.name == "correct" and param.name == "reason":
            given["value"] = "Wels"
        yield param.name, given


def by_python(db: Path, operation: Operation, given: Mapping[str, Any]) -> str:
    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False, embedder="none") as memory:
        try:
            answer = repr(invoke(memory, operation, given))
        except CredendaError as error:
            answer = f"{error} {error.args} {error.ids}"
        memory.settle()
    return answer


def by_command(db: Path, operation: Operation, given: Mapping[str, Any]) -> str:
    args = ["--db", str(db), "--user", "ana", operation.name]
    for param in operation.params:
        if param.name not in given:
            continue
        value, flag = given[param.name], f"--{(param.option or param.name).replace('_', '-')}"
        match param.kind:
            case "flag":
                args += [flag.partition("/")[0]]
                continue
            case "tables":
                shown = [json.dumps(value)]
            case "table":
                shown = [f"{name}={one}" for name, one in value.items()]
            case _:
                shown = cast("list[str]", value) if isinstance(value, list) else [str(value)]
        for one in shown:
            args += [one] if param.positional else [flag, one]
    found = CliRunner().invoke(cli, args, env=NO_SETTINGS)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.output


def by_rest(db: Path, operation: Operation, given: Mapping[str, Any]) -> str:
    answers: list[str] = []
    with serving(db, ManualClock(START), audit=True) as site:
        for route in operation.rest:
            if set(route.in_path) <= given.keys():
                answer = site.call(route, operation, given)
                assert answer.status_code < 500
                answers.append(f"{answer.text} {dict(answer.headers)}")
        site.settle()
    return "\n".join(answers)


def by_mcp(db: Path, operation: Operation, given: Mapping[str, Any]) -> str:
    answers: list[str] = []
    with serving(db, ManualClock(START), audit=True) as site:
        for offer in build_tools(toolset="full").values():
            for way in offer.routes:
                if way.operation.name == operation.name:
                    sent = {one.name: given[one.param.name] for one in way.inputs if one.param.name in given}
                    answers.append(site.tool(offer.name, sent).text)
        site.settle()
    return "\n".join(answers)


DOORS: Final[Mapping[str, Call]] = {"python": by_python, "cli": by_command, "rest": by_rest, "mcp": by_mcp}


def dump(db: Path) -> str:
    """Return the bytes of all files of a database."""
    return "".join(one.read_bytes().decode("latin-1") for one in sorted(db.parent.rglob("*")) if one.is_file())


@pytest.mark.parametrize(
    ("name", "door"),
    [(one.name, door) for one in OPERATIONS.values() if list_inputs(one) for door in DOORS if door in one.doors],
)
def test_no_operation_writes_or_repeats_private_text_at_any_door(tmp_path: Path, name: str, door: str) -> None:
    operation = OPERATIONS[name]
    for number, param in enumerate(list_inputs(operation)):
        db = tmp_path / str(number) / "memory.db"
        db.parent.mkdir()
        ids = seed(db)
        given = dict(build_calls(operation, tmp_path, ids))[param.name]
        if param.kind_at(door) is None:  # type: ignore[arg-type]
            continue
        answered = DOORS[door](db, operation, given)
        assert WORD not in answered, param.name
        written = dump(db)
        assert WORD not in written, param.name
        if (name, param.name) in SHOWN:
            assert BEES in written, param.name


@pytest.mark.parametrize("door", DOORS)
def test_a_message_that_asks_not_to_be_kept_is_written_at_no_door(tmp_path: Path, door: str) -> None:
    db = tmp_path / "store" / "memory.db"
    db.parent.mkdir()
    seed(db)
    answered = DOORS[door](db, OPERATIONS["remember"], {"content": SPOKEN})
    assert "asked not to be kept" in answered
    assert WORD not in dump(db)


@pytest.mark.parametrize(
    "given", [["search", "tea", "--limit", PRIVATE], ["search", "tea", f"--{PRIVATE}"], [PRIVATE], ["get", PRIVATE]]
)
def test_a_wrong_command_line_is_refused_without_its_private_text(tmp_path: Path, given: list[str]) -> None:
    for flags in ([], ["--json"]):
        found = CliRunner().invoke(cli, ["--db", str(tmp_path / "memory.db"), *flags, *given], env=NO_SETTINGS)
        assert found.exit_code in {Invalid.exit_code, NotFound.exit_code}
        assert "error" in found.stderr + found.stdout
        assert WORD not in found.output


def test_the_command_line_says_that_a_part_was_left_out(tmp_path: Path) -> None:
    assert "private text left out" in Terminal(tmp_path).text("remember", PRIVATE)


def test_an_address_is_refused_without_its_private_text(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with serving(db, ManualClock(START)) as site:
        for given in ({"limit": PRIVATE}, {PRIVATE: "1"}, {"cursor": PRIVATE}):
            answer = site.send("GET", "/v1/memories", params=given)
            assert 400 <= answer.status_code < 500
            assert WORD not in answer.text


def test_the_table_of_operations_has_the_inputs_that_are_tried() -> None:
    assert {(name, param.name) for name in OPERATIONS for param in list_inputs(OPERATIONS[name])} >= SHOWN


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_no_part_of_a_message_of_another_agent_is_written(tmp_path: Path, way: Any) -> None:  # noqa: ANN401 - a way
    db = tmp_path / "store" / "memory.db"
    db.parent.mkdir()
    with serving(db, ManualClock(START), audit=True) as site:
        peer = Peer(site, way)
        said = {"messages": [{"role": "user", "content": PRIVATE}, {"role": "assistant", "content": PRIVATE}]}
        for parts in (
            [PRIVATE, said],
            [PRIVATE],
            [SPOKEN],
            [said | {"topic": PRIVATE}],
            [f"<private>{WORD}</private>"],
        ):
            assert peer.call("send", peer.message(parts)).status_code < 500
        site.settle()
        assert site.send("GET", "/v1/stats").json()["events"] >= 1
    written = dump(db)
    assert WORD not in written
    assert BEES in written


@pytest.mark.parametrize("answer", [{"keep": "CUT"}, {"scopes": {"in winter": "CUT", "default": "morning meetings"}}])
def test_an_answer_to_a_contest_counts_without_its_private_part(tmp_path: Path, answer: dict[str, Any]) -> None:
    db = tmp_path / "store" / "memory.db"
    db.parent.mkdir()
    ids = seed(db)
    given = json.loads(json.dumps(answer).replace("CUT", f"afternoon meetings <private>{WORD}</private>"))
    with Credenda.open(db, user="ana", clock=ManualClock(START), workers=False, embedder="none") as memory:
        with pytest.raises(Invalid, match="private as a whole") as caught:
            memory.manage.resolve(ids["contest"], keep=f"<private>{WORD}</private>")
        assert WORD not in str(caught.value)
        memory.manage.resolve(ids["contest"], **given)
        assert memory.manage.contest(ids["contest"]).state == "resolved"
    assert WORD not in dump(db)


class _Inputs(HTMLParser):
    """Finds the forms of a page with the names of the inputs that take words."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append((given.get("action") or "", []))
        words = tag == "textarea" or (tag == "input" and given.get("type", "text") in {"text", "search"})
        if words and self.forms and given.get("name"):
            self.forms[-1][1].append(str(given["name"]))


def test_no_form_of_a_page_writes_private_text(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    tried: set[str] = set()
    with serving_pages(folder, ManualClock(START)) as site:
        person = Person(site)
        memory_id = tell(site, "I live in Linz.", session="s")[0]
        paths = [page.path.replace("{id}", memory_id).replace("{session}", "s") for page in PAGES]
        for path in paths:
            answer = person.get(path)
            if answer.status_code != 200:
                continue
            found = _Inputs()
            found.feed(answer.text)
            forms = {one.action: one for one in person.read(path).forms}
            for action, names in found.forms:
                if names and forms[action].method == "post" and not action.startswith(("/log", "/members", "/tokens")):
                    answer = person.send(forms[action], **dict.fromkeys(names, PRIVATE))
                    assert answer.status_code < 500, answer.text
                    tried.add(action.rpartition("/")[2])
    assert {"correct", "status", "hold"} <= tried, tried
    written = dump(folder / "memory.db")
    assert WORD not in written
    assert BEES in written


def test_what_a_page_answers_after_a_private_answer_has_none_of_it(tmp_path: Path) -> None:
    with serving_pages(tmp_path, ManualClock(START)) as site:
        person = Person(site)
        memory_id = tell(site, "I live in Linz.")[0]
        (form,) = [one for one in person.read(f"/memory/{memory_id}").forms if one.action.endswith("/correct")]
        answer = person.browser.post(
            form.action, {**dict(form.fields), "value": f"<private>{WORD}</private>"}, Accept=HTML
        )
    assert WORD not in answer.text

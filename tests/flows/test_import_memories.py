"""Other memories: mem0's list and the graph of the MCP reference server, which is written as well as read."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from credenda import Credenda, Invalid
from credenda.model.event import Role, Source
from credenda.operations import OPERATIONS
from credenda.portability.archive import EXPORTS
from credenda.portability.importers.wording import word_observation
from credenda.portability.importing import ARCHIVE, FORMATS
from credenda.testing import ManualClock

from .conftest import Events

Table = dict[str, Any]
GRAPH: Final[tuple[Table, ...]] = (
    {
        "type": "entity",
        "name": "Ann",
        "entityType": "person",
        "observations": ["likes tea", "Speaks fluent Spanish", "Ann lives in Graz", "Nurse 🙂"],
    },
    {"type": "entity", "name": "Acme", "entityType": "organization", "observations": []},
    {"type": "entity", "name": "default_user", "entityType": "person", "observations": ["Prefers dark mode"]},
    {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"},
    {"type": "relation", "from": "default_user", "to": "Ann", "relationType": "knows"},
)
KEPT: Final[Table] = {
    "id": "7f2c",
    "memory": "User prefers dark mode",
    "hash": "62bc074f56d1f909f1b4c2b639f56f6a",
    "metadata": {"category": "ui"},
    "score": None,
    "created_at": "2025-02-25T23:57:00.108347-07:00",
    "updated_at": None,
    "user_id": "alex",
    "agent_id": "helper",
}


def graph(path: Path, *lines: object) -> Path:
    path.write_bytes(b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines))
    return path


def read_graph(path: Path) -> list[Table]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_name(lines: list[Table]) -> dict[str, list[str]]:
    return {line["name"]: sorted(line["observations"]) for line in lines if line["type"] == "entity"}


def test_observations_and_relations_become_beliefs_about_their_entities(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    report = mem.data.import_(graph(tmp_path / "memory.jsonl", *GRAPH))
    assert (report.format, report.turns, report.problems) == ("mcp-memory", 8, ())
    first = events()[0]
    assert (first.text, first.role, first.source, first.trust) == ("Ann likes tea", Role.USER, Source.INGEST, 0.5)
    mem.settle()
    held = {memory.text for memory in mem.list(limit=50).items}
    assert {"Ann likes tea", "Ann speaks fluent Spanish", "Ann: Nurse 🙂", "Ann works at Acme"} <= held
    assert [memory.value for memory in mem.list(entity="Ann", attribute="employer").items] == ["Acme"]
    assert [memory.value for memory in mem.list(entity="user", attribute="theme").items] == ["dark mode"]
    again = mem.data.import_(tmp_path / "memory.jsonl")
    assert (again.turns, again.skipped, again.problems) == (0, 8, ())


def test_the_graph_comes_out_as_it_went_in(mem: Credenda, tmp_path: Path) -> None:
    mem.data.import_(graph(tmp_path / "memory.jsonl", *GRAPH))
    mem.settle()
    report = mem.data.export(tmp_path / "out.jsonl", format="mcp-memory")
    assert dict(report.rows) == {"entities": 3, "observations": 5, "relations": 2}
    lines = read_graph(tmp_path / "out.jsonl")
    assert by_name(lines) == by_name(list(GRAPH))
    kinds = {line["name"]: line["entityType"] for line in lines if line["type"] == "entity"}
    assert kinds == {"Ann": "person", "Acme": "organization", "default_user": "person"}
    wanted = [line for line in GRAPH if line["type"] == "relation"]
    assert [line for line in lines if line["type"] == "relation"] == wanted


def test_what_is_exported_can_be_imported_by_another_and_exported_again(
    mem: Credenda, tmp_path: Path, clock: ManualClock
) -> None:
    mem.remember("I live in Linz. My sister Eva works at Hofer.")
    mem.remember("If I lived in Rome, I would take the train.")
    mem.settle()
    mem.remember("I moved to Graz.")
    mem.settle()
    mem.data.export(tmp_path / "one.jsonl", format="mcp-memory")
    text = (tmp_path / "one.jsonl").read_text(encoding="utf-8")
    assert "Graz" in text
    assert "Hofer" in text
    assert "Linz." not in text
    assert "Rome" not in text
    with Credenda.open(tmp_path / "other.db", user="ben", clock=clock, workers=False) as other:
        assert other.data.import_(tmp_path / "one.jsonl").problems == ()
        other.settle()
        assert [memory.value for memory in other.list(attribute="residence", entity="user").items] == ["Graz"]
        other.data.export(tmp_path / "two.jsonl.gz", format="mcp-memory")
        other.data.export(tmp_path / "two.jsonl", format="mcp-memory")
    assert by_name(read_graph(tmp_path / "two.jsonl")) == by_name(read_graph(tmp_path / "one.jsonl"))


def test_a_memory_that_changed_since_is_exported_as_it_is_now(mem: Credenda, tmp_path: Path) -> None:
    mem.data.import_(graph(tmp_path / "memory.jsonl", GRAPH[0], GRAPH[3]))
    mem.settle()
    (tea,) = (memory for memory in mem.list(limit=50).items if memory.text == "Ann likes tea")
    (job,) = mem.list(entity="Ann", attribute="employer").items
    mem.correct(tea.id, text="Ann likes coffee")
    mem.forget(job.id)
    mem.data.export(tmp_path / "out.jsonl", format="mcp-memory")
    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert "Ann likes coffee" in text
    assert "likes tea" not in text
    assert "relation" not in text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{broken", "line 2: not JSON"),
        (b'{"type":"entity","name":"caf\xe9"}', "line 2: byte 29 is not UTF-8"),
        ([], "line 2: it is not an object"),
        ({"type": "note"}, "line 2: it is neither an entity nor a relation"),
        ({"type": "entity", "observations": []}, "line 2: it has no name"),
        ({"type": "entity", "name": "Bo"}, "line 2: it has no list of observations"),
        ({"type": "entity", "name": "Bo", "observations": [7]}, "line 2, observation 1: it is not text"),
        ({"type": "relation", "from": "Ann", "relationType": "x"}, "line 2: it has no to"),
    ],
)
def test_malformed_lines_of_a_graph_are_named_and_passed_over(
    mem: Credenda, tmp_path: Path, line: object, problem: str
) -> None:
    report = mem.data.import_(graph(tmp_path / "memory.jsonl", GRAPH[2], line, b"", GRAPH[3]))
    assert report.turns == 2
    assert [one[: len(problem)] for one in report.problems] == [problem]


@pytest.mark.parametrize(
    ("entity", "observation", "sentence"),
    [
        ("Ann", "Annual leave is long", "Ann: Annual leave is long"),
        ("Ann", "Ann's dog is Rex", "Ann's dog is Rex"),
        ("Ann", "Graduated in 2019", "Ann graduated in 2019"),
        ("default_user", "I live in Linz.", "I live in Linz."),
        ("default_user", "likes tea", "User likes tea"),
        ("default_user", "Jonas is a nurse", "Jonas is a nurse"),  # a name with the ending of a verb
        ("default_user", "Mohammed lives in Graz", "Mohammed lives in Graz"),
        ("default_user", "Fred and Ann moved away", "Fred and Ann moved away"),
        ("Ann", "James works at Acme", "Ann: James works at Acme"),
        ("Ann", "Has two kids", "Ann has two kids"),
    ],
)
def test_an_observation_becomes_a_sentence_of_its_own(entity: str, observation: str, sentence: str) -> None:
    assert word_observation(entity, observation) == sentence


@pytest.mark.parametrize("wrapped", [True, False])
def test_memories_of_mem0_keep_time_owner_and_metadata(
    mem: Credenda, tmp_path: Path, events: Events, *, wrapped: bool
) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": [KEPT]} if wrapped else [KEPT]), encoding="utf-8")
    report = mem.data.import_(path)
    assert (report.format, report.turns, report.problems) == ("mem0", 1, ())
    (event,) = events()
    assert (event.text, event.source, event.trust) == ("User prefers dark mode.", Source.INGEST, 0.5)
    assert event.occurred_at == datetime(2025, 2, 26, 6, 57, 0, 108347, tzinfo=UTC)
    assert event.metadata == {"category": "ui", "user_id": "alex", "agent_id": "helper"}
    mem.settle()
    assert [memory.value for memory in mem.list(entity="user", attribute="theme").items] == ["dark mode"]
    assert mem.search("dark mode", metadata={"category": "ui"}).hits
    again = mem.data.import_(path)
    assert (again.turns, again.skipped) == (0, 1)


def test_every_memory_of_mem0_is_kept_even_where_no_rule_reads_it(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    items = [
        KEPT | {"id": "1", "memory": "Allergic to peanuts 🥜"},
        KEPT | {"id": "2", "memory": "Recommended the train", "role": "assistant", "metadata": None},
    ]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": items}), encoding="utf-8")
    assert mem.data.import_(path).turns == 2
    mem.settle()
    assert "Allergic to peanuts 🥜" in {memory.text for memory in mem.list(limit=50).items}
    items.append(KEPT | {"id": "3", "memory": "x " * 150_000})
    path.write_text(json.dumps({"results": items}), encoding="utf-8")
    report = mem.data.import_(path)
    assert (report.turns, report.skipped) == (1, 2)
    assert [event.role for event in events()] == [Role.USER, Role.ASSISTANT, Role.USER]


def test_a_memory_that_mem0_updated_is_taken_in_again_with_its_new_words(mem: Credenda, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([KEPT | {"memory": "User lives in Linz"}]))
    mem.data.import_(path)
    mem.settle()
    updated = KEPT | {"memory": "User lives in Graz", "updated_at": "2025-06-01T00:00:00+00:00"}
    path.write_text(json.dumps([updated]))
    report = mem.data.import_(path)
    mem.settle()
    assert (report.turns, report.problems) == (1, ())
    assert [memory.text for memory in mem.list(limit=50).items] == ["User lives in Graz."]


SUBJECTLESS: Final = {
    "Lives in Newcastle": ("user", "residence", "Newcastle"),
    "Is vegetarian": ("user", "diet", "vegetarian"),
    "Name is Tom": ("user", "name", "Tom"),
    "Is lactose intolerant": ("user", "condition", "lactose intolerant"),
    "Likes Terry Pratchett": ("user", "likes", "Terry Pratchett"),
    "Charles is a nurse": ("Charles", "job_title", "nurse"),
}
BY_FORMAT: Final[dict[str, Callable[[list[str]], object]]] = {
    "mem0": lambda texts: [KEPT | {"id": text, "memory": text} for text in texts],
    "zep": lambda texts: {"edges": [{"uuid": text, "fact": text} for text in texts]},
    "hindsight": lambda texts: {"items": [{"text": text, "fact_type": "world"} for text in texts]},
    "open-webui": lambda texts: [{"id": text, "user_id": "1", "content": text} for text in texts],
    "letta": lambda texts: {"blocks": [{"label": "human", "value": "\n".join(texts)}]},
    "pam": lambda texts: {"memories": [{"id": text, "content": text} for text in texts]},
    "memories": "\n".join,
}


@pytest.mark.parametrize("format_name", sorted(BY_FORMAT))
def test_a_memory_without_a_subject_fills_the_slot_of_the_user(mem: Credenda, tmp_path: Path, format_name: str) -> None:
    made = BY_FORMAT[format_name](list(SUBJECTLESS))
    path = tmp_path / ("memories.txt" if isinstance(made, str) else "memories.json")
    path.write_text(made if isinstance(made, str) else json.dumps(made))
    assert mem.data.import_(path, format=format_name).problems == ()
    mem.settle()
    held = {(one.entity, one.attribute, one.value) for one in mem.list(limit=50).items}
    assert held >= set(SUBJECTLESS.values())


def test_what_the_user_says_outweighs_what_another_memory_held(mem: Credenda, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([KEPT | {"memory": "User lives in Linz"}]))
    mem.remember("I live in Graz.")
    mem.settle()
    mem.data.import_(path)
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (7, "memory 2: it is not an object"),
        ({"id": "x"}, "memory 2 (x): it has no memory"),
        (KEPT | {"created_at": "soon"}, "memory 2 (7f2c): its time cannot be read"),
        (KEPT | {"metadata": {"long": "x" * 20_000}}, "memory 2 (7f2c): metadata of"),
    ],
)
def test_malformed_memories_are_named_and_passed_over(
    mem: Credenda, tmp_path: Path, item: object, problem: str
) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([KEPT | {"id": "1", "memory": "One"}, item, KEPT | {"id": "3", "memory": "Three"}]))
    report = mem.data.import_(path)
    assert report.turns == 2
    assert [one[: len(problem)] for one in report.problems] == [problem]


def test_an_unknown_format_of_exports_writes_nothing(mem: Credenda, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="not an export format"):
        mem.data.export(tmp_path / "out", format="mem0")
    assert not (tmp_path / "out").exists()


def test_the_table_names_every_format_there_is() -> None:
    choices = {
        name: param.choices for name in ("import", "export") for param in OPERATIONS[name].params if param.choices
    }
    assert choices["import"] == (ARCHIVE, *(known.name for known in FORMATS))
    assert choices["export"] == tuple(EXPORTS)


def test_whole_objects_of_a_damaged_line_are_read(mem: Credenda, tmp_path: Path, events: Events) -> None:
    """Two writes at once, one that was cut off, and a comma as in a list."""
    lines = [make_entity(one) for one in ("Ann", "Bo", "Kim", "Lu")]
    damaged = [b'{"type": "entity", "na'.join([lines[0], b""]), lines[1] + b",", lines[2] + lines[3], b"{"]
    (tmp_path / "memory.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join(damaged))
    report = mem.data.import_(tmp_path / "memory.jsonl")
    assert [event.text for event in events()] == [f"{one} likes tea" for one in ("Ann", "Bo", "Kim", "Lu")]
    assert [one.partition(":")[0] for one in report.problems] == ["line 1", "line 4"]


def make_entity(name: str) -> bytes:
    told = {"type": "entity", "name": name, "entityType": "person", "observations": [f"{name} likes tea"]}
    return json.dumps(told).encode()

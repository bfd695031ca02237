"""The memories of other systems: what comes over, what is left out and counted, and that twice adds nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from credenda import Corrupt, Credenda, Invalid, limits
from credenda.model.event import Role
from credenda.portability.archive import hash_content
from credenda.storage.sqlite.store import SqliteStore
from credenda.testing import ManualClock

from .conftest import Events
from .exports import zipped
from .strands import (
    COGNEE,
    DOCUMENT,
    GRAPHITI,
    LETTA,
    MESSAGES,
    PAM_STORE,
    PAM_TALK,
    POINTS,
    close_openmemory,
    write_json,
    write_openmemory,
)

WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "letta": lambda at: write_json(at / "agent.af", LETTA),
    "hindsight": lambda at: zipped(
        at / "bank.zip",
        ("manifest.json", json.dumps({"schema_version": 1, "source_bank_id": "b"}).encode()),
        ("documents/000000.json", json.dumps(DOCUMENT).encode()),
        ("observations.json", json.dumps({"observations": [{"text": "x"}, {"text": "y"}]}).encode()),
    ),
    "zep": lambda at: write_json(at / "graph.json", GRAPHITI),
    "cognee": lambda at: write_json(at / "graph.json", COGNEE),
    "pam": lambda at: write_json(at / "store.json", PAM_STORE),
    "messages": lambda at: write_json(at / "chat.json", MESSAGES),
    "openmemory": lambda at: close_openmemory(at / "openmemory.db", {"ana": "u"}),
}
COUNTS: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "letta": (
        5,
        {
            "empty blocks": 1,
            "lines without a value": 1,
            "messages without words": 1,
            "system messages": 1,
            "system prompts": 1,
            "tool messages": 1,
            "tools": 1,
        },
    ),
    "hindsight": (4, {"causal relations": 1, "observations": 3}),
    "zep": (6, {"entities": 1, "links without a fact": 1, "system messages": 1}),
    "cognee": (
        3,
        {
            "entities without a description": 1,
            "nodes of type entitytype": 1,
            "nodes of type textdocument": 1,
            "nodes of type textsummary": 1,
            "structural relations": 1,
        },
    ),
    "pam": (3, {"conversation references": 1, "relations": 1, "retracted memories": 1}),
    "messages": (3, {"messages without words": 1, "system messages": 1, "tool messages": 1}),
    "openmemory": (2, {"deleted memories": 1}),
}
PROBLEMS: Mapping[str, tuple[str, ...]] = {
    "hindsight": ("documents/000000.json, document meeting-3, fact 4: it has no text",),
    "cognee": ("edge 3: it links a node that is not in the file before it, or is no entity",),
    "pam": ("memories 5 (e): it has no content",),
    "messages": ("item 7 (7): its role is none of user, assistant, system and tool",),
}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_an_export_is_recognised_counted_and_imported_once(mem: Credenda, tmp_path: Path, name: str) -> None:
    path = WRITERS[name](tmp_path)
    report = mem.data.import_(path)
    assert (report.format, report.turns, dict(report.left_out)) == (name, *COUNTS[name])
    assert report.problems == PROBLEMS.get(name, ())
    mem.settle()
    before = [memory.text for memory in mem.list(limit=50).items]
    again = mem.data.import_(path)
    assert (again.turns, again.skipped, again.left_out) == (0, report.turns, report.left_out)
    mem.settle()
    assert [memory.text for memory in mem.list(limit=50).items] == before


@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"openmemory", "hindsight"}))
@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_truncated_export_names_what_is_lost_and_keeps_the_rest(
    mem: Credenda, tmp_path: Path, name: str, cut: float
) -> None:
    data = WRITERS[name](tmp_path).read_bytes()
    (tmp_path / "cut.json").write_bytes(data[: int(len(data) * cut)])
    report = mem.data.import_(tmp_path / "cut.json", format=name)
    assert any("truncated" in problem for problem in report.problems)
    assert report.turns <= COUNTS[name][0]


@pytest.mark.parametrize("name", sorted(set(WRITERS) - {"openmemory"}))
@pytest.mark.parametrize("junk", [b"\xff\xfe{", b'{"a": "caf\xe9"}', b'[1, null, [], {}, "x"]', b"words"])
def test_junk_is_refused_or_named_and_stores_nothing(mem: Credenda, tmp_path: Path, name: str, junk: bytes) -> None:
    path = tmp_path / "junk.json"
    path.write_bytes(junk)
    report = mem.data.import_(path, format=name)
    assert report.turns == 0
    assert report.problems or report.left_out
    assert mem.stats().events == 0


def test_an_agent_file_gives_facts_of_its_human_and_what_was_said(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    mem.data.import_(WRITERS["letta"](tmp_path))
    said = {event.text: event for event in events()}
    assert (said["I moved to Graz."].role, said["I moved to Graz."].trust) == (Role.USER, 1.0)
    assert said["I moved to Graz."].occurred_at == datetime(2025, 10, 1, 8, tzinfo=UTC)
    assert said["Nice town."].role is Role.ASSISTANT
    assert said["First name: Chad"].trust == 0.5
    assert said["I am Sam. My voice is soft.\n\nI ask questions."].role is Role.DOCUMENT
    mem.settle()
    assert [one.value for one in mem.list(entity="user", attribute="residence").items] == ["Graz"]
    assert [one.value for one in mem.list(entity="user", attribute="name").items] == ["Chad"]


def test_a_fact_that_has_ended_is_kept_and_no_longer_found(mem: Credenda, tmp_path: Path) -> None:
    mem.data.import_(WRITERS["zep"](tmp_path))
    mem.settle()
    assert {hit.quote for hit in mem.search("Where does Ana work?", kinds=("memory",)).hits} >= {"Ana works at Brixen"}
    assert "Ana works at Acme" not in {hit.text for hit in mem.search("Ana Acme", kinds=("memory",)).hits}
    assert [one.value for one in mem.history(entity="Ana", attribute="employer")] == ["Acme", "Brixen"]


def test_an_episode_names_its_speakers(mem: Credenda, tmp_path: Path, events: Events) -> None:
    mem.data.import_(WRITERS["zep"](tmp_path))
    roles = {event.text: (event.role, event.speaker) for event in events()}
    assert roles["I left Acme.\nAt last."][0] is Role.USER
    assert roles["Congratulations!"][0] is Role.ASSISTANT
    assert roles["A page about Brixen."][0] is Role.DOCUMENT


def test_another_persons_messages_are_not_the_users(mem: Credenda, tmp_path: Path, events: Events) -> None:
    mem.data.import_(WRITERS["messages"](tmp_path))
    assert [(event.role, event.speaker) for event in events()][-1] == (Role.PERSON, "Ben")
    mem.settle()
    assert [one.value for one in mem.list(entity="user", attribute="residence").items] == ["Linz"]


def test_lines_of_conversations_are_separate_conversations(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = tmp_path / "tuning.jsonl"
    path.write_text("".join(json.dumps({"messages": MESSAGES[1:3]}) + "\n" for _ in range(2)), encoding="utf-8")
    report = mem.data.import_(path)
    assert (report.format, report.conversations, report.turns) == ("messages", 2, 4)
    assert len({event.session for event in events()}) == 2


@pytest.mark.parametrize("wal", [True, False])
def test_a_database_of_openmemory_is_copied_with_its_waiting_writes(
    mem: Credenda, tmp_path: Path, *, wal: bool
) -> None:
    path = tmp_path / "openmemory.db"
    with closing(write_openmemory(path, {"ana": "u"}, wal=wal)):
        before = sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("openmemory"))
        data = path.read_bytes()
        report = mem.data.import_(path)
        assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("openmemory")) == before
        assert path.read_bytes() == data
    assert report.turns == 2
    mem.settle()
    (home,) = mem.list(entity="user", attribute="residence").items
    assert (home.value, home.tags, home.metadata) == ("Graz", ("places",), {"mood": "calm", "app": "cursor"})


def test_a_database_of_several_users_gives_only_the_memories_of_the_one_who_imports(
    mem: Credenda, tmp_path: Path
) -> None:
    path = close_openmemory(tmp_path / "many.db", {"ben": "b", "Ana": "a"})
    report = mem.data.import_(path)
    assert (report.turns, dict(report.left_out)) == (2, {"deleted memories": 1, "memories of other users": 3})
    path = close_openmemory(tmp_path / "others.db", {"ben": "b", "eve": "e"})
    with pytest.raises(Invalid, match="2 users") as refused:
        mem.data.import_(path)
    assert "--user" in refused.value.fix


def test_a_damaged_or_foreign_database_is_refused(mem: Credenda, tmp_path: Path) -> None:
    whole = close_openmemory(tmp_path / "a.db", {"ana": "u"}).read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(Corrupt, match="cannot be read"):
        mem.data.import_(tmp_path / "cut.db")
    copy = tmp_path / "own.db"
    SqliteStore(str(copy)).close()
    with pytest.raises(Invalid, match="not a database of OpenMemory"):
        mem.data.import_(copy, format="openmemory")
    with pytest.raises(Invalid, match="cannot detect"):
        mem.data.import_(copy)
    assert mem.stats().events == 0


def test_points_of_qdrant_and_the_zip_of_openmemory_are_read(mem: Credenda, tmp_path: Path, events: Events) -> None:
    report = mem.data.import_(write_json(tmp_path / "points.json", POINTS))
    assert (report.format, report.turns) == ("openmemory", 1)
    assert report.problems == ("points 2 (7f2d): its payload has no text",)
    (tea,) = events()
    assert (tea.text, dict(tea.metadata)) == ("User likes tea.", {"category": "food", "user_id": "ana"})
    point = {"data": "User likes tea", "hash": "1", "user_id": "ben", "created_at": "2025-02-25T23:57:00-07:00"}
    many = [{"id": "p1", "payload": point}, {"id": "p2", "payload": point | {"data": "I ski", "user_id": "Ana"}}]
    report = mem.data.import_(write_json(tmp_path / "many.json", many))
    assert (report.turns, dict(report.left_out)) == (1, {"memories of other users": 1})
    with pytest.raises(Invalid, match="2 users"):
        mem.data.import_(write_json(tmp_path / "theirs.json", [many[0], {"payload": point | {"user_id": "eve"}}]))
    row: dict[str, Any] = {
        "id": "1",
        "content": "User likes jazz",
        "state": "active",
        "created_at": "2025-01-01",
        "metadata": {},
    }
    whole: dict[str, Any] = {
        "user": {"id": "u"},
        "apps": [{"id": "p", "owner_id": "u", "name": "cursor"}],
        "categories": [{"id": "c", "name": "music"}],
        "memories": [row | {"category_ids": ["c"]}, row | {"id": "2", "state": "deleted"}],
    }
    lines = gzip.compress(json.dumps(row).encode() + b"\n")
    path = zipped(tmp_path / "out.zip", ("memories.json", json.dumps(whole).encode()), ("memories.jsonl.gz", lines))
    report = mem.data.import_(path)
    assert (report.format, report.turns, dict(report.left_out)) == ("openmemory", 1, {"apps": 1, "deleted memories": 1})
    assert events()[-1].tags == ("music",)


def test_a_profile_of_the_mem0_platform_becomes_statements(mem: Credenda, tmp_path: Path, events: Events) -> None:
    profile = {
        "full_name": "Ana Berg",
        "likes": ["tea", "jazz"],
        "job": {"title": "nurse", "remote": False},
        "age": None,
    }
    report = mem.data.import_(write_json(tmp_path / "profile.json", profile), format="mem0")
    assert (report.turns, report.problems) == (5, ())
    assert [event.text for event in events()] == [
        "Full name: Ana Berg",
        "Likes: tea",
        "Likes: jazz",
        "Job title: nurse",
        "Job remote: no",
    ]


def test_portable_memories_go_out_and_come_in_again(mem: Credenda, tmp_path: Path, clock: ManualClock) -> None:
    mem.remember("I live in Linz. I prefer tea. We decided to use Postgres.")
    mem.settle()
    mem.remember("I moved to Graz.")
    mem.settle()
    report = mem.data.export(tmp_path / "out.json", format="pam")
    whole: dict[str, Any] = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert dict(report.rows) == {"memories": len(whole["memories"]), "relations": len(whole["relations"])}
    assert {one["status"] for one in whole["memories"]} == {"active", "superseded"}
    assert [one["type"] for one in whole["relations"]] == ["supersedes"]
    assert all(one["content_hash"] == hash_content(one["content"]) for one in whole["memories"])
    with Credenda.open(tmp_path / "other.db", user="ben", clock=clock, workers=False) as other:
        report = other.data.import_(tmp_path / "out.json")
        assert (report.format, report.turns, report.problems) == ("pam", len(whole["memories"]), ())
        other.settle()
        told = {memory.text: memory.type for memory in mem.list(limit=50).items}
        held = {memory.text: memory.type for memory in other.list(limit=50).items if memory.text in told}
        assert held == told
        assert [one.value for one in other.list(entity="user", attribute="residence").items] == ["Graz"]


def test_a_conversation_beside_a_portable_store_is_read(mem: Credenda, tmp_path: Path, events: Events) -> None:
    report = mem.data.import_(write_json(tmp_path / "conv.json", PAM_TALK))
    assert (report.format, report.turns, dict(report.left_out)) == ("pam", 2, {"thoughts": 1})
    assert [event.role for event in events()] == [Role.USER, Role.ASSISTANT]


def test_a_folder_of_claude_codes_memory_has_its_types_and_no_instructions(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    folder = tmp_path / "projects" / "-home-ana-shop" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Memory\n\n- [Style](style.md) — how she writes\n- The shop runs on Postgres\n")
    (folder / "style.md").write_text(
        "---\nname: style\ntype: feedback\n---\n\nPrefers short answers.\n\n"
        "1. Always use tabs\n   in Go files\n2. No emoji\n"
    )
    report = mem.data.import_(tmp_path / "projects")
    assert (report.format, report.turns, dict(report.left_out)) == ("memory-folder", 4, {"lines of an index": 1})
    assert [event.text for event in events()] == [
        "The shop runs on Postgres",
        "Prefers short answers.",
        "Always use tabs\nin Go files",
        "No emoji",
    ]
    assert {(event.role, event.trust) for event in events()} == {(Role.DOCUMENT, 0.5)}
    assert {event.metadata.get("project") for event in events()} == {"-home-ana-shop"}
    mem.settle()
    assert not [one for one in mem.manage.core().lines if one.section == "instruction"]
    assert (mem.data.import_(tmp_path / "projects").turns, len(events())) == (0, 4)


def test_raw_notes_of_codex_and_sessions_of_vs_code_are_left_out(mem: Credenda, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    for name in ("MEMORY.md", "raw_memories.md", "rollout_summaries/a.md", "session/plan.md", "repo/build.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"Text of {name}.\n")
    report = mem.data.import_(folder)
    assert (report.format, report.turns, dict(report.left_out)) == ("memory-folder", 2, {"pages of raw notes": 3})


def test_saved_memories_pasted_as_text_keep_their_dates(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = tmp_path / "memories.txt"
    path.write_text(
        "```\n**Preferences**\n[2025-03-01] - Prefers dark mode\n- [unknown] - Lives in Graz\n"
        "[soon] - Has a dog\n[March 5, 2025] – Is allergic to peanuts\n   and to cashews\n```\n"
    )
    report = mem.data.import_(path)
    assert (report.format, report.turns, dict(report.left_out)) == ("memories", 4, {"headings": 1})
    assert report.problems == ("line 5: its date cannot be read; the file's date was used",)
    assert [event.text for event in events()] == [
        "User prefers dark mode.",
        "User lives in Graz.",
        "User has a dog.",
        "User is allergic to peanuts and to cashews.",
    ]
    assert events()[0].occurred_at == datetime(2025, 3, 1, tzinfo=UTC)
    assert events()[3].occurred_at == datetime(2025, 3, 5, tzinfo=UTC)
    assert events()[0].metadata == {"section": "Preferences"}
    mem.settle()
    assert [one.value for one in mem.list(entity="user", attribute="theme").items] == ["dark mode"]
    assert (mem.data.import_(path).turns, len(events())) == (0, 4)
    assert mem.data.import_(tmp_path / "memories.txt", format="memories").skipped == 4


def test_notes_of_persons_and_days_keep_note_owner_and_date(mem: Credenda, tmp_path: Path, events: Events) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Ben.md").write_text("---\ntype: person\n---\n- [preference] likes tea\n")
    (vault / "Eva.md").write_text("---\ntype: person\n---\n- [preference] likes tea\n")
    (vault / "2026-02-03 Tuesday.md").write_text("- [mood] Slept badly\n")
    report = mem.data.import_(vault)
    assert (report.format, report.turns) == ("obsidian", 3)
    day, ben, eva = events()
    assert (day.text, day.occurred_at) == ("Slept badly", datetime(2026, 2, 3, tzinfo=UTC))
    assert day.metadata["note"] == "2026-02-03 Tuesday"
    assert [(one.text, one.metadata["owner"], one.metadata["note"]) for one in (ben, eva)] == [
        ("Ben likes tea", "Ben", "Ben"),
        ("Eva likes tea", "Eva", "Eva"),
    ]


@pytest.mark.parametrize(("name", "turns"), [("letta", 3), ("zep", 6), ("hindsight", 0)])
def test_an_item_that_is_too_large_is_named_and_the_others_come_over(
    mem: Credenda, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, name: str, turns: int
) -> None:
    monkeypatch.setattr(limits, "IMPORT_ITEM_BYTES", 600)
    path = WRITERS[name](tmp_path)
    report = mem.data.import_(path)
    assert report.turns == turns
    larger = [problem for problem in report.problems if "larger than 600 bytes" in problem]
    assert len(larger) == (0 if name == "zep" else 1)


NAMED = """**Personal context**

Ana is a nurse in Graz. Her manager is Priya, who lives in Penang. Ana's sister Lena lives in Bonn.
Jonas is allergic to nuts. Mohammed has a dog called Rex.
"""


@pytest.mark.parametrize("user", ["ana", "ines"])
def test_a_memory_is_about_whom_it_names(tmp_path: Path, clock: ManualClock, user: str) -> None:
    (tmp_path / "claude.txt").write_text(NAMED, "utf-8")
    with Credenda.open(tmp_path / "memory.db", user=user, clock=clock, workers=False) as mem:
        mem.data.import_(tmp_path / "claude.txt", format="memories")
        mem.settle()
        held = {(one.entity, one.attribute): one.value for one in mem.list(limit=50).items}
    assert held[("Jonas", "allergy")] == "nuts"
    assert held[("Mohammed", "dog")] == "Rex"
    assert held[("Priya", "residence")] == "Penang"
    assert ("user", "allergy") not in held
    assert ("user", "dog") not in held
    assert held[("user" if user == "ana" else "Ana", "residence")] == "Graz"

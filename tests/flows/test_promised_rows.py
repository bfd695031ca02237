"""Promises about the whole of the memory: its file, writers, layers, judges and speed, in their own sentences."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.interfaces.mcp.tool_specs import build_tools
from credenda.model.memory import Memory
from credenda.testing import ScriptedModel

Say = Callable[..., None]


def held(mem: Credenda) -> list[Memory]:
    return list(mem.list(limit=50).items)


@pytest.mark.requirement("E-125", "E-003")
@pytest.mark.parametrize(
    ("told", "layer"),
    [
        ("deployed v2.1 on march 28", "episodic"),
        ("the API uses JWT tokens", "semantic"),
        ("always use real DB for integration tests", "procedural"),
        ("The API uses JWT tokens.", "semantic"),
        ("Never deploy on Fridays.", "procedural"),
        ("From now on, answer in French.", "procedural"),
        ("We shipped v3.0 on June 2.", "episodic"),
        ("I ran a marathon in February.", "episodic"),
    ],
)
def test_the_layer_follows_from_the_words(mem: Credenda, say: Say, *, told: str, layer: str) -> None:
    say(told)
    assert [str(one.layer) for one in held(mem)] == [layer]


@pytest.mark.requirement("E-127", "E-126")
def test_a_mode_gives_the_state_of_things_rules_or_everything(mem: Credenda, say: Say) -> None:
    say("The API uses JWT tokens.", "always run drift_check before deploying")
    mem.remember("session 2026-04-14: built retrieval profiles", memory_type="narrative")
    mem.settle()
    assert {one.memory_type for one in held(mem)} == {"fact", "procedure", "narrative"}

    def find(mode: str) -> set[str]:
        question = "retrieval profiles, JWT tokens, drift_check before deploying"
        found = mem.search(question, mode=mode, kinds=["memory"], record_access=False).hits  # pyright: ignore[reportArgumentType] - by name
        return {hit.memory.memory_type for hit in found if hit.memory}

    assert find("facts_only") == {"fact"}
    assert find("facts_plus_rules") == {"fact", "procedure"}
    assert find("full_context") == {"fact", "procedure", "narrative"}
    for toolset in ("full", "engram"):  # and an agent is told which of them to take
        tools = build_tools(toolset=toolset)  # pyright: ignore[reportArgumentType] - by name
        schemas = json.dumps([tool.listed() for tool in tools.values()])
        assert "facts_only for how things stand" in schemas
        assert "facts_plus_rules for how to work" in schemas


@pytest.mark.requirement("R-010")
@pytest.mark.parametrize(
    ("note", "value"),
    [
        ("User mentioned preferring Python.", "Python"),
        ("User said Python is their go-to language.", "Python"),
        ("User says oolong is their favourite tea.", "oolong"),
        ("The user has said they moved to Linz.", "Linz"),
    ],
)
def test_a_note_of_what_the_user_said_is_their_own_word(mem: Credenda, say: Say, *, note: str, value: str) -> None:
    say(note)
    assert [(one.entity, one.value, str(one.stance)) for one in held(mem)] == [("user", value, "asserted")]


@pytest.mark.parametrize("note", ["Tom said I'm a dentist.", "User says Tom thinks they work at Bosch."])
def test_what_another_person_says_of_the_user_is_not(mem: Credenda, say: Say, note: str) -> None:
    say(note)
    assert all(str(one.stance) == "reported" for one in held(mem))


@pytest.mark.requirement("R-237")
def test_session_agent_and_job_are_three_names(mem: Credenda) -> None:
    receipts = [mem.remember("I live in Linz.", session="s1", agent="a1"), mem.remember("I like tea.")]
    mem.settle()
    named = (("s1", "a1"), ("", ""))
    for memory, receipt, (session, agent) in zip(reversed(held(mem)), receipts, named, strict=True):
        ((event, _, _),) = mem.why(memory.id).evidence
        assert (memory.source_session, event.session, event.agent) == (session, session, agent)
        assert receipt.job_id not in {memory.source_session, event.session, event.agent}


@pytest.mark.requirement("R-238")
def test_fifty_turns_of_a_chat_wait_for_no_model(path: Path) -> None:
    model = ScriptedModel(lambda _: [])
    with Credenda.open(path, user="ana", workers=False, llm=model) as mem:
        for turn in range(50):
            mem.remember(f"I walked {turn} times around the lake with my sister Mara.", session="chat")
        assert model.asked == []
        assert mem.stats().waiting == 50
        mem.settle()
        assert 0 < len(model.asked) <= 50


@pytest.mark.requirement("R-070")
def test_two_hundred_messages_are_extracted_within_a_minute(mem: Credenda) -> None:
    for turn in range(200):
        mem.remember(f"My locker in hall {turn} is number {turn + 100}." if turn else "I live in Linz.")
    assert mem.stats().pending_extractions == 200
    begun = time.perf_counter()
    mem.settle()
    assert time.perf_counter() - begun < 60
    assert mem.stats().pending_extractions == 0
    assert [one.value for one in mem.list(attribute="residence").items] == ["Linz"]


@pytest.mark.requirement("S-009", "S-014")
@pytest.mark.sqlite_file  # Postgres revokes the right to change a row, which its own tests try
@pytest.mark.parametrize(
    "statement", ["UPDATE events SET text = 'User works at Microsoft.'", "DELETE FROM events", "DELETE FROM changes"]
)
def test_the_raw_stream_cannot_be_changed(mem: Credenda, say: Say, path: Path, statement: str) -> None:
    say("User works at Google.", "User left Google and works at Microsoft now.")
    mem.manage.consolidate(force=True)
    with closing(sqlite3.connect(path)) as database, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute(statement)
    assert [hit.text for hit in mem.search("works at Google", kinds=["event"]).hits][:1] == ["User works at Google."]


@pytest.mark.requirement("S-046", "R-128")
def test_the_sentence_before_a_change_stays_out_after_consolidation(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I left Google, I'm at Microsoft now.")
    assert mem.manage.consolidate(force=True).ran
    for question in ("Where do I work?", "Google", "Did I work at Google?"):
        first, *others = mem.search(question, record_access=False).hits
        assert first.memory is not None
        assert first.text.startswith("user: employer: Microsoft")
        assert first.text.endswith("; before: Google")
        assert all("superseded" in hit.flags for hit in others)
    block = mem.context("Where do I work?").text
    assert "I work at Google" not in block
    assert "previously Google" in block
    mem.remember("I work with Rust.")
    mem.settle()
    assert mem.manage.consolidate(force=True).examined == 1  # only what came after the mark


@pytest.mark.requirement("R-004")
@pytest.mark.sqlite_file  # the row is about the file
def test_the_memory_is_one_file_that_needs_no_upkeep(path: Path) -> None:
    with Credenda.open(path, user="ana") as mem:
        mem.remember("I prefer Python for backend work.")
        mem.settle()
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    moved = path.rename(path.with_name("elsewhere.db"))
    with Credenda.open(moved, user="ana") as mem:
        assert [
            hit.memory.value for hit in mem.search("Which language do I prefer for backend work?").hits if hit.memory
        ] == ["Python"]
        assert mem.data.doctor().ok
    assert {"store_memory", "search_memories"} <= build_tools().keys()

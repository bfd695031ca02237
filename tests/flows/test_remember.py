"""`remember`: on disk when it returns, found at once, believed soon after, filed once however often it is called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from credenda import Conflict, Credenda, Invalid, LimitExceeded, Unavailable, limits
from credenda.model.event import Event
from credenda.testing import ManualClock

RECALL_MODES: Final[tuple[Literal["facts_only", "facts_plus_rules", "full_context"], ...]] = (
    "facts_only",
    "facts_plus_rules",
    "full_context",
)


@pytest.fixture
def other(path: Path, clock: ManualClock, mem: Credenda) -> Iterator[Credenda]:
    """A second client of the same tenant, on the same file."""
    assert mem.user == "ana"
    with Credenda.open(path, user="ana", clock=clock, workers=False) as opened:
        yield opened


def _events(mem: Credenda, query: str) -> list[Event]:
    return [hit.event for hit in mem.search(query, kinds=("event",)).hits if hit.event is not None]


def _in_journal(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection, connection:
        texts = [str(row[0]) for row in connection.execute("SELECT text FROM events ORDER BY id")]
    connection.close()
    return texts


@pytest.mark.requirement("R-063")
def test_what_was_acknowledged_is_on_disk_and_others_see_it(mem: Credenda, other: Credenda, path: Path) -> None:
    receipt = mem.remember("I live in Linz.")
    assert receipt.queued
    assert not receipt.cached
    assert receipt.job_id is not None
    assert _in_journal(path) == ["I live in Linz."]
    assert [event.id for event in _events(other, "Where do I live, Linz?")] == list(receipt.event_ids)
    assert other.stats().events == 1
    assert other.stats().pending_extractions == 1


@pytest.mark.requirement("R-063", "R-073")
def test_words_are_found_before_they_are_believed_and_memories_after(mem: Credenda) -> None:
    (event_id,) = mem.remember("I live in Linz.").event_ids
    before = mem.search("Linz")
    assert [(hit.kind, hit.id) for hit in before.hits] == [("event", event_id)]
    assert mem.list().items == ()
    mem.settle()
    (memory,) = mem.list().items
    after = mem.search("Linz")
    assert [(hit.kind, hit.id) for hit in after.hits] == [("memory", memory.id)]
    assert [event.id for event in after.hits[0].evidence] == [event_id]
    assert (memory.entity, memory.attribute, memory.value) == ("user", "residence", "Linz")
    assert mem.stats().pending_extractions == 0


def test_a_conversation_is_one_receipt_and_one_job(mem: Credenda) -> None:
    receipt = mem.remember(
        [
            {"role": "user", "content": "I live in Linz.", "id": "t1"},
            {"role": "assistant", "content": "Noted: you live in Wien."},
            {"role": "user", "name": "Bob", "content": "I live in Graz."},
        ]
    )
    assert len(receipt.event_ids) == 3
    assert mem.stats().jobs == {"queued": 1}
    mem.settle()
    assert [memory.value for memory in mem.list(entity="user", attribute="residence").items] == ["Linz"]


def test_all_of_a_call_or_nothing_of_it(mem: Credenda, path: Path) -> None:
    fine = {"role": "user", "content": "I live in Linz."}
    with pytest.raises(Invalid):
        mem.remember([fine, {"role": "robot", "content": "x"}])
    with pytest.raises(LimitExceeded):
        mem.remember([fine, {"role": "user", "content": "x" * (limits.EVENT_TEXT_BYTES + 1)}])
    assert _in_journal(path) == []
    assert mem.stats().jobs == {}


def test_the_longest_text_is_kept_whole_and_found_by_its_last_word(mem: Credenda, path: Path) -> None:
    filler = "All work and no play makes Jack a dull boy. "
    text = (filler * (limits.EVENT_TEXT_BYTES // len(filler)))[: limits.EVENT_TEXT_BYTES - 20] + " The code is zorkmid"
    mem.remember(text)
    assert _in_journal(path) == [text]
    assert _events(mem, "zorkmid")


@pytest.mark.requirement("R-066", "R-064", "R-158")
def test_the_same_key_and_content_are_filed_once(mem: Credenda, other: Credenda, clock: ManualClock) -> None:
    first = mem.remember("I live in Linz.", topic="home", session="s1", idempotency_key="k")
    clock.advance(timedelta(hours=1))
    again = other.remember("I live in Linz.", topic="home", session="s2", idempotency_key="k")
    assert (again.cached, again.queued) == (True, False)
    assert (again.job_id, again.event_ids) == (first.job_id, first.event_ids)
    mem.settle()
    late = mem.remember([{"role": "user", "content": "I live in Linz."}], topic="home", idempotency_key="k")
    assert (late.cached, late.event_ids) == (True, first.event_ids)
    assert mem.stats().events == 1
    assert mem.stats().jobs == {"complete": 1}


@pytest.mark.requirement("R-066")
@pytest.mark.parametrize(
    "changed",
    [{"content": "I live in Graz."}, {"topic": "work"}, {"topic": None}, {"occurred_at": "2026-01-01"}],
)
def test_the_same_key_with_anything_else_is_a_conflict(mem: Credenda, changed: dict[str, Any]) -> None:
    said: dict[str, Any] = {"content": "I live in Linz.", "topic": "home", "idempotency_key": "k"}
    mem.remember(**said)
    with pytest.raises(Conflict, match="idempotency"):
        mem.remember(**(said | changed))
    assert mem.stats().events == 1


def test_without_a_key_the_same_words_are_two_events_and_one_belief(mem: Credenda) -> None:
    mem.remember("I live in Linz.")
    mem.remember("I live in Linz.")
    mem.settle()
    (memory,) = mem.list().items
    assert mem.stats().events == 2
    assert memory.confirmations == 1


@pytest.mark.requirement("D-011")
def test_a_full_queue_refuses_before_anything_is_kept(mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "QUEUED_JOBS", 3)
    for number in range(3):
        mem.remember(f"Note {number}")
    with pytest.raises(Unavailable, match="wait"):
        mem.remember("I live in Linz.", idempotency_key="k")
    assert mem.stats().events == 3
    mem.settle()
    receipt = mem.remember("I live in Linz.", idempotency_key="k")
    assert receipt.queued
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Linz"]


@pytest.mark.requirement("E-012")
@pytest.mark.parametrize("kind", ["preference", "fact", "decision", "procedure"])
def test_words_that_cannot_be_read_are_kept_as_the_type_asked_for(mem: Credenda, kind: str) -> None:
    mem.remember("Flurbs before gronks, zig afterwards.", memory_type=kind)
    mem.settle()
    (memory,) = mem.list().items
    assert (memory.type, memory.text) == (kind, "Flurbs before gronks, zig afterwards.")


@pytest.mark.requirement("E-012")
def test_a_narrative_is_kept_whole_beside_what_it_says(mem: Credenda) -> None:
    mem.remember("I live in Linz. It rained all day and the river rose.", memory_type="narrative")
    mem.settle()
    kept = {memory.type.value: memory for memory in mem.list().items}
    assert kept["narrative"].text == "I live in Linz. It rained all day and the river rose."
    assert kept["narrative"].layer == "episodic"
    assert kept["narrative"].memory_type == "narrative"
    assert kept["fact"].value == "Linz"


@pytest.mark.requirement("R-064")
def test_what_goes_with_the_words_goes_with_the_memory(mem: Credenda) -> None:
    mem.remember(
        "I live in Linz.",
        topic="home",
        session="s1",
        agent="bot",
        source="ingest",
        occurred_at="2026-01-05T10:00:00+01:00",
        tags=["address", "austria"],
        metadata={"page": 3},
    )
    mem.settle()
    (memory,) = mem.list().items
    (event,) = mem.search("Linz").hits[0].evidence
    assert (event.topic, event.session, event.agent, event.source) == ("home", "s1", "bot", "ingest")
    assert (event.tags, event.metadata) == (("address", "austria"), {"page": 3})
    assert event.occurred_at.isoformat() == "2026-01-05T09:00:00+00:00"
    assert (memory.topic, memory.source_session, memory.trust) == ("home", "s1", 0.5)
    assert (memory.tags, memory.metadata) == (("address", "austria"), {"page": 3})
    assert memory.valid_from == event.occurred_at
    for conditions in ({"topic": "work"}, {"session": "s2"}, {"tags": ["work"]}, {"metadata": {"page": 4}}):
        assert mem.search("Linz", **conditions).hits == ()  # type: ignore[arg-type]
    for conditions in ({"topic": "home"}, {"session": "s1"}, {"tags": ["address"]}, {"metadata": {"page": 3}}):
        assert mem.search("Linz", **conditions).hits  # type: ignore[arg-type]


def test_an_end_in_time_travels_with_the_memory(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("I live in Linz.", expires_at=clock.now() + timedelta(days=3))
    mem.settle()
    assert mem.list().items[0].expires_at == clock.now() + timedelta(days=3)


def test_a_time_without_a_zone_is_read_in_that_of_the_settings(path: Path, clock: ManualClock) -> None:
    settings = {"time_zone": "Asia/Tokyo"}
    with Credenda.open(path, user="ana", clock=clock, settings=settings, workers=False) as mem:
        mem.remember("I live in Linz.", occurred_at="2026-01-05T10:00:00")
        (event,) = _events(mem, "Linz")
    assert event.occurred_at.isoformat() == "2026-01-05T01:00:00+00:00"


def test_a_secret_is_masked_before_the_journal_and_named(mem: Credenda, path: Path) -> None:
    receipt = mem.remember("I live in Linz. My password is hunter2zork and that is that.")
    mem.settle()
    assert receipt.refused == ("password masked",)
    assert _in_journal(path) == ["I live in Linz. My password is [password removed] and that is that."]
    assert _events(mem, "hunter2zork") == []
    mem.close()
    assert not [file.name for file in path.parent.iterdir() if b"hunter2zork" in file.read_bytes()]


@pytest.mark.parametrize("policy", ["keep", "reject"])
def test_the_secrets_policy_is_a_setting(path: Path, policy: str) -> None:
    with Credenda.open(path, user="ana", settings={"secrets_policy": policy}, workers=False) as mem:
        if policy == "reject":
            with pytest.raises(Invalid, match="password") as caught:
                mem.remember("My password is hunter2zork.")
            assert "hunter2zork" not in str(caught.value)
        else:
            assert mem.remember("My password is hunter2zork.").refused == ()
    assert len(_in_journal(path)) == (policy == "keep")


def test_many_threads_lose_nothing_and_mix_nothing_up(mem: Credenda, other: Credenda, path: Path) -> None:
    def say(number: int) -> tuple[str, str]:
        client = mem if number % 2 else other
        receipt = client.remember(f"Note {number} here.", idempotency_key=f"k{number // 2}x{number % 2}")
        return receipt.event_ids[0], f"Note {number} here."

    with ThreadPoolExecutor(8) as pool:
        said = dict(pool.map(say, range(120)))
    assert len(said) == 120
    with closing(sqlite3.connect(path)) as connection, connection:
        kept = {row[0]: row[1] for row in connection.execute("SELECT id, text FROM events ORDER BY id")}
    connection.close()
    assert {int(name[1:].partition("-")[0]): text for name, text in said.items()} == kept
    assert sorted(kept) == list(range(1, 121))
    mem.settle()
    assert mem.stats().jobs == {"complete": 120}
    assert mem.data.doctor().ok


@pytest.mark.requirement("R-066")
def test_one_key_from_many_threads_at_once_is_filed_once(mem: Credenda, other: Credenda) -> None:
    def say(number: int) -> tuple[bool, tuple[str, ...]]:
        receipt = (mem if number % 2 else other).remember("I live in Linz.", idempotency_key="k")
        return receipt.cached, receipt.event_ids

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(say, range(40)))
    assert sorted(cached for cached, _ in answers) == [False] + [True] * 39
    assert len({ids for _, ids in answers}) == 1
    assert mem.stats().events == 1


@pytest.mark.requirement("E-012", "E-126")
@pytest.mark.parametrize(
    ("text", "kind", "layer"),
    [
        ("engram v0.3.0 has 66 MCP tools", "fact", "semantic"),
        ("always run drift_check before deploying", "procedure", "procedural"),
        ("session 2026-04-14: built retrieval profiles", "narrative", "episodic"),
        ("I had lunch with Maria in Graz yesterday.", "narrative", "episodic"),
        ("I use Redis for the cache.", "decision", "procedural"),
        ("The API uses JWT tokens", "procedure", "procedural"),
    ],
)
def test_one_sentence_is_one_memory_of_the_type_asked_for(mem: Credenda, text: str, kind: str, layer: str) -> None:
    mem.remember(text, memory_type=kind)
    mem.settle()
    (memory,) = mem.list(status=None).items
    assert (memory.text.removesuffix("."), memory.type, memory.layer) == (text.removesuffix("."), kind, layer)
    found = {mode: bool(mem.search(text, mode=mode, kinds=["memory"]).hits) for mode in RECALL_MODES}
    assert found == {
        "facts_only": kind in {"fact", "decision"},
        "facts_plus_rules": kind != "narrative",
        "full_context": True,
    }


@pytest.mark.requirement("E-012")
def test_asked_to_be_a_fact_a_preference_and_an_instruction_stay_what_they_are(mem: Credenda) -> None:
    for text in ("I like figs.", "Always answer in French."):
        mem.remember(text, memory_type="fact")
    mem.settle()
    assert [one.type.value for one in mem.list().items if one.value == "figs"] == ["preference"]
    assert "Always answer in French." in mem.context("anything at all").text

"""Promises about single memories and the path of a write, with the defaults and numbers in which they were made."""

from __future__ import annotations

import sqlite3
from datetime import UTC, timedelta
from pathlib import Path
from threading import Event as Signal

import pytest

from credenda import Credenda, Invalid, MemoryUnit
from credenda.model.memory import Layer, MemoryType, Status
from credenda.testing import ManualClock, Question, ScriptedModel
from tests.waiting import PATIENCE_SECONDS

LANGUAGE = "User prefers Python for backend work."


@pytest.mark.requirement("R-015", "R-019", "R-020", "R-021", "R-022", "R-023", "R-024", "R-025", "R-026", "R-027")
def test_a_bare_unit_has_the_published_defaults(mem: Credenda, clock: ManualClock) -> None:
    unit = MemoryUnit(text=LANGUAGE)
    assert (unit.importance, unit.confidence, unit.source_session) == (0.5, 0.8, "")
    one = mem.store(unit)
    assert isinstance(one.id, str)
    assert one.id
    assert (one.importance, one.confidence, one.source_session, one.topic) == (0.5, 0.8, "", None)
    assert one.created_at == clock.now()
    assert one.created_at.tzinfo is UTC
    assert (one.last_accessed, one.access_count, one.decay_score, one.superseded_by) == (None, 0, None, None)


@pytest.mark.requirement("R-020", "R-021")
@pytest.mark.parametrize("field", ["importance", "confidence"])
@pytest.mark.parametrize("wrong", [-0.01, 1.01, float("nan")])
def test_both_scores_lie_between_0_and_1(mem: Credenda, field: str, wrong: float) -> None:
    with pytest.raises(Invalid):
        mem.store(MemoryUnit(text=LANGUAGE, **{field: wrong}))  # pyright: ignore[reportArgumentType] - by name
    for right in (0.0, 1.0):
        stored = mem.store(MemoryUnit(text=f"{LANGUAGE} {right}", **{field: right}))  # pyright: ignore[reportArgumentType] - as above
        assert getattr(stored, field) == right


@pytest.mark.requirement("R-020", "R-021")
def test_importance_and_confidence_are_apart_and_no_search_moves_them(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="User may be allergic to nuts.", importance=0.95, confidence=0.4))
    mem.store(MemoryUnit(text="User once had a red pencil.", importance=0.1, confidence=1.0))
    for _ in range(3):
        assert mem.search("allergic to nuts").hits
        assert mem.search("red pencil").hits
        clock.advance(timedelta(days=1))
    mem.manage.decay()
    scores = {(one.importance, one.confidence) for one in mem.list().items}
    assert scores == {(0.95, 0.4), (0.1, 1.0)}


@pytest.mark.requirement("R-019")
def test_a_topic_scopes_what_is_found(mem: Credenda) -> None:
    for topic in ("tech", "work", "personal", "health"):
        mem.store(MemoryUnit(text=f"User keeps the blue folder of {topic}.", topic=topic))
    found = mem.search("blue folder", topic="health", kinds=["memory"]).hits
    assert [hit.memory.topic for hit in found if hit.memory] == ["health"]
    assert len(mem.search("blue folder", kinds=["memory"]).hits) == 4


@pytest.mark.requirement("R-121")
def test_a_retrieval_counts_for_the_rows_that_it_returns_alone(mem: Credenda, clock: ManualClock) -> None:
    for text in ("User keeps the blue folder at home.", "User keeps the blue folder at work.", "User swims."):
        mem.store(MemoryUnit(text=text))
    clock.advance(timedelta(days=2))
    (hit,) = mem.search("blue folder", limit=1, kinds=["memory"]).hits
    mem.manage.decay()
    for one in mem.list().items:
        shown = one.id == hit.id
        assert one.access_count == int(shown)
        assert one.last_accessed == (clock.now() if shown else None)


@pytest.mark.requirement("R-008", "R-213", "R-027")
def test_two_facts_of_one_pair_are_never_both_active(mem: Credenda, clock: ManualClock) -> None:
    last = None
    for value in ("FastAPI", "Django", "Flask"):
        unit = MemoryUnit(text=f"Default stack: {value}", entity="user", attribute="main_stack", value=value)
        stored = mem.store(unit)  # no worker runs, and nothing is settled: it is done when the call returns
        (active,) = mem.list(attribute="main_stack").items
        assert active.id == stored.id
        if last is not None:
            before = mem.get(last.id)
            assert (before.status, before.superseded_by) == (Status.SUPERSEDED, stored.id)
            assert before.valid_until == stored.created_at
        last = stored
        clock.advance(timedelta(days=40))


@pytest.mark.requirement("R-008", "R-225")
def test_every_extraction_looks_for_contradictions(mem: Credenda) -> None:
    for text, value in (("I work at Google.", "Google"), ("I work at Microsoft now.", "Microsoft")):
        mem.remember(text)
        mem.settle()
        assert [one.value for one in mem.list(attribute="employer").items] == [value]


@pytest.mark.requirement("R-007", "R-216")
def test_after_the_tasks_no_conflict_is_active_no_score_old_and_no_entry_twice(
    mem: Credenda, clock: ManualClock
) -> None:
    for text in ("I work at Google.", "I left Google, I'm at Microsoft now.", "I like tea.", "I saw an owl."):
        mem.remember(text)
        mem.settle()
        clock.advance(timedelta(days=2))
    for text in ("The API is documented in English.", "The API is documented in English!"):
        mem.store(MemoryUnit(text=text))
    before = [(one.id, one.version, one.status) for one in mem.list(status=None, limit=50).items]
    assert mem.manage.consolidate(force=True, dry_run=True).dry_run
    assert [(one.id, one.version, one.status) for one in mem.list(status=None, limit=50).items] == before
    state = {one.name: one for one in mem.manage.schedule().duties}
    assert state["decay"].every_seconds == 3_600
    mem.manage.schedule(run=True)
    assert mem.manage.consolidate(force=True).ran
    held = mem.list(limit=50).items
    assert [one.value for one in held if one.attribute == "employer"] == ["Microsoft"]
    assert len({one.text.rstrip("!.") for one in held}) == len(held)
    clock.advance(timedelta(days=1))
    mem.manage.schedule(run=True)
    assert all(one.decay_score is not None for one in mem.list(limit=50).items)


@pytest.mark.requirement("R-033")
@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("I always use dark mode", True),
        ("I'm a backend engineer", True),
        ("I chose PostgreSQL", True),
        ("No, I use pytest not unittest", True),
        ("Thanks, that's helpful!", False),
        ("I'm tired today", False),
        ("Oh great, another meeting", False),
    ],
)
def test_an_utterance_is_worth_a_memory_or_it_is_not(mem: Credenda, said: str, *, stored: bool) -> None:
    mem.remember(said)
    mem.settle()
    assert bool(mem.list(status=None).items) is stored


@pytest.mark.requirement("R-065", "R-222", "D-027", "C-015")
def test_no_caller_waits_for_a_model_and_no_message_is_lost_with_the_process(path: Path) -> None:
    asked, answered = Signal(), Signal()

    def answer(_: Question) -> list[dict[str, object]]:
        asked.set()
        assert answered.wait(PATIENCE_SECONDS)
        return [{"quote": "I like tea", "attribute": "likes", "value": "tea"}]

    with Credenda.open(path, user="ana", llm=ScriptedModel(answer)) as mem:
        receipt = mem.remember("I like tea and the sound of rain on the roof of the shed where we wait.")
        assert (receipt.queued, bool(receipt.job_id)) == (True, True)
        assert asked.wait(PATIENCE_SECONDS)
        assert not mem.list().items  # the model has not answered, and both calls have returned
        assert mem.search("Where do we hear the rain?").hits
        answered.set()
        mem.settle(timeout=PATIENCE_SECONDS)
        assert [one.value for one in mem.list(attribute="likes").items] == ["tea"]
    with Credenda.open(path, user="ana", workers=False) as mem:
        mem.remember("I work at Google.")  # closed before anything reads it
    with Credenda.open(path, user="ana", workers=False) as mem:
        mem.settle()
        assert [one.value for one in mem.list(attribute="employer").items] == ["Google"]


@pytest.mark.requirement("R-222")
def test_the_direct_path_stores_a_unit_at_once_and_asks_no_model(path: Path) -> None:
    model = ScriptedModel()
    with Credenda.open(path, user="ana", workers=False, llm=model) as mem:
        stored = mem.store(MemoryUnit(text=LANGUAGE, type=MemoryType.PREFERENCE))
        assert [one.id for one in mem.list().items] == [stored.id]
        mem.settle()
    assert model.asked == []


@pytest.mark.requirement("S-022", "S-023")
def test_what_is_told_today_is_found_at_once_also_after_a_consolidation(
    mem: Credenda, clock: ManualClock, tmp_path: Path
) -> None:
    mem.remember("I work at Google.")
    mem.settle()
    assert mem.manage.consolidate(force=True).ran
    clock.advance(timedelta(hours=1))
    for _ in range(2):
        mem.remember("The blue ferry leaves at noon.")
        assert [hit.text for hit in mem.search("blue ferry", kinds=["event"]).hits][:1] == [
            "The blue ferry leaves at noon."
        ]
        clock.advance(timedelta(minutes=5))
    mem.settle()
    mem.data.sync_files(tmp_path / "vault")
    today = (tmp_path / "vault" / "archive" / f"{clock.now():%Y-%m-%d}.md").read_text("utf-8")
    assert today.count("- The blue ferry leaves at noon.") == 2  # the log leaves out no repetition


@pytest.mark.requirement("C-002")
def test_stated_importance_stays_and_a_profile_chooses_its_weight(mem: Credenda, clock: ManualClock) -> None:
    mem.store(MemoryUnit(text="User keeps the blue folder at home.", importance=0.9))
    mem.store(MemoryUnit(text="User keeps the blue folder at work.", importance=0.1))
    clock.advance(timedelta(days=100))
    mem.manage.decay()
    assert {one.base_importance for one in mem.list().items} == {0.9, 0.1}
    weights = dict[str, set[float]]()
    for profile in ("evidence", "recall"):
        hits = mem.search("blue folder", profile=profile, explain=True, kinds=["memory"], record_access=False).hits
        assert len(hits) == 2
        weights[profile] = {round(hit.terms.get("importance", 0.0), 3) for hit in hits if hit.terms}
    assert weights["evidence"] == {0.0}
    assert len(weights["recall"]) == 2


@pytest.mark.requirement("R-058")
@pytest.mark.sqlite_file  # reads the file itself
def test_importance_is_a_column_that_the_published_query_reads(path: Path) -> None:
    with Credenda.open(path, user="ana", workers=False) as mem:
        for number, importance in enumerate((0.95, 0.5, 0.81, 0.8)):
            mem.store(MemoryUnit(text=f"Note {number}", importance=importance))
    with sqlite3.connect(path) as file:
        file.row_factory = sqlite3.Row
        found = [row["text"] for row in file.execute("SELECT * FROM memories WHERE importance > 0.8")]
        ordered = [row["text"] for row in file.execute("SELECT * FROM memories ORDER BY importance DESC")]
    file.close()
    assert sorted(found) == ["Note 0", "Note 2"]
    assert ordered == ["Note 0", "Note 2", "Note 3", "Note 1"]


@pytest.mark.requirement("R-061")
def test_a_search_returns_what_holds_with_a_confidence_of_at_least_0_4(mem: Credenda, clock: ManualClock) -> None:
    for number, confidence in enumerate((0.39, 0.4, 0.9)):
        mem.store(MemoryUnit(text=f"User keeps blue folder {number}.", confidence=confidence))
    year, day = clock.now() - timedelta(days=365), clock.now() - timedelta(days=1)
    mem.store(MemoryUnit(text="User keeps a blue folder in Rome.", valid_from=year, valid_until=day, confidence=0.7))
    found = mem.search("blue folder", kinds=["memory"], limit=10).hits
    plain = {hit.memory.confidence for hit in found if hit.memory and not hit.flags}
    assert plain == {0.4, 0.9}
    assert 0.39 not in {hit.memory.confidence for hit in found if hit.memory}


@pytest.mark.requirement("R-088", "R-096", "E-049")
@pytest.mark.parametrize("profile", ["layered", "recall"])
def test_old_data_is_as_old_as_it_says(path: Path, clock: ManualClock, profile: str) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, settings={"decay_profile": profile}) as mem:
        told = clock.now() - timedelta(days=35)
        mem.store(MemoryUnit(text="deployed v2.1", layer=Layer.EPISODIC, created_at=told))
        mem.remember("I ran a marathon.", occurred_at=told)
        mem.settle()
        mem.manage.decay()
        scores = [one.decay_score for one in mem.list().items]
        assert len(scores) == 2
        assert all(score is not None and score < 0.5 and score == round(score, 6) for score in scores)
        if profile == "recall":
            assert scores == [pytest.approx(0.496585, abs=1e-6)] * 2


@pytest.mark.requirement("R-018")
def test_a_decision_leaves_a_preference_and_a_procedure_of_its_pair_alone(mem: Credenda) -> None:
    kinds = (
        ("Prefers", "Postgres", "preference"),
        ("Chose", "MySQL", "decision"),
        ("Back up with", "SQLite", "procedure"),
        ("Chose", "MariaDB", "decision"),
    )
    for words, value, kind in kinds:
        text = f"{words} {value}"
        mem.store(MemoryUnit(text=text, entity="user", attribute="database", value=value, type=kind, confidence=0.9))
    states = {one.value: one.status for one in mem.list(status=None).items}
    assert states.pop("MySQL") is Status.SUPERSEDED
    assert set(states.values()) == {Status.ACTIVE}

"""Further promises tried with the sentences and numbers in which they were made, and with others of the same kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from credenda import Credenda, MemoryUnit
from credenda.model.memory import Layer, Memory, Status
from credenda.testing import Answer, ManualClock, Question, ScriptedModel

Say = Callable[..., None]


def rows(mem: Credenda) -> list[Memory]:
    return list(mem.list(status=None, limit=50).items)


@pytest.mark.requirement("R-032")
@pytest.mark.parametrize(
    ("told", "importance", "confidence"),
    [
        ("I'm actually a doctor, so walk me through the mechanism more technically.", 0.7, 0.3),
        ("I have a peanut allergy", 0.85, 0.85),
        ("considering switching to Rust", 0.7, 0.5),
        ("I am considering switching to Rust", 0.7, 0.5),
        ("considering switching to Kotlin", 0.7, 0.5),
        ("I have a latex allergy.", 0.85, 0.85),
    ],
)
def test_confidence_has_its_anchors(
    mem: Credenda, say: Say, *, told: str, importance: float, confidence: float
) -> None:
    say(told)
    assert [(one.importance, one.confidence) for one in rows(mem)] == [(importance, confidence)]


@pytest.mark.requirement("R-043", "R-045", "R-057")
def test_what_is_read_has_a_slot_that_its_words_contain_and_weighs_something(mem: Credenda, say: Say) -> None:
    """Each stated fact or preference once, and nothing more; what is not worth a fifth is no memory."""
    worth = (
        "I always use dark mode",
        "I'm a backend engineer",
        "I'm allergic to peanuts.",
        "I live in Linz.",
        "My sister works at Bosch.",
        "We deploy to AWS on Fridays.",
    )
    passing = ("Thanks, that's helpful!", "I'm tired today", "Oh great, another meeting", "ok cool", "Good morning!")
    say(*worth, *passing)
    held = rows(mem)
    assert {one.text for one in held} == set(worth)
    assert len(held) <= len(worth) + 1  # the deployment may be one fact or two
    for one in held:
        assert one.entity
        assert one.attribute
        assert one.value is not None
        assert one.value.casefold() in one.text.casefold()
        assert one.importance >= 0.2


@pytest.mark.requirement("R-081", "R-082")
@pytest.mark.parametrize(
    ("first", "then", "old", "new", "relation"),
    [
        ("My timezone is EST.", "My timezone is PST, not EST.", "EST", "PST", "corrected"),
        ("My locker is number 12.", "Sorry, my locker is number 21, not 12.", "12", "21", "corrected"),
        ("I prefer JavaScript.", "I now prefer TypeScript over JavaScript.", "JavaScript", "TypeScript", "changed"),
        ("My favourite editor is Vim.", "My favourite editor is Helix now.", "Vim", "Helix", "changed"),
    ],
)
def test_an_update_and_a_correction_resolve_by_themselves(
    mem: Credenda, say: Say, *, first: str, then: str, old: str, new: str, relation: str
) -> None:
    say(first, then)
    states = {str(one.value).split()[-1]: (one.status, one.relation) for one in rows(mem)}
    assert states == {old: (Status.SUPERSEDED, relation), new: (Status.ACTIVE, None)}
    assert mem.manage.contests() == []


@pytest.mark.requirement("R-128")
def test_what_was_superseded_is_in_no_search_list_or_count(mem: Credenda, say: Say) -> None:
    say("I work at Google.", "I left Google, I'm at Microsoft now.")
    assert [one.value for one in mem.list().items] == ["Microsoft"]
    for question in ("Where do I work?", "Google", "Do I work at Google?"):
        found = mem.search(question, kinds=["memory"], record_access=False).hits
        assert [hit.memory.value for hit in found if hit.memory] == ["Microsoft"]
    stats = mem.stats()
    assert (stats.total, stats.by_type) == (1, {"fact": 1})


@pytest.mark.requirement("R-221")
@pytest.mark.parametrize(
    "told", ["What if I were a doctor?", "Oh great, another meeting", "Oh great, another deadline"]
)
def test_a_supposition_or_sarcasm_has_three_tenths_of_confidence_at_most(mem: Credenda, say: Say, told: str) -> None:
    say(told)
    assert all(one.confidence <= 0.3 for one in rows(mem))
    assert mem.search(told, kinds=["memory"]).hits == ()


@pytest.mark.requirement("D-008")
def test_a_slot_without_a_value_contradicts_nothing(mem: Credenda) -> None:
    mem.store(MemoryUnit(text="Favourite drink: tea", entity="user", attribute="drink", value="tea"))
    mem.store(MemoryUnit(text="Has a favourite drink", entity="user", attribute="drink"))
    mem.store(MemoryUnit(text="Drinks TEA", entity=" User", attribute="Drink", value=" TEA "))
    states = {one.text: (one.status, one.confirmations) for one in rows(mem)}
    assert states == {"Favourite drink: tea": (Status.ACTIVE, 1), "Has a favourite drink": (Status.ACTIVE, 0)}


@pytest.mark.requirement("R-166")
def test_a_vector_goes_with_its_memory(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed") as mem:
        ids = [mem.store(MemoryUnit(text=text)).id for text in ("The ferry leaves at nine.", "The gate is red.")]
        mem.settle()
        assert mem.stats().vectors == 2
        mem.delete(ids[0])
        assert mem.stats().vectors == 1
        mem.settle()
        assert mem.stats().vectors == 1
        assert mem.data.doctor().ok


@pytest.mark.requirement("S-006")
def test_no_page_is_a_category_and_a_fact_of_several_is_on_one_page(mem: Credenda, tmp_path: Path) -> None:
    for topic, text in (("work", "I deploy to AWS on Fridays."), ("home", "I water the ferns on Fridays.")):
        mem.remember(text, topic=topic, tags=["tech", "routine"])
        mem.settle()
    mem.data.sync_files(tmp_path / "vault")
    pages = {one.name: one.read_text("utf-8") for one in (tmp_path / "vault" / "consolidated").iterdir()}
    assert not {"work.md", "home.md", "tech.md", "routine.md"} & set(pages)
    assert all(any(words in text for text in pages.values()) for words in ("AWS", "ferns"))


def judged(path: Path, clock: ManualClock, told: Sequence[str], op: str) -> tuple[list[str], str]:
    """Store two sentences, let a model answer with one operation; return what is held and the state of the first."""

    def answer(question: Question) -> Answer:
        first, second = (one["id"] for one in json.loads(question.prompt)["entries"])
        others = [second] if op == "remove" else []
        return {"operations": [{"op": op, "target": first, "with": others, "kind": None, "text": None}]}

    model = ScriptedModel(answer)
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="hashed", llm=model) as mem:
        ids = [mem.store(MemoryUnit(text=text)).id for text in told]
        mem.settle()
        mem.manage.consolidate(similarity_threshold=0.45, force=True)
        assert len(model.asked) == 1
        assert mem.data.doctor().ok
        return sorted(one.text for one in mem.list(limit=50).items), mem.get(ids[0]).status.value


@pytest.mark.requirement("S-040")
def test_an_add_of_the_model_leaves_a_new_fact_as_it_is(path: Path, clock: ManualClock) -> None:
    told = ("The team plans sprints in Linear.", "The team plans the sprints of the shop in Linear.")
    assert judged(path, clock, told, "add") == (sorted(told), "active")


@pytest.mark.requirement("S-042")
def test_a_remove_of_the_model_takes_a_genuine_duplicate_only(path: Path, clock: ManualClock) -> None:
    same = ("The team plans its sprints in Linear.", "The team plans sprints in Linear.")
    assert judged(path, clock, same, "remove")[0] in ([same[0]], [same[1]])
    apart = ("The team plans sprints in Linear.", "The team plans sprints in Jira.")
    assert judged(path.with_name("apart.db"), clock, apart, "remove") == (sorted(apart), "active")


class Turned:
    """An embedder that puts a text at its angle, in degrees."""

    model_id, dims = "turned", 2

    def __init__(self, degrees: dict[str, float]) -> None:
        self.degrees = degrees

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([self.degrees.get(text, 90.0) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@pytest.mark.requirement("E-047")
@pytest.mark.parametrize(("cosine", "flagged"), [(0.925, True), (0.915, False)])
def test_a_repetition_is_flagged_from_ninety_two_hundredths_on(
    path: Path, clock: ManualClock, *, cosine: float, flagged: bool
) -> None:
    one, again = "Saw an owl in the garden.", "Really saw the owl in the garden."
    embedder = Turned({one: 0.0, again: float(np.degrees(np.arccos(cosine)))})
    with Credenda.open(path, user="ana", clock=clock, embedder=embedder, workers=False) as mem:
        first = mem.store(MemoryUnit(text=one))
        mem.settle()
        second = mem.store(MemoryUnit(text=again))
        mem.settle()
        assert mem.get(second.id).metadata == ({"duplicate_of": first.id} if flagged else {})


@pytest.mark.requirement("E-068")
def test_fifty_cards_a_night_each_of_a_few_hundred_words_at_most(mem: Credenda) -> None:
    for person in range(52):
        for at in range(5):
            mem.store(MemoryUnit(text=f"Person{person} owns boat number {at}.", entity=f"Person{person}"))
    for at in range(60):
        words = " ".join(f"word{at}x{number}" for number in range(12))
        mem.store(MemoryUnit(text=f"Vera said {words}.", entity="Vera"))
    mem.manage.dream(["cards"])
    cards = [one for one in mem.list(attribute="peer_card", limit=50).items if one.attribute]
    assert len(cards) == 50
    assert mem.list(attribute="peer_card", limit=50).next_cursor is None
    assert {(one.layer, one.importance) for one in cards} == {("semantic", 0.8)}
    (vera,) = (one for one in cards if one.entity == "Vera")
    assert len(vera.text.split()) <= 400
    assert len(vera.metadata["cites"]) <= 50  # type: ignore[arg-type]


class Counting(Turned):
    """An embedder that notes what it was given."""

    model_id = "counting"

    def __init__(self) -> None:
        super().__init__({})
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed(texts)


@pytest.mark.requirement("S-036")
def test_a_consolidation_compares_the_stored_vectors_and_only_its_entry_is_embedded(
    path: Path, clock: ManualClock
) -> None:
    embedder = Counting()
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder=embedder) as mem:
        for value in ("Google", "Microsoft"):
            unit = MemoryUnit(text=f"Works at {value}.", entity="user", attribute="employer", value=value)
            mem.store(unit)
            mem.settle()
            clock.advance(timedelta(days=1))
        before = list(embedder.seen)
        (written,) = mem.manage.consolidate(force=True).created
        assert embedder.seen == before
        mem.settle()
        assert embedder.seen.count(mem.get(written).text) == 1
        assert mem.manage.consolidate(force=True).reason == "nothing to do"
        settled = list(embedder.seen)
        mem.settle()
        assert embedder.seen == settled


@pytest.mark.requirement("R-202")
def test_a_semantic_query_of_another_user_returns_no_row(path: Path, clock: ManualClock) -> None:
    embedder = Turned({"Where is the harpsichord kept?": 1.0, "The harpsichord stands in the crypt.": 0.0})
    for user, text in (("ana", "The harpsichord stands in the crypt."), ("ben", "The tuba is at school.")):
        with Credenda.open(path, user=user, clock=clock, workers=False, embedder=embedder) as mem:
            mem.store(MemoryUnit(text=text))
            mem.settle()
    found = dict[str, list[str]]()
    for user in ("ana", "ben"):
        with Credenda.open(path, user=user, clock=clock, workers=False, embedder=embedder) as mem:
            hits = mem.search("Where is the harpsichord kept?", include=["misses"]).hits
            found[user] = [hit.quote for hit in hits]
    assert found["ana"] == ["The harpsichord stands in the crypt."]
    assert not any("harpsichord" in quote for quote in found["ben"])


@pytest.mark.requirement("E-066")
def test_the_night_begins_with_the_curve_weighted_by_trust(mem: Credenda, clock: ManualClock) -> None:
    for text, source in (("Saw an owl.", "human"), ("The log says the build broke.", "ingest")):
        mem.store(MemoryUnit(text=text, layer=Layer.EPISODIC, source=source))
    clock.advance(timedelta(days=30))
    assert mem.manage.dream().steps[0].name == "forgetting"
    assert {one.text: one.decay_score for one in mem.list().items} == {
        "Saw an owl.": pytest.approx(0.525, abs=1e-3),
        "The log says the build broke.": pytest.approx(0.2587, abs=1e-3),
    }

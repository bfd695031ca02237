"""Deleting one memory blanks its own words: the rest of the sentence, and what else it states, stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Credenda, MemoryUnit, bootstrap
from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.storage.store import EventFilter
from credenda.testing import ManualClock
from credenda.text.sentences import BLANK

Events = Callable[[], list[Event]]
Say = Callable[..., None]


def _get(mem: Credenda, value: str) -> Memory:
    return next(one for one in mem.list(status=None, limit=50).items if one.value == value)


def _values(mem: Credenda) -> set[str | None]:
    return {one.value for one in mem.list(limit=50).items}


@pytest.fixture
def events(path: Path) -> Events:
    """Read every event of the memory from its file, oldest first, with the redacted ones."""

    def read() -> list[Event]:
        store = bootstrap.open_store(path, read_only=True)
        try:
            with store.reader("ana") as reader:
                return reader.find_events(EventFilter(redacted=True))
        finally:
            store.close()

    return read


def _read_all(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


SENTENCES = {
    "I work at Siemens and live in Linz.": {"Siemens": "I live in Linz.", "Linz": "I work at Siemens."},
    "I'm allergic to peanuts, shellfish and pollen.": {
        "peanuts": "I'm allergic to shellfish and pollen.",
        "shellfish": "I'm allergic to peanuts and pollen.",
        "pollen": "I'm allergic to peanuts, shellfish.",
    },
    "My wife Maria is a nurse and my son Leo is 5.": {
        "nurse": "my son Leo is 5.",
        "5": "My wife Maria is a nurse.",
    },
    "I'm vegan, I love hiking and my dog is called Rex.": {
        "vegan": "I love hiking and my dog is called Rex.",
        "hiking": "I'm vegan and my dog is called Rex.",
        "Rex": "I'm vegan, I love hiking.",
    },
    "Ich wohne in Linz und ich arbeite bei Siemens.": {
        "Linz": "ich arbeite bei Siemens.",
        "Siemens": "Ich wohne in Linz.",
    },
}
CASES = [(text, value, left) for text, cases in SENTENCES.items() for value, left in cases.items()]


@pytest.mark.parametrize("case", CASES)
def test_the_other_claims_of_the_sentence_stay_with_the_words_that_remain(
    mem: Credenda, say: Say, events: Events, case: tuple[str, str, str]
) -> None:
    text, value, left = case
    say(text)
    others = _values(mem) - {value}
    mem.delete(_get(mem, value).id)
    mem.settle()
    assert _values(mem) == others
    (event,) = events()
    assert len(event.text) == len(text)
    for memory in mem.list(limit=50).items:
        assert memory.text == left
        ((_, start, stop),) = mem.why(memory.id).evidence
        assert memory.value is not None
        assert memory.value in event.text[start:stop]
        assert not event.text[start:stop].startswith((BLANK, " "))
    assert mem.data.doctor().findings == ()
    assert mem.data.rebuild(dry_run=True).differences == ()
    assert mem.data.rebuild(reextract=True, dry_run=True).differences == ()


@pytest.mark.parametrize("case", CASES)
def test_the_same_sentence_said_again_loses_only_these_words(
    mem: Credenda, say: Say, events: Events, case: tuple[str, str, str]
) -> None:
    text, value, left = case
    say(text)
    others = _values(mem) - {value}
    mem.delete(_get(mem, value).id)
    receipt = mem.remember(text)
    mem.settle()
    assert len(receipt.refused) == 1
    assert _values(mem) == others
    said = events()[-1].text
    assert value not in said
    assert all(one is None or one in said for one in others), left
    assert not mem.remember(left).refused


def test_the_sentences_beside_a_restated_one_are_read(mem: Credenda) -> None:
    mem.delete(mem.store(MemoryUnit(text="I live in Linz.", entity="user", attribute="residence", value="Linz")).id)
    mem.remember("I live in Linz. My sister is Zora.\nI like rum. I live in Linz. My brother is Max.")
    mem.settle()
    assert _values(mem) == {"Max", "Zora", "rum"}


def test_a_later_sentence_keeps_the_clause_about_somebody_else(mem: Credenda, events: Events) -> None:
    mem.store(MemoryUnit(text="I'm at Siemens.", entity="user", attribute="employer", value="Siemens"))
    mem.delete(_get(mem, "Siemens").id)
    receipt = mem.remember("I'm at Siemens and my sister Ana lives in Graz.")
    mem.settle()
    assert receipt.refused == ("restates deleted text (characters 0 to 19)",)
    assert events()[-1].text.endswith("my sister Ana lives in Graz.")
    assert "Siemens" not in events()[-1].text
    assert _values(mem) == {"Graz"}
    assert _get(mem, "Graz").text == "my sister Ana lives in Graz."
    assert any("Graz" in hit.quote for hit in mem.search("Where does my sister Ana live?").hits)


def test_the_rest_of_a_sentence_without_another_memory_is_found(mem: Credenda, say: Say) -> None:
    say("I work at Siemens and the weather in Genoa was lovely yesterday.")
    mem.delete(_get(mem, "Siemens").id)
    hits = mem.search("How was the weather in Genoa?").hits
    assert "the weather in Genoa was lovely yesterday." in hits[0].quote
    assert "Siemens" not in hits[0].text


def test_the_identical_sentence_of_another_person_is_another_sentence(mem: Credenda, events: Events) -> None:
    for name in ("Ben", "Eva"):
        mem.remember([{"role": "person", "name": name, "content": "I live in Linz."}], session="s")
        mem.settle()
    ben = next(one for one in mem.list().items if one.entity == "Ben")
    mem.delete(ben.id)
    assert [event.text for event in events()][1] == "I live in Linz."
    assert [one.entity for one in mem.list().items] == ["Eva"]
    assert not mem.remember([{"role": "person", "name": "Eva", "content": "I live in Linz."}]).refused
    assert mem.remember([{"role": "person", "name": "Ben", "content": "I live in Linz."}]).refused


def test_the_words_are_in_no_byte_and_the_rest_is_found(
    mem: Credenda, say: Say, path: Path, clock: ManualClock
) -> None:
    say("I work at Zorkmidcorp and live in Linz.", "I love tea.")
    mem.search("Zorkmidcorp")
    mem.delete(_get(mem, "Zorkmidcorp").id)
    hits = mem.search("Where do I live?").hits
    assert "Linz" in hits[0].quote
    assert not mem.search("Zorkmidcorp").hits
    mem.close()
    assert b"orkmidcorp" not in _read_all(path).lower()
    with Credenda.open(path, user="ana", clock=clock, workers=False) as again:
        assert _values(again) == {"Linz", "tea"}
        again.remember("I work at Zorkmidcorp and live in Linz.")
        again.settle()
        again.data.rebuild(reextract=True)
    assert b"orkmidcorp" not in _read_all(path).lower()


def test_vectors_of_the_remaining_words_are_made_anew(path: Path, clock: ManualClock) -> None:
    with Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as mem:
        mem.remember("I work at Siemens and live in Linz.")
        mem.settle()
        mem.search("Where do I live?")
        before = mem.stats().vectors
        mem.delete(_get(mem, "Siemens").id)
        mem.settle()
        assert mem.stats().vectors == before - 1
        assert mem.search("Where do I live?").hits[0].memory.value == "Linz"  # type: ignore[union-attr]
        assert mem.data.doctor().findings == ()


def test_words_of_several_memories_go_with_them_and_the_plan_says_so(mem: Credenda) -> None:
    mem.remember("Ana and Eva live in Linz.")
    mem.settle()
    for entity in ("Ana", "Eva"):
        mem.store(MemoryUnit(text="Ana and Eva live in Linz.", entity=entity, attribute="residence", value="Linz"))
    memory = next(one for one in mem.list().items if one.entity == "Ana")
    plan = mem.manage.plan_deletion(memory.id)
    assert plan.blanked
    assert plan.memories == 1 + len(plan.taken)


def test_the_plan_names_what_shares_the_words(mem: Credenda, say: Say) -> None:
    say("I work at Siemens and live in Linz.")
    linz = _get(mem, "Linz")
    plan = mem.manage.plan_deletion(_get(mem, "Siemens").id)
    assert (plan.memories, plan.events, plan.taken) == (1, 1, ())
    assert [one.words for one in plan.blanked] == ["work at Siemens and"]
    assert [(one.id, one.text, one.left) for one in plan.kept] == [(linz.id, linz.text, "I live in Linz.")]
    assert mem.get(linz.id).text == "I work at Siemens and live in Linz."


def test_the_whole_message_goes_when_it_is_asked_for(mem: Credenda, say: Say, events: Events) -> None:
    say("I work at Siemens and live in Linz. The weather was lovely.")
    plan = mem.manage.plan_deletion(_get(mem, "Siemens").id, whole_message=True)
    assert (plan.memories, plan.events) == (2, 1)
    mem.delete(_get(mem, "Siemens").id, whole_message=True)
    assert not mem.list().items
    assert events()[0].text == ""
    assert mem.remember("I work at Siemens and live in Linz.").refused


CLAUSES = {
    "residence": ("I live in {}", ["Innsbruck", "Salzburg", "Klagenfurt"]),
    "employer": ("I work at {}", ["Siemens", "Infineon", "Initech"]),
    "allergy": ("I'm allergic to {}", ["peanuts", "pollen", "shellfish"]),
    "dog": ("my dog is called {}", ["Balthasar", "Bernadette", "Waldemar"]),
    "likes": ("I love {}", ["hiking", "swimming", "painting"]),
}
"""No value is so short that the random bytes of a file may hold it by chance."""


@st.composite
def _sentences(draw: st.DrawFn) -> tuple[str, list[str]]:
    names = draw(st.lists(st.sampled_from(sorted(CLAUSES)), min_size=2, max_size=4, unique=True))
    values = [draw(st.sampled_from(CLAUSES[name][1])) for name in names]
    clauses = [CLAUSES[name][0].format(value) for name, value in zip(names, values, strict=True)]
    join = draw(st.sampled_from([" and ", ", and ", ", "]))
    text = ", ".join(clauses[:-1]) + join + clauses[-1] + "."
    return text[0].upper() + text[1:], values


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=_sentences(), number=st.integers(0, 3))
def test_of_any_sentence_any_one_claim_can_be_deleted(
    tmp_path_factory: pytest.TempPathFactory, said: tuple[str, list[str]], number: int
) -> None:
    text, _ = said
    folder = tmp_path_factory.mktemp("any")
    path = folder / "memory.db"
    with Credenda.open(path, user="ana", clock=ManualClock("2026-03-01T09:00:00Z"), workers=False) as mem:
        mem.remember(text)
        mem.settle()
        held = sorted(mem.list(limit=50).items, key=lambda one: one.id)
        if not held:
            return
        gone = held[number % len(held)]
        assert gone.value is not None
        if any(gone.value in (one.entity or "") for one in held):
            return  # the name of a person goes with all that is told of that person
        others = {one.value: one.entity for one in held if one.id != gone.id}
        mem.delete(gone.id)
        mem.settle()
        assert _values(mem) == set(others)
        for memory in mem.list(limit=50).items:
            assert memory.value is not None
            assert any(memory.value in hit.quote for hit in mem.search(memory.value).hits)
            assert gone.value not in memory.text
        mem.remember(text)
        mem.settle()
        # what is left of the sentence is read anew, and may show another claim; the deleted one never
        assert set(others) <= _values(mem)
        assert gone.value not in _values(mem)
        mem.data.sync_files(folder / "pages")
        assert mem.data.rebuild(dry_run=True).differences == ()
        mem.data.rebuild(reextract=True)
        mem.data.export(folder / "all.jsonl")
        assert set(others) <= _values(mem)
        assert gone.value not in _values(mem)
    for file in folder.rglob("*"):
        assert not file.is_file() or gone.value.encode() not in file.read_bytes(), file.name


DISGUISES = (
    "I\u200b live in Lin\u200bz.",
    "I live in L\u0456nz.",
    "\uff29 live in Linz.",
    "I live in \U0001d40b\U0001d422\U0001d427\U0001d433.",
    "I\u2060\u00ad live\ufe0f in Linz\U000e0041.",
    "I m\u043eved to L\u0456nz.",
)


@pytest.mark.parametrize("text", DISGUISES)
def test_disguised_words_are_known(mem: Credenda, say: Say, events: Events, text: str) -> None:
    say("I live in Linz.")
    mem.delete(_get(mem, "Linz").id)
    assert mem.remember(f"I like tea. {text}").refused
    mem.settle()
    assert _values(mem) == {"tea"}
    assert events()[-1].text.startswith("I like tea. ")


def test_words_in_another_script_are_stored_and_refused_in_it(mem: Credenda) -> None:
    text = "\u042f \u0436\u0438\u0432\u0443 \u0432 \u041c\u043e\u0441\u043a\u0432\u0435."
    first = mem.remember(text)
    mem.settle()
    assert mem.search("\u041c\u043e\u0441\u043a\u0432\u0435").hits[0].quote == text
    mem.delete(first.event_ids[0])
    assert mem.remember(text).refused
    assert not mem.remember(text.replace("\u041c\u043e\u0441\u043a\u0432\u0435", "\u0420\u0438\u043c\u0435")).refused


def test_a_message_without_a_word_is_accepted_after_a_deletion(mem: Credenda) -> None:
    mem.remember("I live in Linz.")
    mem.settle()
    mem.delete(mem.list(limit=1).items[0].id)
    assert mem.remember("🦊🦊 … 🦊").event_ids

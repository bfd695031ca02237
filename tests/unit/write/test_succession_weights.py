"""Signs and weights by which a sentence is laid on a memory: pure, on memories made by hand."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from credenda.model.memory import Memory, Stance
from credenda.text.weight_file import parse_weight_file
from credenda.write.succession.likely import near_signs, said_of, signs_between
from credenda.write.succession.old import old_of
from credenda.write.succession.weigh import LAID, closest, likeliest, limit_among, may_take, speaks

from .build import made

DATA = Path(__file__).parents[2] / "data/beliefs"
BYTES_MAX = 120_000


COACH = made("Our handball coach is Viktor.", "coach", "Viktor")
BROKER = made("Our broker is Hillary.", "broker", "Hillary", id="m2")


CHANGED = "Viktor was fired, so Samira is our coach now."


def signs(sentence: str, memory: Memory, *given: Memory) -> frozenset[str]:
    return signs_between(said_of(sentence), old_of(memory), {}, given)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Viktor was sacked.", {"value named", "role:value", "value before:^", "value after:was", "shared:1"}),
        ("The coach is Samira now.", {"attribute, not value", "attribute before:THE", "cue:now", "alike", "kind:name"}),
        ("My brother's coach is strict.", {"kin:new", "attribute of somebody"}),
        ("Viktor's dog died.", {"value's", "value named"}),
        ("No coach any more, we got rid of Viktor.", {"cue:end", "new denies", "departs before:value"}),
    ],
)
def test_signs_say_what_is_shared_and_how_it_stands(sentence: str, expected: set[str]) -> None:
    assert expected <= signs(sentence, COACH)


def test_what_the_sentence_was_read_as_is_a_sign() -> None:
    sentence = "The coach is Samira now."
    assert "given:nothing" in signs(sentence, COACH)
    assert "given:same slot" in signs(sentence, COACH, made("x", "coach", "Samira"))
    assert "given:same attribute" in signs(sentence, COACH, made("x", "coach", "Samira", entity="my son"))
    assert "given:words" in signs(sentence, COACH, made("x", None, None))
    assert {"given:other", "given:another matter"} <= signs(
        "I left Viktor's.", made("I work at Viktor's.", "employer", "Viktor's"), made("x", "residence", "Rome")
    )


def test_a_common_word_weighs_less_than_a_rare_one() -> None:
    said, old = said_of("The coach was sacked."), old_of(COACH)
    assert "rarity>0.8" in signs_between(said, old, {})
    assert "rarity>0.4" not in signs_between(said, old, {"coach": 0.3})


def test_a_change_told_sideways_finds_its_memory_among_others() -> None:
    said = said_of(CHANGED)
    assert may_take(said)
    found = likeliest(said, [BROKER, COACH], (), among=LAID)
    assert found is not None
    assert (found.memory.id, found.rule) == ("m1", "weighed")
    assert found.score >= 0
    assert found.shared == ("coach", "viktor", "now", "gone")


def test_those_that_share_the_rarest_words_are_weighed() -> None:
    strange = made("My cat is called Miso.", "name", "Miso", entity="my cat", id="m9")
    said = said_of(CHANGED)
    assert closest(said, [BROKER, COACH, strange], 5) == [COACH]
    assert closest(said, [replace(COACH, text="A coach came."), COACH], 1) == [COACH]
    assert closest(said, [], 5) == []


def test_the_more_memories_share_a_word_the_surer_it_must_be() -> None:
    """R-074: a memory of many is met by chance."""
    assert limit_among(1.0, LAID) == pytest.approx(1.0)
    assert limit_among(1.0, 1) < limit_among(1.0, 4) < 1.0 < limit_among(1.0, 24)
    found = likeliest(said_of(CHANGED), [COACH], (), among=1)
    assert found is not None
    assert likeliest(said_of(CHANGED), [COACH], (), among=10**9) is None


def test_two_that_fit_alike_are_left_alone() -> None:
    said = said_of(CHANGED)
    other = replace(COACH, id="m3", text="Our volleyball coach is Viktor.")
    assert likeliest(said, [COACH], (), among=LAID) is not None
    assert likeliest(said, [COACH, other], (), among=LAID) is None


def test_what_reconciliation_let_stand_in_one_slot_stays() -> None:
    assert likeliest(said_of(CHANGED), [COACH], (made("x", "coach", "Samira"),), among=LAID) is None


def test_shared_words_alone_never_speak_for_a_change() -> None:
    assert not speaks(signs("Viktor is a patient man.", COACH))
    assert speaks(signs("We got rid of Viktor.", COACH))


def test_a_note_of_what_was_shown_is_no_statement() -> None:
    assert (
        likeliest(said_of(CHANGED), [replace(COACH, text="[image: our handball coach is Viktor]")], (), among=LAID)
        is None
    )


def test_what_was_never_firm_is_not_weighed() -> None:
    said = said_of(CHANGED)
    assert likeliest(said, [replace(COACH, stance=Stance.HYPOTHETICAL)], (), among=LAID) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Viktor is a patient man.",
        "The handball court has a new roof.",
        "My sister's coach was sacked.",
        "I like trains.",
    ],
)
def test_what_only_shares_a_word_takes_nothing(sentence: str) -> None:
    assert likeliest(said_of(sentence), [COACH, BROKER], (), among=LAID) is None


def test_nearness_in_meaning_speaks_for_the_memory_that_is_meant() -> None:
    """R-074: it is data of the decision; without it the words alone are weighed."""
    tool = made("Our build tool is Maven.", None, None)
    said = said_of("We migrated the build to Gradle.")
    near, far = ({(said.phrase.text, tool.text): cosine} for cosine in (0.75, -0.1))
    found = likeliest(said, [tool], (), among=1, nearness=near)
    assert found is not None
    assert found.memory.id == tool.id
    assert likeliest(said, [tool], (), among=1, nearness=far) is None


def test_who_talks_must_tell_of_a_change_by_some_word_however_near_it_is() -> None:
    """R-075: of a longer turn as much is asked as among many, by both tables."""
    tool = made("Our build tool is Maven.", None, None)
    said = said_of("We migrated the build to Gradle.")
    near = {(said.phrase.text, tool.text): 0.75}
    alone, in_talk = (likeliest(said, [tool], (), among=1, nearness=near, alone=one) for one in (True, False))
    assert alone is not None
    assert in_talk is None or in_talk.score < alone.score


@pytest.mark.parametrize("cosine", [1.0, 0.8])
def test_what_is_near_and_tells_of_no_change_takes_nothing(cosine: float) -> None:
    """R-075: people go on about the same."""
    tea = made("I drink tea in the morning.", None, None)
    for sentence in ("I drink a lot of tea in the morning.", "My sister drinks tea in the morning."):
        said = said_of(sentence)
        assert likeliest(said, [tea], (), among=1, nearness={(said.phrase.text, tea.text): cosine}) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting room 7 is free", "The meeting room 8 is free"),
        ("The neighbours were loud on day 0.", "The neighbours were loud on day 1."),
    ],
)
def test_what_only_counts_on_changes_nothing(old: str, new: str) -> None:
    """R-075: a series of things is no change of one."""
    memory, said = made(old, None, None), said_of(new)
    assert likeliest(said, [memory], (), among=1) is None
    assert likeliest(said, [memory], (), among=1, nearness={(said.phrase.text, old): 0.95}) is None


def test_nearness_is_steps_beside_the_signs_of_change() -> None:
    said, old = said_of(CHANGED), old_of(COACH)
    assert {"near>0.1", "near>0.4", "near>0.4 & now", "near>0.4 shared:2"} <= set(near_signs(said, old, 0.45))
    assert "near>0.5" not in set(near_signs(said, old, 0.45))
    assert not set(near_signs(said, old, 0.05))


@pytest.mark.parametrize("name", ["succession_weights.tsv", "succession_near.tsv"])
def test_the_weights_were_fitted_on_the_pairs_that_are_there(name: str) -> None:
    text = (files("credenda.write") / "data" / name).read_text("utf-8")
    assert len(text.encode()) < BYTES_MAX
    assert parse_weight_file(text).notes["data"] == [
        f"{name} sha256:{hashlib.sha256((DATA / name).read_bytes()).hexdigest()[:16]}"
        for name in ("pairs_tuning.jsonl", "pairs_traps.jsonl", "utterances_tuning.jsonl")
    ], "run benchmarks/fit_succession.py --write"

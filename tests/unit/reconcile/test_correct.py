"""Corrections by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.model.change import Add, Confirm, Supersede
from credenda.model.claim import Claim, Span
from credenda.model.memory import Draft, Memory, Relation, Stance, Status
from credenda.write.correct import Wanted, decide_correction

from .build import claim, day, kinds, memory, occasion, only

SPAN = Span("e7-abc123", 0, 5)


def corrected(held: Memory, text: str | None = None, value: str | None = None, claims: Sequence[Claim] = ()) -> Draft:
    changes = decide_correction(
        held, Wanted(text=text, value=value, claims=claims), reason="", occasion=occasion(9), span=SPAN
    )
    assert kinds(changes) == ["Add", "Supersede"]
    return only(Add, changes).draft


def test_the_old_memory_was_wrong_and_the_new_one_holds_since_then() -> None:
    held = memory("Graz", text="My city is Graz.", at=2, confidence=0.6, importance=0.7, topic="home", pinned=True)
    changes = decide_correction(held, Wanted(value="Linz"), reason="typo", occasion=occasion(9), span=SPAN)
    add, old = only(Add, changes), only(Supersede, changes)
    assert (old.memory_id, old.successor, old.relation) == (held.id, add.key, Relation.CORRECTED)
    assert (old.valid_until_us, old.reason) == (day(9), "typo")
    draft = add.draft
    assert (draft.text, draft.value, draft.attribute) == ("Correction: Linz", "Linz", "residence")
    assert (draft.valid_from_us, draft.importance, draft.topic, draft.pinned) == (day(2), 0.7, "home", True)
    assert draft.confidence >= 0.95
    assert add.support[0].span == SPAN


@pytest.mark.parametrize(
    ("attribute", "words"),
    [("residence", "Correction: Linz"), ("instruction", "Linz"), ("plan", "Linz"), (None, "Linz")],
)
def test_the_words_of_a_new_value_are_those_of_the_correction(attribute: str | None, words: str) -> None:
    held = (
        memory("Graz", attribute, text="I live in Graz.") if attribute else memory(None, None, text="I live in Graz.")
    )
    assert corrected(held, value="Linz").text == words


def test_a_value_that_another_memory_has_already_is_confirmed_there() -> None:
    held, twin = memory("peanuts", "allergy"), replace(memory("prawns", "allergy"), id="m2-abc123")
    changes = decide_correction(
        held, Wanted(value="Prawns"), reason="", occasion=occasion(9), span=SPAN, slot_rows=(held, twin)
    )
    assert kinds(changes) == ["Confirm", "Supersede"]
    assert only(Confirm, changes).memory_id == twin.id
    old = only(Supersede, changes)
    assert (old.memory_id, old.successor, old.relation) == (held.id, twin.id, Relation.CORRECTED)


@pytest.mark.parametrize(
    ("text", "stated", "expected"),
    [
        ("I live in Linz.", (), ("Linz", "asserted")),
        ("Linz is my home", [("residence", "Linz")], ("Linz", "asserted")),
        (
            "My home is in Linz, not in Graz",
            [("residence", "Graz", "negated"), ("residence", "Linz")],
            ("Linz", "asserted"),
        ),
        ("I don't live in Graz", [("residence", "Graz", "negated")], ("Graz", "negated")),
        ("I work in Wels and live in Linz", [("workplace", "Wels"), ("residence", "Linz")], ("Linz", "asserted")),
    ],
)
def test_a_new_text_gives_the_value_of_the_slot(
    text: str, stated: Sequence[tuple[str, ...]], expected: tuple[str, str]
) -> None:
    claims = [claim(value, name, stance=Stance(stance[0] if stance else "asserted")) for name, value, *stance in stated]
    draft = corrected(memory("Graz", text="I live in Graz."), text=text, claims=claims)
    assert (draft.value, draft.stance, draft.text) == (*expected, text)


@pytest.mark.parametrize(
    ("old", "text", "stated"),
    [
        ("I live in Graz.", "Linz is my home", []),
        ("I live in Graz.", "I live in .", []),
        ("I live in Graz.", "Ben lives in Linz", []),
        ("Graz.", "Ruth is allergic to sulfa drugs.", []),
        ("I live in Graz.", "I live in Linz and Wels.", ["Linz", "Wels"]),
    ],
)
def test_a_text_without_one_value_of_the_slot_leaves_it_without_one(old: str, text: str, stated: Sequence[str]) -> None:
    draft = corrected(memory("Graz", text=old), text=text, claims=[claim(value) for value in stated])
    assert (draft.text, draft.value, draft.stance) == (text, None, Stance.ASSERTED)


def test_a_text_that_has_the_old_value_and_denies_nothing_keeps_it() -> None:
    assert corrected(memory("Graz"), text="Graz has been home since 2019").value == "Graz"
    assert corrected(memory("Graz"), text="Graz has never been home").value is None


def test_a_value_in_place_of_a_denial_is_asserted() -> None:
    denied = memory("penicillin", "allergy", text="I'm not allergic to penicillin.", stance=Stance.NEGATED)
    draft = corrected(denied, value="sulfa")
    assert (draft.value, draft.stance, draft.text) == ("sulfa", Stance.ASSERTED, "Correction: sulfa")
    draft = corrected(denied, value="penicillin")
    assert (draft.value, draft.stance, draft.text) == ("penicillin", Stance.ASSERTED, "Correction: penicillin")
    draft = corrected(denied, value="not sulfa")
    assert (draft.value, draft.stance, draft.text) == ("sulfa", Stance.NEGATED, "Correction: not sulfa")


def test_not_and_a_value_denies_it() -> None:
    draft = corrected(memory("Graz"), value="Not Linz")
    assert (draft.value, draft.stance, draft.text) == ("Linz", Stance.NEGATED, "Correction: Not Linz")


def test_text_and_value_together_are_taken_as_they_are() -> None:
    draft = corrected(memory("Graz"), text=" Home is Linz ", value=" Linz ")
    assert (draft.text, draft.value) == ("Home is Linz", "Linz")


def test_a_memory_without_a_slot_is_corrected_by_its_text() -> None:
    assert corrected(memory(None, None, text="We meet at nine"), text="We meet at ten").value is None
    assert corrected(memory(None, None, text="We meet at nine", entity=None), value="ten").text == "ten"


def test_correcting_a_supposition_does_not_make_it_a_fact() -> None:
    held = memory("doctor", "job_title", stance=Stance.HYPOTHETICAL, confidence=0.2)
    assert corrected(held, value="nurse").confidence == 0.2


def test_a_challenged_memory_that_is_corrected_holds() -> None:
    assert corrected(memory("Graz", status=Status.CHALLENGED), value="Linz").status is Status.ACTIVE


@pytest.mark.parametrize(
    ("text", "value"),
    [(None, None), ("", " "), ("I live in Graz.", None), (None, "Graz"), ("I live in Graz.", "Graz")],
)
def test_a_correction_must_say_something_else(text: str | None, value: str | None) -> None:
    with pytest.raises(Invalid):
        corrected(memory("Graz", text="I live in Graz."), text=text, value=value)


def test_a_text_beyond_the_bound_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        corrected(memory("Graz"), text="x" * 2_001)


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.ACTIVE, Status.CHALLENGED}))
def test_only_what_is_held_can_be_corrected(status: Status) -> None:
    with pytest.raises(Conflict, match=status.value):
        corrected(memory("Graz", status=status), value="Linz")

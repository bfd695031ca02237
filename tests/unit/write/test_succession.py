"""Which signs tell that a sentence takes the place of a memory: pure, on memories made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.model.memory import Memory, Stance
from credenda.write.succession.match import best, fitting
from credenda.write.succession.table import table, term
from credenda.write.succession.turning import turning
from credenda.write.succession.words import alike, cells, phrase

from .build import made

_FROM = 2.3


GYM = made("I go to the gym on Tuesdays.", "date", "on Tuesdays", entity="gym")
STAGING = made("Our staging server is called hobbit.", "name", "hobbit", entity="staging server")
MANAGER = made("My manager is Yolanda.", "manager", "Yolanda")
EDITOR = made("I use Vim.", "editor", "Vim")


def found(sentence: str, *memories: Memory) -> list[tuple[str, str]]:
    turn = turning(sentence)
    return [] if turn is None else [(one.memory.id, one.rule) for one in best(fitting(turn, memories, _FROM))]


@pytest.mark.parametrize(
    ("sentence", "cues"),
    [
        ("My gym day is Thursday now.", {"now"}),
        ("They moved the call to 5 pm.", {"turned"}),
        ("It is at 4, not 3.", {"contrast"}),
        ("I have a new dentist.", {"newly"}),
        ("I dumped LastPass.", {"left", "gone"}),
    ],
)
def test_the_signs_of_a_change_have_names(sentence: str, cues: set[str]) -> None:
    turn = turning(sentence)
    assert turn is not None
    assert turn.cues == cues
    assert table().may_turn(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I live in Rome.",
        "I might move to Rome.",
        "Should I move to Rome now?",
        "Now I play the drums too.",
        "She says I should switch to tea.",
        "I'm thinking of moving to Rome now.",
    ],
)
def test_what_adds_supposes_or_asks_turns_nothing(sentence: str) -> None:
    assert turning(sentence) is None


def test_one_cell_that_differs_is_found_and_named() -> None:
    turn = turning("My gym day is Thursday now.")
    assert turn is not None
    (match,) = best(fitting(turn, [GYM, STAGING, MANAGER, EDITOR], _FROM))
    assert (match.memory, match.rule, match.cell, match.into) == (GYM, "refilled", "Tuesdays", "Thursday")
    assert match.shared == ("#gym",)


@pytest.mark.parametrize(
    ("sentence", "memory"),
    [
        ("Staging was renamed to gandalf.", STAGING),
        ("I switched to Emacs.", EDITOR),
        ("My boss moved to Brno.", None),
        ("The gym costs me 35 now.", None),
        ("The staging database was renamed to gandalf.", None),
        ("My wife uses Emacs now.", None),
        ("I read a book about Emacs now.", None),
        ("Anna's manager is Bea now.", None),
    ],
)
def test_only_the_same_matter_of_the_same_owner_is_replaced(sentence: str, memory: Memory | None) -> None:
    memories = [replace(one, id=f"m{at}") for at, one in enumerate((GYM, STAGING, MANAGER, EDITOR))]
    assert [memories[int(name[1:])].text for name, _ in found(sentence, *memories)] == ([memory.text] if memory else [])


def test_of_two_that_fit_alike_none_is_taken() -> None:
    other = replace(GYM, id="m2", text="I go to the gym on Mondays.", value="on Mondays")
    assert found("My gym day is Thursday now.", GYM, other) == []


def test_what_is_denied_or_only_supposed_is_not_replaced_again() -> None:
    assert found("My gym day is Thursday now.", replace(GYM, stance=Stance.HYPOTHETICAL)) == []
    assert found("My gym day is Thursday now.", replace(GYM, stance=Stance.NEGATED)) == []


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("on Monday", "on 3 May", True),
        ("at 3 pm", "on Monday", False),
        ("30 euros", "35", True),
        ("30 euros", "3 kg", False),
        ("weekly", "twice", True),
        ("Vim", "Emacs", True),
        ("red", "Rome", False),
    ],
)
def test_only_things_of_a_kind_answer_the_same_question(old: str, new: str, *, same: bool) -> None:
    (one,), (other,) = (
        cells(said, [word for word in said.words if word.content])
        for said in (phrase(f"it {old}"), phrase(f"it {new}"))
    )
    assert alike(one, other, small=False) is same


def test_forms_of_a_word_are_one() -> None:
    assert term("took") == term("take") == term("takes")


def test_every_sign_has_a_hint() -> None:
    for sentence in (
        "we no longer deploy",
        "it is off",
        "the key was prolonged",
        "I gave up",
        "up to four",
        "since May",
    ):
        assert turning(sentence) is None or table().may_turn(sentence)

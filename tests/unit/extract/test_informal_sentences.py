"""Sentences typed in haste, put as a careful writer would; notes under a heading."""

from __future__ import annotations

import pytest

from credenda.model.memory import Stance
from credenda.text.dates import find_dates
from credenda.text.normalize import is_same_value
from credenda.write.extract.gloss import language_of
from credenda.write.extract.hasty import tidied
from credenda.write.extract.labels import labelled

from .build import hear, only

ANCHOR_US = 1_790_000_000_000_000  # 21 September 2026


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    ("said", "careful"),
    [
        ("i moved to york in may", "i moved to York in may"),
        ("now my husband he work in the bank", "now my husband works in the bank"),
        ("my sister is moved to porto", "my sister has moved to Porto"),
        ("So yeah I have two childs", "I have two children"),
        ("I am teacher in Porto", "I am a teacher in Porto"),
        ("we left barclays we are with monzo now", "we left barclays, we are with Monzo now"),
        ("Gym: Mondays, since the move", "Gym: Mondays"),
        ("Default branch is main", "the Default branch is main"),
    ],
)
def test_a_hasty_sentence_is_put_carefully(said: str, careful: str) -> None:
    assert list(tidied(said))[-1] == careful


@pytest.mark.requirement("R-034")
@pytest.mark.parametrize(
    "said", ["I live in Leeds.", "what should i cook for dinner tonight", "My sister works at Shell.", "", "a" * 500]
)
def test_a_careful_sentence_is_left_alone(said: str) -> None:
    assert [one.rstrip(".") for one in tidied(said)] in ([], [said.rstrip(".")])


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(
    ("note", "attribute", "value"),
    [
        ("Phone plan: Lebara, 15 GB, 9.90 a month", "phone_plan", "Lebara, 15 GB, 9.90 a month"),
        ("emergency contact = my sister Camille", None, None),
        ("Emergency contact - Camille, 06 55", "emergency_contact", "Camille, 06 55"),
        ("Book club @ library cafe", "book_club", "library cafe"),
        ("School: Oakfield (since September)", "school", "Oakfield"),
        ("Idea: a garden shed", None, None),
        ("Groceries: oat milk", None, None),
        ("Standup: can you prepare my notes", None, None),
        ("Gym: ?", None, None),
    ],
)
def test_a_note_under_a_heading_has_a_slot(note: str, attribute: str | None, value: str | None) -> None:
    found = labelled(note, "user")
    assert (found.attribute if found else None, found.value if found else None) == (attribute, value)


@pytest.mark.requirement("D-016")
@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("since september", True),
        ("in may", True),
        ("before march", True),
        ("in jan", True),
        ("we want to march", False),
        ("i want to may", False),
        ("a note from jan", False),
    ],
)
def test_a_month_in_small_letters_is_one_where_nothing_else_fits(text: str, *, dated: bool) -> None:
    assert bool(find_dates(text, ANCHOR_US, "past")) is dated


@pytest.mark.requirement("R-043")
@pytest.mark.parametrize(
    ("text", "language"), [("Boss: Lee", None), ("Dentist: Dr. Lee", None), ("Ella lee novelas", "es")]
)
def test_a_name_tells_no_language(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.requirement("D-008")
def test_a_release_is_the_same_with_its_letter() -> None:
    assert is_same_value("Bootstrap v5.3.0", "Bootstrap 5.3.0")
    assert not is_same_value("V60", "60")


MISREAD = [
    ("I don't want kids.", "user", "wants", "kids", Stance.NEGATED),
    ("I don't need glasses.", "user", "wants", "glasses", Stance.NEGATED),
    ("I rarely eat meat.", "user", "eats", "meat", Stance.NEGATED),
    ("I prefer not to be called before nine.", "user", "prefers", "not be called before nine", Stance.ASSERTED),
    ("People call me Lizzie but I hate it.", "user", "instruction", "do not call me Lizzie", Stance.ASSERTED),
    ("I've been to Japan.", "user", "experience", "visit Japan", Stance.ASSERTED),
    ("I turn 35 in June.", "user", "age", "35", Stance.PLANNED),
    ("I will quit my job on Monday.", "user", "employment_status", "quit my job", Stance.PLANNED),
    ("My wife can't have gluten.", "user's wife", "avoids", "gluten", Stance.ASSERTED),
    ("I turned 40 last week.", "user", "age", "40", Stance.ASSERTED),
    ("My aunt is staying with us until Sunday.", "user's aunt", "doing", "stay with us", Stance.ASSERTED),
    ("Me and my wife moved to Bath.", "user", "residence", "Bath", Stance.ASSERTED),
    ("My wife and I are vegetarians.", "user", "diet", "vegetarian", Stance.ASSERTED),
    ("We've got a dog, a beagle called Biscuit.", "user", "dog", "Biscuit", Stance.ASSERTED),
    ("I'm the owner of a bakery.", "user", "business", "bakery", Stance.ASSERTED),
    ("I'm the owner of a Fairphone.", "user", "does", "own a Fairphone", Stance.ASSERTED),
    ("The deadline for the tender documents is Friday.", "tender documents", "deadline", "Friday", Stance.ASSERTED),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize("case", MISREAD, ids=lambda case: case[0])
def test_what_was_misread_once_is_read_right(case: tuple[str, str, str, str, Stance]) -> None:
    claim = only(case[0])
    assert (claim.entity, claim.attribute, claim.value, claim.stance) == case[1:]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "My sister used to live in Rome but she moved to Milan.",
            {("residence", "Milan"), ("former_residence", "Rome")},
        ),
        ("I was born in Porto but grew up in Lyon.", {("origin", "Porto"), ("grew_up_in", "Lyon")}),
        ("I like neither coffee nor tea.", {("likes", "coffee"), ("likes", "tea")}),
        (
            "I speak German, English and a bit of Polish.",
            {("spoken_language", one) for one in ("German", "English", "Polish")},
        ),
        (
            "I'm the head of marketing at a startup called Lumo.",
            {("employer", "Lumo"), ("job_title", "the head of marketing")},
        ),
        ("Oh great, another Monday. I just love Mondays.", {(None, None)}),
        ("I almost bought a Tesla.", {(None, None)}),
        ("I'm not planning to move.", {(None, None)}),
        ("They moved me to the night shift.", {("work_mode", "the night shift")}),
        ("They moved her to the night shift.", set[tuple[str, str]]()),
        ("My sister is a nurse. They put her on nights.", {("job_title", "nurse")}),
        ("My wife wants us to move to Bonn.", {("considering", "move to Bonn")}),
        ("I can't decide between Bonn and Cologne.", {(None, None)}),
        ("I won't be in the office on Friday.", {(None, None)}),
        ("I don't plan to have kids.", {(None, None)}),
        ("The optician says it's my age and my mother says it's my habits.", {(None, None)}),
    ],
)
def test_each_part_of_a_sentence_is_read(text: str, expected: set[tuple[str | None, str | None]]) -> None:
    claims = hear(text)
    assert {(one.attribute, one.value) for one in claims} == expected
    assert not text.startswith("Oh") or claims[0].stance is Stance.SARCASTIC

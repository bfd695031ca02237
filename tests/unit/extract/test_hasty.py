"""Sentences typed in haste, put as a careful writer would; notes under a heading."""

from __future__ import annotations

import pytest

from credenda.text.dates import find_dates
from credenda.text.normal import same_value
from credenda.write.extract.gloss import language_of
from credenda.write.extract.hasty import tidied
from credenda.write.extract.labels import labelled

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


@pytest.mark.requirement("R-049")
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
    assert same_value("Bootstrap v5.3.0", "Bootstrap 5.3.0")
    assert not same_value("V60", "60")

"""A value that names nothing is no belief."""

import pytest

from credenda.write.extract.checks import is_hollow


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        ("though", None),
        ("however", "fact"),
        ("then", "dentist"),
        ("anyway though", None),
        ("different provider", "provider"),
        ("a different bank", "bank"),
        ("another doctor", "family_doctor"),
        ("a different one", "trait"),
        ("the other ones", None),
    ],
)
def test_a_connective_or_another_of_its_kind_names_nothing(value: str, attribute: str | None) -> None:
    assert is_hollow(value, attribute)


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        (None, None),
        ("", None),
        ("Linz", "residence"),
        ("And", "surname"),
        ("Though", "favourite_song"),
        ("different shifts every week", "schedule"),
        ("another country", "birthplace"),
        ("the other side of the river", "residence"),
        ("yet to be decided", "plan"),
        ("Different Drum", "favourite_song"),
        ("42", "then"),
    ],
)
def test_what_names_something_is_kept(value: str | None, attribute: str | None) -> None:
    assert not is_hollow(value, attribute)

"""One subject for several verbs (R-036, R-037)."""

import pytest

from credenda.write.extract.clauses import split_clauses
from credenda.write.extract.shared_subjects import carry_subjects


@pytest.mark.parametrize(
    ("said", "pieces"),
    [
        ("My sister got married and lives in Bonn", ["My sister got married", "My sister lives in Bonn"]),
        ("Tom quit and is at Siemens now", ["Tom quit", "Tom is at Siemens now"]),
        ("I sold the Golf and drive a Mazda", ["I sold the Golf", "I drive a Mazda"]),
        ("I go to work by bike and live in Rome", ["I go to work by bike", "I live in Rome"]),
        ("My brother left Acme and moved to Oslo", ["My brother left Acme", "My brother moved to Oslo"]),
        ("The band split and Tom drives a taxi", ["The band split and Tom drives a taxi"]),
    ],
)
def test_subject_is_carried_to_the_verbs_that_share_it(said: str, pieces: list[str]) -> None:
    """R-036: what is told of somebody by a second verb is told of the same one."""
    assert carry_subjects(split_clauses(said)) == pieces


@pytest.mark.parametrize(
    "said",
    [
        "I want to move to Spain and work in a bar",
        "I told her to go and work in a bar",
        "I let my son drive and work at the shop",
        "I might sell the car and work from home",
    ],
)
def test_what_goes_on_with_an_infinitive_is_no_statement(said: str) -> None:
    """R-037: what is wished, allowed or told somebody is not done."""
    assert carry_subjects(split_clauses(said)) == [said]

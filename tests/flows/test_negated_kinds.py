"""Who has none of a kind has none of what is of it, and who is alone again has no partner: no more than that ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def held(mem: Credenda) -> set[tuple[str | None, str]]:
    """What is believed, by attribute; what is denied begins with "not"."""
    return {
        (one.attribute, f"{'not ' if one.stance == 'negated' else ''}{one.value or one.text}")
        for one in mem.list(limit=50).items
    }


@pytest.mark.parametrize(
    ("before", "told", "gone", "now"),
    [
        ("My wife is Anna.", "I'm no longer married.", ("wife", "Anna"), ("marital_status", "unmarried")),
        ("My wife is Anna.", "My wife died in March.", ("wife", "Anna"), ("marital_status", "widowed")),
        ("I'm married to Anna.", "We divorced.", ("spouse", "Anna"), ("marital_status", "divorced")),
        ("My wife is Anna.", "My wife and I separated last year.", ("wife", "Anna"), ("marital_status", "separated")),
        (
            "My girlfriend is Mia.",
            "I broke up with my girlfriend.",
            ("girlfriend", "Mia"),
            ("marital_status", "separated"),
        ),
        (
            "My girlfriend is Mia.",
            "My girlfriend and I broke up.",
            ("girlfriend", "Mia"),
            ("marital_status", "separated"),
        ),
        ("My parking spot is A 4.", "My parking spot is C 9.", ("parking_spot", "A 4"), ("parking_spot", "C 9")),
        ("Phone plan: B 2", "Phone plan: A 1", ("phone_plan", "B 2"), ("phone_plan", "A 1")),
    ],
)
def test_what_is_denied_as_a_whole_has_ended(
    mem: Credenda, say: Say, *, before: str, told: str, gone: tuple[str, str], now: tuple[str, str]
) -> None:
    say(before)
    assert gone in held(mem)
    say(told)
    assert gone not in held(mem)
    assert now in held(mem)
    assert mem.stats().dead_jobs == 0


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("I have a dog", "I no longer have a cat."),
        ("I have a dog", "I don't have any pets in the office."),
        ("I have a dog", "My brother has no pets."),
        ("I have a cat called Tom", "I don't have a cat allergy."),
        ("I take ibuprofen", "I don't take aspirin."),
        ("I take ibuprofen", "I don't take any medication for my knee."),
        ("I take ibuprofen", "My mother isn't on any medication."),
        ("I drive a Volvo", "I don't have a car seat."),
        ("I drive a bus", "I don't have a car."),
        ("My wife is Anna.", "My brother is divorced."),
        ("My wife is Anna.", "My wife died of laughter when she saw it."),
        ("My wife is Anna.", "I lost my wife in the crowd."),
        ("My wife is Anna.", "We separated the recycling."),
        ("I'm allergic to penicillin.", "I have no allergies."),
        ("I'm allergic to penicillin.", "Allergies: none"),
    ],
)
def test_what_is_denied_in_part_or_of_others_ends_nothing(mem: Credenda, say: Say, before: str, told: str) -> None:
    say(before)
    said = held(mem)
    assert said
    say(told)
    assert said <= held(mem)
    assert ("allergy", "no") not in held(mem)
    assert mem.stats().dead_jobs == 0

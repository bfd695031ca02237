"""A sentence in the words of a held one, with another value: what it tells, and when it tells nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credenda.model.claim import Span, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import Stance
from credenda.write.reconcile.same_words import find_unread_changes, read_same_words
from tests.unit.reconcile.build import claim, day, memory


def _say(text: str, role: Role = Role.USER) -> Event:
    return Event(id="e9", session="", role=role, speaker="user", text=text, occurred_us=day(9), recorded_us=day(9))


def _read(held: str, attribute: str, value: str, said: str) -> tuple[str | None, ...] | None:
    event = _say(said)
    known = replace(memory(value, attribute, at=1), text=held)
    (place,) = find_unread_changes(event, []) or (Span(event.id, 0, 0),)
    found = read_same_words(event, place, [known]) if place.stop else None
    return None if found is None else (found.attribute, found.value)


@pytest.mark.parametrize(
    ("held", "slot", "value", "said", "other"),
    [
        ("We deploy with Jenkins.", "tool", "Jenkins", "We deploy with GitHub Actions now.", "GitHub Actions"),
        ("We deploy with Jenkins.", "tool", "Jenkins", "We're deploying with GitHub Actions now.", "GitHub Actions"),
        ("I track bugs in Jira.", "tool", "Jira", "These days I track bugs in Linear.", "Linear"),
        ("My drink is coffee.", "drink", "coffee", "My drink is green tea now.", "green tea"),
        (
            "Backups go to Dropbox every night.",
            "service",
            "Dropbox",
            "Backups now go to Hetzner every night.",
            "Hetzner",
        ),
    ],
)
def test_another_value_in_the_same_words_fills_the_slot(
    *, held: str, slot: str, value: str, said: str, other: str
) -> None:
    assert _read(held, slot, value, said) == (slot, other)


@pytest.mark.parametrize(
    "said",
    [
        "We deploy with Jenkins now.",
        "We deploy with GitHub Actions.",
        "We deploy with GitHub Actions too now.",
        "We deploy with care now.",
        "We deploy without GitHub Actions now.",
        "Now we deploy with GitHub Actions on Fridays.",
        "Do we deploy with GitHub Actions now?",
        "If all goes well we deploy with GitHub Actions now.",
        "They deploy with GitHub Actions now.",
        "We deploy with GitHub Actions and some other things of which nobody knows now.",
    ],
)
def test_a_sentence_that_differs_in_more_tells_nothing(said: str) -> None:
    assert _read("We deploy with Jenkins.", "tool", "Jenkins", said) is None


def test_it_stands_beside_or_replaces_as_the_held_value_would() -> None:
    event = _say("We deploy with GitHub Actions now.")
    held = replace(memory("Jenkins", "tool", at=1), text="We deploy with Jenkins.", scope="shop")
    found = read_same_words(event, Span(event.id, 0, len(event.text)), [held])
    assert found is not None
    assert (found.move, found.scope, found.cardinality) == (UpdateKind.CHANGE, "shop", held.cardinality)


@pytest.mark.parametrize("stance", [Stance.NEGATED, Stance.PLANNED, Stance.HYPOTHETICAL])
def test_only_what_is_held_true_lends_its_words(stance: Stance) -> None:
    event = _say("We deploy with GitHub Actions now.")
    held = replace(memory("Jenkins", "tool", at=1), text="We deploy with Jenkins.", stance=stance)
    assert read_same_words(event, Span(event.id, 0, len(event.text)), [held]) is None


def test_what_was_read_and_what_others_say_is_left_alone() -> None:
    event = _say("We deploy with GitHub Actions now.")
    read = replace(claim("GitHub Actions", "tool"), span=Span(event.id, 0, 10))
    assert find_unread_changes(event, [read]) == []
    assert find_unread_changes(_say(event.text, Role.ASSISTANT), []) == []
    assert find_unread_changes(_say("Translate this: We deploy with GitHub Actions now."), []) == []


@pytest.mark.parametrize("value", [None, ""])
def test_a_memory_without_a_value_lends_no_words(value: str | None) -> None:
    event = _say("We deploy with GitHub Actions now.")
    held = replace(memory("Jenkins", "tool", at=1), text="We deploy with Jenkins.", value=value)
    assert read_same_words(event, Span(event.id, 0, len(event.text)), [held]) is None

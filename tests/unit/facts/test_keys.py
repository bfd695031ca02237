"""Keys of facts: an adjective or a verb alone names no slot."""

from __future__ import annotations

import pytest

from credenda.model.claim import Fact, Words
from credenda.write.facts.keys import mend_keys


def mend(text: str, value: str, attribute: str, key: str, old: str = "") -> list[tuple[str, str]]:  # noqa: PLR0917 - columns
    start = text.index(value)
    place = Words(value, start, start + len(value))
    fact = Fact(value=place, quote=Words(text, 0, len(text)), attribute=attribute, key=key, old=old)
    return [(one.key, one.old) for one in mend_keys(text, [fact])]


@pytest.mark.parametrize(
    ("fact", "key"),
    [
        (("my new number is 07700 900123", "07700 900123", "contact", "new"), "number"),
        (("my current 10k is 54:30", "54:30", "amount", "current", "10k"), "10k"),
        (("my first name is Ida", "Ida", "name", "first"), "name"),
        (("our weekly sync moved to Thursdays", "Thursdays", "schedule", "weekly"), "sync"),
        (("my new email: ida at halden", "ida", "contact", "new"), "email"),
        (("my latest bench press is 80kg", "80kg", "measure", "latest"), "bench press"),
        (("my main is Firefox", "Firefox", "tool", "main"), ""),
        (("my current is 54:30", "54:30", "contact", "current"), ""),
        (("weigh 82kg", "82kg", "measure", "weigh"), "weight"),
        (("got an offer from Atom Bank, start 5th jan", "5th jan", "date", "start"), ""),
        (("We deploy with Jenkins.", "Jenkins", "tool", "deploy"), ""),
        (("i earn 50k", "50k", "amount", "earn"), "salary"),
    ],
)
def test_the_noun_behind_an_adjective_or_what_a_verb_asks_for_is_the_key(fact: tuple[str, ...], key: str) -> None:
    assert mend(*fact) == [(key, "")]


@pytest.mark.parametrize(
    "fact",
    [
        ("my start date is 5 January", "5 January", "date", "start date"),
        ("my total is 300 euros", "300 euros", "amount", "total"),
        ("my run is 5k", "5k", "amount", "run"),
        ("my order is 42 euros", "42 euros", "amount", "order"),
        ("we meet on Mondays", "Mondays", "schedule", "meet"),
        ("my personal trainer is Ben", "Ben", "contact", "personal trainer"),
        ("favourite tea: lapsang", "lapsang", "favourite", "tea"),
    ],
)
def test_a_noun_stays_the_key(fact: tuple[str, ...]) -> None:
    assert mend(*fact) == [(fact[3], "")]


def test_a_time_is_no_favourite() -> None:
    assert mend("my best is 22:10", "22:10", "favourite", "") == []
    assert mend("my favourite is lapsang", "lapsang", "favourite", "") == [("", "")]

"""Tag the words of a German clause: verbs, openings and negations. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.write.extract.glossary import Item

__all__ = ["is_finite", "opened", "settle", "split_at_and", "without_denial"]

_DENIALS: Final = {"neg": "not", "longer": "no longer", "never": "never"}
_DENIED: Final = frozenset({"prep", "verb", "mark", "x"})
"""Words after a "nicht" that negates the whole clause, and not one word."""
_LANGUAGES: Final = frozenset(
    {"German", "English", "French", "Spanish", "Italian", "Portuguese", "Russian", "Japanese", "Chinese"}
)
_PRONOUNS: Final = frozenset({"das", "die", "der", "es"})
"""Articles that can be pronouns."""


def split_at_and(items: Sequence[Item]) -> list[list[Item]]:
    """Split a clause at "und", "aber" and "sondern" between two verbs."""
    found: list[list[Item]] = [[]]
    for at, item in enumerate(items):
        joins = item.tag == "conj" and item.english in {"and", "but"}
        before = any(_finite(one) for one in found[-1])
        if joins and before and any(_finite(one) for one in items[at + 1 :]):
            found.append([item])
            continue
        found[-1].append(item)
    return found


def _finite(item: Item) -> bool:
    return any(one.person for one in item.forms) and (item.verb or item.tag == "x")


def is_finite(item: Item) -> bool:
    """Return whether an item is a finite verb."""
    return item.verb and any(one.person for one in item.forms)


def settle(items: Sequence[Item]) -> None:
    """Decide whether each possible verb is one, and tag the ambiguous small words."""
    for at, item in enumerate(items):
        if item.forms:
            _settle_verb(items, at)
    for at in range(len(items) - 1):
        _settle_small(items, at)


def _settle_verb(items: Sequence[Item], at: int) -> None:
    """Tag a possible verb as a verb, unless a capital or an article marks a noun."""
    item = items[at]
    before = items[at - 1] if at else None
    capital = item.source[0].isupper() and at > 0
    adjective = at > 1 and items[at - 1].tag == "adj" and items[at - 2].tag in {"det", "no"}
    after = before is not None and (adjective or before.tag in {"det", "no"}) and before.source.lower() not in _PRONOUNS
    tenses = {one.tense for one in item.forms}
    prep = before is not None and before.tag == "prep" and tenses.isdisjoint({"infinitive", "to"})
    if item.verb and (capital or (after and "participle" not in tenses)):
        item.tag, item.english = "x", item.source
    elif item.tag in {"noun", "x"} and not (capital or after or prep):
        item.tag = "verb"


def _settle_small(items: Sequence[Item], at: int) -> None:
    """Resolve ambiguous words: "Frau Kolbe" or a wife, "auf Deutsch" or a place, "als Koch" or a comparison."""
    item, following = items[at], items[at + 1]
    owned, source = at > 0 and items[at - 1].tag == "det", item.source.lower()
    if source == "das" and following.verb and not owned:
        item.english, item.tag = "that", "x"
    elif source == "auf" and following.english in _LANGUAGES:
        item.english = "in"
    elif source == "als" and any(one.forms and one.forms[0].base in {"work", "start"} for one in items):
        item.english, item.tag = "as", "prep"
    elif item.source == "Frau" and following.source[0].isupper() and not owned:
        item.english, item.tag = "Mrs", "x"


def opened(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Split a clause into its opening and the rest."""
    at = 0
    while at < len(items) and items[at].tag in {"conj", "say", "q"}:
        at += 1
    return list(items[:at]), list(items[at:])


def without_denial(items: Sequence[Item]) -> tuple[list[Item], str]:
    """Remove the negation of the verb: "nicht", "nicht mehr", "nie", "kein … mehr"; also return it in English."""
    found, denied = list[Item](), ""
    no = any(one.tag == "no" for one in items)
    for at, one in enumerate(items):
        following = items[at + 1] if at + 1 < len(items) else None
        denies = one.tag == "neg" or one.source.lower() == "nicht"
        contrast = denies and any(later.source.lower() == "sondern" for later in items[at:])
        closes = following is None or following.tag in {"verb", "conj"}
        plain = one.source.lower() == "nicht" and (following is None or following.tag in _DENIED)
        if (one.tag in _DENIALS or plain) and not contrast:
            denied = _DENIALS.get(one.tag, denied or "not")
        elif one.tag == "no" and one.english == "no":
            denied = denied or "not"
        elif no and one.source.lower() == "mehr" and closes:
            denied = "no longer"
        else:
            found.append(one)
    return found, denied

"""Translate the other words of a French, Spanish or Portuguese clause, in English order. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.write.extract.conjugate import inflected
from credenda.write.extract.glossary import Item
from credenda.write.extract.southern_clause import DENIALS, SUBJECTS, Clause, Said, with_time_last

__all__ = ["in_order", "put_plain"]

_MOVING: Final = (
    *("move", "postpone", "switch", "increase", "decrease", "change", "bring", "go", "rename", "lower", "reduce"),
    "raise",
)
_TOWARDS: Final = frozenset({"à", "au", "aux", "para", "pra", "pro", "ao", "às", "al"})
_AT: Final = frozenset({"à", "ao", "às", "as"})
_THAN: Final = frozenset({"a", "al", "à", "au", "aux", "ao", "às"})
_GENERIC: Final = frozenset(
    {"like", "love", "hate", "prefer", "stand", "tolerate", "study", "speak", "learn", "teach", "play", "drink", "eat"}
) | {"stop"}
"""Verbs whose generic object has an article in these languages and none in English."""
_DAYS: Final = frozenset({"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"})
_MONTHS: Final = frozenset(
    {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November"}
) | {"December"}
_ALONE: Final = {"neg": "not", "ne": ""}
_WHERE: Final = frozenset({"the", "in", "in the", "at", "at the"})
_FOR: Final = frozenset({"for", "by", "against", "for the", "by the"})
_NOUNS: Final = frozenset({"noun", "x", "kin"})


def put_plain(clause: Clause, item: Item, at: int) -> None:
    """Append the translation of a word other than a verb, chosen by its neighbours."""
    items = clause.items
    following = items[at + 1] if at + 1 < len(items) else None
    english = _after_verb(clause, item, following)
    if following is not None and english.split(" ")[-1] == "the" and _needs_no_article(clause, following):
        english = english.removesuffix("the").strip()
    if english in _WHERE and following is not None and _is_day(items, at + 1):
        english = "on"
    if english == "but" and clause.denied is not None and not any(one.verb for one in items[at + 1 :]):
        base, person, tense = clause.denied
        english = f"but now {SUBJECTS.get(person, '')} {inflected(base, person, tense)}".replace("  ", " ")
    clause.put(english, item)


def _after_verb(clause: Clause, item: Item, following: Item | None) -> str:
    """Return the English for a small word after a verb."""
    english = _ALONE.get(item.tag, item.english)
    last = clause.out[-1] if clause.out else None
    if english == "that" and any("prefer" in one.text or one.text == "more" for one in clause.out):
        return "rather than"
    if item.tag == "longer" and clause.language == "fr" and all(one.tag != "ne" for one in clause.items):
        return "more"
    if last is not None and _is_silent(clause, english, last):
        return ""
    return _place(clause, item, english, following)


def _place(clause: Clause, item: Item, english: str, following: Item | None) -> str:
    """Return the English for a small word before a place or time."""
    source, last = item.source.lower(), clause.out[-1] if clause.out else None
    if clause.doing.startswith("prefer") and last is not None and source in _THAN and last.tag != "verb":
        return "over"
    if english == "at" and clause.doing.startswith(("live", "born")):
        return "in"
    if source in _AT and following is not None and following.tag == "number":
        return "at"
    return _towards(clause, item, english)


def _is_silent(clause: Clause, english: str, last: Said) -> bool:
    """Return whether English omits the word: "I like rugby", "I drink no coffee"."""
    generic = last.tag == "verb" and english in {"the", "some"} and clause.doing in _GENERIC
    return generic or (english == "of" and last.tag in DENIALS | {"verb"} and clause.denied is not None)


def _towards(clause: Clause, item: Item, english: str) -> str:
    """Return the preposition for the target of a move or a swap."""
    if item.tag == "prep" and item.source.lower() in _TOWARDS and clause.doing.startswith(_MOVING):
        return f"to{' the' if english.endswith(' the') else ''}"
    if item.tag == "prep" and clause.doing.startswith(("swap", "replace")) and english in _FOR:
        return "with" if clause.doing.startswith("replace") else "for"
    return english


def _needs_no_article(clause: Clause, following: Item) -> bool:
    person = clause.language == "pt" and following.tag == "x" and following.source[0].isupper()
    return person or following.tag == "det"


def _is_day(items: Sequence[Item], at: int) -> bool:
    """Return whether a day is at a position: its name, or a number and a month."""
    one = items[at]
    if one.english in _DAYS:
        return True
    following = [later.english for later in items[at + 1 : at + 3]]
    return one.tag == "number" and any(later in _MONTHS for later in following)


def in_order(out: Sequence[Said]) -> list[Said]:
    """Reorder adjectives and possessives before the noun, and translate ages."""
    found = list(out)
    for at in range(1, len(found)):
        one = found[at]
        alone = at > 1 and found[at - 2].text not in {"is", "are", "am", "was"}
        if one.tag == "adj" and found[at - 1].tag in {"noun", "x"} and (alone or one.text == "favourite"):
            found[at - 1], found[at] = found[at], found[at - 1]
    if len(found) > 2 and found[-1].text == "years" and found[-3].text in {"have", "has"}:  # noqa: PLR2004
        be = "am" if found[-3].text == "have" else "is"
        found[-3], found[-1] = found[-3]._replace(text=be), found[-1]._replace(text="years old")
    return with_time_last([one for one in _owned(found) if one.text])


def _owned(found: list[Said]) -> list[Said]:
    """Return "my son's teacher" for "the teacher of my son"."""
    for at in range(len(found) - 4):
        head, thing, of, my, who = found[at : at + 5]
        own = of.text in {"of", "of the"} and my.text in {"my", "our"} and who.tag == "kin"
        if own and head.text.lower() == "the" and thing.tag in _NOUNS:
            return [*found[:at], my, Said(f"{who.text}'s", who.start, who.stop, "noun"), thing, *found[at + 5 :]]
    return found

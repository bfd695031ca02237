"""Rule: the old value is named and left behind, or the same activity has another place or object. Pure.

A named old value needs no slot: "we moved from Slack to Teams" ends "I chat on Slack" in any wording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from credenda.write.reconcile.slots import get_slot
from credenda.write.succession.old import Match, Old
from credenda.write.succession.table import table
from credenda.write.succession.turning import Turning
from credenda.write.succession.words import Cell, Phrase, Word, alike, cells, phrase

__all__ = ["by_another", "departed", "given_up", "has_gone", "of_another", "put_for", "reframed"]

_SCORE: Final = 3.2
_LONG: Final = 12
"""Number of words from which a memory without a slot states more than one thing."""
_COUNTED: Final = frozenset({"day", "time", "kind:number", "kind:kin"})
"""Kinds that identify a thing only together with what they count or date."""
_NAMES: Final = frozenset({"name", "name?"})
_SELF: Final = frozenset({"i", "we"})
_OTHERS: Final = frozenset({"his", "her", "their", "your", "its", "he", "she", "they", "you"})
_PAST: Final = re.compile(r"\b(?:was|were|had|did|went|came|took|got|bought|saw|met|made|\w{3,}ed)\b")
_INTO: Final = re.compile(
    r"^,?\s*(?:(?:in|out|over|up|down)\s+)?(?:to|for|with|by|in favou?r of)\s+(?:(?:a|an|the|my|our|some|new)\s+){0,2}$"
)
_CLAUSE: Final = re.compile(r"[,;:]|\.(?= )|\b(?:and|so|but|because|since)\b")
_OUSTS: Final = re.compile(
    r"(?:has |have )?(?:ousted|overtaken|displaced|superseded|supplanted|succeeded|tak\w+ over|took over)"
)
"""Verbs by which the new thing replaces the old one; the new thing is their subject."""
_SMALL: Final = 3


class _Place(NamedTuple):
    """The position of a memory's object in a sentence, from its first to its last word."""

    first: Word
    last: Word


def departed(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield a match if the object of the memory is named as given up, replaced or gone."""
    if turn.cues.isdisjoint({"gone", "went"}) or not _lasts(old):
        return
    for thing in _objects(old):
        for place in _places(turn.said, thing):
            if _gives_up(turn, old, place) or _is_gone(turn, old, place):
                into = put_for(turn, place.last.stop)
                if _is_counted(thing) and (into is None or not alike(thing, into, small=False)):
                    continue
                yield Match(
                    memory=old.memory,
                    score=_SCORE + 0.2 * len(thing.words),
                    rule="left",
                    shared=tuple(sorted(thing.terms)),
                    cell=thing.text,
                    into=None if into is None else into.text,
                )
                return


def reframed(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield a match if the sentence has the same verb and preposition with another place or object."""
    was = _frame(old.said, old.said.words)
    if was is None or not _lasts(old):
        return
    for clause in _clauses(turn.said):
        now = _frame(turn.said, clause)
        if (
            now is not None
            and now[0] == was[0]
            and (now[1] == was[1] or (now[1][0] == was[1][0] and was[1][0] in table().means))
            and not (now[2].terms <= was[2].terms or was[2].terms <= now[2].terms)
            and alike(was[2], now[2], small=True)
        ):
            shared = (" ".join(was[1]),)
            yield Match(
                memory=old.memory, score=_SCORE, rule="refilled", shared=shared, cell=was[2].text, into=now[2].text
            )
            return


def given_up(lower: str, start: int) -> int | None:
    """Return where the sign begins that gives up the object at `start` of a lower-case sentence; None without one."""
    words = table()
    for found in words.gone.finditer(lower):
        if found.end() > start:
            return None
        between = lower[found.end() : start].split()
        if len(between) <= _SMALL and words.small.issuperset(between):
            return found.start()
    return None


def has_gone(lower: str, stop: int) -> bool:
    """Return whether the text after `stop` of a lower-case sentence says that the object before it is gone."""
    return table().went.match(lower[stop:]) is not None


def of_another(turn: Turning, old: Old, start: int, stop: int) -> bool:
    """Return whether the object from `start` to `stop` belongs to another, or is part of another name."""
    inside = [one for one in turn.said.words if start < one.stop and one.start < stop]
    place = _Place(inside[0], inside[-1]) if inside else None
    return place is not None and (_of_other(turn.said, old, place) or _is_part(turn.said, old, place))


def by_another(turn: Turning, old: Old, before: int) -> bool:
    """Return whether somebody acts whom the memory does not name: "Tom sold the Golf"."""
    leading = _CLAUSE.split(turn.said.lower[:before])[-1]
    clause = [one for one in turn.said.words if before - len(leading) <= one.start < before]
    if not clause:
        return False
    first = clause[0]
    if first.text.lower() in _OTHERS:
        return old.own
    if not first.content or first.kind not in _NAMES or first.term in old.said.terms | old.owner:
        return False
    return len(clause) == 1 or clause[1].light or (first.kind == "name?" and clause[1].kind == "name")


def _lasts(old: Old) -> bool:
    """Return whether a memory states something ongoing: it has a slot, or is short and in the present."""
    if get_slot(old.memory) is not None:
        return True
    return len(old.said.words) <= _LONG and _PAST.search(old.said.lower) is None


def _objects(old: Old) -> list[Cell]:
    """Return the objects that can end a memory: its value, if that is one thing, else the things that it names."""
    value = phrase(old.memory.value or "")
    found = cells(value, value.content)
    things = found if len(found) == 1 else []
    named = cells(old.said, [one for one in old.said.content if not (one.verb or one.light)])
    return [*things, *(named if len(old.said.words) <= _LONG else named[-1:])]


def _is_counted(cell: Cell) -> bool:
    return cell.kind in _COUNTED or cell.kind.startswith("number:")


def _places(said: Phrase, thing: Cell) -> Iterator[_Place]:
    """Yield where a sentence names an object, by its last word or by all words of a name."""
    head, known = thing.words[-1].term, thing.terms
    words = said.words
    for at, one in enumerate(words):
        if one.term != head:
            continue
        start = at
        while start and words[start - 1].term in known and start > at - len(thing.words) + 1:
            start -= 1
        yield _Place(words[start], one)


def _gives_up(turn: Turning, old: Old, place: _Place) -> bool:
    lower = turn.said.lower
    if _of_other(turn.said, old, place) or _is_part(turn.said, old, place):
        return False
    sign = given_up(lower, place.first.start)
    return sign is not None and (_OUSTS.match(lower, sign) is not None or not by_another(turn, old, sign))


def _is_gone(turn: Turning, old: Old, place: _Place) -> bool:
    lower = turn.said.lower
    if not has_gone(lower, place.last.stop):
        return False
    leading = _CLAUSE.split(lower[: place.first.start])[-1].split()
    return len(leading) <= _SMALL and not _of_other(turn.said, old, place)


def _of_other(said: Phrase, old: Old, place: _Place) -> bool:
    """Return whether the object belongs to another, "her Golf", or is only mentioned by a part, "the Golf's rack"."""
    before = said.lower[: place.first.start].split()
    own = old.own and bool(before) and before[-1] in _OTHERS
    return own or (bool(before) and before[-1].endswith("'s") and before[-1][:-2] not in old.said.lower)


def _is_part(said: Phrase, old: Old, place: _Place) -> bool:
    """Return whether a following noun makes it another thing: the release, and its notes."""
    if place.last.text.lower().endswith("'s"):
        return True
    after = next((one for one in said.words if one.start > place.last.start), None)
    if after is None or said.text[place.last.stop : after.start] != " ":
        return False
    fresh = after.content and not (after.light or after.verb) and after.kind == "word"
    return fresh and after.term not in old.said.terms | table().heads


def put_for(turn: Turning, stop: int) -> Cell | None:
    """Return what replaces the object that ends at `stop`, after a preposition: "from Slack to Teams"."""
    rest = [one for one in turn.said.content if one.start >= stop]
    if not rest or _INTO.match(turn.said.lower[stop : rest[0].start]) is None:
        return None
    return cells(turn.said, rest)[0]


def _clauses(said: Phrase) -> Iterator[Sequence[Word]]:
    start = 0
    for found in (*_CLAUSE.finditer(said.lower), None):
        stop = len(said.lower) if found is None else found.start()
        words = [one for one in said.words if start <= one.start < stop]
        if words:
            yield words
        start = stop if found is None else found.end()


def _frame(said: Phrase, words: Sequence[Word]) -> tuple[str, tuple[str, str], Cell] | None:
    """Split a clause into subject, verb with preposition, and one object; None for another structure."""
    if len(words) < _SMALL:
        return None
    subject = "i" if words[0].text.lower() in _SELF else " ".join(one.term for one in words[:2])
    for at in range(1, len(words) - 1):
        key = (words[at].term, words[at + 1].text.lower())
        if key not in table().frames:
            continue
        rest = [one for one in words[at + 2 :] if one.content and not one.light]
        found = cells(said, rest)
        return (subject, key, found[0]) if len(found) == 1 else None
    return None

"""Rule: the same sentence with another value in one span. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from credenda.text.normalize import normalise_attribute
from credenda.write.extract.lexicon import lexicon
from credenda.write.reconcile.slots import get_slot
from credenda.write.reconcile.wording import extract_frame
from credenda.write.succession.old import Match, Old
from credenda.write.succession.table import table
from credenda.write.succession.turning import Turning
from credenda.write.succession.words import Cell, Word, alike, cells, only_cell, phrase

__all__ = ["in_slot", "refilled"]

_PLAIN_WORDS: Final = 7
"""Maximum length of a sentence whose one new word replaces the old one."""
_SELF: Final = re.compile(r"\b(?:i|we|my|our|me|us)\b")
_NEGATION: Final = re.compile(r"\b(?:not|never|no longer|stopped)\b")
_DUE: Final = re.compile(r"(?:\b(?:to|until|till|is|are|be|for|auf)\s+(?:the\s+|on\s+|at\s+)?|[:,]\s*)$")
_NAMES: Final = frozenset({"name", "name?"})
_SOFT: Final = frozenset({"word", "name?"})
_BEING: Final = frozenset({"be", "name", "call"})
_WHEN: Final = frozenset({"day", "time"})
_TOLD_OF: Final = frozenset({"date", "name"})
"""Attributes without a topic of their own: the entity has a date, or a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Aligned:
    """Two aligned sentences: the differing span, the shared words, and the new words."""

    turn: Turning
    old: Old
    cell: Cell
    common: frozenset[str]
    nouns: frozenset[str]
    fresh: tuple[Cell, ...]

    @property
    def alone(self) -> bool:
        """Whether the kind of the value identifies the topic alone, as an address does."""
        words, kind, turn = table(), self.cell.kind, self.turn
        named = kind == "email" or kind.removeprefix("kind:") in words.alone
        only = len(self.fresh) == 1 and turn.strength >= 1.0
        counted = kind.startswith("number:") and kind != "number:" and "down_to" in turn.cues
        return (named or (only and (kind in words.exclusive or counted))) and any(
            one.kind == kind for one in self.fresh
        )


def refilled(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield a match if the sentence repeats the memory with one span changed."""
    common = old.said.about & turn.about
    spare = common | table().heads if common else common
    left = only_cell(old.said, [one for one in old.said.content if one.term not in spare and not one.light])
    if left is not None and not all(one.verb for one in left.words):
        yield from _matched(_aligned(turn, old, left, common), "refilled")


def in_slot(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield a match if the sentence names the slot completely, and another thing of the value's kind."""
    needed = _names_of(old.name, old.owner) if old.memory.value else frozenset[str]()
    covered = needed & turn.stems
    if not covered:
        return
    short = needed == old.owner and _leading(old) in covered  # "staging" is the staging server
    value = phrase(old.memory.value or "")
    filled = only_cell(value, value.content)
    if (covered != needed and not short) or filled is None:
        return
    told = [one for one in old.said.content if one.term not in filled.terms and one.term not in covered]
    others = [one for one in cells(old.said, told) if one.kind in _NAMES and one.terms.isdisjoint(turn.terms)]
    if not others and filled.terms.isdisjoint(turn.stems):
        yield from _matched(_aligned(turn, old, filled, covered), "slot")


@lru_cache(maxsize=512)
def _names_of(name: str, owner: frozenset[str]) -> frozenset[str]:
    """Return the words that name a slot; none if its attribute names only an activity."""
    words = table()
    if not name or (name in words.vague and name not in _TOLD_OF):
        return frozenset()
    if name in _TOLD_OF:
        return owner
    named = phrase(normalise_attribute(name).replace("_", " ")).words
    topics = frozenset(one.term for one in named if one.content or one.light) - words.heads
    return (topics | owner) - words.light


def _leading(old: Old) -> str:
    found = [one.term for one in phrase(old.memory.entity or "").content]
    return found[0] if len(found) > 1 else ""


def _aligned(turn: Turning, old: Old, cell: Cell, common: frozenset[str]) -> _Aligned:
    verbs = {one.term for one in (*turn.words, *old.said.words) if one.verb}
    nouns = {
        one.term
        for one in turn.words
        if one.term in common and not (one.light or one.term in verbs or one.kind in _WHEN or one.kind[:6] == "number")
    }
    return _Aligned(
        turn=turn,
        old=old,
        cell=cell,
        common=common,
        nouns=frozenset(nouns | {one for one in common if one.startswith("#")}),
        fresh=tuple(cells(turn.said, [one for one in turn.words if one.term not in common and not one.light])),
    )


def _matched(pair: _Aligned, rule: str) -> Iterator[Match]:
    turn, old, cell = pair.turn, pair.old, pair.cell
    partners = _partners(pair)
    if not partners or not _same_matter(pair, partners) or _of_another(pair, partners):
        return
    soft = not _SOFT.isdisjoint({cell.kind, partners[0].kind})
    denied = any(one.term in turn.denied for one in cell.words)
    if soft and not denied and (len(pair.fresh) != 1 or not (get_slot(old.memory) or _framed(pair, partners[-1]))):
        return
    due = [one for one in partners if _due(turn, one)]
    if not due:
        return
    score = 1.0 + turn.strength + 0.5 * min(len(pair.nouns), 2) + 0.2 * len(pair.common - pair.nouns)
    score += (0.3 if soft else 1.0) + (0.5 if pair.alone else 0.0)
    score += 1.0 if denied else 0.0
    yield Match(
        memory=old.memory,
        score=score,
        rule=rule,
        shared=tuple(sorted(pair.common)),
        cell=cell.text,
        into=due[-1].text,
    )


def _partners(pair: _Aligned) -> Sequence[Cell]:
    """Return the new spans that could replace the old one; those of the same kind, if any."""
    small = pair.turn.said.small or pair.old.said.small or _same_frame(pair)
    found = [one for one in pair.fresh if alike(pair.cell, one, small=small)]
    return [one for one in found if one.kind == pair.cell.kind] or found


def _same_frame(pair: _Aligned) -> bool:
    """Return whether a short sentence has the same verb with one other word: "we ship worldwide now"."""
    if len(pair.turn.said.words) > _PLAIN_WORDS or len(pair.fresh) != 1 or pair.turn.strength < 1.0:
        return False
    soft = {pair.cell.kind, pair.fresh[0].kind} <= _NAMES | _SOFT
    return soft and any(one.term in pair.common and one.text.lower() in lexicon().forms for one in pair.turn.words)


def _same_matter(pair: _Aligned, partners: Sequence[Cell]) -> bool:
    """Return whether the shared words name a topic, not only a person or an activity."""
    turn, old = pair.turn, pair.old
    if pair.alone:
        return True
    if _framed(pair, partners[-1]):
        return True
    if not pair.nouns:
        plain = len(pair.fresh) == 1 and turn.strength >= 1.0
        done = any(one.term in pair.common and one.verb for one in (*turn.words, *old.said.words))
        return done and plain and _SELF.search(turn.said.lower) is not None
    if _is_appointment(pair):
        return True
    persons = turn.kin | old.named
    return not pair.nouns <= persons or _is_said_to_be(turn, partners[-1], pair.nouns)


def _is_appointment(pair: _Aligned) -> bool:
    """Return whether a person stands for an appointment: "the dentist was moved to Monday"."""
    dated = pair.old.name == "date" and pair.cell.kind in _WHEN and pair.nouns < pair.old.owner
    return dated and len(pair.fresh) == 1 and "turned" in pair.turn.cues


def _framed(pair: _Aligned, cell: Cell) -> bool:
    """Return whether both sentences differ only in the span, in a single-valued or activity slot."""
    if pair.turn.strength < 1.0 or len(pair.fresh) != 1:
        return False
    old = extract_frame(pair.old.memory.text, pair.cell.text)
    return "…" in old and extract_frame(pair.turn.said.text, cell.text) == old


def _is_said_to_be(turn: Turning, cell: Cell, nouns: frozenset[str]) -> bool:
    """Return whether a sentence gives somebody a role: "Mrs Adler is our landlord now"."""
    return cell.kind in _NAMES and any(one.term in nouns and _only_being(turn, one, cell) for one in turn.said.words)


def _only_being(turn: Turning, noun: Word, cell: Cell) -> bool:
    low, high = min(noun.stop, cell.stop), max(noun.start, cell.start)
    between = [one for one in turn.said.words if low <= one.start and one.stop <= high]
    gap = turn.said.text[low:high]
    if "newly" in turn.cues and not any(one.content or one.light for one in between) and gap.startswith(","):
        return True  # "a new tutor, Mr Byrne"
    linked = any(one.term == "be" for one in between)
    return linked and all(one.term in _BEING or not (one.content or one.light) for one in between)


def _due(turn: Turning, cell: Cell) -> bool:
    """Return whether a day or hour is the new time of something, not the time of the statement."""
    if cell.kind not in _WHEN or turn.cues & {"now", "instead", "contrast"}:
        return True
    return _DUE.search(turn.said.lower[: cell.start]) is not None


def _of_another(pair: _Aligned, partners: Sequence[Cell]) -> bool:
    """Return whether the sentence is about another thing or person, or corrects another value."""
    denies = _denies(pair.turn, partners[-1])
    return denies or _extended(pair) or _possessed(pair) or _corrects_another(pair) or _named_besides(pair, partners)


def _extended(pair: _Aligned) -> bool:
    """Return whether the shared noun is part of another thing: the release, and its notes."""
    turn, near = pair.turn, pair.turn.said.words
    heads = table().heads
    return any(
        turn.said.text[one.stop : following.start] == " "
        and (
            (one.term in pair.nouns and _is_fresh(pair, following) and following.term not in heads)
            or (following.term in pair.nouns and _is_fresh(pair, one) and one.term not in turn.denied)
        )
        for one, following in pairwise(near)
    )


def _denies(turn: Turning, cell: Cell) -> bool:
    """Return whether the new value itself is denied: "I don't play the drums any more"."""
    clause = re.split(r"[,;]", turn.said.lower[: cell.start])[-1]
    return _NEGATION.search(clause) is not None


def _is_fresh(pair: _Aligned, word: Word) -> bool:
    plain = word.kind == "word" and not (word.light or word.verb)
    return plain and word in pair.turn.words and word.term not in pair.old.said.terms | pair.old.owner


def _possessed(pair: _Aligned) -> bool:
    """Return whether a thing belongs to somebody whom the memory does not name: "Anna's landlord"."""
    return any(
        one.text.lower().endswith("'s") and one.kind in _NAMES and one.term not in pair.old.said.terms
        for one in pair.turn.words
    )


def _corrects_another(pair: _Aligned) -> bool:
    """Return whether the sentence names another old value of that kind: "on Tuesday, not on Monday"."""
    denied = [one for one in pair.turn.said.words if one.term in pair.turn.denied]
    return any(one.kind in pair.cell.kinds and one.term not in pair.cell.terms for one in denied) and not any(
        one.term in pair.cell.terms for one in denied
    )


def _named_besides(pair: _Aligned, partners: Sequence[Cell]) -> bool:
    """Return whether the clause of the new value names another thing too: "the API listens on port 9090"."""
    others = [one for one in pair.fresh if one.kind in _NAMES and one not in partners]
    text = pair.turn.said.text
    return any("," not in text[min(one.stop, partners[-1].stop) : max(one.start, partners[-1].start)] for one in others)

"""The replacement rules: which memory does a sentence with a change cue replace? Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from credenda.model.memory import Memory, MemoryType, Stance
from credenda.text.normalize import normalise_attribute
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, get_slot, is_denial
from credenda.write.reconcile.wording import find_number
from credenda.write.succession.departed import by_another, departed, of_another, put_for, reframed
from credenda.write.succession.old import Match, Old, name_of, old_of, same_owner, same_scope
from credenda.write.succession.refilled import in_slot, refilled
from credenda.write.succession.table import state_in, states_in, table
from credenda.write.succession.turning import Turning
from credenda.write.succession.words import cells, phrase

__all__ = ["best", "fitting", "matches"]

_NEGATION: Final = re.compile(r"\b(?:not|never|no|cannot|hate|avoid)\b")
_NEAR: Final = 4
"""Words before a state that a negation may precede."""
_THERE: Final = re.compile(r"\b(?:there|that|it)\b")
_HELD: Final = frozenset({"has", "owns"})
"""Possessions accumulate; only a new count, a loss or an ending replaces them."""
_LEFT: Final = frozenset({"left"})
_LED: Final = 3
_MARGIN: Final = 0.5
"""Minimum lead of the best match over the next one."""
_UNNAMED: Final = frozenset({"word", "name?", "kind:kin", "kind:number", "day"})
_DETAILS: Final = ("day", "time", "number:", "kind:number", "kind:frequency")


def fitting(turn: Turning, memories: Iterable[Memory], threshold: float) -> list[Match]:
    """Find the matches of a sentence and a memory, the best first."""
    found = [match for one in memories for match in matches(turn, one) if match.score >= threshold]
    return sorted(found, key=lambda match: (-match.score, match.memory.id))


def best(found: Sequence[Match]) -> list[Match]:
    """Choose the one memory that the sentence replaces; none if two match about equally.

    A death ends all matching memories.
    """
    dead = [one for one in found if one.rule == "dead"]
    if dead or not found:
        return dead
    first = found[0]
    near = [one for one in found if one.memory.id != first.memory.id and one.score > first.score - _MARGIN]
    return [] if near else [first]


def matches(turn: Turning, memory: Memory) -> Iterator[Match]:
    """Yield every match by which a sentence may replace a memory."""
    words, name = table(), name_of(memory)
    if (name in words.gathering and name not in _HELD) or name.startswith("former"):
        return
    old = old_of(memory)
    if turn.passing and words.veto["passing"].search(old.said.lower) is None:
        return
    yield from _dead(turn, old)
    if not same_owner(turn, old) or not same_scope(turn, old):
        return
    if memory.stance is Stance.PLANNED:
        yield from _ended(turn, old)
    elif is_denial(memory):
        yield from _again(turn, old)
    elif memory.stance in ASSERTIVE_STANCES:
        yield from _states(turn, old)
        yield from _left(turn, old)
        yield from departed(turn, old)
        yield from reframed(turn, old)
        yield from _ended(turn, old)
        yield from _again(turn, old)
        yield from _changed(turn, old)


def _changed(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield matches by the same frame, unless the sentence's own claims are about another topic."""
    if turn.cues <= _LEFT or (old.name in _HELD and find_number(old.memory.value or "") is None):
        return
    read = (normalise_attribute(one.attribute or "") for one in turn.given)
    if not any(table().other_matter(one, old.name) for one in read):
        yield from refilled(turn, old)
        yield from in_slot(turn, old)


def _left(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield matches whose old value is named as left, gone or replaced."""
    named = [one for one in _named(old.memory.text, old.memory.value or "", old.name) if one in turn.said.lower]
    if not named or get_slot(old.memory) is None:
        return
    for shown in named:
        for found in re.finditer(rf"(?<!\w){re.escape(shown)}(?!\w)", turn.said.lower):
            if _departs(turn, old, found):
                score = 3.5 if turn.cues else 3.0
                into = put_for(turn, found.end())
                yield Match(
                    memory=old.memory,
                    score=score,
                    rule="left",
                    shared=(shown,),
                    cell=shown,
                    into=None if into is None else into.text,
                )
                return


@lru_cache(maxsize=512)
def _named(text: str, value: str, name: str) -> tuple[str, ...]:
    """Return the lower-case names in a memory: its value, and names in its text."""
    said, whole = phrase(text), phrase(value).terms
    vague = name in table().vague and name != "name"
    return tuple(
        one.text.lower()
        for one in cells(said, said.content)
        if not (one.kind in _UNNAMED or one.kind.startswith("number:")) or (whole == one.terms and not vague)
    )


def _departs(turn: Turning, old: Old, found: re.Match[str]) -> bool:
    words, text = table(), turn.said.lower
    before = words.before.search(text[: found.start()])
    if before is not None and _empty(turn, old, before.start(), found.start()):
        return not (by_another(turn, old, before.start()) or of_another(turn, old, *found.span()))
    led = " ".join(text[: found.start()].split()[-_LED:])
    verb = led.endswith(" from") or table().change["turned"].search(led) is not None
    moved = "turned" in turn.cues and verb and text[found.end() :].startswith(" to ")
    return moved or words.after.match(text[found.end() :]) is not None


def _empty(turn: Turning, old: Old, start: int, stop: int) -> bool:
    """Return whether no other content word stands between a sign and the value."""
    between = [one for one in turn.words if start <= one.start and one.stop <= stop]
    return all(one.light or one.term in old.said.terms | table().heads for one in between)


def _ended(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield a match if the memory contains everything that the sentence names as ended."""
    if not turn.ends:
        return
    mine, terms = old.said.content, old.said.terms | old.owner
    told = [one for one in turn.words if one.kind not in {"day", "time"} or one.term in terms]
    common = {one.term for one in told} & terms
    decided = get_slot(old.memory) is None and old.memory.type is MemoryType.DECISION
    if decided or common <= turn.kin | old.named:
        return
    left = cells(old.said, [one for one in mine if one.term not in common and not one.light])
    details = all(one.kind.startswith(_DETAILS) for one in left)
    if len(left) > 1 or not (details or _THERE.search(turn.said.lower)):
        return
    if all(one.term in terms or one.light for one in told):
        score = 2.0 + 0.5 * min(len(common), 2) + (0.0 if left else 0.5)
        yield Match(memory=old.memory, score=score, rule="ended", shared=tuple(sorted(common)))


def _states(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield matches of a personal state by another state of the same family."""
    words = table()
    for family, told in states_in(turn.said.lower).items():
        if old.name and old.name not in words.families[family]:
            continue
        was = _standing(old.said.lower, state_in(family, old.said.lower))
        now = _standing(turn.said.lower, told)
        if was and now and set(was).isdisjoint(now):
            score = 3.0 if turn.cues & {"now", "became", "turned"} else 2.6
            yield Match(memory=old.memory, score=score, rule="state", shared=(f"{was[0]} → {now[0]}",))


def _standing(text: str, states: Iterable[tuple[str, int]]) -> list[str]:
    return [name for name, at in states if _NEGATION.search(" ".join(text[:at].split()[-_NEAR:])) is None]


def _dead(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield matches of memories about somebody who has died."""
    words = table()
    if old.person and old.name in words.dead_ends and old.owner <= turn.terms and words.dead.search(turn.said.lower):
        yield Match(memory=old.memory, score=4.0, rule="dead", shared=tuple(sorted(old.owner)))


def _again(turn: Turning, old: Old) -> Iterator[Match]:
    """Yield matches of a denied statement that holds again."""
    mine = old.said.terms
    if "newly" not in turn.cues or not mine or not mine <= turn.terms or _NEGATION.search(turn.said.lower):
        return
    if _NEGATION.search(old.said.lower):
        score = 2.5 + 0.5 * min(len(mine), 2)
        yield Match(memory=old.memory, score=score, rule="again", shared=tuple(sorted(mine)))

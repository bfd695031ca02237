"""A simulated year of one user, by seed: the messages of each day, and the true facts at the end.

Every kind of change occurs: values that change, are corrected and come back, sets that grow and shrink, scopes, plans
that come true or not, other people, an assistant's messages, suppositions, repetitions, small talk, and old messages
that arrive late. The oracle records statements, not their extraction.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.year_words import ALIENS, ASSISTANT, PEOPLE, PLANS, SCOPED, SETS, SINGLES, SUPPOSED, TALK, Many, One

_START: Final = datetime(2025, 1, 6, 8, tzinfo=UTC)
_DAYS: Final = 364
_SPACING: Final = 38
"""Days between two changes of one value: three within 30 days open a contest."""
_RETURN_AFTER: Final = 190
"""Days before a value comes back: a preference that returns within 180 days opens a contest."""
_CHECK_DAYS: Final = 28
_CITIES: Final = ("Oulu", "Cadiz", "Brno", "Utrecht", "Galway", "Kaunas")
_FIRMS: Final = ("Vantage", "Sundial", "Ironbridge", "Palisade", "Merrow")


@dataclass(frozen=True, slots=True)
class Said:
    """One message: time, speaker and text. `late`: it is imported after everything else, with its own date."""

    at: datetime
    role: str
    text: str
    late: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about one fact: its final values, and its past and wrong values."""

    name: str
    single: bool
    current: tuple[str, ...]
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Year:
    """The messages in order, the truth after some of them, and at the end.

    `checks`: the number of messages after which to check, and the truth at that point; each is at the end of a day.
    """

    turns: tuple[Said, ...]
    truths: tuple[Truth, ...]
    checks: tuple[tuple[int, tuple[Truth, ...]], ...]
    supposed: int
    plans: int


@dataclass(slots=True)
class _Single:
    fact: One
    left: list[str]
    value: str = ""
    gone: list[str] = field(default_factory=list[str])
    days: dict[str, int] = field(default_factory=dict[str, int])
    changed_on: int = -_SPACING


@dataclass(slots=True)
class _Set:
    fact: Many
    left: list[str]
    held: list[str] = field(default_factory=list[str])
    gone: list[str] = field(default_factory=list[str])


class _Person:
    """The simulated user: draws the next message and records the truth."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.singles = [_Single(one, draw.sample(one.values, len(one.values))) for one in SINGLES]
        self.sets = [_Set(many, draw.sample(many.values, len(many.values))) for many in SETS]
        self.scoped = [(text, value) for text, values in SCOPED for value in values[:1]]
        self.pending: list[tuple[str, str]] = []
        self.planned = 0
        self.supposed = 0

    def change(self, day: int) -> str | None:
        """State, change, correct or resume one single value that was unchanged for long enough."""
        ready = [one for one in self.singles if day - one.changed_on >= _SPACING]
        if not ready:
            return None
        one = self.draw.choice(ready)
        old, fact = one.value, one.fact
        back = [value for value, since in one.days.items() if value != old and day - since >= _RETURN_AFTER]
        returns = bool(fact.returned and back and self.draw.random() < 0.5)  # noqa: PLR2004 - half of the chances
        if not returns and not one.left:
            return None
        new = self.draw.choice(back) if returns else one.left.pop()
        kinds = fact.returned if returns else fact.told if not old else self._wording(fact)
        one.value, one.changed_on = new, day
        if old:
            one.gone.append(old)
            one.days[old] = day
        if new in one.gone:
            one.gone.remove(new)
        return self.draw.choice(kinds).format(v=new, o=_strip(old))

    def _wording(self, fact: One) -> tuple[str, ...]:
        return fact.corrected if self.draw.random() < 0.15 else fact.changed  # noqa: PLR2004 - a few are slips

    def grow(self) -> str | None:
        """Add a value to a set."""
        open_sets = [one for one in self.sets if one.left]
        if not open_sets:
            return None
        one = self.draw.choice(open_sets)
        value = one.left.pop()
        one.held.append(value)
        return self.draw.choice(one.fact.told).format(v=value)

    def shrink(self) -> str | None:
        """End one value of a set that holds several."""
        rich = [one for one in self.sets if one.fact.ended and len(one.held) > 1]
        if not rich:
            return None
        one = self.draw.choice(rich)
        value = one.held.pop(self.draw.randrange(len(one.held)))
        one.gone.append(value)
        return self.draw.choice(one.fact.ended).format(v=value)

    def again(self) -> str | None:
        """Resume an ended value of a set."""
        ended = [one for one in self.sets if one.gone]
        if not ended:
            return None
        one = self.draw.choice(ended)
        value = one.gone.pop(self.draw.randrange(len(one.gone)))
        one.held.append(value)
        return f"{one.fact.told[0].format(v=value).rstrip('.')} again."

    def repeat(self) -> str | None:
        """Repeat a current fact in other words."""
        said = [(one.fact.repeated, one.value) for one in self.singles if one.value]
        said += [(one.fact.repeated, value) for one in self.sets for value in one.held]
        if not said:
            return None
        words, value = self.draw.choice(said)
        return self.draw.choice(words).format(v=value)

    def plan(self) -> str:
        """State a new plan, or that a plan came true."""
        if self.pending and self.draw.random() < 0.4:  # noqa: PLR2004 - some come true
            done, value = self.pending.pop(0)
            return done.format(v=value)
        self.planned += 1
        words, done, values = self.draw.choice(PLANS)
        value = self.draw.choice(values)
        if done is not None and (done, value) not in self.pending:
            self.pending.append((done, value))
        return words.format(v=value)

    def other(self) -> str:
        """State a fact about another person."""
        who, does = self.draw.choice(PEOPLE)
        return f"{who} {self._filled(self.draw.choice(does))}"

    def suppose(self) -> str:
        """State a supposition."""
        self.supposed += 1
        return self._filled(self.draw.choice(SUPPOSED))

    def pick(self, lines: tuple[str, ...]) -> str:
        """Return one of these lines."""
        return self._filled(self.draw.choice(lines))

    def _filled(self, line: str) -> str:
        return line.format(c=self.draw.choice(_CITIES), f=self.draw.choice(_FIRMS))

    def scope(self) -> str:
        """State a value with a scope."""
        text, value = self.draw.choice(self.scoped)
        return text.format(v=value)

    def truths(self) -> Iterator[Truth]:
        """Return the final truth."""
        for one in self.singles:
            if one.value:
                yield Truth(one.fact.name, single=True, current=(one.value,), gone=tuple(one.gone))
        for many in self.sets:
            if many.held or many.gone:
                yield Truth(many.fact.name, single=False, current=tuple(many.held), gone=tuple(many.gone))


def _strip(value: str) -> str:
    return value.removeprefix("a ") if value else ""


def make_year(turns: int = 2_000, *, seed: int = 1, days: int = _DAYS) -> Year:
    """Generate a year, or this many days, of this many messages; deterministic by seed."""
    draw = random.Random(f"year {seed}")
    person = _Person(draw)
    said: list[Said] = []
    checks: list[tuple[int, tuple[Truth, ...]]] = []
    for number in range(turns):
        day = number * days // turns
        if said and said[-1].at.date() < (_START + timedelta(days=day)).date() and day % _CHECK_DAYS == 0:
            checks.append((number, tuple(person.truths())))
        at = _START + timedelta(days=day, minutes=number * 7 % 600)
        role, text = _turn(person, day, first=number < 2 * len(SINGLES))
        said.append(Said(at, role, text))
    said.extend(_repeat_late(person, draw))
    return Year(tuple(said), tuple(person.truths()), tuple(checks), person.supposed, person.planned)


def _turn(person: _Person, day: int, *, first: bool) -> tuple[str, str]:
    """Draw the content of a turn; an impossible one becomes small talk."""
    at = person.draw.random()
    text: str | None = None
    if at < (0.6 if first else 0.07):
        text = person.change(day)
    else:
        for share, say in (
            (0.11, person.grow),
            (0.125, person.shrink),
            (0.13, person.again),
            (0.27, person.repeat),
            (0.30, person.plan),
            (0.37, person.other),
            (0.40, person.suppose),
            (0.42, person.scope),
            (0.44, lambda: person.pick(ALIENS)),
        ):
            if at < share:
                text = say()
                break
    if text is not None:
        return "user", text
    if at > 0.8:  # noqa: PLR2004 - a fifth of all turns
        return "assistant", person.pick(ASSISTANT)
    return "user", person.pick(TALK)


def _repeat_late(person: _Person, draw: random.Random) -> list[Said]:
    """Repeat old messages of the beginning after everything else, with their original dates."""
    stale = [one for one in person.singles if one.gone and one.fact.told]
    picked = draw.sample(stale, min(5, len(stale)))
    return [
        Said(_START - timedelta(days=3), "user", one.fact.told[0].format(v=one.gone[0], o=""), late=True)
        for one in picked
    ]

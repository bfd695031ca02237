"""Store a simulated year in a new memory through the public API, and compare its beliefs with the truth."""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from benchmarks.year import Said, Truth, Year, make_year
from benchmarks.year_core import CoreWatch
from credenda import Credenda
from credenda.clock import from_datetime
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value

_PAGE: Final = 50
_CHECKED: Final = 200
_GONE: Final = (Status.SUPERSEDED, Status.CHALLENGED)
_FIRM: Final = frozenset({Stance.ASSERTED})
_HYPOTHETICAL_MAX: Final = 0.3
_PLAN_MAX: Final = 0.5
_DUPLICATES_MAX: Final = 0.03


@dataclass(slots=True)
class _Clock:
    """A clock that is set to the day of the current message."""

    at_us: int = 0

    def now_us(self) -> int:
        """Return the time that was set."""
        return self.at_us


def run_year(turns: int, *, seed: int, note: Callable[[str], None], consolidate_days: int = 0) -> dict[str, Any]:
    """Simulate a year and compare the final beliefs; return the document of `--json`.

    With `consolidate_days` everything is consolidated each time that many days have passed.
    """
    began = time.process_time()
    year = make_year(turns, seed=seed)
    clock = _Clock()
    with tempfile.TemporaryDirectory(prefix="credenda-year-") as folder:
        path = Path(folder) / "memory.db"
        with Credenda.open(path, user="year", embedder="none", workers=False, clock=clock) as memory:
            watch = CoreWatch(seed)
            weeks = _Weeks(memory, consolidate_days)
            looked = _live(memory, clock, year, watch=watch, note=note, weeks=weeks)
            weeks.consolidate()  # the last week, and late messages
            held = list(_all(memory, Status.ACTIVE))
            looked.append(_looked(memory, held, year.truths))
            told = _known(memory, year.truths)
    found = _report(year, held, looked, seed=seed) | {"core": watch.report()}
    found["kept"] = found["kept"] and found["core"]["kept"]
    found["held_facts"] = sorted(name for name, state in looked[-1].facts if not state) + told
    spent = {"seconds": round(time.process_time() - began, 2)}
    return found | spent | {"consolidations": weeks.runs, "consolidated": weeks.consolidated}


@dataclass(slots=True)
class _Weeks:
    """Consolidates at intervals of days."""

    memory: Credenda
    every_days: int
    last: date | None = None
    runs: int = 0
    consolidated: int = 0

    def pass_on(self, day: date) -> None:
        """Advance to a day."""
        if not self.every_days:
            return
        self.last = self.last or day
        if (day - self.last).days >= self.every_days:
            self.last = day
            self.consolidate()

    def consolidate(self) -> None:
        """Consolidate new memories."""
        if self.every_days:
            report = self.memory.manage.consolidate(force=True)
            self.runs += 1
            self.consolidated += report.memories_consolidated


def _known(memory: Credenda, truths: Sequence[Truth]) -> list[str]:
    """Name past values that a memory of any status still contains."""
    rows = [one for status in (Status.ACTIVE, *_GONE, Status.MERGED, Status.ARCHIVED) for one in _all(memory, status)]
    return sorted(
        f"{truth.name}: {value}, once"
        for truth in truths
        for value in truth.gone
        if any(_in(normalise_value(value), normalise_value(one.value or one.text)) for one in rows)
    )


def _live(
    memory: Credenda, clock: _Clock, year: Year, *, watch: CoreWatch, note: Callable[[str], None], weeks: _Weeks
) -> list[_Looked]:
    """Store every message on its day; check the core every evening, and the beliefs at the ends of some days."""
    last = max(one.at for one in year.turns)
    checks, looked, count = dict(year.checks), list[_Looked](), 0
    for day, said in groupby(year.turns, key=lambda one: (one.late, one.at.date())):
        for one in said:
            clock.at_us = from_datetime(last + timedelta(days=1) if one.late else one.at)
            _say(memory, one)
            count += 1
        watch.instruct(memory, day[1])
        memory.settle()
        watch.look(memory, day[1])
        weeks.pass_on(day[1])
        if count in checks:
            note(f"{day[1]}: {count} turns")
            looked.append(_looked(memory, list(_all(memory, Status.ACTIVE)), checks[count]))
    return looked


@dataclass(frozen=True, slots=True)
class _Looked:
    """One check: every current fact, and whether it is believed (`""`), wrongly retired or never extracted."""

    facts: tuple[tuple[str, str], ...]


def _looked(memory: Credenda, held: Sequence[Memory], truths: Sequence[Truth]) -> _Looked:
    own = [one for one in held if _own(one)]
    gone: list[Memory] | None = None
    found: list[tuple[str, str]] = []
    for truth in truths:
        for value in truth.current:
            state = ""
            if not any(_says(one, value) for one in own):
                if gone is None:
                    gone = [one for status in _GONE for one in _all(memory, status)]
                state = "retired" if any(_says(one, value) and _own(one) for one in gone) else "missed"
            found.append((f"{truth.name}: {value}", state))
    return _Looked(tuple(found))


def _say(memory: Credenda, one: Said) -> None:
    memory.remember(
        [{"role": one.role, "content": one.text}], session=f"{one.at:%Y-%m-%d}", occurred_at=one.at.isoformat()
    )


def _all(memory: Credenda, status: Status) -> Iterator[Memory]:
    cursor = None
    while True:
        page = memory.list(status=status.value, limit=_PAGE, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _says(one: Memory, value: str) -> bool:
    """Return whether a memory about the user contains a value."""
    wanted = normalise_value(value)
    return _in(wanted, normalise_value(one.value or one.text)) or _in(wanted, normalise_value(_present(one)))


def _present(one: Memory) -> str:
    """Return the text of a memory without its past values."""
    return re.sub(r" \(currently .*?; previously .*\)", "", one.text)


def _own(one: Memory) -> bool:
    entity = normalise_name(one.entity or "user")
    return one.stance in _FIRM and "'s" not in (one.entity or "") and entity not in {"leonora", "he"}


def _report(year: Year, held: Sequence[Memory], looked: Sequence[_Looked], *, seed: int) -> dict[str, Any]:
    own = [one for one in held if _own(one)]
    doubled = _doubled(held)
    facts = [fact for look in looked for fact in look.facts]
    picked = random.Random(f"checked {seed}").sample(facts, min(_CHECKED, len(facts)))
    found: dict[str, Any] = {
        "seed": seed,
        "turns": len(year.turns),
        "memories": len(held),
        "facts": sum(len(one.current) for one in year.truths),
        "two_live_values": _two_live(held),
        "stale_values": [
            f"{truth.name}: {value}"
            for truth in year.truths
            for value in truth.gone
            if any(_still(one, value) for one in own) and value not in truth.current
        ],
        "retired_wrongly": {"checked": len(picked), "found": [name for name, state in picked if state == "retired"]},
        "missed": [name for name, state in picked if state == "missed"],
        "duplicates": {"found": len(doubled), "share": round(len(doubled) / max(1, len(held)), 4), "list": doubled},
        "contested": sorted({f"{one.entity} / {one.attribute}" for one in held if one.contested}),
        "others_as_own": _misattributed(held),
        "too_sure": [one.text for one in held if _too_sure(one)],
    }
    broken = (
        found["two_live_values"] or found["retired_wrongly"]["found"] or found["others_as_own"] or found["too_sure"]
    )
    return found | {"kept": not broken and found["duplicates"]["share"] < _DUPLICATES_MAX}


def _still(one: Memory, value: str) -> bool:
    """Return whether a memory states a value as present, not as past or wrong."""
    if (one.attribute or "").startswith(("former", "event")):
        return False
    bare = value.removeprefix("a ")
    text = re.sub(rf"\b(?:not|from|left)(?: in)? {re.escape(bare)}", "", _present(one), flags=re.IGNORECASE)
    return _in(normalise_value(bare), normalise_value(text))


def _in(words: str, text: str) -> bool:
    return f" {words} " in f" {text} "


def _two_live(held: Sequence[Memory]) -> list[str]:
    """Name single-valued slots with two values and no contest."""
    slots: dict[tuple[str, ...], set[str]] = {}
    for one in held:
        if one.entity and one.attribute and one.stance in _FIRM and not one.contested:
            single = one.cardinality is Cardinality.SINGLE and one.value
            key = (
                normalise_name(one.speaker),
                normalise_name(one.entity),
                normalise_attribute(one.attribute),
                one.scope or "",
                one.type,
            )
            if single:
                slots.setdefault(key, set()).add(normalise_value(one.value or ""))
    return [f"{key[1]} / {key[2]}: {', '.join(sorted(values))}" for key, values in slots.items() if len(values) > 1]


def _doubled(held: Sequence[Memory]) -> list[str]:
    """Name memories that duplicate another: the same slot and value, or the same text."""
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[str] = []
    for one in held:
        scope, stance = one.scope or "", str(one.stance)
        slot = (
            normalise_name(one.entity or ""),
            normalise_attribute(one.attribute or ""),
            normalise_value(one.value or ""),
            scope,
            stance,
        )
        key = slot if one.attribute else ("", normalise_text(one.text), "", scope, stance)
        seen[key] += 1
        if seen[key] > 1:
            found.append(one.text)
    return found


def _misattributed(held: Sequence[Memory]) -> list[str]:
    """Name facts about others, or statements by others, that are stored as the user's."""
    others = ("my brother", "my neighbour", "leonora", "my boss", "my aunt")
    return [
        one.text
        for one in held
        if one.entity
        and normalise_name(one.entity) == "user"
        and one.text.lower().startswith(others)
        and one.stance in _FIRM
    ]


def _too_sure(one: Memory) -> bool:
    pretended = one.stance in {Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC}
    planned = one.stance in {Stance.PLANNED, Stance.CONSIDERED}
    return (pretended and one.confidence > _HYPOTHETICAL_MAX) or (planned and one.confidence > _PLAN_MAX)

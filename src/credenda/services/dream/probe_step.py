"""Step 5: flag doubtful beliefs as challenged and lower their scores; none is invalidated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda import limits
from credenda.clock import DAY_US
from credenda.manage.dream.probe import (
    ProbeCandidate,
    ProbeRules,
    challenge,
    draw_probes,
    find_contradicted,
    get_single_slot,
    is_old_unconfirmed,
    is_unsupported,
    may_be_probed,
)
from credenda.model.change import Change, ChangeKind, SetStatus
from credenda.model.derived import is_dreamed
from credenda.model.dream import DreamStep
from credenda.model.event import Event
from credenda.model.memory import Memory, Slot
from credenda.services.dream.llm import Mind
from credenda.services.dream.step_context import HELD, Night
from credenda.services.usage import rescore_retention
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_name

__all__ = ["run_probe"]

_MARK: Final = "probe"
_TOGETHER: Final = 100
_SET_STATUS: Final = frozenset({ChangeKind.SET_STATUS})


@dataclass(slots=True)
class _Doubts:
    """The doubts so far: each memory once, with the first reason found."""

    night: Night
    changes: dict[str, SetStatus] = field(default_factory=dict[str, SetStatus])
    seen: dict[str, Memory] = field(default_factory=dict[str, Memory])
    told: list[str] = field(default_factory=list[str])

    def add(self, memory: Memory, ground: str) -> bool:
        """Add a doubt, unless the user has cleared the same doubt before."""
        if memory.id in self.changes:
            return False
        change = self.night.see(lambda reader: challenge(memory, ground, _read_earlier_values(reader, memory)))
        if change is None:
            return False
        self.changes[memory.id] = change
        self.seen[memory.id] = memory
        verb = "would be" if self.night.dry_run else "is"
        self.told.append(f"{memory.id} {verb} doubted: {ground}.")
        return True


def _read_earlier_values(reader: Reader, memory: Memory) -> list[str]:
    log = reader.changes(ChangeFilter(memory_ids=(memory.id,), kinds=_SET_STATUS))
    return [change.reason for change in log if change.cause == f"dream:{_MARK}"]


@dataclass(slots=True)
class _Slots:
    """Memory ids by slot, for slots with a single value."""

    held: dict[Slot, list[str]] = field(default_factory=dict[Slot, list[str]])

    def put(self, memory: Memory) -> None:
        slot = get_single_slot(memory)
        if slot is not None:
            self.held.setdefault(slot, []).append(memory.id)


def run_probe(night: Night, rules: ProbeRules | None = None) -> DreamStep:
    """Challenge memories that are contradicted or have lost their evidence, and a sample of old ones (E-070).

    The sample is drawn once a day, so that a second run on the same day challenges nothing more.
    """
    bounds = rules or ProbeRules()
    doubts, mind, slots = _Doubts(night), Mind(night), _Slots()
    redacted = bool(night.see(lambda reader: reader.counts().redacted_events))
    drawn: list[ProbeCandidate] = []
    examined = 0
    for batch in night.held():
        plain = [one for one in batch if not is_dreamed(one)]
        examined += len(plain)
        for memory in plain:
            slots.put(memory)
        if redacted:
            _doubt_without_evidence(doubts, plain)
        drawn = _keep_drawn(night, mind, [*drawn, *(_describe_memory(night, one) for one in plain)], bounds)
    _doubt_contradicted(doubts, slots)
    fresh = not night.asked_today(_MARK)
    if fresh:
        _draw(doubts, mind, drawn)
    changes = _apply_doubts(night, doubts)
    if fresh and (drawn or changes):
        night.mark(_MARK)
    told = [*doubts.told, *([f"{mind.trouble[0].upper()}{mind.trouble[1:]}."] if mind.trouble else [])]
    counts = {"examined": examined, "drawn": len(drawn) if fresh else 0, "challenged": len(changes)}
    return DreamStep(name="probe", told=tuple(told), counts=counts, changes=tuple(changes))


def _describe_memory(night: Night, memory: Memory) -> ProbeCandidate:
    since = memory.created_us if memory.last_accessed_us is None else memory.last_accessed_us
    now_us = night.now_us
    return ProbeCandidate(
        memory=memory, age_days=(now_us - memory.created_us) / DAY_US, idle_days=(now_us - since) / DAY_US
    )


def _keep_drawn(night: Night, mind: Mind, found: Iterable[ProbeCandidate], rules: ProbeRules) -> list[ProbeCandidate]:
    """Return the memories found so far that are in today's sample."""
    if not mind.absent:
        return draw_probes(found, rules, night.today)
    old = [one for one in found if is_old_unconfirmed(one, rules)]
    return sorted(old, key=lambda one: (-one.age_days, one.memory.id))[: rules.max_per_run]


def _doubt_without_evidence(doubts: _Doubts, memories: Sequence[Memory]) -> None:
    """Add doubts about memories whose evidence has no words left."""
    by_id = {one.id: one for one in memories if may_be_probed(one)}

    def look(reader: Reader) -> dict[str, list[str]]:
        links = reader.evidence(memory_ids=sorted(by_id))
        events = {one.id: one for one in reader.events(sorted({link.span.event_id for link in links}))}
        words: dict[str, list[str]] = {}
        for link in links:
            words.setdefault(link.memory_id, []).append(
                _cut_words(events, link.span.event_id, link.span.start, link.span.stop)
            )
        return words

    for name, words in (doubts.night.see(look) if by_id else {}).items():
        if is_unsupported(by_id[name], words):
            doubts.add(by_id[name], "its source is gone")


def _cut_words(events: dict[str, Event], event_id: str, start: int, stop: int) -> str:
    return events[event_id].text[start:stop] if event_id in events else ""


def _doubt_contradicted(doubts: _Doubts, slots: _Slots) -> None:
    crowded = [names for names in slots.held.values() if len(names) > 1]
    for names in crowded:
        members = doubts.night.see(lambda reader, names=names: reader.memories(sorted(names)))
        for memory, later in find_contradicted(members):
            doubts.add(memory, f"contradicted by {later.id}")


def _draw(doubts: _Doubts, mind: Mind, drawn: Sequence[ProbeCandidate]) -> None:
    """Add doubts about the sample: by age or, if available, by the answers of an LLM."""
    if mind.absent:
        for one in drawn:
            doubts.add(one.memory, f"old and never confirmed ({one.age_days:.0f} days)")
        return
    for one in drawn:
        doubt = mind.doubt(one.memory, _find_later_memories(doubts.night, one.memory))
        if doubt is not None:
            against = f" by {doubt.because}" if doubt.because else ""
            doubts.add(one.memory, f"a model holds it {doubt.reason}{against}")
        if mind.trouble:
            return


def _find_later_memories(night: Night, memory: Memory) -> list[Memory]:
    """Return later memories about the same entity, newest first."""
    if not memory.entity:
        return []
    wanted = MemoryFilter(entity=normalise_name(memory.entity), statuses=HELD)
    found = night.see(lambda reader: reader.find(wanted))
    later = [one for one in found if one.created_us > memory.created_us and not is_dreamed(one)]
    return later[: limits.LLM_PROBED_MEMORIES]


def _apply_doubts(night: Night, doubts: _Doubts) -> list[Change]:
    """Apply the doubts and the resulting scores; a memory that has changed meanwhile is left for the next run."""
    names = list(doubts.changes)
    if night.dry_run:
        return [doubts.changes[name] for name in names]
    done: list[Change] = []
    for start in range(0, len(names), _TOGETHER):
        group = names[start : start + _TOGETHER]
        changes = [doubts.changes[name] for name in group]
        seen = {name: doubts.seen[name] for name in group}
        if night.commit(
            changes, seen, cause=_MARK, then=lambda writer, _, ids=group: rescore_retention(night.parts, writer, ids)
        ):
            done += changes
    return done

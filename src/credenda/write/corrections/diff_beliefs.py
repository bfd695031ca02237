"""What differs between the beliefs that are held and those that a fresh reading of the journal gives. Pure.

Beliefs are paired by what they say and what they rest on. One that is read no more is withdrawn as having been wrong,
so that it leaves every as-of answer; one that a person has touched stays. What was deleted stays deleted, and what
ended because of it stays ended.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Final, NamedTuple

from credenda.model.change import Add, Change, Contest, Resolve, Revise, Supersede, Support
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Draft, Memory, Relation, Slot, Status, TypeClass, type_class
from credenda.model.surprise import adjusted
from credenda.text.normalize import attribute_key, name_key, text_key, value_key
from credenda.write.reconcile.slots import begins_us

__all__ = ["Beliefs", "Identity", "Plan", "identity", "nearest", "rederive", "slot_key"]

_DRAFT_FIELDS: Final = tuple(one.name for one in fields(Draft))
_STANDING: Final = ("relation", "superseded_by", "contested", "confirmations")
"""What a draft does not hold."""
_ENDING: Final = frozenset({"status", "valid_until_us", "relation", "superseded_by"})
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED, Status.CANDIDATE})
_READ_ANEW: Final = "read anew from what was said"
_NO_LONGER_READ: Final = "today\u2019s rules do not read this from what was said"


class Identity(NamedTuple):
    """What a memory says, in normal form: two of one identity are the same belief."""

    speaker: str
    entity: str
    attribute: str
    scope: str
    type_class: TypeClass
    said: str


def identity(memory: Memory) -> Identity:
    """Give what a memory says, in normal form."""
    said = value_key(memory.value) if memory.value and memory.attribute else text_key(memory.text)
    return Identity(
        name_key(memory.speaker),
        name_key(memory.entity or ""),
        attribute_key(memory.attribute or ""),
        name_key(memory.scope or ""),
        type_class(memory.type),
        f"{memory.stance}:{said}",
    )


def slot_key(contest: ContestCase) -> tuple[str, ...]:
    """Give the slot of a contest in normal form."""
    return (
        name_key(contest.speaker),
        name_key(contest.entity),
        attribute_key(contest.attribute),
        name_key(contest.scope or ""),
        contest.type_class,
    )


@dataclass(frozen=True, kw_only=True)
class Beliefs:
    """Beliefs as they stand: current versions, and the evidence of each by its id."""

    memories: Mapping[str, Memory]
    evidence: Mapping[str, tuple[Evidence, ...]]
    contests: tuple[ContestCase, ...] = ()

    @cached_property
    def by_identity(self) -> dict[Identity, list[Memory]]:
        """The memories by what they say."""
        found: dict[Identity, list[Memory]] = {}
        for one in self.memories.values():
            found.setdefault(identity(one), []).append(one)
        return found

    @cached_property
    def by_event(self) -> dict[str, list[Memory]]:
        """The memories by the events that they rest on."""
        found: dict[str, list[Memory]] = {}
        for one in self.memories.values():
            for event_id in self.events(one.id):
                found.setdefault(event_id, []).append(one)
        return found

    def events(self, memory_id: str) -> frozenset[str]:
        """Name the events that a memory rests on."""
        return frozenset(item.span.event_id for item in self.evidence.get(memory_id, ()))


def nearest(memory: Memory, mine: Iterable[Evidence], among: Beliefs, taken: Container[str] = ()) -> str | None:
    """Find the memory of `among` that says the same, best one that rests on the same; else one read from those words.

    Where several were read from the same words, that of the same attribute is meant, or none.
    """
    spans = list(mine)
    events = {item.span.event_id for item in spans}
    same = [one for one in among.by_identity.get(identity(memory), ()) if one.id not in taken]
    if same:
        return max(same, key=lambda one: (len(among.events(one.id) & events), -_number(one.id))).id
    resting = {one.id: one for event_id in sorted(events) for one in among.by_event.get(event_id, ())}
    near = [
        one
        for one in resting.values()
        if one.id not in taken
        and any(_overlap(item, other) for item in among.evidence.get(one.id, ()) for other in spans)
    ]
    alike = [one for one in near if attribute_key(one.attribute or "") == attribute_key(memory.attribute or "")]
    found = alike or near
    return found[0].id if len(found) == 1 else None


def _number(memory_id: str) -> int:
    return int(memory_id[1:].partition("-")[0])


def _overlap(one: Evidence, other: Evidence) -> bool:
    mine, theirs = one.span, other.span
    return mine.event_id == theirs.event_id and mine.start < theirs.stop and theirs.start < mine.stop


@dataclass(slots=True)
class Plan:
    """What would change, with the memories that the changes are about as they would be; `kept` is in words."""

    changes: list[Change] = field(default_factory=list[Change])
    kept: list[str] = field(default_factory=list[str])


def rederive(
    live: Beliefs,
    fresh: Beliefs,
    *,
    replayed: Mapping[str, str],
    touched: Mapping[str, frozenset[str]],
    personal: frozenset[str],
) -> Plan:
    """Say what must change for the beliefs that are held to become those read afresh.

    `replayed` maps live memories that were not derived (persons, models) to fresh ones. `touched` names the fields of
    live memories that schedules have moved, which stay as they are; `personal` the memories that a person has pinned,
    restored or judged.
    """
    run = _Run(live, fresh, touched, personal)
    run.pair(replayed)
    run.add()
    run.revise()
    run.withdraw()
    run.contests()
    return run.plan


class _Run:
    def __init__(
        self, live: Beliefs, fresh: Beliefs, touched: Mapping[str, frozenset[str]], personal: frozenset[str]
    ) -> None:
        self.plan = Plan()
        self._live, self._fresh = live, fresh
        self._touched, self._personal = touched, personal
        self._to_fresh: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """How a fresh memory is called in the changes: its live id, or the key of its `Add`."""

    def pair(self, replayed: Mapping[str, str]) -> None:
        """Find for each memory that is held the one that was read afresh; deleted ones have none."""
        held = [one for one in self._live.memories.values() if one.status is not Status.DELETED]
        for one in held:
            if one.id in replayed:
                self._take(one.id, replayed[one.id])
        for alike in (True, False):  # those that rest on the very same come first
            for one in held:
                if one.id in self._to_fresh:
                    continue
                found = nearest(one, self._live.evidence.get(one.id, ()), self._fresh, self._names)
                same = found is not None and identity(self._fresh.memories[found]) == identity(one)
                shares = found is not None and bool(self._fresh.events(found) & self._live.events(one.id))
                if found is not None and same and (shares or not alike):
                    self._take(one.id, found)
        for fresh_id in self._fresh.memories:
            self._names.setdefault(fresh_id, f"new:{fresh_id}")

    def _take(self, live_id: str, fresh_id: str) -> None:
        self._to_fresh[live_id] = fresh_id
        self._names[fresh_id] = live_id

    def _supports(self, fresh_id: str, held: Iterable[Evidence] = ()) -> tuple[Support, ...]:
        known = {(item.span, item.claim_hash) for item in held}
        return tuple(
            Support(item.span, item.claim_hash, item.reader)
            for item in self._fresh.evidence.get(fresh_id, ())
            if (item.span, item.claim_hash) not in known
        )

    def add(self) -> None:
        """Hold what was not held before."""
        for fresh_id, name in self._names.items():
            if name.startswith("new:"):
                memory = self._fresh.memories[fresh_id]
                draft = Draft(**{one: getattr(memory, one) for one in _DRAFT_FIELDS})
                self.plan.changes.append(
                    Add(key=name, draft=draft, support=self._supports(fresh_id), reason=_READ_ANEW)
                )

    def revise(self) -> None:
        """Move what stands otherwise, new memories last: theirs is what a draft does not hold."""
        for live_id, fresh_id in self._to_fresh.items():
            before, after = self._live.memories[live_id], self._fresh.memories[fresh_id]
            moved = self._apart(before, after, (*_DRAFT_FIELDS, *_STANDING))
            support = self._supports(fresh_id, self._live.evidence.get(live_id, ()))
            if moved or support:
                self.plan.changes.append(Revise(memory_id=live_id, fields=moved, reason=_READ_ANEW, support=support))
        for fresh_id, name in self._names.items():
            after = self._fresh.memories[fresh_id]
            if name.startswith("new:"):
                bare = {"relation": None, "superseded_by": None, "contested": False, "confirmations": 0}
                moved = {one: value for one in _STANDING if (value := self._value(after, one)) != bare[one]}
                if moved:
                    self.plan.changes.append(Revise(memory_id=name, fields=moved, reason=_READ_ANEW))

    def _value(self, fresh: Memory, name: str) -> object:
        value = getattr(fresh, name)
        return self._names.get(str(value)) if name == "superseded_by" and value is not None else value

    def _apart(self, before: Memory, after: Memory, names: Iterable[str]) -> dict[str, object]:
        left = self._touched.get(before.id, frozenset[str]())
        if before.superseded_by is not None:
            successor = self._live.memories.get(before.superseded_by)
            if successor is None or successor.status is Status.DELETED:
                left |= _ENDING
        if before.importance == adjusted(after.importance, before.surprise):
            left |= {"importance"}  # what surprise made of it is no reading
        return {
            name: value
            for name in names
            if name not in left and (value := self._value(after, name)) != getattr(before, name)
        }

    def withdraw(self) -> None:
        """Let go of what is read no more; what a person has touched stays."""
        for one in self._live.memories.values():
            if one.id in self._to_fresh or one.status not in _HELD | {Status.SUPERSEDED}:
                continue
            if one.id in self._personal:
                self.plan.kept.append(f"{one.id} is read no more, but a person has decided about it")
            elif one.status is Status.SUPERSEDED:
                if one.relation is not Relation.CORRECTED:
                    fields_moved = {"relation": Relation.CORRECTED}
                    self.plan.changes.append(Revise(memory_id=one.id, fields=fields_moved, reason=_NO_LONGER_READ))
            else:
                self._supersede(one)

    def _supersede(self, one: Memory) -> None:
        reread = nearest(one, self._live.evidence.get(one.id, ()), self._fresh)
        self.plan.changes.append(
            Supersede(
                memory_id=one.id,
                successor=self._names[reread] if reread else None,
                relation=Relation.CORRECTED,
                valid_until_us=begins_us(one),
                reason=_NO_LONGER_READ,
            )
        )

    def contests(self) -> None:
        """Open the questions that are asked now, and close those that are not."""
        asked = {slot_key(one): one for one in self._fresh.contests if one.state is ContestState.OPEN}
        held = {slot_key(one): one for one in self._live.contests if one.state is ContestState.OPEN}
        for key, one in asked.items():
            if key not in held:
                slot = Slot(one.speaker, one.entity, one.attribute, one.scope, TypeClass(one.type_class))
                members = tuple(self._names[name] for name in one.memory_ids if name in self._names)
                self.plan.changes.append(
                    Contest(slot=slot, memory_ids=members, values=one.values, question=one.question, reason=_READ_ANEW)
                )
        for key, one in held.items():
            if key not in asked:
                self.plan.changes.append(
                    Resolve(
                        contest_id=one.id,
                        resolution="not asked any more",
                        scopes={},
                        keep=(),
                        reason="today\u2019s rules do not ask this",
                    )
                )

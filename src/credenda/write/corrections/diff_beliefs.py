"""Compare current beliefs with beliefs freshly derived from the journal, and plan the changes. Pure.

Beliefs are paired by meaning and evidence. A belief that is no longer derived is superseded as wrong, so that it leaves
as-of answers; one that the user has changed stays. Deleted beliefs stay deleted, and beliefs that ended because of them
stay ended.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Final, NamedTuple

from credenda.model.change import Add, Change, Contest, Resolve, Revise, Support, end_memory
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import (
    Draft,
    Memory,
    Relation,
    Slot,
    Status,
    TypeClass,
    adjust_importance,
    get_type_class,
    get_valid_from_us,
)
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value

_DRAFT_FIELDS: Final = tuple(one.name for one in fields(Draft))
_NOT_IN_DRAFT: Final = ("relation", "superseded_by", "contested", "confirmations")
"""Memory fields that a draft does not have."""
_ENDING: Final = frozenset({"status", "valid_until_us", "relation", "superseded_by"})
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED, Status.CANDIDATE})
_RE_EXTRACTED: Final = "re-extracted from the messages"
_NOT_EXTRACTED: Final = "the current rules no longer extract this"


class BeliefIdentity(NamedTuple):
    """The normalised meaning of a memory; memories with equal identity are the same belief."""

    speaker: str
    entity: str
    attribute: str
    scope: str
    type_class: TypeClass
    said: str


def get_identity(memory: Memory) -> BeliefIdentity:
    """Return the normalised meaning of a memory."""
    said = normalise_value(memory.value) if memory.value and memory.attribute else normalise_text(memory.text)
    return BeliefIdentity(
        normalise_name(memory.speaker),
        normalise_name(memory.entity or ""),
        normalise_attribute(memory.attribute or ""),
        normalise_name(memory.scope or ""),
        get_type_class(memory.type),
        f"{memory.stance}:{said}",
    )


def get_slot_key(contest: ContestCase) -> tuple[str, ...]:
    """Return the normalised slot of a contest."""
    return (
        normalise_name(contest.speaker),
        normalise_name(contest.entity),
        normalise_attribute(contest.attribute),
        normalise_name(contest.scope or ""),
        contest.type_class,
    )


@dataclass(frozen=True, kw_only=True)
class BeliefSet:
    """A set of beliefs: current versions, and the evidence of each by its id."""

    memories: Mapping[str, Memory]
    evidence: Mapping[str, tuple[Evidence, ...]]
    contests: tuple[ContestCase, ...] = ()

    @cached_property
    def by_identity(self) -> dict[BeliefIdentity, list[Memory]]:
        """The memories by identity."""
        found: dict[BeliefIdentity, list[Memory]] = {}
        for one in self.memories.values():
            found.setdefault(get_identity(one), []).append(one)
        return found

    @cached_property
    def by_event(self) -> dict[str, list[Memory]]:
        """The memories by supporting event."""
        found: dict[str, list[Memory]] = {}
        for one in self.memories.values():
            for event_id in self.events(one.id):
                found.setdefault(event_id, []).append(one)
        return found

    def events(self, memory_id: str) -> frozenset[str]:
        """Return the ids of the events that support a memory."""
        return frozenset(item.span.event_id for item in self.evidence.get(memory_id, ()))


def find_counterpart(
    memory: Memory, mine: Iterable[Evidence], among: BeliefSet, taken: Container[str] = ()
) -> str | None:
    """Find the counterpart of a memory in `among`: the same meaning, preferably from the same events.

    Otherwise return the only memory from overlapping evidence with the same attribute, or the only one at all.
    """
    spans = list(mine)
    events = {item.span.event_id for item in spans}
    same = [one for one in among.by_identity.get(get_identity(memory), ()) if one.id not in taken]
    if same:
        return max(same, key=lambda one: (len(among.events(one.id) & events), -_parse_number(one.id))).id
    resting = {one.id: one for event_id in sorted(events) for one in among.by_event.get(event_id, ())}
    near = [
        one
        for one in resting.values()
        if one.id not in taken
        and any(_has_overlap(item, other) for item in among.evidence.get(one.id, ()) for other in spans)
    ]
    alike = [
        one for one in near if normalise_attribute(one.attribute or "") == normalise_attribute(memory.attribute or "")
    ]
    found = alike or near
    return found[0].id if len(found) == 1 else None


def _parse_number(memory_id: str) -> int:
    return int(memory_id[1:].partition("-")[0])


def _has_overlap(one: Evidence, other: Evidence) -> bool:
    mine, theirs = one.span, other.span
    return mine.event_id == theirs.event_id and mine.start < theirs.stop and theirs.start < mine.stop


@dataclass(slots=True)
class RederivationPlan:
    """The changes to apply, and messages about the memories that are kept."""

    changes: list[Change] = field(default_factory=list[Change])
    kept: list[str] = field(default_factory=list[str])


def diff_beliefs(
    live: BeliefSet,
    fresh: BeliefSet,
    *,
    replayed: Mapping[str, str],
    touched: Mapping[str, frozenset[str]],
    personal: frozenset[str],
) -> RederivationPlan:
    """Plan the changes that turn the current beliefs into the freshly derived ones.

    `replayed` maps live memories that were not derived (from users and models) to fresh ones. `touched` names the
    fields of live memories that scheduled tasks have changed, which stay; `personal` the memories that the user has
    pinned, restored or rated.
    """
    run = _BeliefDiff(live, fresh, touched, personal)
    run.pair(replayed)
    run.add()
    run.revise()
    run.withdraw()
    run.contests()
    return run.plan


class _BeliefDiff:
    def __init__(
        self, live: BeliefSet, fresh: BeliefSet, touched: Mapping[str, frozenset[str]], personal: frozenset[str]
    ) -> None:
        self.plan = RederivationPlan()
        self._live, self._fresh = live, fresh
        self._touched, self._personal = touched, personal
        self._to_fresh: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """The id of a fresh memory in the changes: its live id, or the key of its `Add`."""

    def pair(self, replayed: Mapping[str, str]) -> None:
        """Pair each live memory with its fresh counterpart; deleted memories have none."""
        held = [one for one in self._live.memories.values() if one.status is not Status.DELETED]
        for one in held:
            if one.id in replayed:
                self._take(one.id, replayed[one.id])
        for alike in (True, False):  # pairs with common evidence first
            for one in held:
                if one.id in self._to_fresh:
                    continue
                found = find_counterpart(one, self._live.evidence.get(one.id, ()), self._fresh, self._names)
                same = found is not None and get_identity(self._fresh.memories[found]) == get_identity(one)
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
        """Add fresh memories without a live counterpart."""
        for fresh_id, name in self._names.items():
            if name.startswith("new:"):
                memory = self._fresh.memories[fresh_id]
                draft = Draft(**{one: getattr(memory, one) for one in _DRAFT_FIELDS})
                self.plan.changes.append(
                    Add(key=name, draft=draft, support=self._supports(fresh_id), reason=_RE_EXTRACTED)
                )

    def revise(self) -> None:
        """Update changed fields; for new memories, those that a draft does not have."""
        for live_id, fresh_id in self._to_fresh.items():
            before, after = self._live.memories[live_id], self._fresh.memories[fresh_id]
            moved = self._apart(before, after, (*_DRAFT_FIELDS, *_NOT_IN_DRAFT))
            support = self._supports(fresh_id, self._live.evidence.get(live_id, ()))
            if moved or support:
                self.plan.changes.append(Revise(memory_id=live_id, fields=moved, reason=_RE_EXTRACTED, support=support))
        for fresh_id, name in self._names.items():
            after = self._fresh.memories[fresh_id]
            if name.startswith("new:"):
                bare = {"relation": None, "superseded_by": None, "contested": False, "confirmations": 0}
                moved = {one: value for one in _NOT_IN_DRAFT if (value := self._value(after, one)) != bare[one]}
                if moved:
                    self.plan.changes.append(Revise(memory_id=name, fields=moved, reason=_RE_EXTRACTED))

    def _value(self, fresh: Memory, name: str) -> object:
        value = getattr(fresh, name)
        return self._names.get(str(value)) if name == "superseded_by" and value is not None else value

    def _apart(self, before: Memory, after: Memory, names: Iterable[str]) -> dict[str, object]:
        left = self._touched.get(before.id, frozenset[str]())
        if before.superseded_by is not None:
            successor = self._live.memories.get(before.superseded_by)
            if successor is None or successor.status is Status.DELETED:
                left |= _ENDING
        if before.importance == adjust_importance(after.importance, before.surprise):
            left |= {"importance"}  # surprise adjusted it; extraction did not change it
        return {
            name: value
            for name in names
            if name not in left and (value := self._value(after, name)) != getattr(before, name)
        }

    def withdraw(self) -> None:
        """Supersede memories that are no longer derived, except those that the user has changed."""
        for one in self._live.memories.values():
            if one.id in self._to_fresh or one.status not in _HELD | {Status.SUPERSEDED}:
                continue
            if one.id in self._personal:
                self.plan.kept.append(f"{one.id} is no longer extracted, but a person has changed it")
            elif one.status is Status.SUPERSEDED:
                if one.relation is not Relation.CORRECTED:
                    fields_moved = {"relation": Relation.CORRECTED}
                    self.plan.changes.append(Revise(memory_id=one.id, fields=fields_moved, reason=_NOT_EXTRACTED))
            else:
                self._supersede(one)

    def _supersede(self, one: Memory) -> None:
        reread = find_counterpart(one, self._live.evidence.get(one.id, ()), self._fresh)
        successor = self._names[reread] if reread else None
        ended = end_memory(one, get_valid_from_us(one), _NOT_EXTRACTED, successor, relation=Relation.CORRECTED)
        self.plan.changes.append(ended)

    def contests(self) -> None:
        """Open the contests that are new, and close those that are gone."""
        asked = {get_slot_key(one): one for one in self._fresh.contests if one.state is ContestState.OPEN}
        held = {get_slot_key(one): one for one in self._live.contests if one.state is ContestState.OPEN}
        for key, one in asked.items():
            if key not in held:
                slot = Slot(one.speaker, one.entity, one.attribute, one.scope, TypeClass(one.type_class))
                members = tuple(self._names[name] for name in one.memory_ids if name in self._names)
                self.plan.changes.append(
                    Contest(
                        slot=slot, memory_ids=members, values=one.values, question=one.question, reason=_RE_EXTRACTED
                    )
                )
        for key, one in held.items():
            if key not in asked:
                self.plan.changes.append(
                    Resolve(
                        contest_id=one.id,
                        resolution="no longer contested",
                        scopes={},
                        keep=(),
                        reason="the current rules no longer contest this",
                    )
                )

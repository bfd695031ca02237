"""Short ways to say things, and a tiny world that folds changes over memories as the applier does."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict, TypeVar, Unpack, assert_never

from credenda.clock import DAY_US, parse_time
from credenda.model.change import (
    Add,
    Change,
    Confirm,
    Contest,
    ContestCase,
    ContestState,
    Delete,
    Forget,
    Link,
    Pin,
    Resolve,
    Restore,
    Retag,
    Revise,
    SetLayer,
    SetStatus,
    Supersede,
    Undo,
)
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.memory import Cardinality, Draft, Memory, MemoryType, Relation, Stance, Status, check_transition
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text
from credenda.write.contests import decide_resolution
from credenda.write.reconcile.decide import decide
from credenda.write.reconcile.slots import SlotRows, StatementContext

DAY_ZERO = parse_time("2026-01-05T09:00:00Z")
T = TypeVar("T")
HELD = {Status.ACTIVE, Status.CHALLENGED}


class ClaimParts(TypedDict, total=False):
    text: str
    event: str
    type: MemoryType
    entity: str | None
    speaker: str
    scope: str | None
    prior: str | None
    cardinality: Cardinality
    stance: Stance
    move: UpdateKind
    confidence: float
    importance: float
    valid_from_us: int | None
    valid_until_us: int | None
    provisional: bool
    topic: str | None
    tags: tuple[str, ...]


class OccasionParts(TypedDict, total=False):
    now_us: int
    trust: float
    session: str
    topic: str
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    expires_us: int


class MemoryParts(TypedDict, total=False):
    text: str
    entity: str | None
    speaker: str
    status: Status
    stance: Stance
    confidence: float
    importance: float
    topic: str
    pinned: bool


def day(number: float) -> int:
    """The moment so many days after the stories begin."""
    return DAY_ZERO + round(number * DAY_US)


def claim(value: str | None, attribute: str | None = "residence", **other: Unpack[ClaimParts]) -> Claim:
    """A claim about the user; its text is made from it unless given."""
    parts: dict[str, Any] = {"type": MemoryType.FACT, "entity": "user", "confidence": 0.9, **other}
    words = f"{parts.get('stance', Stance.ASSERTED)} {attribute} {value} {parts.get('scope')}"
    text, event = parts.pop("text", words), parts.pop("event", "e1-abc123")
    return Claim(text=text, value=value, attribute=attribute, span=Span(event, 0, len(text)), **parts)


def prefers(value: str, attribute: str = "meeting_time", **other: Unpack[ClaimParts]) -> Claim:
    return claim(value, attribute, **{"type": MemoryType.PREFERENCE, "text": f"I prefer {value}", **other})


def likes(value: str, attribute: str = "drink", **other: Unpack[ClaimParts]) -> Claim:
    """A claim about a slot that holds a set."""
    return claim(value, attribute, **{"type": MemoryType.PREFERENCE, "cardinality": Cardinality.SET, **other})


def occasion(at: float = 0, **other: Unpack[OccasionParts]) -> StatementContext:
    parts: dict[str, Any] = {"now_us": max(day(at), day(400)), "trust": 1.0, "session": "s1", **other}
    return StatementContext(occurred_us=day(at), **parts)


def memory(
    value: str | None, attribute: str | None = "residence", at: float = 0, **other: Unpack[MemoryParts]
) -> Memory:
    """A memory as the world would hold it after a claim was told."""
    parts: dict[str, Any] = {"text": claim(value, attribute).text, "entity": "user", "confidence": 0.9, **other}
    return Memory(
        id="m1-abc123",
        version=1,
        type=MemoryType.FACT,
        value=value,
        attribute=attribute,
        valid_from_us=day(at),
        created_us=day(at),
        recorded_us=day(at),
        **parts,
    )


def kinds(changes: list[Change]) -> list[str]:
    return [type(change).__name__ for change in changes]


def only(kind: type[T], changes: list[Change]) -> T:
    (found,) = [change for change in changes if isinstance(change, kind)]
    return found


@dataclass
class World:
    """Memories, contests and evidence of one tenant; `tell` is extraction's hand-over and the applier in one."""

    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    contests: dict[str, ContestCase] = field(default_factory=dict[str, ContestCase])
    evidence: set[tuple[str, str, bytes]] = field(default_factory=set[tuple[str, str, bytes]])
    last: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    events: int = 0

    def tell(self, said: Claim, at: float = 0, **other: Unpack[OccasionParts]) -> list[Change]:
        """Say something on a day, each time in a new event."""
        self.events += 1
        event = f"e{self.events}-abc123"
        told = replace(said, span=replace(said.span, event_id=event))
        when = occasion(at, **other)
        changes = decide(told, self.known(told), when)
        ids = self.apply(changes, when.now_us)
        if told.move is not UpdateKind.RETRACT:
            confirmed = [one.memory_id for one in changes if isinstance(one, Confirm)]
            self.last[told.speaker] = [*ids.values(), *confirmed]
        return changes

    def known(self, said: Claim) -> SlotRows:
        """Read what the caller of `decide` promises to read."""
        previous = [self.memories[one] for one in self.last.get(said.speaker, [])]
        if said.move is UpdateKind.RETRACT:
            gone = {one.id for one in previous}
            past = [one for one in self.memories.values() if one.superseded_by in gone]
            return SlotRows(previous=tuple(previous), past=tuple(past))
        pair = _pair(said)
        related = [one for one in self.memories.values() if pair and _pair(one) == pair]
        alike = [one for one in self.memories.values() if normalise_text(one.text) == normalise_text(said.text)]
        current = {one.id: one for one in related + alike if one.status in HELD}
        return SlotRows(
            current=tuple(current.values()),
            past=tuple(one for one in related if one.status is Status.SUPERSEDED),
            contests=tuple(one for one in self.contests.values() if _pair(one) == _pair(said)),
        )

    def apply(self, changes: list[Change], now_us: int) -> dict[str, str]:
        """Fold changes over the memories; returns the ids of added ones by key."""
        ids: dict[str, str] = {}
        for change in changes:
            self._apply_one(change, ids, now_us)
        return ids

    def resolve(
        self,
        at: float,
        keep: str | None = None,
        scopes: Mapping[str, str] | None = None,
        case: ContestCase | None = None,
    ) -> list[Change]:
        """Answer a contest: the one that is open, unless there are several."""
        (only_one, *_) = [case] if case else self.open()
        when = occasion(at)
        members = tuple(self.memories.values())
        changes = decide_resolution(only_one, members, keep=keep, scopes=scopes, occasion=when)
        self.apply(changes, when.now_us)
        return changes

    def values(self, *statuses: Status) -> list[str]:
        """The values held in a status (active unless said), in the order in which they came."""
        wanted = statuses or (Status.ACTIVE,)
        return [one.value or one.text for one in self.memories.values() if one.status in wanted]

    def of(self, value: str) -> Memory:
        """The newest memory with a value."""
        return [one for one in self.memories.values() if one.value == value][-1]

    def open(self) -> list[ContestCase]:
        return [one for one in self.contests.values() if one.state is ContestState.OPEN]

    def true_at(self, at: float) -> list[str]:
        """An as-of answer: what was true on a day, mistakes left out."""
        return [
            one.value or one.text
            for one in self.memories.values()
            if one.status in HELD | {Status.SUPERSEDED}
            and one.relation is not Relation.CORRECTED
            and (one.valid_from_us or 0) <= day(at) < (one.valid_until_us or day(10_000))
        ]

    def _apply_one(self, change: Change, ids: dict[str, str], now_us: int) -> None:
        match change:
            case Add():
                ids[change.key] = self._add(change, now_us)
            case Confirm():
                self._confirm(change)
            case Supersede():
                name = ids.get(change.memory_id, change.memory_id)
                successor = ids.get(change.successor or "", change.successor)
                self._move(
                    name,
                    status=Status.SUPERSEDED,
                    relation=change.relation,
                    superseded_by=successor,
                    valid_until_us=change.valid_until_us,
                    contested=False,
                    **({"valid_from_us": None} if change.start_unknown else {}),
                )
            case Contest():
                self._contest(change, ids, now_us)
            case Resolve():
                self._resolve(change, now_us)
            case SetStatus():
                self._move(change.memory_id, status=change.status, valid_until_us=None, superseded_by=None)
            case Forget():
                self._move(change.memory_id, status=Status.FORGOTTEN)
            case Revise():
                self._move(change.memory_id, **change.fields)
            case SetLayer() | Pin() | Retag() | Restore() | Delete() | Undo() | Link():
                raise AssertionError(f"reconciliation has no business with {change}")
            case _:
                assert_never(change)

    def _add(self, change: Add, now_us: int) -> str:
        assert change.key.startswith("new:")
        name = f"m{len(self.memories) + 1}-abc123"
        content = {one.name: getattr(change.draft, one.name) for one in fields(Draft)}
        self.memories[name] = Memory(**content, id=name, version=1, created_us=now_us, recorded_us=now_us)
        self.evidence |= {(name, one.span.event_id, one.claim_hash) for one in change.support}
        return name

    def _confirm(self, change: Confirm) -> None:
        held = self.memories[change.memory_id]
        self.memories[held.id] = replace(held, confirmations=held.confirmations + 1)
        self.evidence |= {(held.id, one.span.event_id, one.claim_hash) for one in change.support}

    def _move(self, name: str, **moved: object) -> None:
        held = self.memories[name]
        after = replace(held, version=held.version + 1, **moved)
        if after.status is not held.status:
            check_transition(held.status, after.status)
        self.memories[name] = after

    def _contest(self, change: Contest, ids: dict[str, str], now_us: int) -> None:
        members = tuple(ids.get(one, one) for one in change.memory_ids)
        slot = change.slot
        same = [one for one in self.open() if _slot(one) == tuple(slot)]
        name = same[0].id if same else f"k{len(self.contests) + 1}-abc123"
        self.contests[name] = ContestCase(
            id=name,
            speaker=slot.speaker,
            entity=slot.entity,
            attribute=slot.attribute,
            scope=slot.scope,
            type_class=slot.type_class,
            values=change.values,
            memory_ids=members,
            state=ContestState.OPEN,
            question=change.question,
            opened_us=now_us,
        )
        for one in members:
            self._move(one, status=Status.ACTIVE, contested=True)

    def _resolve(self, change: Resolve, now_us: int) -> None:
        case = self.contests[change.contest_id]
        self.contests[case.id] = replace(
            case, state=ContestState.RESOLVED, resolved_us=now_us, resolution=change.resolution, scopes=change.scopes
        )
        for one in case.memory_ids:
            self._move(one, contested=False)


def _pair(said: Claim | Draft | ContestCase) -> tuple[str, str] | None:
    if not said.entity or not said.attribute:
        return None
    return normalise_name(said.entity), normalise_attribute(said.attribute)


def _slot(case: ContestCase) -> tuple[object, ...]:
    return case.speaker, case.entity, case.attribute, case.scope, case.type_class

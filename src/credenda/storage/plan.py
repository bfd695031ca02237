"""Units tried on a view first, so that nothing is thought over while a write transaction is held.

A plan is a view with what a unit would file laid over it. The unit runs on the view, sees its own rows as a writer
would show them, and holds no lock. What it filed is then filed for good in a short unit of its own, provided that
nothing it has read has moved since. This rests on three promises of `storage.store`: numbers are dense, so that the ids
of the plan are those that the rows get; every change of what is believed is in the change log, so that its head tells
whether anything moved; and units are serial, so that nothing moves between that look and the rows. Tombstones are
looked up once more, because a tombstone can be lifted without a change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, NoReturn, TypeVar, cast

from credenda.errors import Unavailable
from credenda.ids import IdKind, format_id, parse_serial
from credenda.model.change import ChangeKind, ChangeRecord, ContestCase, ContestState
from credenda.model.claim import Evidence
from credenda.model.event import Event, NewEvent
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.records import (
    ChangeFilter,
    EventFilter,
    Job,
    JobFilter,
    MemoryFilter,
    Row,
    Surprise,
    TenantRecord,
    Tombstone,
)
from credenda.storage.store import Reader, Store, Writer
from credenda.text.normalize import normalise_attribute, normalise_name

T = TypeVar("T")
D = TypeVar("D")
_TRIES: Final = 3
_FILTERED: Final = frozenset({"pair", "entity", "attribute", "same_text_as", "statuses", "limit"})
"""Conditions of a `MemoryFilter` that a plan can tell of its own rows."""
_LOGGED: Final = frozenset({"memory_ids", "cause", "kinds", "after", "limit"})
"""Conditions of a `ChangeFilter` that a plan can tell of its own entries."""

_JOURNALED: Final = frozenset(
    {"session", "topic", "source", "after", "below", "limit", "newest_first", "redacted", "worded"}
)
"""Conditions of an `EventFilter` that a plan can tell of its own events."""


class _UnplannedError(Exception):
    """The unit does what only a transaction can do."""


class _MovedError(Exception):
    """Something that the plan may have read has changed since."""


def commit_decided(store: Store, user_id: str, decide: Callable[[Writer], D], finish: Callable[[Writer, D], T]) -> T:
    """Decide on a view, and file what was decided in one short unit; `finish` runs in it, and its result is returned.

    `finish` gets the writer and what `decide` returned. If anything that `decide` read has moved meanwhile, it decides
    once more on a new view, a few times. After that, for a tenant without rows, and if `decide` does what no plan can
    hold (a redaction), both run in one unit. `decide` may therefore run several times, and must depend on nothing but
    what it reads. An error of either is raised, and nothing is filed.
    """
    for _ in range(_TRIES):
        planned = _make_plan(store, user_id, decide)
        if planned is None:
            break
        try:
            return store.commit(user_id, partial(_apply_plan, *planned, finish))
        except _MovedError:
            continue
    return store.commit(user_id, lambda writer: finish(writer, decide(writer)))


def return_decided(_: Writer, decided: D) -> D:
    """File nothing more and return what was decided; a `finish` of `commit_decided`."""
    return decided


def commit_planned(store: Store, user_id: str, decide: Callable[[Writer], object], then: Callable[[Writer], T]) -> T:
    """Decide on a view, and file what was decided together with what `then` files, as `commit_decided` does."""
    return commit_decided(store, user_id, decide, lambda writer, _: then(writer))


def try_out(store: Store, user_id: str, decide: Callable[[Writer], D]) -> D:
    """Decide on a view and file nothing; what no plan can hold runs in a unit that is undone."""
    planned = _make_plan(store, user_id, decide)
    if planned is not None:
        return planned[1]
    decided: list[D] = []

    def undo(writer: Writer) -> NoReturn:
        decided.append(decide(writer))
        raise _UnplannedError  # undoes the unit

    with suppress(_UnplannedError):
        store.commit(user_id, undo)
    return decided[-1]


def _make_plan(store: Store, user_id: str, decide: Callable[[Writer], D]) -> tuple[Plan, D] | None:
    with store.reader(user_id) as reader:
        if not reader.tenant.tag:
            return None  # a tenant without rows has no ids yet
        plan = Plan(reader)
        try:
            decided = decide(cast("Writer", plan))  # it refuses what it lacks of a writer
        except _UnplannedError:
            return None
        plan.close()
    return plan, decided


def _apply_plan(plan: Plan, decided: D, finish: Callable[[Writer, D], T], writer: Writer) -> T:
    plan.carry_out(writer)
    return finish(writer, decided)


class Plan:
    """A view of a tenant with rows laid over it, as a `Writer` shows them; only those that beliefs consist of."""

    def __init__(self, reader: Reader) -> None:
        """Begin with nothing laid over the view."""
        self._view: Reader | None = reader
        self._tenant = reader.tenant
        heads = reader.duties.heads
        self._head, self._event_head = heads.change, heads.event
        self._has_read = False
        self._asked: set[bytes] = set()
        self._tombstones: set[bytes] = set()
        self._events: dict[str, Event] = {}
        self._rows: list[tuple[Row, str]] = []
        self._replaced: dict[str, Memory] = {}
        self._memories: dict[str, Memory] = {}
        self._new: list[Memory] = []
        self._evidence: list[Evidence] = []
        self._changes: list[ChangeRecord] = []
        self._contests: dict[str, ContestCase] = {}
        self._last_memory: int | None = None

    def close(self) -> None:
        """Let go of the view; what was laid over it can be carried out still."""
        self._view = None

    def carry_out(self, writer: Writer) -> None:
        """File everything in a unit; raises an error that undoes the unit where anything has moved."""
        named = sorted(self._replaced, key=parse_serial)
        if (
            writer.tenant != self._tenant
            or (self._has_read and writer.duties.heads.change != self._head)
            or (bool(named) and writer.memories(named) != [self._replaced[name] for name in named])
            or (bool(self._asked) and writer.tombstoned(sorted(self._asked)) != self._tombstones)
        ):
            raise _MovedError
        for row, name in self._rows:
            if writer.put(row) != name and not isinstance(row, Job):
                raise _MovedError

    # ------------------------------------------------------------------------------------------------ what is read

    @property
    def tenant(self) -> TenantRecord:
        """The tenant whose rows these are."""
        return self._tenant

    @property
    def _reader(self) -> Reader:
        """The view, to read rows that may change."""
        self._has_read = True
        return self._open_view()

    def _open_view(self) -> Reader:
        if self._view is None:
            raise Unavailable("this plan is closed", fix="make another one")
        return self._view

    def events(self, ids: Sequence[str]) -> list[Event]:
        """Return these events in order of id."""
        new = [self._events[name] for name in sorted({*ids} & self._events.keys(), key=parse_serial)]
        return [*self._reader.events([name for name in ids if name not in self._events]), *new]

    def find_events(self, wanted: EventFilter) -> list[Event]:
        """Return the events that a filter names; new ones have the highest numbers."""
        found = self._reader.find_events(wanted)
        if not self._events:
            return found
        if any(getattr(wanted, name) != getattr(EventFilter(), name) for name in _EVENT_FIELDS - _JOURNALED):
            self._refuse()
        new = [
            one
            for one in self._events.values()
            if (
                (wanted.session is None or one.session == wanted.session)
                and (wanted.topic is None or one.topic == wanted.topic)
                and (wanted.source is None or one.source == wanted.source)
                and (wanted.after or 0) < parse_serial(one.id)
                and (wanted.below is None or parse_serial(one.id) < wanted.below)
                and (bool(one.text) or not wanted.worded)
            )
        ]
        return ([*new[::-1], *found] if wanted.newest_first else [*found, *new])[: wanted.limit]

    def tombstoned(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return those of the digests that are tombstones; they are looked up once more when the plan is filed."""
        found = self._open_view().tombstoned(digests)
        self._asked.update(digests)
        self._tombstones |= found
        return found

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Return jobs; those of the plan have no number yet."""
        if any(isinstance(row, Job) for row, _ in self._rows):
            self._refuse()
        return self._open_view().jobs(wanted)

    def memories(self, ids: Sequence[str], known_at_us: int | None = None) -> list[Memory]:
        """Return the current versions in order of id."""
        if known_at_us is not None:
            self._refuse()
        found = {one.id: one for one in self._reader.memories(ids)}
        found.update((name, self._memories[name]) for name in ids if name in self._memories)
        return [found[name] for name in sorted(found, key=parse_serial)]

    def find(self, wanted: MemoryFilter) -> list[Memory]:
        """Return the memories that a filter names, newest id first."""
        if not self._memories:
            return self._reader.find(wanted)
        if any(getattr(wanted, name) != getattr(MemoryFilter(), name) for name in _MEMORY_FIELDS - _FILTERED):
            self._refuse()
        most = None if wanted.limit is None else wanted.limit + len(self._memories)
        found = [one for one in self._reader.find(replace(wanted, limit=most)) if one.id not in self._memories]
        found += [one for one in self._memories.values() if _is_matching(one, wanted)]
        return sorted(found, key=lambda one: -parse_serial(one.id))[: wanted.limit]

    def search_memories(self, words: Sequence[str], limit: int, *, most: int | None = None) -> list[Memory]:
        """Return the current versions of memories that hold any of these words, rarest words first."""
        found = self._reader.search_memories(words, limit, most=most, beside=self._new)
        return [self._memories.get(one.id, one) for one in found]

    def evidence(self, *, memory_ids: Sequence[str] = (), event_ids: Sequence[str] = ()) -> list[Evidence]:
        """Return the evidence of these memories, or resting on these events, in order of event and span."""
        own = [one for one in memory_ids if all(new.id != one for new in self._new)]
        found = self._reader.evidence(memory_ids=own, event_ids=event_ids) if own or event_ids else []
        laid = [one for one in self._evidence if one.memory_id in memory_ids or one.span.event_id in event_ids]
        kept = {
            (one.memory_id, one.span.event_id, one.span.start, one.span.stop, one.claim_hash): one
            for one in [*laid, *found]
        }  # what was there first stands
        return sorted(
            kept.values(),
            key=lambda one: (
                parse_serial(one.span.event_id),
                one.span.start,
                one.span.stop,
                parse_serial(one.memory_id),
                one.claim_hash,
            ),
        )

    def changes(self, wanted: ChangeFilter) -> list[ChangeRecord]:
        """Return applied changes, oldest first."""
        if any(getattr(wanted, name) != getattr(ChangeFilter(), name) for name in _CHANGE_FIELDS - _LOGGED):
            self._refuse()
        found = self._reader.changes(wanted)
        return [
            *found,
            *(
                one
                for one in self._changes
                if (
                    (wanted.memory_ids is None or one.memory_id in wanted.memory_ids)
                    and (wanted.cause is None or one.cause == wanted.cause)
                    and (wanted.kinds is None or one.kind in wanted.kinds)
                    and (wanted.after is None or parse_serial(one.id) > wanted.after)
                )
            ),
        ][: wanted.limit]

    def contests(
        self, *, state: ContestState | None = None, id: str | None = None, pair: tuple[str, str] | None = None
    ) -> list[ContestCase]:
        """Return contests, open ones first, then newest first."""
        found = [one for one in self._reader.contests(id=id, pair=pair) if one.id not in self._contests]
        found += [
            one
            for one in self._contests.values()
            if (id is None or one.id == id) and (pair is None or id is not None or (one.entity, one.attribute) == pair)
        ]
        found = [one for one in found if state is None or one.state is state]
        return sorted(found, key=lambda one: (one.state is not ContestState.OPEN, -parse_serial(one.id)))

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse whatever else a writer can do."""
        self._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise _UnplannedError

    # ------------------------------------------------------------------------------------------------ what is filed

    def put(self, row: Row) -> str:
        """Lay a row over the view and return the id that it will get."""
        match row:
            case NewEvent():
                name = format_id(IdKind.EVENT, self._event_head + len(self._events) + 1, self._tenant.tag)
                content = {one: getattr(row, one) for one in NewEvent.__dataclass_fields__}
                self._events[name] = Event(**content, id=name, recorded_us=row.occurred_us)  # the store knows the time
            case Memory():
                name = self._put_memory(row)
            case ChangeRecord():
                name = self._put_change(row)
            case Evidence():
                name = ""
                self._evidence.append(row)
            case Surprise():
                name = ""
                for memory in self.memories([row.memory_id]):
                    self._remember_version(memory)
                    if memory.surprise is None:
                        self._memories[memory.id] = replace(memory, surprise=row.score, importance=row.importance)
            case ContestCase():
                name = self._put_contest(row)
            case Job(id="") | Tombstone(lifted=True):
                name = ""  # nobody reads it before it is filed
            case _:
                self._refuse()
        self._rows.append((row, name))
        return name

    def _remember_version(self, memory: Memory) -> None:
        """Note the stored version of a memory before the plan replaces it."""
        if memory.id not in self._memories:
            self._replaced[memory.id] = memory

    def _put_memory(self, memory: Memory) -> str:
        if not memory.id:
            if self._last_memory is None:
                newest = self._reader.find(MemoryFilter(limit=1))
                self._last_memory = parse_serial(newest[0].id) if newest else 0
            number = self._last_memory + 1
            self._last_memory = number
            name = format_id(IdKind.MEMORY, number, self._tenant.tag)
            self._new.append(replace(memory, id=name))
            self._memories[name] = self._new[-1]
            return name
        (before,) = self.memories([memory.id])
        if memory.version != before.version + 1:
            self._refuse()  # the unit raises what it raises in its transaction
        self._remember_version(before)
        self._memories[memory.id] = memory
        return memory.id

    def _put_change(self, change: ChangeRecord) -> str:
        tag, number = self._tenant.tag, self._head + len(self._changes) + 1
        row = rows.to_change_row(change, tag)
        self._changes.append(rows.to_change({**row, "id": number, "at": row["at_us"], "checksum": None}, tag))
        name = format_id(IdKind.CHANGE, number, tag)
        if change.kind is ChangeKind.CONFIRM and change.memory_id:
            (memory,) = self.memories([change.memory_id])
            self._remember_version(memory)
            self._memories[change.memory_id] = replace(memory, confirmations=memory.confirmations + 1)
        return name

    def _put_contest(self, contest: ContestCase) -> str:
        if contest.id:
            name = contest.id
        else:
            last = max((parse_serial(one.id) for one in self.contests()), default=0)
            name = format_id(IdKind.CONTEST, last + 1, self._tenant.tag)
        self._contests[name] = replace(contest, id=name)
        return name


_MEMORY_FIELDS: Final = frozenset(MemoryFilter.__dataclass_fields__)
_CHANGE_FIELDS: Final = frozenset(ChangeFilter.__dataclass_fields__)
_EVENT_FIELDS: Final = frozenset(EventFilter.__dataclass_fields__)


def _is_matching(memory: Memory, wanted: MemoryFilter) -> bool:
    """Say whether a memory meets the conditions of a filter that a plan can tell."""
    entity, attribute = wanted.pair or (wanted.entity, wanted.attribute)
    return (
        (entity is None or (bool(memory.entity) and normalise_name(memory.entity or "") == entity))
        and (attribute is None or (bool(memory.attribute) and normalise_attribute(memory.attribute or "") == attribute))
        and (wanted.statuses is None or memory.status in wanted.statuses)
        and (wanted.same_text_as is None or rows.hash_text(memory.text) == rows.hash_text(wanted.same_text_as))
    )

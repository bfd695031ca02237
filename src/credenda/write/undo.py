"""Plan the undo of changes, from the log and the current memories. Pure.

An undo restores the fields of a change to their earlier values. It requires that no later change has set them since;
later changes are reported as conflicts, or undone as well. Some changes belong together: undoing the addition of a
memory restores what it replaced; a contest is undone with its flags, an answer with its memories. Deletions cannot be
undone.

A single-valued slot keeps at most one active value: if a replaced memory returns, its replacement becomes challenged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Final, cast

from credenda.ids import parse_serial
from credenda.model.change import (
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
    Confirm,
    Contest,
    ContestCase,
    ContestState,
    Forget,
    SetStatus,
    Supersede,
    Undo,
)
from credenda.model.memory import Layer, Memory, Relation, Slot, Status, TypeClass
from credenda.text.normalize import is_same_value, normalise_text
from credenda.write.contests import DEFAULT_SCOPE
from credenda.write.reconcile.alternation import format_question
from credenda.write.reconcile.slot_state import find_conflicting
from credenda.write.reconcile.slots import display_value, get_slot

# A view of the change log for undo: which changes are in force, and typed fields. Pure.


QUESTIONS: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE})
_SHARED: Final = QUESTIONS | {ChangeKind.UNDO}
_ENUMS: Final[Mapping[str, type[StrEnum]]] = {"status": Status, "relation": Relation, "layer": Layer}


@dataclass(frozen=True)
class LogView:
    """The rows that undo needs.

    `records`: the whole log of `memories`, and every change of kind contest, resolve and undo, in any order.
    `memories`: current versions of the memories that the undone changes name, of their predecessors and successors, and
    of the active memories in their slots. `contests`: all contests that the records name.
    """

    records: tuple[ChangeRecord, ...]
    memories: Mapping[str, Memory]
    contests: Mapping[str, ContestCase] = field(default_factory=dict[str, ContestCase])

    @cached_property
    def by_id(self) -> dict[str, ChangeRecord]:
        """The log by id, oldest first."""
        return {one.id: one for one in sorted(self.records, key=lambda one: parse_serial(one.id))}

    @cached_property
    def of_memory(self) -> dict[str, list[ChangeRecord]]:
        """The log of each memory, oldest first."""
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.memory_id is not None:
                found.setdefault(one.memory_id, []).append(one)
        return found

    @cached_property
    def _undone_by(self) -> dict[str, list[ChangeRecord]]:
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.kind is ChangeKind.UNDO and one.cause is not None:
                found.setdefault(one.cause, []).append(one)
        return found

    @cached_property
    def replaced_by(self) -> dict[str, list[ChangeRecord]]:
        """The changes that superseded memories, by the id of the successor."""
        found: dict[str, list[ChangeRecord]] = {}
        for one in self.by_id.values():
            if one.kind is ChangeKind.SUPERSEDE:
                found.setdefault(str(one.after.get("superseded_by")), []).append(one)
        return found

    @cached_property
    def shared(self) -> list[ChangeRecord]:
        """Changes about contests, and undone changes."""
        return [one for one in self.by_id.values() if one.kind in _SHARED]

    def in_force(self, record: ChangeRecord) -> bool:
        """Return whether a change was never undone, or was redone since."""
        return not any(self.in_force(one) for one in self._undone_by.get(record.id, ()))


def is_in_force(record: ChangeRecord, log: Iterable[ChangeRecord]) -> bool:
    """Return whether a change is in force, from the log of its memory."""
    return LogView(tuple(log), {}).in_force(record)


def parse_fields(plain: Mapping[str, object]) -> dict[str, object]:
    """Convert fields of a memory from their form in the log."""
    return {name: _parse_field(name, value) for name, value in plain.items()}


def _parse_field(name: str, value: object) -> object:
    if name in _ENUMS and isinstance(value, str):
        return _ENUMS[name](value)
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


_REASON: Final = "undone by the user"
_RETURNS: Final = frozenset({ChangeKind.RESTORE, ChangeKind.SET_STATUS})
"""Changes that reactivate a memory, which may then replace another."""
_UNMOVED: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """How one memory would change: its changed fields, before and after."""

    memory_id: str
    before: Mapping[str, object]
    after: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """The changes of an undo; `undone` are the changes that it undoes, newest first, `conflicts` those in the way."""

    changes: tuple[Change, ...]
    undone: tuple[ChangeRecord, ...]
    conflicts: tuple[ChangeRecord, ...]
    lasting: tuple[ChangeRecord, ...]
    differences: tuple[FieldDifference, ...]


def decide_undo(wanted: Iterable[str], ledger: LogView, *, cascade: bool) -> UndoPlan:
    """Plan the undo of the changes with these ids.

    Changes that are undone already are skipped; changes of deleted memories are `lasting`. With `cascade` conflicting
    changes are undone too; otherwise, if `conflicts` is not empty, the changes must not be applied.
    """
    asked = [ledger.by_id[one] for one in wanted]
    lasting = [one for one in asked if _is_permanent(one, ledger)]
    chosen: dict[str, ChangeRecord] = {}
    for one in asked:
        if one not in lasting and ledger.in_force(one):
            _choose_change(one, ledger, chosen)
    conflicts = _find_conflicts(ledger, chosen)
    while cascade and (movable := [one for one in conflicts if not _is_permanent(one, ledger)]):
        for one in movable:
            _choose_change(one, ledger, chosen)
        conflicts = _find_conflicts(ledger, chosen)
    order = sorted(chosen.values(), key=lambda one: -parse_serial(one.id))
    plan = _UndoState(ledger, order)
    return UndoPlan(
        changes=tuple(plan.changes),
        undone=tuple(order),
        conflicts=tuple(sorted(conflicts, key=lambda one: parse_serial(one.id))),
        lasting=tuple(lasting),
        differences=tuple(plan.differences()),
    )


def _is_permanent(record: ChangeRecord, ledger: LogView) -> bool:
    """Return whether a change is permanent: a deletion, or a change of a deleted memory."""
    memory = ledger.memories.get(record.memory_id or "")
    return record.kind is ChangeKind.DELETE or (memory is not None and memory.status is Status.DELETED)


def _choose_change(record: ChangeRecord, ledger: LogView, chosen: dict[str, ChangeRecord]) -> None:
    """Choose a change, and those that depend on it."""
    waiting = [record]
    while waiting:
        one = waiting.pop()
        if one.id not in chosen and ledger.in_force(one) and not _is_permanent(one, ledger):
            chosen[one.id] = one
            waiting += _find_dependents(one, ledger)


def _find_dependents(record: ChangeRecord, ledger: LogView) -> list[ChangeRecord]:
    """Return the changes that depend on a change: replacements by its memory, and the rest of its contest or answer."""
    if record.kind is ChangeKind.ADD:
        name = record.memory_id or ""
        answers = [
            one
            for one in ledger.shared
            if name in _parse_names(one.after.get("keep")) and _is_same_decision(one, record)
        ]
        return [*ledger.replaced_by.get(name, ()), *_find_flags(record, ledger), *answers]
    if record.kind in _RETURNS:
        return [one for one in ledger.replaced_by.get(record.memory_id or "", ()) if _is_same_decision(one, record)]
    if record.kind in QUESTIONS:
        return _find_contest_entries(record, ledger)
    if record.kind is ChangeKind.UNDO:
        # Find the undo entries that belong to the undo that is being reverted.
        first = ledger.by_id.get(record.cause or "")
        if first is None:
            return []
        kin = {first.id, *(one.id for one in _find_dependents(first, ledger))}
        successor = ledger.of_memory.get(str(first.after.get("superseded_by")), [])
        if first.kind is ChangeKind.SUPERSEDE:
            came = (
                one
                for one in successor
                if one.kind is ChangeKind.ADD or (one.kind in _RETURNS and _is_same_decision(one, first))
            )
            kin |= {one.id for one in came}
        return [one for one in ledger.shared if one.kind is ChangeKind.UNDO and one.cause in kin]
    return []


def _find_flags(added: ChangeRecord, ledger: LogView) -> list[ChangeRecord]:
    log = ledger.of_memory.get(added.memory_id or "", ())
    return [one for one in log if one.kind is ChangeKind.CONTEST and _is_same_decision(one, added)]


def _is_same_decision(one: ChangeRecord, other: ChangeRecord) -> bool:
    """Return whether two changes belong to one decision."""
    return one.cause == other.cause and one.at_us == other.at_us


def _find_contest_entries(record: ChangeRecord, ledger: LogView) -> list[ChangeRecord]:
    """Return all entries of a contest or an answer: its own entry, its flags, and the answer's memories."""
    log = [one for one in ledger.shared if one.kind is record.kind and one.at_us == record.at_us]
    place = log.index(record)
    head = next((at for at in range(place, -1, -1) if log[at].memory_id is None), None)
    if head is None:
        return []
    tail = next((at for at in range(head + 1, len(log)) if log[at].memory_id is None), len(log))
    adds = [
        one
        for name in _parse_names(log[head].after.get("keep"))
        for one in ledger.of_memory.get(name, ())
        if one.kind is ChangeKind.ADD
    ]
    return [*log[head:tail], *adds]


def _parse_names(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", value))) if isinstance(value, list) else ()


def _find_conflicts(ledger: LogView, chosen: Mapping[str, ChangeRecord]) -> list[ChangeRecord]:
    """Find the later changes that depend on the chosen ones."""
    found: dict[str, ChangeRecord] = {}
    for record in chosen.values():
        number = parse_serial(record.id)
        log = ledger.of_memory.get(record.memory_id or "", ())
        after = [
            one for one in log if parse_serial(one.id) > number and one.cause != record.id and ledger.in_force(one)
        ]
        if record.kind is not ChangeKind.ADD:
            after = [one for one in after if set(one.after) & set(record.after)]
        if record.kind is ChangeKind.SUPERSEDE:
            successor = str(record.after.get("superseded_by"))
            after += [
                one
                for one in ledger.of_memory.get(successor, ())
                if parse_serial(one.id) > number and one.kind is ChangeKind.SUPERSEDE and ledger.in_force(one)
            ]
        if record.kind in QUESTIONS and record.memory_id is None:
            after += [
                one
                for one in ledger.shared
                if parse_serial(one.id) > number
                and one.memory_id is None
                and one.kind in QUESTIONS
                and one.after.get("contest") == record.after.get("contest")
                and ledger.in_force(one)
            ]
        for later in after:
            if later.id not in chosen and _find_root(later, ledger).id not in chosen:
                found[later.id] = later
    for standing in _find_blocking(ledger, chosen):
        found[standing.id] = standing
    return list(found.values())


def _find_root(record: ChangeRecord, ledger: LogView) -> ChangeRecord:
    """Follow a chain of undo entries to the original change."""
    while record.kind is ChangeKind.UNDO and record.cause in ledger.by_id:
        record = ledger.by_id[record.cause]
    return record


def _find_blocking(ledger: LogView, chosen: Mapping[str, ChangeRecord]) -> list[ChangeRecord]:
    """Find what activated a memory that conflicts with a restored one, unless one decision made both."""
    plan = _UndoState(ledger, sorted(chosen.values(), key=lambda one: -parse_serial(one.id)))
    blocking: list[ChangeRecord] = []
    for _, other in plan.clashes():
        made = [one for one in ledger.of_memory.get(other, ()) if ledger.in_force(one) and one.id not in chosen]
        standing = [one for one in made if one.kind is ChangeKind.ADD or one.after.get("status") == Status.ACTIVE]
        blocking += standing[-1:]
    return [one for one in blocking if one.id not in chosen]


class _UndoState:
    """The state after an undo, and the changes that lead to it."""

    def __init__(self, ledger: LogView, order: list[ChangeRecord]) -> None:
        self._ledger = ledger
        self._order = order
        self.state: dict[str, Memory] = dict(ledger.memories)
        self.changes: list[Change] = []
        for record in order:
            self._take_back(record)
        self._challenge_newcomers()

    def _take_back(self, record: ChangeRecord) -> None:
        memory = self.state.get(record.memory_id or "")
        reason = f"{_REASON}: {record.kind.value.replace('_', ' ')}"
        if memory is not None:
            self._move(memory, _get_fields_before(record, memory), record.id, reason)
        elif record.memory_id is None and (case := self._get_earlier_case(record)) is not None:
            self.changes.append(Undo(undoes=record.id, memory_id=None, back={}, contest=case, reason=reason))

    def _move(self, memory: Memory, back: Mapping[str, object], undoes: str, reason: str) -> None:
        self.state[memory.id] = replace(memory, **parse_fields(back))  # type: ignore[arg-type]
        self.changes.append(Undo(undoes=undoes, memory_id=memory.id, back=back, reason=reason))

    def clashes(self) -> list[tuple[str, str]]:
        """Return pairs of a restored memory and an active one that conflicts with it."""
        back = {one.memory_id for one in self._order if one.memory_id is not None} & self.state.keys()
        found: list[tuple[str, str]] = []
        for name in sorted(back, key=parse_serial):
            memory = self.state[name]
            if memory.status is Status.ACTIVE and self._ledger.memories[name] != memory:
                others = find_conflicting(memory, self.state.values())
                found += [(name, one.id) for one in others if not (memory.contested and one.contested)]
        return found

    def _challenge_newcomers(self) -> None:
        """Challenge the memories that an undone change had added beside a restored memory or in its place."""
        for pair in self.clashes():
            found = next(
                ((one, name) for one in self._order for name in pair if self._is_brought(one, name, pair)), None
            )
            if found is not None and all(self.state[name].status is Status.ACTIVE for name in pair):
                record, newcomer = found
                reason = "the user restored the value that it replaced"
                self._move(self.state[newcomer], {"status": Status.CHALLENGED.value}, record.id, reason)

    def _is_brought(self, record: ChangeRecord, name: str, pair: tuple[str, str]) -> bool:
        """Return whether a change replaced one memory of a pair by the other, or opened a contest over both."""
        if record.memory_id not in pair:
            return False
        if record.kind is ChangeKind.SUPERSEDE:
            return record.memory_id != name and record.after.get("superseded_by") == name
        added = (one for one in self._ledger.of_memory.get(name, ()) if one.kind is ChangeKind.ADD)
        return record.kind is ChangeKind.CONTEST and any(_is_same_decision(one, record) for one in added)

    def _get_earlier_case(self, record: ChangeRecord) -> ContestCase | None:
        """Return the contest as it was before this entry; a contest without an earlier state is closed."""
        named = record.before if record.kind is ChangeKind.UNDO else record.after
        case = self._ledger.contests.get(str(named.get("contest")))
        if case is None:
            return None
        if record.kind is ChangeKind.UNDO:
            return self._case_as(case, record.before)
        if record.kind is ChangeKind.RESOLVE or record.before:
            return self._case_as(case, record.before or self._asked(record))
        return replace(
            case,
            state=ContestState.RESOLVED,
            resolved_us=case.opened_us,
            resolution=_REASON,
            memory_ids=(),
            values=(),
            scopes={},
        )

    def _asked(self, answer: ChangeRecord) -> Mapping[str, object]:
        """Find the contest entry that an answer answered."""
        asked = [
            one
            for one in self._ledger.shared
            if one.kind is ChangeKind.CONTEST
            and one.memory_id is None
            and one.after.get("contest") == answer.after.get("contest")
            and parse_serial(one.id) < parse_serial(answer.id)
        ]
        return {**asked[-1].after, "state": ContestState.OPEN.value} if asked else _UNMOVED

    def _case_as(self, case: ContestCase, standing: Mapping[str, object]) -> ContestCase:
        """Restore a contest to a state from the log; its values are those of its memories."""
        state = ContestState(str(standing.get("state", ContestState.OPEN.value)))
        ids = _parse_names(standing.get("members")) or case.memory_ids
        values = tuple(dict.fromkeys(display_value(one) for one in self._held(ids))) or case.values
        slot = Slot(case.speaker, case.entity, case.attribute, case.scope, TypeClass(case.type_class))
        asked = replace(case, state=state, memory_ids=ids, values=values, question=format_question(slot, values))
        answer = self._answer_to(case) if state is ContestState.RESOLVED else None
        if answer is None:
            return replace(asked, resolved_us=None, resolution=None, scopes={})
        holders = self._held(_parse_names(answer.after.get("keep")))
        scopes = {display_value(one): one.scope or DEFAULT_SCOPE for one in holders}
        said = answer.reason.partition(": ")[2]
        return replace(asked, resolved_us=answer.at_us, resolution=said, scopes=scopes)

    def _held(self, ids: Iterable[str]) -> list[Memory]:
        return [self.state[one] for one in ids if one in self.state and self.state[one].text]

    def _answer_to(self, case: ContestCase) -> ChangeRecord | None:
        answers = [
            one for one in self._ledger.shared if one.kind is ChangeKind.RESOLVE and one.after.get("contest") == case.id
        ]
        return answers[-1] if answers else None

    def differences(self) -> list[FieldDifference]:
        """Return the fields of each memory that change."""
        found: list[FieldDifference] = []
        for name in sorted(self.state, key=parse_serial):
            old, new = self._ledger.memories[name], self.state[name]
            moved = [one for one in _MOVABLE if getattr(old, one) != getattr(new, one)]
            if moved:
                before, after = ({one: getattr(memory, one) for one in moved} for memory in (old, new))
                found.append(FieldDifference(memory_id=name, before=before, after=after))
        return found


_MOVABLE: Final = tuple(name for name in Memory.__dataclass_fields__ if name not in {"id", "version", "recorded_us"})


def _get_fields_before(record: ChangeRecord, memory: Memory) -> Mapping[str, object]:
    """Return the fields of a memory as they were before a change."""
    match record.kind:
        case ChangeKind.ADD:
            return {"status": Status.FORGOTTEN.value}
        case ChangeKind.CONFIRM:
            return {"confirmations": max(0, memory.confirmations - 1)}
        case _:
            return record.before


# Detect changes that the user has already undone, so that they are not repeated.


_KINDS: Final[Mapping[type, ChangeKind]] = {
    Confirm: ChangeKind.CONFIRM,
    Supersede: ChangeKind.SUPERSEDE,
    SetStatus: ChangeKind.SET_STATUS,
    Forget: ChangeKind.FORGET,
}


def list_memories_to_check(changes: Iterable[Change], *, again: bool) -> list[str]:
    """Return the memories whose log tells whether a decision was undone before.

    A decision that adds or confirms leaves evidence of its event. Without evidence (`again` is False) only changes that
    remove something have to be looked up.
    """
    kinds = (Supersede, SetStatus, Forget) if again else (SetStatus, Forget)
    names = {change.memory_id: None for change in changes if isinstance(change, kinds)}
    if again:
        names |= {name: None for change in changes if isinstance(change, Contest) for name in change.memory_ids}
    return [name for name in names if not name.startswith("new:")]


def is_undone_decision(
    changes: Sequence[Change], event_id: str, log: Mapping[str, Sequence[ChangeRecord]], resting: Sequence[Memory]
) -> bool:
    """Return whether a decision about an event was made and undone before.

    `log` holds the log of the memories that the decision would change and of `resting`, the memories that rest on the
    event.
    """
    undone = {
        (record.kind, name)
        for name, records in log.items()
        for record in records
        if record.cause == event_id and record.kind is not ChangeKind.UNDO and not is_in_force(record, records)
    }
    return bool(undone) and any(_is_repeat(change, undone, resting) for change in changes)


def _is_repeat(change: Change, undone: set[tuple[ChangeKind, str]], resting: Sequence[Memory]) -> bool:
    if isinstance(change, Add):
        return any((ChangeKind.ADD, one.id) in undone and _is_same_statement(change, one) for one in resting)
    if isinstance(change, Contest):
        return any((ChangeKind.CONTEST, name) in undone for name in change.memory_ids)
    kind = _KINDS.get(type(change))
    return kind is not None and (kind, getattr(change, "memory_id", "")) in undone


def _is_same_statement(change: Add, memory: Memory) -> bool:
    draft = change.draft
    if normalise_text(draft.text) == normalise_text(memory.text):
        return True
    slot = get_slot(draft)
    return slot is not None and slot == get_slot(memory) and is_same_value(draft.value, memory.value)

"""What taking changes back changes, from the log and what is held now. Pure.

A change is taken back by putting its fields as they were before it. That is possible while no later change has moved
them on; otherwise the later ones are named, or taken back as well. Some changes belong together: without a memory that
is taken back, what it had replaced stands again; a question goes with its flags, an answer with the memories that hold
it. What was deleted is gone, and nothing of it can be taken back.

At most one value is left standing in a slot that holds one: where a replaced memory comes back beside the one that had
replaced it, that one is kept as challenged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from credenda.ids import serial
from credenda.model.change import Change, ChangeKind, ChangeRecord, Undo
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Memory, Slot, Status, TypeClass
from credenda.write.contests.resolve import DEFAULT_SCOPE
from credenda.write.corrections.log_view import QUESTIONS, Ledger, typed_fields
from credenda.write.reconcile.contest_trigger import question
from credenda.write.reconcile.slot_state import opponents
from credenda.write.reconcile.slots import label

__all__ = ["Difference", "Undoing", "decide_undo"]

_REASON: Final = "taken back by hand"
_RETURNS: Final = frozenset({ChangeKind.RESTORE, ChangeKind.SET_STATUS})
"""How a memory comes back, and may take the place of another."""
_UNMOVED: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How one memory would stand: the fields that move, as they are and as they would be."""

    memory_id: str
    before: Mapping[str, object]
    after: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """The changes that take others back; `undone` names those, newest first, `conflicts` what is in the way."""

    changes: tuple[Change, ...]
    undone: tuple[ChangeRecord, ...]
    conflicts: tuple[ChangeRecord, ...]
    lasting: tuple[ChangeRecord, ...]
    differences: tuple[Difference, ...]


def decide_undo(wanted: Iterable[str], ledger: Ledger, *, cascade: bool) -> Undoing:
    """Say what taking back the changes with these ids changes.

    Those that are taken back already are passed over, those of deleted memories are `lasting`. With `cascade` whatever
    is in the way is taken back too; otherwise, where `conflicts` is not empty, the changes must not be applied.
    """
    asked = [ledger.by_id[one] for one in wanted]
    lasting = [one for one in asked if _lasts(one, ledger)]
    chosen: dict[str, ChangeRecord] = {}
    for one in asked:
        if one not in lasting and ledger.in_force(one):
            _choose(one, ledger, chosen)
    conflicts = _conflicts(ledger, chosen)
    while cascade and (movable := [one for one in conflicts if not _lasts(one, ledger)]):
        for one in movable:
            _choose(one, ledger, chosen)
        conflicts = _conflicts(ledger, chosen)
    order = sorted(chosen.values(), key=lambda one: -serial(one.id))
    plan = _Plan(ledger, order)
    return Undoing(
        changes=tuple(plan.changes),
        undone=tuple(order),
        conflicts=tuple(sorted(conflicts, key=lambda one: serial(one.id))),
        lasting=tuple(lasting),
        differences=tuple(plan.differences()),
    )


def _lasts(record: ChangeRecord, ledger: Ledger) -> bool:
    """Say whether a change is for good: a deletion, or one of a memory whose words are gone."""
    memory = ledger.memories.get(record.memory_id or "")
    return record.kind is ChangeKind.DELETE or (memory is not None and memory.status is Status.DELETED)


def _choose(record: ChangeRecord, ledger: Ledger, chosen: dict[str, ChangeRecord]) -> None:
    """Choose a change, and those that cannot stay without it."""
    waiting = [record]
    while waiting:
        one = waiting.pop()
        if one.id not in chosen and ledger.in_force(one) and not _lasts(one, ledger):
            chosen[one.id] = one
            waiting += _belonging(one, ledger)


def _belonging(record: ChangeRecord, ledger: Ledger) -> list[ChangeRecord]:
    """Give what cannot stay without a change: what a memory replaced, its question, a whole question or answer."""
    if record.kind is ChangeKind.ADD:
        name = record.memory_id or ""
        answers = [one for one in ledger.shared if name in _names(one.after.get("keep")) and _together(one, record)]
        return [*ledger.replaced_by.get(name, ()), *_flags_with(record, ledger), *answers]
    if record.kind in _RETURNS:
        return [one for one in ledger.replaced_by.get(record.memory_id or "", ()) if _together(one, record)]
    if record.kind in QUESTIONS:
        return _question_of(record, ledger)
    if record.kind is ChangeKind.UNDO:
        return _taken_back_with(record, ledger)
    return []


def _taken_back_with(record: ChangeRecord, ledger: Ledger) -> list[ChangeRecord]:
    """Find what was taken back together with the change that is taken up again."""
    first = ledger.by_id.get(record.cause or "")
    if first is None:
        return []
    kin = {first.id, *(one.id for one in _belonging(first, ledger))}
    successor = ledger.of_memory.get(str(first.after.get("superseded_by")), [])
    if first.kind is ChangeKind.SUPERSEDE:
        came = (
            one for one in successor if one.kind is ChangeKind.ADD or (one.kind in _RETURNS and _together(one, first))
        )
        kin |= {one.id for one in came}
    return [one for one in ledger.shared if one.kind is ChangeKind.UNDO and one.cause in kin]


def _flags_with(added: ChangeRecord, ledger: Ledger) -> list[ChangeRecord]:
    log = ledger.of_memory.get(added.memory_id or "", ())
    return [one for one in log if one.kind is ChangeKind.CONTEST and _together(one, added)]


def _together(one: ChangeRecord, other: ChangeRecord) -> bool:
    """Say whether two changes are of one decision."""
    return one.cause == other.cause and one.at_us == other.at_us


def _question_of(record: ChangeRecord, ledger: Ledger) -> list[ChangeRecord]:
    """Give the whole of a question or an answer: its entry, the flags behind that, and what holds the answer."""
    log = [one for one in ledger.shared if one.kind is record.kind and one.at_us == record.at_us]
    place = log.index(record)
    head = next((at for at in range(place, -1, -1) if log[at].memory_id is None), None)
    if head is None:
        return []
    tail = next((at for at in range(head + 1, len(log)) if log[at].memory_id is None), len(log))
    adds = [
        one
        for name in _names(log[head].after.get("keep"))
        for one in ledger.of_memory.get(name, ())
        if one.kind is ChangeKind.ADD
    ]
    return [*log[head:tail], *adds]


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, cast("list[object]", value))) if isinstance(value, list) else ()


def _conflicts(ledger: Ledger, chosen: Mapping[str, ChangeRecord]) -> list[ChangeRecord]:
    """Find the later changes that rest on those chosen."""
    found: dict[str, ChangeRecord] = {}
    for record in chosen.values():
        for later in _later(record, ledger):
            if later.id not in chosen and _root(later, ledger).id not in chosen:
                found[later.id] = later
    for standing in _in_the_place(ledger, chosen):
        found[standing.id] = standing
    return list(found.values())


def _root(record: ChangeRecord, ledger: Ledger) -> ChangeRecord:
    """Find the change that was taken back, and up again, by a row of others."""
    while record.kind is ChangeKind.UNDO and record.cause in ledger.by_id:
        record = ledger.by_id[record.cause]
    return record


def _later(record: ChangeRecord, ledger: Ledger) -> list[ChangeRecord]:
    number = serial(record.id)
    log = ledger.of_memory.get(record.memory_id or "", ())
    after = [one for one in log if serial(one.id) > number and one.cause != record.id and ledger.in_force(one)]
    if record.kind is not ChangeKind.ADD:
        after = [one for one in after if set(one.after) & set(record.after)]
    if record.kind is ChangeKind.SUPERSEDE:
        successor = str(record.after.get("superseded_by"))
        after += [
            one
            for one in ledger.of_memory.get(successor, ())
            if serial(one.id) > number and one.kind is ChangeKind.SUPERSEDE and ledger.in_force(one)
        ]
    if record.kind in QUESTIONS and record.memory_id is None:
        after += [
            one
            for one in ledger.shared
            if serial(one.id) > number
            and one.memory_id is None
            and one.kind in QUESTIONS
            and one.after.get("contest") == record.after.get("contest")
            and ledger.in_force(one)
        ]
    return after


def _in_the_place(ledger: Ledger, chosen: Mapping[str, ChangeRecord]) -> list[ChangeRecord]:
    """Find what made a memory stand where one comes back, unless the two were decided together."""
    plan = _Plan(ledger, sorted(chosen.values(), key=lambda one: -serial(one.id)))
    blocking: list[ChangeRecord] = []
    for _, other in plan.clashes():
        made = [one for one in ledger.of_memory.get(other, ()) if ledger.in_force(one) and one.id not in chosen]
        standing = [one for one in made if one.kind is ChangeKind.ADD or one.after.get("status") == Status.ACTIVE]
        blocking += standing[-1:]
    return [one for one in blocking if one.id not in chosen]


class _Plan:
    """The state that taking back leads to, and the changes on the way."""

    def __init__(self, ledger: Ledger, order: list[ChangeRecord]) -> None:
        self._ledger = ledger
        self._order = order
        self.state: dict[str, Memory] = dict(ledger.memories)
        self.changes: list[Change] = []
        for record in order:
            self._take_back(record)
        self._stand_down()

    def _take_back(self, record: ChangeRecord) -> None:
        memory = self.state.get(record.memory_id or "")
        reason = f"{_REASON}: {record.kind.value.replace('_', ' ')}"
        if memory is not None:
            self._move(memory, _before(record, memory), record.id, reason)
        elif record.memory_id is None and (case := self._earlier_case(record)) is not None:
            self.changes.append(Undo(undoes=record.id, memory_id=None, back={}, contest=case, reason=reason))

    def _move(self, memory: Memory, back: Mapping[str, object], undoes: str, reason: str) -> None:
        self.state[memory.id] = replace(memory, **typed_fields(back))  # type: ignore[arg-type]
        self.changes.append(Undo(undoes=undoes, memory_id=memory.id, back=back, reason=reason))

    def clashes(self) -> list[tuple[str, str]]:
        """Give pairs of a memory that is back and an active one that it cannot stand beside."""
        back = {one.memory_id for one in self._order if one.memory_id is not None} & self.state.keys()
        found: list[tuple[str, str]] = []
        for name in sorted(back, key=serial):
            memory = self.state[name]
            if memory.status is Status.ACTIVE and self._ledger.memories[name] != memory:
                others = opponents(memory, self.state.values())
                found += [(name, one.id) for one in others if not (memory.contested and one.contested)]
        return found

    def _stand_down(self) -> None:
        """Keep as challenged what a change that is taken back had set beside a memory that is back, or in its place."""
        for pair in self.clashes():
            found = next(((one, name) for one in self._order for name in pair if self._brought(one, name, pair)), None)
            if found is not None and all(self.state[name].status is Status.ACTIVE for name in pair):
                record, newcomer = found
                reason = "what it had replaced was put back by hand"
                self._move(self.state[newcomer], {"status": Status.CHALLENGED.value}, record.id, reason)

    def _brought(self, record: ChangeRecord, name: str, pair: tuple[str, str]) -> bool:
        """Say whether a change let one of two take the other's place, or came with it as a question about both."""
        if record.memory_id not in pair:
            return False
        if record.kind is ChangeKind.SUPERSEDE:
            return record.memory_id != name and record.after.get("superseded_by") == name
        added = (one for one in self._ledger.of_memory.get(name, ()) if one.kind is ChangeKind.ADD)
        return record.kind is ChangeKind.CONTEST and any(_together(one, record) for one in added)

    def _earlier_case(self, record: ChangeRecord) -> ContestCase | None:
        """Give the contest as the entry before this one left it; one that had none is withdrawn."""
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
        """Find the question that an answer answered."""
        asked = [
            one
            for one in self._ledger.shared
            if one.kind is ChangeKind.CONTEST
            and one.memory_id is None
            and one.after.get("contest") == answer.after.get("contest")
            and serial(one.id) < serial(answer.id)
        ]
        return {**asked[-1].after, "state": ContestState.OPEN.value} if asked else _UNMOVED

    def _case_as(self, case: ContestCase, standing: Mapping[str, object]) -> ContestCase:
        """Bring a contest into the state that the log names; its values are those of its memories."""
        state = ContestState(str(standing.get("state", ContestState.OPEN.value)))
        ids = _names(standing.get("members")) or case.memory_ids
        values = tuple(dict.fromkeys(label(one) for one in self._held(ids))) or case.values
        slot = Slot(case.speaker, case.entity, case.attribute, case.scope, TypeClass(case.type_class))
        asked = replace(case, state=state, memory_ids=ids, values=values, question=question(slot, values))
        answer = self._answer_to(case) if state is ContestState.RESOLVED else None
        if answer is None:
            return replace(asked, resolved_us=None, resolution=None, scopes={})
        holders = self._held(_names(answer.after.get("keep")))
        scopes = {label(one): one.scope or DEFAULT_SCOPE for one in holders}
        said = answer.reason.partition(": ")[2]
        return replace(asked, resolved_us=answer.at_us, resolution=said, scopes=scopes)

    def _held(self, ids: Iterable[str]) -> list[Memory]:
        return [self.state[one] for one in ids if one in self.state and self.state[one].text]

    def _answer_to(self, case: ContestCase) -> ChangeRecord | None:
        answers = [
            one for one in self._ledger.shared if one.kind is ChangeKind.RESOLVE and one.after.get("contest") == case.id
        ]
        return answers[-1] if answers else None

    def differences(self) -> list[Difference]:
        """Say how each memory stands before and after."""
        found: list[Difference] = []
        for name in sorted(self.state, key=serial):
            old, new = self._ledger.memories[name], self.state[name]
            moved = [one for one in _MOVABLE if getattr(old, one) != getattr(new, one)]
            if moved:
                before, after = ({one: getattr(memory, one) for one in moved} for memory in (old, new))
                found.append(Difference(memory_id=name, before=before, after=after))
        return found


_MOVABLE: Final = tuple(name for name in Memory.__dataclass_fields__ if name not in {"id", "version", "recorded_us"})


def _before(record: ChangeRecord, memory: Memory) -> Mapping[str, object]:
    """Give the fields of a memory as they were before a change."""
    match record.kind:
        case ChangeKind.ADD:
            return {"status": Status.FORGOTTEN.value}
        case ChangeKind.CONFIRM:
            return {"confirmations": max(0, memory.confirmations - 1)}
        case _:
            return record.before

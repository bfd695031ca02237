"""Apply changes: the only module that writes decisions as rows.

Each change creates the next version of its memory and a log entry with the changed fields. The caller holds the
transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, assert_never

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import (
    Actor,
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
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
    Support,
    Undo,
    to_contest_dict,
)
from credenda.model.claim import Evidence
from credenda.model.memory import Draft, Memory, Relation, Status, check_transition, is_dreamed
from credenda.storage.records import EMBED
from credenda.storage.store import Job, Redaction, Writer
from credenda.text.normalize import normalise_name
from credenda.text.sentiment import score_valence
from credenda.write.forget.derived import ENDED_STATUSES, end_dependents
from credenda.write.reconcile.slots import quote_parts, quote_value
from credenda.write.undo import parse_fields

_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))
_STEPS: Final = frozenset({ChangeKind.SET_STATUS, ChangeKind.FORGET, ChangeKind.RESTORE})
"""Changes that only set a status. Other changes may set a status that the memory already has."""
_FREE: Final = frozenset({ChangeKind.UNDO, ChangeKind.REVISE})
_ENDED: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.INVALIDATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The actor, cause (event or job id) and time of a batch of changes; `embeds` tells whether texts get vectors."""

    actor: Actor
    now_us: int
    cause: str | None = None
    embeds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result of a batch: its log entries, and the ids of new memories by their `Add` key."""

    records: tuple[ChangeRecord, ...]
    ids: Mapping[str, str]


def apply(writer: Writer, changes: Sequence[Change], application: Application) -> Applied:
    """Apply changes in order and log them.

    Raises `NotFound` for an unknown memory and `Conflict` for an illegal transition; the caller's transaction then
    rolls the whole batch back.
    """
    run = _Applier(writer, application)
    for change in changes:
        run.one(change)
    run.withdraw()
    return Applied(records=tuple(run.records), ids=run.ids)


def _to_jsonable(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        return dict(value)  # type: ignore[arg-type]
    return value


def encode_draft(draft: Draft) -> dict[str, object]:
    """Return the fields in which a draft differs from a bare fact; replaying the log needs no others."""
    bare = Draft(text="", type=draft.type)
    delta: dict[str, object] = {"type": draft.type.value}
    for name in _DRAFT_FIELDS:
        value = getattr(draft, name)
        if value != getattr(bare, name):
            delta[name] = _to_jsonable(value)
    return delta


def _describe_contest(contest: ContestCase) -> dict[str, object]:
    """Describe the state of a contest for the log, by ids without text."""
    return {"contest": contest.id, "state": contest.state.value, "members": list(contest.memory_ids)}


class _Applier:
    """One batch of changes inside one transaction."""

    def __init__(self, writer: Writer, application: Application) -> None:
        self._writer = writer
        self._application = application
        self.records: list[ChangeRecord] = []
        self.ids: dict[str, str] = {}
        self._left: dict[str, Memory] = {}
        self._deleted: set[str] = set()

    def withdraw(self) -> None:
        """End the derived memories whose sources this batch ended."""
        if self._left:
            left, deleted = self._left, frozenset(self._deleted)
            self._left = {}
            for change in end_dependents(self._writer, left, deleted, self._application.now_us):
                self.one(change)

    def one(self, change: Change) -> None:
        """Apply one change."""
        match change:
            case Add():
                self._add(change)
            case Confirm():
                self._support(change.memory_id, change.support)
                self._log(ChangeKind.CONFIRM, change.reason, self._id(change.memory_id), support=change.support)
            case Supersede():
                self._supersede(change)
            case Contest():
                self._contest(change)
            case Resolve():
                self._resolve(change)
            case Undo():
                self._undo(change)
            case Revise():
                self._revise(change)
            case Link():
                for name in change.memory_ids:
                    others = [self._id(one) for one in change.memory_ids if one != name]
                    self._log(ChangeKind.LINK, change.reason, self._id(name), after={"linked": others})
            case _:
                self._standing(change)

    def _standing(self, change: SetStatus | SetLayer | Pin | Retag | Forget | Restore | Delete) -> None:
        memory = self._current(change.memory_id)
        match change:
            case SetStatus():
                self._set_status(memory, change)
            case SetLayer():
                self._move(memory, ChangeKind.SET_LAYER, change.reason, layer=change.layer)
            case Pin():
                self._move(memory, ChangeKind.PIN, change.reason, pinned=change.pinned)
            case Retag():
                self._move(memory, ChangeKind.RETAG, change.reason, metadata=dict(change.metadata))
            case Forget():
                self._move(memory, ChangeKind.FORGET, change.reason, status=Status.FORGOTTEN)
            case Restore():
                self._move(memory, ChangeKind.RESTORE, change.reason, status=change.status)
            case Delete():
                self._delete(memory, change.reason)
            case _:
                assert_never(change)

    def _set_status(self, memory: Memory, change: SetStatus) -> None:
        """Set a status. An ended memory gets an end time; a reactivated one loses its end time and its successor."""
        moved: dict[str, object] = {"status": change.status}
        if change.trust is not None:
            moved["trust"] = max(memory.trust, change.trust)
        if change.status in _ENDED:
            now_us = self._application.now_us
            moved["valid_until_us"] = memory.valid_until_us if memory.valid_until_us is not None else now_us
        elif memory.status in _ENDED:
            moved |= {"valid_until_us": None, "superseded_by": None, "relation": None}
        self._move(memory, ChangeKind.SET_STATUS, change.reason, **moved)

    def _id(self, reference: str) -> str:
        return self.ids.get(reference, reference)

    def _current(self, reference: str) -> Memory:
        found = self._writer.memories([self._id(reference)])
        if not found:
            raise NotFound(f"there is no memory {reference}", fix="list memories to see their ids")
        return found[0]

    def _log(
        self,
        kind: ChangeKind,
        reason: str,
        memory_id: str | None,
        *,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
        support: tuple[Support, ...] | None = None,
        cause: str | None = None,
    ) -> None:
        record = ChangeRecord(
            id="",
            kind=kind,
            actor=self._application.actor,
            reason=reason,
            at_us=self._application.now_us,
            memory_id=memory_id,
            cause=cause or self._application.cause,
            before=before or {},
            after=after or {},
            support=support,
        )
        self.records.append(replace(record, id=self._writer.put(record)))

    def _support(self, reference: str, support: Sequence[Support]) -> None:
        memory_id = self._id(reference)
        for item in support:
            evidence = Evidence(memory_id=memory_id, span=item.span, claim_hash=item.claim_hash, reader=item.reader)
            self._writer.put(evidence)

    def _add(self, change: Add) -> None:
        draft = change.draft
        now_us = self._application.now_us
        content = {name: getattr(draft, name) for name in _DRAFT_FIELDS}
        memory = Memory(
            **content,
            id="",
            version=1,
            created_us=now_us,
            recorded_us=now_us,
            base_importance=draft.importance,
            emotional_valence=score_valence(draft.text),
        )
        memory_id = self._writer.put(memory)
        self.ids[change.key] = memory_id
        self._support(memory_id, change.support)
        self._log(ChangeKind.ADD, change.reason, memory_id, after=encode_draft(draft), support=change.support)

    def _move(self, memory: Memory, kind: ChangeKind, reason: str, **moved: object) -> None:
        """Write the next version with some fields changed, and log those fields."""
        self._write(memory, kind, reason, moved)

    def _write(
        self,
        memory: Memory,
        kind: ChangeKind,
        reason: str,
        moved: Mapping[str, object],
        *,
        cause: str | None = None,
        support: tuple[Support, ...] | None = None,
    ) -> None:
        after = {name: value for name, value in moved.items() if getattr(memory, name) != value}
        status = moved.get("status")
        taken_back = kind in _FREE and memory.status is not Status.DELETED
        if isinstance(status, Status) and not taken_back and (status is not memory.status or kind in _STEPS):
            check_transition(memory.status, status)
        before = {name: _to_jsonable(getattr(memory, name)) for name in after}
        version = replace(
            memory, version=memory.version + 1, recorded_us=self._application.now_us, expired_us=None, **after
        )  # type: ignore[arg-type]
        self._writer.put(version)
        if version.status in ENDED_STATUSES and "status" in after and not is_dreamed(memory):
            self._left[memory.id] = memory
        plain = {name: _to_jsonable(value) for name, value in after.items()}
        self._log(kind, reason, memory.id, before=before, after=plain, cause=cause, support=support)

    def _revise(self, change: Revise) -> None:
        """Set the fields that a rebuild found changed; the transition table does not apply."""
        self._support(change.memory_id, change.support)
        fields = dict(change.fields)
        if fields.get("superseded_by") is not None:
            fields["superseded_by"] = self._id(str(fields["superseded_by"]))
        memory = self._current(change.memory_id)
        self._write(memory, ChangeKind.REVISE, change.reason, fields, support=change.support or None)

    def _undo(self, change: Undo) -> None:
        """Restore the fields that a change set; the transition table applies to deleted memories only."""
        if change.contest is not None:
            before = _describe_contest(self._writer.contests(id=change.contest.id)[0])
            self._writer.put(change.contest)
            after = _describe_contest(change.contest) | {"case": to_contest_dict(change.contest)}
            self._log(ChangeKind.UNDO, change.reason, None, before=before, after=after, cause=change.undoes)
        if change.memory_id is not None:
            memory = self._current(change.memory_id)
            self._write(memory, ChangeKind.UNDO, change.reason, parse_fields(change.back), cause=change.undoes)

    def _supersede(self, change: Supersede) -> None:
        memory = self._current(change.memory_id)
        merged = change.relation in (Relation.MERGED, Relation.DUPLICATE)
        begins = {"valid_from_us": None} if change.start_unknown else {}
        self._move(
            memory,
            ChangeKind.SUPERSEDE,
            change.reason,
            status=Status.MERGED if merged else Status.SUPERSEDED,
            relation=change.relation,
            superseded_by=self._id(change.successor) if change.successor else None,
            valid_until_us=change.valid_until_us,
            contested=False,
            **begins,
        )
        if self._application.embeds:
            # Queue the events of a replaced memory for embedding: search found them through the memory until now.
            tag = self._writer.tenant.tag
            for event_id in dict.fromkeys(item.span.event_id for item in self._writer.evidence(memory_ids=[memory.id])):
                number = parse_id_number(event_id, IdKind.EVENT, tag)
                self._writer.put(Job(kind=EMBED, first=number, last=number))

    def _contest(self, change: Contest) -> None:
        members = tuple(self._id(reference) for reference in change.memory_ids)
        slot = change.slot
        previous = self._open_contest(change)
        contest = ContestCase(
            id=previous.id if previous else "",
            speaker=slot.speaker,
            entity=slot.entity,
            attribute=slot.attribute,
            scope=slot.scope,
            type_class=slot.type_class.value,
            values=change.values,
            memory_ids=members,
            state=ContestState.OPEN,
            question=change.question,
            opened_us=previous.opened_us if previous else self._application.now_us,
        )
        contest_id = self._writer.put(contest)
        asked = {
            "contest": contest_id,
            "values": [quote_value(value) for value in change.values],
            "members": list(members),
        }
        asked |= {"case": to_contest_dict(replace(contest, id=contest_id))}
        before = _describe_contest(previous) if previous else None
        self._log(ChangeKind.CONTEST, change.reason, None, before=before, after=asked)
        for memory in self._writer.memories(members):
            if not memory.contested or memory.status is not Status.ACTIVE:
                self._move(
                    memory,
                    ChangeKind.CONTEST,
                    f"{change.reason} ({contest_id})",
                    contested=True,
                    status=Status.ACTIVE,
                    relation=None,
                    superseded_by=None,
                    valid_until_us=None,
                )

    def _open_contest(self, change: Contest) -> ContestCase | None:
        slot = change.slot
        for contest in self._writer.contests(pair=(slot.entity, slot.attribute)):
            same = (
                contest.speaker == slot.speaker
                and normalise_name(contest.scope or "") == normalise_name(slot.scope or "")
                and contest.type_class == slot.type_class.value
            )
            if same and (contest.state is ContestState.OPEN or set(contest.memory_ids) & set(change.memory_ids)):
                return contest
        return None

    def _resolve(self, change: Resolve) -> None:
        contest = self._writer.contests(id=change.contest_id)[0]
        closed = replace(
            contest,
            state=ContestState.RESOLVED,
            resolved_us=self._application.now_us,
            resolution=change.resolution,
            scopes=dict(change.scopes),
        )
        self._writer.put(closed)
        scopes = {quote_value(value): scope for value, scope in change.scopes.items()}
        keep = [self._id(reference) for reference in change.keep]
        answer = {"contest": contest.id, "scopes": scopes, "keep": keep, "case": to_contest_dict(closed)}
        self._log(ChangeKind.RESOLVE, change.reason, None, after=answer)
        for memory in self._writer.memories(contest.memory_ids):
            if memory.contested:
                self._move(memory, ChangeKind.RESOLVE, change.reason, contested=False)

    def _delete(self, memory: Memory, reason: str) -> None:
        if memory.status is not Status.DELETED:
            self._deleted.add(memory.id)
            self._move(memory, ChangeKind.DELETE, reason, status=Status.DELETED)
        phrases = quote_parts(memory.value, memory.text)
        self._writer.put(Redaction(id=memory.id, at_us=self._application.now_us, phrases=phrases))

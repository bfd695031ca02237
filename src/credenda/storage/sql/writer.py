"""Insertion of values: one method for each kind of row."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple, assert_never

from credenda import limits
from credenda.clock import Clock
from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeRecord, ContestCase
from credenda.model.claim import Evidence
from credenda.model.core import Item, ItemRemoval
from credenda.model.doctor_finding import DutyRun
from credenda.model.event import NewEvent
from credenda.model.governance import LegalHold, RetentionPolicy
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.damage import compute_checksum, guard_row
from credenda.storage.sql.duties import Derived, add_spend, is_fresh, to_progress_columns, write_derived
from credenda.storage.sql.index_delta import compose_event_words, compose_memory_words
from credenda.storage.sql.journal import (
    GENESIS,
    EventPosition,
    build_event_cells,
    build_extra_cells,
    redact_memory,
    replace_rows,
    reword_memory,
    seal_keys,
)
from credenda.storage.sql.reader import SqlReader
from credenda.storage.sql.server_rows import write_item
from credenda.storage.sql.statements import Record
from credenda.storage.store import (
    Access,
    Job,
    Prune,
    Redaction,
    ReplayedRows,
    Retention,
    Rewording,
    Row,
    SchedulerLease,
    Snapshot,
    Spend,
    Surprise,
    TenantRecord,
    Tombstone,
    Vector,
    VectorCopies,
    VectorRemoval,
    Watermark,
    pack_code,
)
from credenda.text.passages import split_passages

_Held = Memory | ChangeRecord | Evidence | ContestCase
_Beside = Vector | VectorCopies | Tombstone | Redaction | Rewording | Access | Snapshot
_Rule = LegalHold | RetentionPolicy


class NextIds(NamedTuple):
    """The next ids of a tenant (event, its previous chain link, job), and the last event in the full-text index."""

    event: int = 1
    chain: bytes = GENESIS
    job: int = 1
    listed: int = 0

    @classmethod
    def of(cls, row: Record) -> NextIds:
        """Read the next ids of a tenant."""
        return cls(*_read_next_ids(row))


@guard_row("tenants")
def _read_next_ids(row: Record) -> tuple[int, bytes, int, int]:
    chain = b"".join((row["chain_hash"] or GENESIS,))  # the operators raise TypeError for a damaged cell
    return (row["event"] or 0) + 1, chain, (row["job"] or 0) + 1, row["listed"] | 0


class SqlWriter(SqlReader):
    """A `Writer` inside a write transaction."""

    author = ""  # the id of the member who writes; "" for the user whose memory it is

    def __init__(self, tenant: TenantRecord, tips: NextIds, clock: Clock) -> None:
        """Bind to a tenant with these next ids."""
        SqlReader.__init__(self, tenant)  # a backend puts a reader of its own between the two
        self._clock = clock
        self.tips = tips
        """The next ids after the rows inserted so far."""
        self.wrote = False
        """Whether anything was put."""
        self.filed_only = True
        """Whether only events and new jobs were inserted."""
        self.redacted = False
        self.refolded = False

    @abstractmethod
    def _insert(self, name: str, cells: tuple[object, ...]) -> None:
        """Run a named statement with cells in the order in which it names them."""

    @abstractmethod
    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the full-text index ("insert_words"), or take them out ("delete_words")."""

    def put(self, row: Row) -> str:
        """Insert a value; returns its public id, or "" for rows that have none."""
        self.wrote = True
        match row:
            case NewEvent():
                return self._event(row)
            case Job():
                return self._job(row)
            case _:
                self.filed_only = False
                return self._other(row)

    def _other(self, row: _Held | _Beside | _Rule | Derived | ReplayedRows | Spend | Item | ItemRemoval) -> str:
        """Insert a row of a kind that no acknowledgement waits for."""
        match row:
            case Memory() | ChangeRecord() | Evidence() | ContestCase():
                return self._belief(row)
            case ReplayedRows():
                self.refolded = True
                return replace_rows(self._run, self._tenant.tag, row)
            case Vector() | VectorCopies() | Tombstone() | Redaction() | Rewording() | Access() | Snapshot():
                return self._beside(row)
            case LegalHold() | RetentionPolicy():
                # Insert a retention policy or legal hold.
                if isinstance(row, LegalHold):
                    name = "set_hold" if row.lifted_us is None else "lift_hold"
                    self._run(name, **{name: getattr(row, name) for name in row.__dataclass_fields__})
                else:
                    name = "put_policy" if row.days else "delete_policy"
                    self._run(name, topic=row.topic or "", days=row.days, set_us=row.set_us)
                return ""
            case Retention() | Surprise() | Watermark() | DutyRun() | SchedulerLease() | Prune() | VectorRemoval():
                # Insert a derived value, or the progress of the task that computes it.
                write_derived(self._run, self._tenant.tag, row)
                return ""
            case Spend() | Item() | ItemRemoval():
                return self._keyed(row)
            case _:
                assert_never(row)

    def _belief(self, row: _Held) -> str:
        """Insert a row about memories."""
        match row:
            case Memory():
                return self._memory(row)
            case ChangeRecord():
                return self._change(row)
            case Evidence():
                self._run("insert_evidence", **rows.to_evidence_row(row, self._tenant.tag))
                return ""
            case ContestCase():
                return self._contest(row)
            case _:
                assert_never(row)

    def _beside(self, row: _Beside) -> str:
        """Insert a row that serves the store: snapshots, use, and redactions."""
        match row:
            case Vector():
                return self._vector(row)
            case VectorCopies():
                return self._copy_vectors(row)
            case Tombstone():
                return self._tombstone(row)
            case Redaction() | Rewording():
                self.redacted = True
                self._run("permit_redaction", reason="delete")
                self._run("keep_vector_head", at_us=row.at_us)
                if isinstance(row, Rewording):
                    reword_memory(self, self._run, row)
                elif rows.is_memory_id(row.id, self._tenant.tag):
                    redact_memory(self, self._run, row)
                else:
                    self._redact_event(row)
                self._run("delete_items_of", source=row.id)
                self._run("revoke_permit")
                self._run("delete_snapshots")
                return ""
            case Access():
                return self._access(row)
            case Snapshot():
                self._run("delete_snapshot", name=row.name)
                for ordinal, data in enumerate(row.blobs):
                    self._run("put_blob", name=row.name, ordinal=ordinal, data=data)
                return ""
            case _:
                assert_never(row)

    def _number(self, text: str, kind: IdKind) -> int:
        return parse_id_number(text, kind, self._tenant.tag)

    def _event(self, event: NewEvent) -> str:
        tips, tenant = self.tips, self._tenant
        number, spans = tips.event, split_passages(event.text)
        place = EventPosition(tenant.user_id, number, tips.chain, self._clock.now_us())
        link, cells = build_event_cells(event, place, tenant.key)
        added = build_extra_cells(event, max(1, len(spans)))
        self._insert("insert_event" if added else "insert_plain_event", cells + added)
        if len(spans) > 1:
            for ordinal, (start, stop) in enumerate(spans):
                self._run("insert_passage", event=number, ordinal=ordinal, start=start, stop=stop)
        self.tips = NextIds(number + 1, link, tips.job, tips.listed)
        if number - tips.listed >= limits.EVENTS_LISTED_TOGETHER or len(spans) > 1:
            self._list_words(number)
        return self._sign(IdKind.EVENT, number)

    def _list_words(self, newest: int) -> None:
        """Add the words of all pending events to the full-text index."""
        for code, body in self._unlisted():
            self.put_words("insert_words", code, body)
        self._run("mark_listed")
        self.tips = self.tips._replace(listed=newest)

    def _event_words(self, name: str, code: int, event: NewEvent, text: str) -> None:
        self.put_words(name, code, compose_event_words(event.role.value, event.speaker, event.occurred_us, text))

    def _memory(self, memory: Memory) -> str:
        columns = rows.to_memory_row(memory, self._tenant.tag)
        number = self._number(memory.id, IdKind.MEMORY) if memory.id else self._value("next_memory")
        current = self._value("current_version", id=number)
        if memory.id and not current:
            raise _make_missing_error("memory", memory.id)
        if memory.version != current + 1:
            raise Conflict(
                f"{memory.id or 'a new memory'} has changed meanwhile",
                why=f"version {memory.version} does not follow version {current}: another change was applied first",
                fix="read it again and repeat the call",
                memory_id=memory.id,
            )
        if memory.id:
            self._run("expire_version", id=number, at_us=memory.recorded_us)
        else:
            columns["id"] = number
            body = compose_memory_words(memory.text, memory.entity, memory.attribute, memory.value)
            self.put_words("insert_words", pack_code(number, memory=True), body)
        self._run("insert_version", **columns)
        return self._public(IdKind.MEMORY, number)

    def _change(self, change: ChangeRecord) -> str:
        number = self._value("next_change")
        row = rows.to_change_row(change, self._tenant.tag)
        self._run("insert_change", id=number, checksum=compute_checksum(number, *row.values()), **row)
        if change.kind.value == "confirm" and change.memory_id:
            self._run("confirm_memory", id=self._number(change.memory_id, IdKind.MEMORY))
        return self._sign(IdKind.CHANGE, number)

    def _sign(self, kind: IdKind, number: int) -> str:
        """Keep the member who writes a row, and return its public id; the user whose memory it is needs no entry."""
        if self.author:
            self._run("insert_author", kind=kind.value, id=number, member=self.author)
        return self._public(kind, number)

    def _job(self, job: Job) -> str:
        now_us = self._clock.now_us()
        if not job.id:
            return self._new_job(job, now_us)
        number = self._number(job.id, IdKind.JOB)
        if not self._run("update_job", id=number, updated_us=now_us, **to_progress_columns(job)).rowcount:
            raise _make_missing_error("job", job.id)
        return self._public(IdKind.JOB, number)

    def _new_job(self, job: Job, now_us: int) -> str:
        tips = self.tips
        number = tips.job
        self.tips = NextIds(tips.event, tips.chain, number + 1, tips.listed)
        if is_fresh(job):
            cells = (self._tenant.user_id, number, job.kind, job.first, job.last, now_us, now_us)
            self._insert("insert_fresh_job", cells)
        else:
            if job.replaces:
                self._run("set_key", id=self._number(job.replaces, IdKind.JOB), key=None)
            own = {"payload_hash": job.payload_hash or None, "payload": job.payload or None} | to_progress_columns(job)
            self._run("insert_job", **rows.list_cells(job, id=number, created_us=now_us, updated_us=now_us, **own))
        return self._public(IdKind.JOB, number)

    def _vector(self, vector: Vector) -> str:
        vector = vector._replace(scale=float(vector.scale))  # as the column gives it back
        self._run("put_vector", checksum=compute_checksum(*vector), **vector._asdict())
        return ""

    def _copy_vectors(self, copies: VectorCopies) -> str:  # noqa: ARG002 - for a backend that has an index of vectors
        return ""

    def _contest(self, contest: ContestCase) -> str:
        for memory_id in contest.memory_ids:
            self._number(memory_id, IdKind.MEMORY)
        if contest.id and not self.contests(id=contest.id):
            raise _make_missing_error("contest", contest.id)
        number = self._number(contest.id, IdKind.CONTEST) if contest.id else self._value("next_contest")
        self._run("put_contest", **rows.to_contest_row(contest, number))
        return self._public(IdKind.CONTEST, number)

    def _tombstone(self, stone: Tombstone) -> str:
        if stone.lifted:
            self._run("delete_tombstone", digest=stone.digest)
            return ""
        row = {name: getattr(stone, name) for name in ("digest", "kind", "normaliser", "created_us")}
        self._run("insert_tombstone", checksum=compute_checksum(*row.values()), **row)
        return ""

    def _access(self, access: Access) -> str:
        number = self._number(access.memory_id, IdKind.MEMORY)
        day = {"session": access.session, "memory": number, "day": access.day}
        if access.shown and not self._value("accessed_today", **day):
            self._run("touch_memory", id=number, at_us=access.at_us)
        self._run("log_access", at_us=access.at_us, shown=access.shown, useful=access.useful, **day)
        return ""

    def _keyed(self, row: Spend | Item | ItemRemoval) -> str:
        """Insert a row under a key of its own."""
        if isinstance(row, Spend):
            return add_spend(self._run, row)
        return write_item(self._run, row, self._tenant.tag, self._clock.now_us())

    def _redact_event(self, redaction: Redaction) -> None:
        number = self._number(redaction.id, IdKind.EVENT)
        found = self.events([redaction.id])
        if not found:
            raise _make_missing_error("event", redaction.id)
        event = found[0]
        if redaction.text and len(redaction.text) != len(event.text):
            raise Invalid(
                "what remains of an event must be as long as it was",
                why="evidence and passages refer to its characters",
                fix="blank the redacted spans character for character",
                event_id=redaction.id,
            )
        listed = self.tips.listed >= number
        for code, (start, stop) in self._spans(number, event.text, limits.PASSAGES_PER_EVENT) if listed else ():
            if event.text:
                self._event_words("delete_words", code, event, event.text[start:stop])
            if redaction.text:
                self._event_words("insert_words", code, event, redaction.text[start:stop])
        self._run("redact_event", id=number, text=redaction.text, at_us=redaction.at_us)
        if not redaction.text:
            seal_keys(self._run, self._tenant.key, number)
        low = pack_code(number, memory=False)
        self._run("delete_vectors", low=low, high=pack_code(number + 1, memory=False))


def _make_missing_error(what: str, id_: str) -> NotFound:
    return NotFound(f"there is no {what} {id_}", fix="copy an id from `list` or `search`")

"""Insertion of values: one method for each kind of row."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple, Protocol, assert_never
from unicodedata import normalize

from credenda import limits
from credenda.clock import LONGEST_WAIT_US, Clock
from credenda.errors import Conflict, Invalid, LimitExceeded, NotFound
from credenda.ids import IdKind, parse_id_number, parse_id_numbers
from credenda.model.change import ChangeRecord, ContestCase
from credenda.model.claim import Evidence
from credenda.model.core import Item, ItemRemoval
from credenda.model.event import NewEvent
from credenda.model.governance import LegalHold, RetentionPolicy
from credenda.model.job import DutyRun
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.rows import SEALED, compute_checksum, guard_row, list_cells, pack_json, seal_key
from credenda.storage.sql.reader import SqlReader, compose_event_words, compose_memory_words
from credenda.storage.sql.server_rows import write_item
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.store import (
    Access,
    Job,
    JobStatus,
    Prune,
    Reader,
    Redaction,
    ReplayedRows,
    Retention,
    Rewording,
    Row,
    SchedulerLease,
    Snapshot,
    Spend,
    Surprise,
    Tombstone,
    Vector,
    VectorCopies,
    VectorRemoval,
    Watermark,
    pack_code,
)
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text
from credenda.text.passages import split_passages

# The cells of a new event and its chain link. Every acknowledgement runs this, so it must be fast.


GENESIS: Final = b"\x00" * 32


class EventPosition(NamedTuple):
    """The position of a new event: tenant, number, previous chain link, and recording time."""

    user_id: str
    number: int
    previous: bytes
    recorded_us: int


def compute_content_hmac(key: bytes, text: str) -> bytes:
    """Sign an event's text with the tenant's key: keyed BLAKE2b (RFC 7693), 16 bytes."""
    return hashlib.blake2b(text.encode(), key=key, digest_size=16).digest()


@lru_cache(maxsize=256)
def _encode_names(names: tuple[str, ...]) -> str:
    return ",".join(map(encode_basestring, names))


def clear_name_cache() -> None:
    """Clear the cached names of recent events, as an erasure must."""
    _encode_names.cache_clear()


def _hash_link(before: bytes, body: str) -> bytes:
    return hashlib.blake2b(before + body.encode(), digest_size=32).digest()


def compute_chain_link(previous: bytes, event: Mapping[str, Any]) -> bytes:
    """Hash an event onto the journal's chain: BLAKE2b, 32 bytes, of the previous link and of canonical JSON.

    It covers the text by its keyed hash only, so that the chain remains valid after a redaction.
    """
    who = _encode_names(tuple(event[name] for name in ("role", "speaker", "source", "session", "agent")))
    body = f"[{event['id']},{who},{event['occurred_us']},{event['recorded_us']}]"
    return _hash_link(previous + event["content_hmac"], body)


def build_event_cells(event: NewEvent, place: EventPosition, key: bytes) -> tuple[bytes, tuple[object, ...]]:
    """Return an event's chain link, and its cells in the order of `insert_plain_event`."""
    role, source = event.role.value, event.source.value
    signed = compute_content_hmac(key, event.text)
    who = _encode_names((role, event.speaker, source, event.session, event.agent))
    body = f"[{place.number},{who},{event.occurred_us},{place.recorded_us}]"
    link = _hash_link(place.previous + signed, body)
    said = (event.session, event.agent, role, event.speaker, source, event.trust, event.topic, event.text)
    times_us = (event.occurred_us, place.recorded_us)
    return link, (place.user_id, place.number, *said, *times_us, signed, link)


def build_extra_cells(event: NewEvent, passages: int) -> tuple[object, ...]:
    """Return the cells that only `insert_event` has; () where they equal the table's defaults."""
    bare = not (event.flags or event.tags or event.metadata)
    if bare and passages == 1 and event.external_id is None and event.expires_us is None:
        return ()
    lists = (pack_json(event.flags), pack_json(event.tags), pack_json(event.metadata))
    return (passages, event.external_id, *lists, event.expires_us)


# Removal of deleted words from the rows, the evidence and the change log of memories.


_REDACTED: Final = "redacted"
_NOTHING: Final = "{}"
_FIELDS: Final = ("topic", "tags", "metadata", "entity", "entity_key")


def seal_keys(run: StatementRunner, key: bytes, event: int) -> None:
    """Replace the idempotency keys of jobs whose events all lost their words; the same call is still recognised."""
    for row in run("keys_of_deleted", event=event).fetchall():
        if not row["idempotency_key"].startswith(SEALED):
            run("set_key", id=row["id"], key=seal_key(key, row["idempotency_key"]))


class WordIndex(Reader, Protocol):
    """A reader that can also change the full-text index."""

    def put_words(self, name: str, code: int, body: str) -> None:
        """Add the words of a document to the full-text index, or take them out."""
        ...


def redact_memory(writer: WordIndex, run: StatementRunner, redaction: Redaction) -> None:
    """Take the words out of all versions, changes and evidence of a memory, and delete its vectors."""
    number = parse_id_number(redaction.id, IdKind.MEMORY, writer.tenant.tag)
    code = pack_code(number, memory=True)
    memory = _read_versions(writer, redaction.id)[0]
    if memory.text:
        writer.put_words("delete_words", code, _compose_words(memory, memory.text))
    for phrase in list(dict.fromkeys(normalize(form, one) for one in redaction.phrases for form in ("NFC", "NFD"))):
        for row in run("changes_with_phrase", phrase=phrase).fetchall():
            _redact_entry(run, row, row["delta"] if row["memory"] is not None else _NOTHING)
    run("redact_versions", id=number)
    contests = writer.contests()
    for row in run("changes_of_range", low=number, high=number + 1).fetchall():
        _redact_entry(run, row, _remove_words(row))
    _redact_contest_log(run, memory.id)
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    for contest in contests:
        if (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == pair:
            _redact_contest_log(run, contest.id)
    run("redact_evidence", memory=number)
    run("delete_vectors", low=code, high=code + 1)


def reword_memory(writer: WordIndex, run: StatementRunner, wording: Rewording) -> None:
    """Replace texts, fields and evidence of a memory in all its versions and changes, and delete its vectors."""
    number = parse_id_number(wording.id, IdKind.MEMORY, writer.tenant.tag)
    code = pack_code(number, memory=True)
    versions = _read_versions(writer, wording.id)
    moved = {(name, rows.to_canonical_json(before)): now for name, before, now in wording.fields}
    reworded = [_reword_fields(one, moved) for one in versions]
    for one in reworded if moved else ():
        row = rows.to_memory_row(one, writer.tenant.tag)
        run("reword_fields", id=number, version=one.version, **{name: row[name] for name in _FIELDS})
    indexed, after = versions[-1], reworded[-1]
    after = replace(after, text=wording.texts.get(indexed.text, indexed.text))
    if (after.text, after.entity) != (indexed.text, indexed.entity):
        writer.put_words("delete_words", code, _compose_words(indexed, indexed.text))
        writer.put_words("insert_words", code, _compose_words(after, after.text))
        run("delete_vectors", low=code, high=code + 1)
    for before, text in wording.texts.items():
        run("reword_versions", id=number, before=before, text=text, text_hash=rows.hash_text(text))
    places: dict[tuple[int, int, int, str], tuple[int, int, str]] = {}
    for old, new in wording.moved:
        event = parse_id_number(old.span.event_id, IdKind.EVENT, writer.tenant.tag)
        key = (event, old.span.start, old.span.stop, old.claim_hash.hex())
        places[key] = (new.span.start, new.span.stop, new.claim_hash.hex())
        run(
            "move_evidence",
            memory=number,
            event=event,
            start=old.span.start,
            claim_hash=old.claim_hash,
            new_start=new.span.start,
            new_stop=new.span.stop,
            new_hash=new.claim_hash,
        )
    phrases = [phrase for phrase in map(normalise_text, wording.phrases) if phrase]
    fields = [*(("text", before, now) for before, now in wording.texts.items()), *wording.fields]
    for row in run("changes_of_range", low=number, high=number + 1).fetchall():
        delta = _reword(row, fields, places)
        reason = normalise_text(row["reason"])
        if any(phrase in reason for phrase in phrases):
            _redact_entry(run, row, delta)
        elif delta != row["delta"]:
            run("reword_change", id=row["id"], delta=delta, checksum=_compute_checksum(row, row["reason"], delta))


def _reword_fields(memory: Memory, moved: Mapping[tuple[str, str], object]) -> Memory:
    """Return a version with other values of its fields, given by the names and earlier values."""
    held = {name: getattr(memory, name) for name in {name for name, _ in moved}}
    return replace(
        memory, **{name: moved.get((name, rows.to_canonical_json(value)), value) for name, value in held.items()}
    )


def _read_versions(writer: WordIndex, memory_id: str) -> list[Memory]:
    versions = writer.versions([memory_id])
    if not versions:
        raise NotFound(f"there is no memory {memory_id}", fix="copy an id from `list` or `search`")
    return versions


def _compose_words(memory: Memory, text: str) -> str:
    return compose_memory_words(text, memory.entity, memory.attribute, memory.value)


def _redact_contest_log(run: StatementRunner, public_id: str) -> None:
    """Take the words out of the log of every contest that names a memory, or is the contest of that name."""
    for row in run("changes_about_contest", public_id=public_id).fetchall():
        _redact_entry(run, row, _NOTHING)


def _redact_entry(run: StatementRunner, row: Record, delta: str) -> None:
    """Leave of an entry its delta, or what remains of that, and no reason."""
    run("redact_change", id=row["id"], delta=delta, checksum=_compute_checksum(row, _REDACTED, delta))


def _compute_checksum(row: Record, reason: str, delta: str) -> int:
    return compute_checksum(row["id"], row["kind"], row["actor"], reason, row["at"], row["memory"], row["cause"], delta)


@guard_row("changes", IdKind.CHANGE)
def _remove_words(row: Record) -> str:
    return rows.remove_words_from_delta(row["delta"])


@guard_row("changes", IdKind.CHANGE)
def _reword(
    row: Record,
    fields: Sequence[tuple[str, object, object]],
    places: Mapping[tuple[int, int, int, str], tuple[int, int, str]],
) -> str:
    return rows.reword_delta(row["delta"], fields, places)


# Replacement of rows by their replay from the change log; the words are indexed when the unit ends.


def replace_rows(run: StatementRunner, tag: str, row: ReplayedRows) -> str:
    """Replace the rows of a memory, of its evidence, or of a contest, in the tenant with this tag."""
    if row.contest is not None:
        run("put_contest", **rows.to_contest_row(row.contest, parse_id_number(row.contest.id, IdKind.CONTEST, tag)))
    for version in row.versions[:1]:
        number = parse_id_number(version.id, IdKind.MEMORY, tag)
        run("delete_versions", id=number)
        if row.evidence is not None:
            run("delete_evidence", id=number)
    for version in row.versions:
        run("insert_version", **rows.to_memory_row(version, tag))
    for item in row.evidence or ():
        run("insert_evidence", **rows.to_evidence_row(item, tag))
    return ""


# Derived values, costs of models, and the columns of a job.


Derived = Retention | Surprise | Watermark | DutyRun | SchedulerLease | Prune | VectorRemoval
"""Derived values, and the progress of the tasks that compute them."""


def write_derived(run: StatementRunner, tag: str, row: Derived) -> None:
    """Insert a derived value of the tenant with this tag."""
    match row:
        case Retention():
            numbers = parse_id_numbers(list(row.scores), IdKind.MEMORY, tag)
            run("put_retention", scores=json.dumps(dict(zip(numbers, row.scores.values(), strict=True))))
        case Surprise():
            number = parse_id_number(row.memory_id, IdKind.MEMORY, tag)
            run("put_surprise", id=number, score=row.score, importance=row.importance)
        case Watermark(value=None):
            run("drop_watermark", name=row.name)
        case Watermark():
            run("put_watermark", name=row.name, value=row.value, at_us=row.at_us)
        case DutyRun():
            run("put_duty", **list_cells(row))
        case SchedulerLease():
            if not run("lead", **asdict(row), far_us=row.now_us + LONGEST_WAIT_US).rowcount:
                what = f"{row.name} is being run already" if row.name else "another process runs the scheduled tasks"
                holder = str(run("led_by", name=row.name).fetchone()[0] or "")
                why, fix = "only one may run at a time", "try again later"
                raise Conflict(what, why=why, fix=fix, owner=holder)
        case Prune():
            run("prune_accesses", before_us=row.showings_before_us, limit=row.limit)
            run("prune_jobs", before_us=row.jobs_before_us, limit=row.limit)
        case VectorRemoval():
            run("keep_vector_head", at_us=row.at_us)
            run("drop_vectors_of_model", model_id=row.model_id, limit=row.limit)
        case _:
            assert_never(row)


def add_spend(run: StatementRunner, spend: Spend) -> str:
    """Add to the cost of a day; raises `LimitExceeded` above its bound."""
    tokens = spend.tokens_in + spend.tokens_out
    if (
        spend.tokens_max is not None
        and int(run("spent_on_day", day=spend.day).fetchone()[0] or 0) + tokens > spend.tokens_max
    ):
        raise LimitExceeded(
            "the day's budget for models is spent",
            why=f"at most {spend.tokens_max} tokens a day are allowed",
            fix="raise llm_daily_tokens, or wait for the next day (UTC)",
        )
    run("add_spend", **list_cells(spend))
    return ""


def to_progress_columns(job: Job) -> dict[str, object]:
    """Return the columns of a job that its run changes."""
    return {
        "status": job.status.value,
        "attempts": job.attempts,
        "run_after_us": job.run_after_us,
        "lease_owner": job.lease_owner or None,
        "lease_until_us": job.lease_until_us or None,
        "error": job.error or None,
        "outcome": job.outcome or None,
    }


def is_fresh(job: Job) -> bool:
    """Return whether a job is new, may start at once and has no idempotency key."""
    begun = job.attempts or job.run_after_us or job.lease_owner or job.lease_until_us or job.error
    named = job.idempotency_key is not None or job.payload_hash or job.payload
    return job.status is JobStatus.QUEUED and not begun and not named


# The writer.


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

    def __init__(self, tips: NextIds, clock: Clock) -> None:
        """Begin with these next ids; the reader of a backend, which its writer is too, binds the connection."""
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
                tips, tenant = self.tips, self._tenant
                number, spans = tips.event, split_passages(row.text)
                place = EventPosition(tenant.user_id, number, tips.chain, self._clock.now_us())
                link, cells = build_event_cells(row, place, tenant.key)
                added = build_extra_cells(row, max(1, len(spans)))
                self._insert("insert_event" if added else "insert_plain_event", cells + added)
                if len(spans) > 1:
                    for ordinal, (start, stop) in enumerate(spans):
                        self._run("insert_passage", event=number, ordinal=ordinal, start=start, stop=stop)
                self.tips = NextIds(number + 1, link, tips.job, tips.listed)
                if number - tips.listed >= limits.EVENTS_LISTED_TOGETHER or len(spans) > 1:
                    for code, body in self._unlisted():
                        self.put_words("insert_words", code, body)
                    self._run("mark_listed")
                    self.tips = self.tips._replace(listed=number)
                return self._sign(IdKind.EVENT, number)
            case Job():
                now_us = self._clock.now_us()
                if not row.id:
                    return self._new_job(row, now_us)
                number = self._number(row.id, IdKind.JOB)
                if not self._run("update_job", id=number, updated_us=now_us, **to_progress_columns(row)).rowcount:
                    raise _make_missing_error("job", row.id)
                return self._public(IdKind.JOB, number)
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
                for memory_id in row.memory_ids:
                    self._number(memory_id, IdKind.MEMORY)
                if row.id and not self.contests(id=row.id):
                    raise _make_missing_error("contest", row.id)
                number = self._number(row.id, IdKind.CONTEST) if row.id else self._value("next_contest")
                self._run("put_contest", **rows.to_contest_row(row, number))
                return self._public(IdKind.CONTEST, number)
            case _:
                assert_never(row)

    def _beside(self, row: _Beside) -> str:
        """Insert a row that serves the store: snapshots, use, and redactions."""
        match row:
            case Vector():
                vector = row
                vector = vector._replace(scale=float(vector.scale))  # as the column gives it back
                self._run("put_vector", checksum=compute_checksum(*vector), **vector._asdict())
                return ""
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

    def _copy_vectors(self, copies: VectorCopies) -> str:  # noqa: ARG002 - for a backend that has an index of vectors
        return ""

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

"""Conversion between table rows and values; the same for every SQL backend."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final, Protocol

from credenda.errors import Corrupt
from credenda.ids import Kind, number_of, parse_id, public_id
from credenda.model.change import Actor, ChangeKind, ChangeRecord, Support
from credenda.model.claim import Evidence, Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.event import Event, Role, Source
from credenda.model.fast_dataclass import maker
from credenda.model.memory import Cardinality, Layer, Memory, MemoryType, Relation, Stance, Status, engram_type
from credenda.storage.field_codes import shortened, spelled_out
from credenda.storage.row_mapper import Form
from credenda.storage.store import DocumentState, Job, JobStatus, Vector
from credenda.text.normalize import attribute_key, name_key, text_key

__all__ = [
    "EvidenceRow",
    "canonical_json",
    "change_of",
    "change_row",
    "contest_of",
    "contest_row",
    "event_of",
    "events_in",
    "evidence_in",
    "evidence_of",
    "is_memory_id",
    "job_of",
    "memories_in",
    "memory_of",
    "memory_row",
    "packed",
    "state_of",
    "text_hash",
    "vector_of",
    "wordless_delta",
]


class Record(Protocol):
    """A database row: the driver's values by column name."""

    def __getitem__(self, key: str, /) -> Any: ...


EvidenceRow = tuple[int, int, int, int, bytes, str | None]
"""Memory, event, start, stop, hash of the claim, in the order of the statements."""


# A look-up costs a third of an enumeration call, and a search reads many rows.
_ROLES: Final = {role.value: role for role in Role}
_SOURCES: Final = {source.value: source for source in Source}
_TYPES: Final = {kind.value: kind for kind in MemoryType}
_CARDINALITIES: Final = {one.value: one for one in Cardinality}
_STANCES: Final = {stance.value: stance for stance in Stance}
_LAYERS: Final = {layer.value: layer for layer in Layer}
_STATUSES: Final = {status.value: status for status in Status}
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
_WORDLESS: Final = frozenset(
    [
        *("type", "cardinality", "stance", "speaker", "confidence", "importance", "layer", "status", "relation"),
        *("valid_from_us", "valid_until_us", "expires_us", "superseded_by", "contested", "pinned", "provisional"),
        *("trust", "source_session", "confirmations"),
    ]
)
"""Fields of a memory that its rows and the log keep after a deletion."""
_STATES: Final = {
    Status.ACTIVE: DocumentState.CURRENT,
    Status.CHALLENGED: DocumentState.CURRENT,
    Status.CANDIDATE: DocumentState.HIDDEN,
    Status.ARCHIVED: DocumentState.HIDDEN,
    Status.FORGOTTEN: DocumentState.HIDDEN,
    Status.DELETED: DocumentState.GONE,
}


def state_of(status: Status, layer: Layer) -> DocumentState:
    """Return the visibility of a memory with this status and layer; code memories are hidden by default."""
    state = _STATES.get(status, DocumentState.PAST)
    unasked = layer is not Layer.CODEBASE or state is DocumentState.GONE
    return state if unasked else DocumentState.HIDDEN


def text_hash(text: str) -> int:
    """Hash the normal form of a text to a signed 8-byte integer, the key of its index."""
    digest = hashlib.blake2b(text_key(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def canonical_json(value: object) -> str:
    """Serialise to JSON with sorted keys and no spaces, the form that hashes and logs use."""
    return _CANONICAL.encode(value)


def packed(value: object) -> str | None:
    """Serialise a list or table as canonical JSON, an empty one as None."""
    return canonical_json(value) if value else None


def _json(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError as error:
        fix = "run `credenda doctor`, or restore a backup"
        raise Corrupt("a row cannot be read", why="a cell of it is not valid JSON", fix=fix) from error


def _names(raw: str | None) -> tuple[str, ...]:
    return tuple(_json(raw)) if raw else ()


def _table(raw: str | None) -> dict[str, object]:
    return _json(raw) if raw else {}


def _relation(raw: str | None) -> Relation | None:
    return Relation(raw) if raw else None


_EVENT: Final = Form(
    Event,
    ids={"id": Kind.EVENT},
    converted={
        "role": _ROLES.__getitem__,
        "source": _SOURCES.__getitem__,
        "flags": _names,
        "tags": _names,
        "metadata": _table,
    },
)
_MEMORY: Final = Form(
    Memory,
    ids={"id": Kind.MEMORY, "superseded_by": Kind.MEMORY},
    converted={
        "type": _TYPES.__getitem__,
        "cardinality": _CARDINALITIES.__getitem__,
        "stance": _STANCES.__getitem__,
        "layer": _LAYERS.__getitem__,
        "status": _STATUSES.__getitem__,
        "relation": _relation,
        "contested": bool,
        "pinned": bool,
        "provisional": bool,
        "tags": _names,
        "metadata": _table,
    },
)
_new_span: Final = maker(Span)
_new_evidence: Final = maker(Evidence)


def event_of(row: Record, tag: str) -> Event:
    """Build an event from a row."""
    return _EVENT.of([row[name] for name in _EVENT.columns], tag)


def events_in(columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[Event]:
    """Build events from tuples with these columns."""
    return _EVENT.all_of(columns, rows, tag)


def memory_row(memory: Memory, tag: str) -> dict[str, object]:
    """Return the columns of a version of a memory."""
    return {
        "id": number_of(memory.id, Kind.MEMORY, tag) if memory.id else 0,
        "version": memory.version,
        "text": memory.text,
        "text_hash": text_hash(memory.text),
        "type": memory.type.value,
        "memory_type": engram_type(memory.type),
        "topic": memory.topic,
        "entity": memory.entity,
        "attribute": memory.attribute,
        "value": memory.value,
        "entity_key": name_key(memory.entity) if memory.entity else None,
        "attribute_key": attribute_key(memory.attribute) if memory.attribute else None,
        "scope": memory.scope,
        "cardinality": memory.cardinality.value,
        "stance": memory.stance.value,
        "speaker": memory.speaker,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "base_importance": memory.base_importance,
        "layer": memory.layer.value,
        "status": memory.status.value,
        "relation": memory.relation.value if memory.relation else None,
        "superseded_by": number_of(memory.superseded_by, Kind.MEMORY, tag) if memory.superseded_by else None,
        "contested": memory.contested,
        "pinned": memory.pinned,
        "provisional": memory.provisional,
        "trust": memory.trust,
        "confirmations": memory.confirmations,
        "surprise": memory.surprise,
        "emotional_valence": memory.emotional_valence,
        "source_session": memory.source_session,
        "valid_from_us": memory.valid_from_us,
        "valid_until_us": memory.valid_until_us,
        "created_us": memory.created_us,
        "recorded_us": memory.recorded_us,
        "expired_us": memory.expired_us,
        "expires_us": memory.expires_us,
        "last_accessed_us": memory.last_accessed_us,
        "access_count": memory.access_count,
        "decay_score": memory.decay_score,
        "tags": packed(memory.tags),
        "metadata": packed(memory.metadata),
    }


def memory_of(row: Record, tag: str) -> Memory:
    """Build a version of a memory from a row."""
    return _MEMORY.of([row[name] for name in _MEMORY.columns], tag)


def memories_in(columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[Memory]:
    """Build versions of memories from tuples with these columns."""
    return _MEMORY.all_of(columns, rows, tag)


def evidence_of(row: Record, tag: str) -> Evidence:
    """Build evidence from a row without the extractor's version, because older archives lack it."""
    columns = (row["memory"], row["event"], row["start"], row["stop"], row["claim_hash"])
    return evidence_in([(*columns, None)], tag)[0]


def evidence_in(rows: Sequence[EvidenceRow], tag: str) -> list[Evidence]:
    """Build evidence from tuples; a search reads many."""
    memories, events = Kind.MEMORY.value, Kind.EVENT.value
    return [
        _new_evidence(
            (f"{memories}{memory}-{tag}", _new_span((f"{events}{event}-{tag}", start, stop)), claim_hash, reader or "")
        )
        for memory, event, start, stop, claim_hash, reader in rows
    ]


def change_row(change: ChangeRecord, tag: str) -> dict[str, object]:
    """Return the columns of a change; the delta holds only the changed fields."""
    delta: dict[str, object] = {"b": shortened(change.before), "a": shortened(change.after)}
    if change.support is not None:
        delta["e"] = [
            [
                number_of(one.span.event_id, Kind.EVENT, tag),
                one.span.start,
                one.span.stop,
                one.claim_hash.hex(),
                *([one.reader] if one.reader else []),
            ]
            for one in change.support
        ]
    return {
        "kind": change.kind.value,
        "actor": change.actor.value,
        "reason": change.reason,
        "at_us": change.at_us,
        "memory": number_of(change.memory_id, Kind.MEMORY, tag) if change.memory_id else None,
        "cause": change.cause,
        "delta": canonical_json({name: part for name, part in delta.items() if part or name == "e"}),
    }


def change_of(row: Record, tag: str) -> ChangeRecord:
    """Build a change from a row."""
    delta: dict[str, Any] = _json(row["delta"])
    memory = row["memory"]
    support = delta.get("e")
    return ChangeRecord(
        id=public_id(Kind.CHANGE, row["id"], tag),
        kind=ChangeKind(row["kind"]),
        actor=Actor(row["actor"]),
        reason=row["reason"],
        at_us=row["at"],
        memory_id=public_id(Kind.MEMORY, memory, tag) if memory else None,
        cause=row["cause"],
        before=spelled_out(delta.get("b", {})),
        after=spelled_out(delta.get("a", {})),
        support=None if support is None else tuple(_support_of(one, tag) for one in support),
    )


def _support_of(kept: tuple[Any, ...], tag: str) -> Support:
    event, start, stop, claim_hash, *reader = kept
    span = Span(public_id(Kind.EVENT, event, tag), start, stop)
    return Support(span, bytes.fromhex(claim_hash), *reader)


def wordless_delta(delta: str) -> str:
    """Remove the words from a delta: keep status, times, numbers and the places of the evidence."""
    parts: dict[str, Any] = _json(delta)
    sides = {name: spelled_out(part) for name, part in parts.items() if name != "e"}
    kept = {name: shortened({key: side[key] for key in side if key in _WORDLESS}) for name, side in sides.items()}
    evidence = {
        name: [[*one[:3], "00" * (len(one[3]) // 2), *one[4:]] for one in part]
        for name, part in parts.items()
        if name == "e"
    }
    return canonical_json({name: part for name, part in kept.items() if part} | evidence)


def contest_row(contest: ContestCase) -> dict[str, object]:
    """Return the columns of a contest; the store adds its number."""
    return {
        "speaker": contest.speaker,
        "entity": contest.entity,
        "attribute": contest.attribute,
        "scope": contest.scope,
        "type_class": contest.type_class,
        "vals": canonical_json(contest.values),
        "memories": canonical_json(contest.memory_ids),
        "state": contest.state.value,
        "question": contest.question,
        "opened_us": contest.opened_us,
        "resolved_us": contest.resolved_us,
        "resolution": contest.resolution,
        "scopes": packed(dict(contest.scopes)),
    }


def contest_of(row: Record, tag: str) -> ContestCase:
    """Build a contest from a row."""
    return ContestCase(
        id=public_id(Kind.CONTEST, row["id"], tag),
        speaker=row["speaker"],
        entity=row["entity"],
        attribute=row["attribute"],
        scope=row["scope"],
        type_class=row["type_class"],
        values=_names(row["vals"]),
        memory_ids=_names(row["memories"]),
        state=ContestState(row["state"]),
        question=row["question"],
        opened_us=row["opened_at"],
        resolved_us=row["resolved_at"],
        resolution=row["resolution"],
        scopes={name: str(value) for name, value in _table(row["scopes"]).items()},
    )


def job_of(row: Record, tag: str) -> Job:
    """Build a job from a row."""
    return Job(
        id=public_id(Kind.JOB, row["id"], tag),
        kind=row["kind"],
        first=row["first"],
        last=row["last"],
        status=JobStatus(row["status"]),
        attempts=row["attempts"],
        run_after_us=row["run_after"],
        lease_owner=row["lease_owner"] or "",
        lease_until_us=row["lease_until"] or 0,
        error=row["error"] or "",
        idempotency_key=row["idempotency_key"],
        payload_hash=row["payload_hash"] or b"",
        created_us=row["created_at"],
        updated_us=row["updated_at"],
    )


def vector_of(row: Record) -> Vector:
    """Build a vector from a row."""
    return Vector(
        code=row["code"],
        model_id=row["model_id"],
        dims=row["dims"],
        bits=row["bits"],
        scale=row["scale"],
        data=row["data"],
    )


def is_memory_id(text: str, tag: str) -> bool:
    """Return whether an id of this tenant names a memory; raises `NotFound` for an id of another tenant."""
    return parse_id(text, tag)[0] is Kind.MEMORY

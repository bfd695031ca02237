"""Conversion between table rows and values; the same for every SQL backend."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache, wraps
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, Generic, ParamSpec, Protocol, TypeVar

from credenda.errors import IMPOSSIBLE, Conflict, make_damage_error
from credenda.ids import IdKind, draw_key, format_id, parse_id, parse_id_number
from credenda.model.change import Actor, ChangeKind, ChangeRecord, ContestCase, ContestState, Support
from credenda.model.claim import Evidence, Span
from credenda.model.event import Event, Role, Source
from credenda.model.fast_dataclass import compile_row_constructor, compile_unpacker, list_field_names
from credenda.model.memory import (
    HELD,
    Cardinality,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Stance,
    Status,
    get_engram_type,
)
from credenda.storage.records import CODE_BITS, TenantRecord, count_vector_bytes, unpack_code
from credenda.storage.store import DocumentState, Job, JobStatus, Vector
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text

# Errors for rows that hold a value which no writer stores, and a checksum that finds other damage.


P = ParamSpec("P")


def name_document(code: int) -> str:
    """Return the id of the memory or event of a document, without the tenant's tag."""
    if not isinstance(code, int) or code < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        return "a document"
    memory, number, _ = unpack_code(code)
    return f"{(IdKind.MEMORY if memory else IdKind.EVENT).value}{number}"


def guard_row(table: str, kind: IdKind | None = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a function that decodes a row, its first argument, raise `Corrupt` with the row's id if that fails."""

    def guard(decode: Callable[P, T]) -> Callable[P, T]:
        @wraps(decode)
        def decode_guarded(*args: P.args, **named: P.kwargs) -> T:
            try:
                return decode(*args, **named)
            except IMPOSSIBLE as error:
                raise make_damage_error(table, _name_row(kind, args[0])) from error

        return decode_guarded

    return guard


def _name_row(kind: IdKind | None, row: Any) -> str:
    try:
        return "a row" if kind is None else f"{kind.value}{row['id']}"
    except LookupError:  # the schema is damaged
        return "a row"


def compute_checksum(*cells: object) -> int:
    """Return the CRC-32 of the cells of a row, as the column `checksum` stores it; bytes come last."""
    short = [cell for cell in cells if not isinstance(cell, bytes)]
    checksum = zlib.crc32(repr(short).encode("utf-8", "surrogatepass"))
    for cell in cells:
        if isinstance(cell, bytes):
            checksum = zlib.crc32(cell, checksum)
    return checksum


def is_sound_vector(*cells: Any) -> bool:
    """Return whether a vector (the fields of `Vector` and the checksum) has its length and matches its checksum."""
    *fields, checksum = cells
    _, _, dims, bits, _, data = fields
    try:
        whole = len(data) == count_vector_bytes(dims, bits)
        return whole and (checksum is None or checksum == compute_checksum(*fields))
    except IMPOSSIBLE:
        return False


# Mapping of table rows to dataclass instances.


T = TypeVar("T")
_COLUMN_NAMES: Final = {
    "session": "session_id",
    "agent": "agent_id",
    "occurred_us": "occurred_at",
    "recorded_us": "recorded_at",
    "created_us": "created_at",
    "expired_us": "expired_at",
    "expires_us": "expires_at",
    "redacted_us": "redacted_at",
    "valid_from_us": "valid_from",
    "valid_until_us": "valid_until",
    "last_accessed_us": "last_accessed",
    "added_us": "added_at",
    "at_us": "at",
    "last_used_us": "last_used_at",
    "opened_us": "opened_at",
    "removed_us": "removed_at",
    "resolved_us": "resolved_at",
    "revoked_us": "revoked_at",
    "started_us": "started_at",
    "updated_us": "updated_at",
    "used_us": "used_at",
}
"""Columns whose names differ from their fields' names."""


def read_fields(kind: type[T], row: DatabaseRow, /, **own: object) -> T:
    """Build a dataclass from the columns of its fields; `own` are those that have another form in the row."""
    names = (name for name in list_field_names(kind) if name not in own)
    return kind(**{name: row[_COLUMN_NAMES.get(name, name)] for name in names}, **own)


def list_cells(value: object, /, **own: object) -> dict[str, object]:
    """Return the fields of a dataclass as the parameters of a statement, which takes those that it names.

    `own` are parameters that have another form than the field, or no field.
    """
    return {name: getattr(value, name) for name in list_field_names(type(value))} | own


class RowMapper(Generic[T]):
    """Maps rows of one table to instances of a dataclass: columns in the order of the fields, and their converters."""

    def __init__(
        self,
        kind: type[T],
        table: str = "",
        *,
        ids: Mapping[str, IdKind],
        converted: Mapping[str, Callable[[Any], object]],
        unstored: Mapping[str, object] = MappingProxyType({}),
        computed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Take `ids`, the fields that store a number and show an id, and `converted`, other fields' converters.

        `unstored` are the values of fields that have no column, `computed` expressions over the cells of a row.
        """
        stored = (name for name in list_field_names(kind) if name not in unstored)
        self.columns: Final = tuple(_COLUMN_NAMES.get(name, name) for name in stored)
        expressions = {name: f"convert_{name}({name})" for name in converted}
        # As `format_id` does, without a call: a search reads hundreds.
        expressions |= {name: f"f'{one.value}{{{name}}}-{{tag_}}' if {name} else None" for name, one in ids.items()}
        expressions |= {name: repr(value) for name, value in unstored.items()} | dict(computed)
        space: dict[str, object] = {f"convert_{name}": convert for name, convert in converted.items()}
        checks = _write_type_checks(kind, ids=ids, converted=converted)
        self._of: Final[Callable[[Sequence[Any], str], T]] = compile_unpacker(
            kind, "cells_, tag_", expressions, space, checks=checks, made=unstored.keys()
        )
        self._table = table
        key, self._kind = next(iter(ids.items()))
        self._place = self.columns.index(_COLUMN_NAMES.get(key, key))

    def of(self, cells: Sequence[Any], tag: str) -> T:
        """Build an instance from the cells of `columns` and the tenant's tag; raises `Corrupt` for a damaged row."""
        return self._build([cells], tag)[0]

    def _build(self, rows: Iterable[Sequence[Any]], tag: str) -> list[T]:
        done: list[T] = []
        cells: Sequence[Any] = ()
        of = self._of
        try:
            for cells in rows:
                done.append(of(cells, tag))
        except IMPOSSIBLE as error:
            raise make_damage_error(self._table, f"{self._kind.value}{cells[self._place]}") from error
        return done

    def to_values(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[T]:
        """Build an instance from each row with these columns; columns that the dataclass lacks are ignored."""
        if not rows:
            return []
        given = tuple(columns)
        if given == self.columns:
            return self._build(rows, tag)
        try:
            pick = _make_picker(given, self.columns)
        except ValueError as error:  # the text of the schema is damaged
            raise make_damage_error(self._table, "a column") from error
        return self._build(map(pick, rows), tag)


def compile_type_check(kind: type[T]) -> Callable[[T], T]:
    """Compile a function that returns its argument, or raises `TypeError` for a field with another type than declared.

    Only fields of texts, bytes, integers and floats are checked.
    """
    space: dict[str, Any] = {}
    exec("\n ".join(["def check(one):", *_write_type_checks(kind, prefix="one."), "return one"]), space)  # noqa: S102 - names of our own fields
    return space["check"]


def _write_type_checks(
    kind: type[object], *, ids: Collection[str] = (), converted: Collection[str] = (), prefix: str = ""
) -> list[str]:
    """Return lines of code that raise `TypeError` for a damaged cell; one operation checks all cells of a type.

    `ids` are integers yet, and `converted` are not checked.
    """
    empty: Final = {"str": "''", "int": "0", "float": "0.0", "bytes": "b''"}
    terms: dict[str, list[str]] = {name: [one] for name, one in empty.items()}
    for one in fields(kind):  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        declared, _, none = str(one.type).partition(" | ")
        name = "int" if one.name in ids else declared
        if name in terms and one.name not in converted:
            terms[name].append(f"({prefix}{one.name} or {empty[name]})" if none else f"{prefix}{one.name}")
    joins = [f"{empty[name]}.join(({', '.join(terms[name])},))" for name in ("str", "bytes")]
    return [*joins, " | ".join(terms["int"]), " + ".join(terms["float"])]


@lru_cache(maxsize=64)
def _make_picker(columns: tuple[str, ...], wanted: tuple[str, ...]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return itemgetter(*(columns.index(name) for name in wanted))


SHORT: Final[Mapping[str, str]] = {
    "attribute": "a",
    "cardinality": "c",
    "confidence": "o",
    "contested": "d",
    "entity": "e",
    "expires_us": "x",
    "importance": "i",
    "layer": "l",
    "metadata": "m",
    "relation": "r",
    "scope": "b",
    "source_session": "n",
    "speaker": "w",
    "stance": "h",
    "status": "s",
    "superseded_by": "y",
    "text": "t",
    "topic": "p",
    "trust": "q",
    "type": "k",
    "valid_from_us": "f",
    "valid_until_us": "u",
    "value": "v",
}
"""Field → letter. A letter never changes its meaning, because the log is never rewritten."""
_LONG: Final = {letter: name for name, letter in SHORT.items()}


def shorten_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the field names of one side of a change by their letters."""
    return {SHORT.get(name, name): value for name, value in part.items()}


def expand_fields(part: Mapping[str, object]) -> dict[str, object]:
    """Replace the letters of one side of a change by the field names.

    >>> expand_fields(shorten_fields({"text": "tea", "linked": []}))
    {'text': 'tea', 'linked': []}
    """
    return {_LONG.get(name, name): value for name, value in part.items()}


class DatabaseRow(Protocol):
    """A database row: the driver's values by column name."""

    def __getitem__(self, key: str, /) -> Any: ...


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
        *("type", "cardinality", "stance", "confidence", "importance", "layer", "status", "relation"),
        *("valid_from_us", "valid_until_us", "expires_us", "superseded_by", "contested", "pinned", "provisional"),
        *("trust", "confirmations"),
    ]
)
"""Fields of a memory that its rows and the log keep after a deletion."""
NO_END: Final = -(1 << 62)
"""The cell, before all times, of a version without an end that is no current belief: replaced, or out of use.

In the file, NULL in `valid_until` is the state of current beliefs alone.
"""
_STATES: Final = {
    Status.ACTIVE: DocumentState.CURRENT,
    Status.CHALLENGED: DocumentState.CURRENT,
    Status.CANDIDATE: DocumentState.HIDDEN,
    Status.ARCHIVED: DocumentState.HIDDEN,
    Status.FORGOTTEN: DocumentState.HIDDEN,
    Status.DELETED: DocumentState.GONE,
}


def derive_document_state(status: Status, layer: Layer) -> DocumentState:
    """Return the visibility of a memory with this status and layer; code memories are hidden by default."""
    state = _STATES.get(status, DocumentState.PAST)
    unasked = layer is not Layer.CODEBASE or state is DocumentState.GONE
    return state if unasked else DocumentState.HIDDEN


def hash_text(text: str) -> int:
    """Hash the normal form of a text to a signed 8-byte integer, the key of its index."""
    digest = hashlib.blake2b(normalise_text(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def to_canonical_json(value: object) -> str:
    """Serialise to JSON with sorted keys and no spaces, the form that hashes and logs use."""
    return _CANONICAL.encode(value)


def pack_json(value: object) -> str | None:
    """Serialise a list or table as canonical JSON, an empty one as None."""
    return to_canonical_json(value) if value else None


def _parse_names(raw: str | None) -> tuple[str, ...]:
    names: list[str] = json.loads(raw) if raw else []
    "".join(names)  # raises TypeError for a name that is none
    return tuple(names)


def _parse_table(raw: str | None) -> dict[str, object]:
    return dict(json.loads(raw)) if raw else {}


_EVENT: Final = RowMapper(
    Event,
    "events",
    ids={"id": IdKind.EVENT},
    converted={
        "role": _ROLES.__getitem__,
        "source": _SOURCES.__getitem__,
        "flags": _parse_names,
        "tags": _parse_names,
        "metadata": _parse_table,
    },
)
_MEMORY: Final = RowMapper(
    Memory,
    "memories",
    ids={"id": IdKind.MEMORY, "superseded_by": IdKind.MEMORY},
    converted={
        "type": _TYPES.__getitem__,
        "cardinality": _CARDINALITIES.__getitem__,
        "stance": _STANCES.__getitem__,
        "layer": _LAYERS.__getitem__,
        "status": _STATUSES.__getitem__,
        "relation": lambda raw: Relation(raw) if raw else None,
        "contested": bool,
        "pinned": bool,
        "provisional": bool,
        "tags": _parse_names,
        "metadata": _parse_table,
    },
    unstored={"over": False, "due": False},
    computed={"valid_until_us": f"None if valid_until_us == {NO_END} else valid_until_us"},
)
_check_change: Final = compile_type_check(ChangeRecord)
_check_contest: Final = compile_type_check(ContestCase)
_check_job: Final = compile_type_check(Job)
_CHANGE_CELLS: Final = ("id", "kind", "actor", "reason", "at", "memory", "cause", "delta")
"""The cells that the checksum of a change covers."""


def to_event(row: DatabaseRow, tag: str) -> Event:
    """Build an event from a row."""
    return _EVENT.of([row[name] for name in _EVENT.columns], tag)


def to_events(columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[Event]:
    """Build events from tuples with these columns."""
    return _EVENT.to_values(columns, rows, tag)


def to_memory_row(memory: Memory, tag: str) -> dict[str, object]:
    """Return the columns of a version of a memory."""
    return list_cells(
        memory,
        id=parse_id_number(memory.id, IdKind.MEMORY, tag) if memory.id else 0,
        text_hash=hash_text(memory.text),
        type=memory.type.value,
        memory_type=get_engram_type(memory.type, memory.attribute),
        entity_key=normalise_name(memory.entity) if memory.entity else None,
        attribute_key=normalise_attribute(memory.attribute) if memory.attribute else None,
        cardinality=memory.cardinality.value,
        stance=memory.stance.value,
        layer=memory.layer.value,
        status=memory.status.value,
        relation=memory.relation.value if memory.relation else None,
        superseded_by=parse_id_number(memory.superseded_by, IdKind.MEMORY, tag) if memory.superseded_by else None,
        valid_until_us=fill_end(memory),
        tags=pack_json(memory.tags),
        metadata=pack_json(memory.metadata),
    )


def fill_end(memory: Memory) -> int | None:
    """Return the cell of the end of a version."""
    is_current = memory.expired_us is None and memory.status in HELD
    return NO_END if memory.valid_until_us is None and not is_current else memory.valid_until_us


def to_memory(row: DatabaseRow, tag: str) -> Memory:
    """Build a version of a memory from a row."""
    return _MEMORY.of([row[name] for name in _MEMORY.columns], tag)


def to_memories(columns: Sequence[str], rows: Sequence[Sequence[Any]], tag: str) -> list[Memory]:
    """Build versions of memories from tuples with these columns."""
    return _MEMORY.to_values(columns, rows, tag)


def to_change_row(change: ChangeRecord, tag: str) -> dict[str, object]:
    """Return the columns of a change; the delta holds only the changed fields."""
    delta: dict[str, object] = {"b": shorten_fields(change.before), "a": shorten_fields(change.after)}
    if change.support is not None:
        delta["e"] = [
            [
                parse_id_number(one.span.event_id, IdKind.EVENT, tag),
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
        "memory": parse_id_number(change.memory_id, IdKind.MEMORY, tag) if change.memory_id else None,
        "cause": change.cause,
        "delta": to_canonical_json({name: part for name, part in delta.items() if part or name == "e"}),
    }


@guard_row("changes", IdKind.CHANGE)
def to_change(row: DatabaseRow, tag: str) -> ChangeRecord:
    """Build a change from a row; its checksum is None in older versions."""
    checksum = row["checksum"]
    if checksum is not None and checksum != compute_checksum(*(row[name] for name in _CHANGE_CELLS)):
        raise ValueError("a change does not match its checksum")
    delta: dict[str, Any] = json.loads(row["delta"])
    memory = row["memory"]
    support = delta.get("e")
    return _check_change(
        ChangeRecord(
            id=format_id(IdKind.CHANGE, row["id"], tag),
            kind=ChangeKind(row["kind"]),
            actor=Actor(row["actor"]),
            reason=row["reason"],
            at_us=row["at"],
            memory_id=format_id(IdKind.MEMORY, memory, tag) if memory else None,
            cause=row["cause"],
            before=expand_fields(delta.get("b", {})),
            after=expand_fields(delta.get("a", {})),
            support=None
            if support is None
            else tuple(
                Support(Span(format_id(IdKind.EVENT, event, tag), start, stop), bytes.fromhex(claim_hash), *reader)
                for event, start, stop, claim_hash, *reader in support
            ),
        )
    )


def remove_words_from_delta(delta: str) -> str:
    """Remove the words from a delta: keep status, times, numbers and the places of the evidence."""
    parts: dict[str, Any] = json.loads(delta)
    sides = {name: expand_fields(part) for name, part in parts.items() if name != "e"}
    kept = {name: shorten_fields({key: side[key] for key in side if key in _WORDLESS}) for name, side in sides.items()}
    evidence = {
        name: [[*one[:3], "00" * (len(one[3]) // 2), *one[4:]] for one in part]
        for name, part in parts.items()
        if name == "e"
    }
    return to_canonical_json({name: part for name, part in kept.items() if part} | evidence)


def reword_delta(
    delta: str,
    fields: Sequence[tuple[str, object, object]],
    places: Mapping[tuple[int, int, int, str], tuple[int, int, str]],
) -> str:
    """Replace values of fields in a delta, and the places and hashes of its evidence."""
    parts: dict[str, Any] = json.loads(delta)
    moved = {(name, to_canonical_json(before)): now for name, before, now in fields}
    for name, part in parts.items():
        if name == "e":
            parts[name] = [[one[0], *places.get(tuple(one[:4]), one[1:4]), *one[4:]] for one in part]
        else:
            side = expand_fields(part)
            told = {key: moved.get((key, to_canonical_json(value)), value) for key, value in side.items()}
            if told != side:
                parts[name] = shorten_fields(told)
    return to_canonical_json(parts)


def to_contest_row(contest: ContestCase, number: int) -> dict[str, object]:
    """Return the columns of a contest with this number."""
    return list_cells(
        contest,
        id=number,
        vals=to_canonical_json(contest.values),
        memories=to_canonical_json(contest.memory_ids),
        state=contest.state.value,
        scopes=pack_json(dict(contest.scopes)),
    )


@guard_row("contests", IdKind.CONTEST)
def to_contest(row: DatabaseRow, tag: str) -> ContestCase:
    """Build a contest from a row."""
    return _check_contest(
        read_fields(
            ContestCase,
            row,
            id=format_id(IdKind.CONTEST, row["id"], tag),
            values=_parse_names(row["vals"]),
            memory_ids=_parse_names(row["memories"]),
            state=ContestState(row["state"]),
            scopes={name: str(value) for name, value in _parse_table(row["scopes"]).items()},
        )
    )


@guard_row("operations", IdKind.JOB)
def to_job(row: DatabaseRow, tag: str) -> Job:
    """Build a job from a row."""
    return _check_job(
        Job(
            id=format_id(IdKind.JOB, row["id"], tag),
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
            payload=row["payload"] or "",
            outcome=row["outcome"] or "",
        )
    )


def to_vector(row: DatabaseRow) -> Vector:
    """Build a vector from a row; its checksum is None in older versions."""
    return make_vector([row[name] for name in (*Vector._fields, "checksum")])


def make_vector(cells: Sequence[Any]) -> Vector:
    """Build a vector from its cells and its checksum."""
    if not is_sound_vector(*cells):
        raise make_damage_error("embeddings", name_document(cells[0]), repaired=True)
    return Vector._make(cells[:-1])


def is_memory_id(text: str, tag: str) -> bool:
    """Return whether an id of this tenant names a memory; raises `NotFound` for an id of another tenant."""
    return parse_id(text, tag)[0] is IdKind.MEMORY


# Conversion of the rows of evidence.


EvidenceRow = tuple[int, int, int, int, bytes, str | None]
"""Memory, event, start, stop, hash of the claim and extractor, in the order of the statements."""
_by_span: Final = itemgetter(1, 2, 3, 0, 4)
"""Event, start, stop, memory and claim of an evidence row."""
_new_span: Final = compile_row_constructor(Span)
_new_evidence: Final = compile_row_constructor(Evidence)


def to_evidence(row: Mapping[str, Any], tag: str) -> Evidence:
    """Build evidence from a row without the extractor's version, because older archives lack it."""
    columns = (row["memory"], row["event"], row["start"], row["stop"], row["claim_hash"])
    return to_evidence_list([(*columns, None)], tag)[0]


def to_evidence_row(one: Evidence, tag: str) -> dict[str, object]:
    """Return the columns of evidence."""
    return {
        "memory": parse_id_number(one.memory_id, IdKind.MEMORY, tag),
        "event": parse_id_number(one.span.event_id, IdKind.EVENT, tag),
        "start": one.span.start,
        "stop": one.span.stop,
        "claim_hash": one.claim_hash,
        "reader": one.reader or None,
    }


def to_evidence_list(found: Collection[EvidenceRow], tag: str) -> list[Evidence]:
    """Build evidence from tuples, without repetition, in the order of the journal; a search reads many."""
    try:
        _check_evidence(found)
    except IMPOSSIBLE as error:
        damaged = next((row for row in found if not _is_evidence(row)), None)
        key = "a row" if damaged is None else f"the evidence of {IdKind.MEMORY.value}{damaged[0]}"
        raise make_damage_error("evidence", key) from error
    rows = sorted(set(found), key=_by_span)
    memories, events = IdKind.MEMORY.value, IdKind.EVENT.value
    return [
        _new_evidence(
            (f"{memories}{memory}-{tag}", _new_span((f"{events}{event}-{tag}", start, stop)), claim_hash, reader or "")
        )
        for memory, event, start, stop, claim_hash, reader in rows
    ]


def _check_evidence(found: Collection[EvidenceRow]) -> None:
    """Raise `TypeError` for a cell of another type than its column; a few operations check all rows."""
    if found:
        *numbers, hashes, readers = zip(*found, strict=True)
        array("q", chain(*numbers))
        b"".join(hashes)
        "".join(reader or "" for reader in readers)


def _is_evidence(row: EvidenceRow) -> bool:
    try:
        _check_evidence([row])
    except IMPOSSIBLE:
        return False
    return True


# A tenant, and its key for keyed hashes: with a key file the database holds only a seed of it.


SEALED: Final = "sealed:"
"""Prefix of a sealed idempotency key."""
_MARK: Final = b"CREDKEY1"
_SEED_BYTES: Final = 16
_CHECK_BYTES: Final = 8


def draw_stored_key(key: bytes) -> bytes:
    """Draw what the database stores for a new tenant (32 bytes): its key, or a seed if `key` is that of a key file."""
    if not key:
        return draw_key()
    seed = _MARK + draw_key()[:_SEED_BYTES]
    return seed + _compute_check(key, seed)


def open_stored_key(stored: bytes, key: bytes) -> bytes:
    """Return the tenant's key; raises `Conflict` if the key file is missing, another, or was not used for it."""
    if not stored.startswith(_MARK):
        if key:
            raise Conflict(
                "this memory was begun without a tombstone key file",
                why="its key stands in the database, and a key file cannot take it out",
                fix="leave out tombstone_key_file, or begin a new memory with it",
            )
        return stored
    if not key:
        raise Conflict(
            "this memory needs its tombstone key file",
            why="it was begun with one, and tombstone_key_file is not set",
            fix="set tombstone_key_file to that file",
        )
    seed = stored[:-_CHECK_BYTES]
    if not hmac.compare_digest(stored[-_CHECK_BYTES:], _compute_check(key, seed)):
        raise Conflict(
            "this memory was begun with another tombstone key file",
            why="its seed does not match the given key",
            fix="set tombstone_key_file to the file with which it was begun",
        )
    return hmac.digest(key, seed, "sha256")


def _compute_check(key: bytes, seed: bytes) -> bytes:
    return hmac.digest(key, b"check" + seed, "sha256")[:_CHECK_BYTES]


def seal_key(key: bytes, name: str) -> str:
    """Return the form in which the idempotency key of deleted events is kept: a keyed hash."""
    return SEALED + hmac.digest(key, name.encode(), "sha256").hex()


_TENANT_BITS: Final = 63 - CODE_BITS
"""The number of a document in the full-text index is that of its tenant and its code."""
_check_tenant: Final = compile_type_check(TenantRecord)


@guard_row("tenants")
def to_tenant(row: DatabaseRow) -> TenantRecord:
    """Build a tenant from a row; raises `Conflict` without its key file."""
    if row["number"] >> _TENANT_BITS:
        raise ValueError("a number is too large for the full-text index")
    return _check_tenant(
        TenantRecord(
            user_id=row["user_id"],
            number=row["number"],
            tag=row["tag"],
            key=open_stored_key(row["hmac_key"], row["file_key"]),
            has_tombstones=bool(row["has_tombstones"]),
            hold=row["hold"],
        )
    )

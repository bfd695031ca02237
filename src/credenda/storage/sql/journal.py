"""The cells of a new event and its chain link. Every acknowledgement runs this, so it must be fast."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple, Protocol
from unicodedata import normalize

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ContestCase
from credenda.model.event import NewEvent
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.damage import compute_checksum, guard_row
from credenda.storage.rows import pack_json
from credenda.storage.sql.index_delta import compose_memory_words
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.store import Reader, Redaction, ReplayedRows, Rewording, pack_code
from credenda.storage.transfer import SEALED, seal_key
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text

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
    _redact_log(run, number, memory, writer.contests())
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
    _reword_log(run, number, wording, places)


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


def _redact_log(run: StatementRunner, number: int, memory: Memory, contests: Iterable[ContestCase]) -> None:
    """Keep only the wordless part of a memory's entries, and nothing of entries about contests of its slot.

    The caller logs afterwards what remains of those contests.
    """
    for row in run("changes_of_range", low=number, high=number + 1).fetchall():
        _redact_entry(run, row, _remove_words(row))
    _redact_contest_log(run, memory.id)
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    for contest in contests:
        if (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == pair:
            _redact_contest_log(run, contest.id)


def _redact_contest_log(run: StatementRunner, public_id: str) -> None:
    """Take the words out of the log of every contest that names a memory, or is the contest of that name."""
    for row in run("changes_about_contest", public_id=public_id).fetchall():
        _redact_entry(run, row, _NOTHING)


def _redact_entry(run: StatementRunner, row: Record, delta: str) -> None:
    """Leave of an entry its delta, or what remains of that, and no reason."""
    run("redact_change", id=row["id"], delta=delta, checksum=_compute_checksum(row, _REDACTED, delta))


def _compute_checksum(row: Record, reason: str, delta: str) -> int:
    return compute_checksum(row["id"], row["kind"], row["actor"], reason, row["at"], row["memory"], row["cause"], delta)


def _reword_log(
    run: StatementRunner,
    number: int,
    wording: Rewording,
    places: Mapping[tuple[int, int, int, str], tuple[int, int, str]],
) -> None:
    """Replace texts and the places of evidence in the entries of a memory, and remove reasons with its phrases."""
    phrases = [phrase for phrase in map(normalise_text, wording.phrases) if phrase]
    fields = [*(("text", before, now) for before, now in wording.texts.items()), *wording.fields]
    for row in run("changes_of_range", low=number, high=number + 1).fetchall():
        delta = _reword(row, fields, places)
        reason = normalise_text(row["reason"])
        if any(phrase in reason for phrase in phrases):
            _redact_entry(run, row, delta)
        elif delta != row["delta"]:
            run("reword_change", id=row["id"], delta=delta, checksum=_compute_checksum(row, row["reason"], delta))


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

"""Removal of deleted words from the rows, the evidence and the change log of memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol
from unicodedata import normalize

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.contest import ContestCase
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.damage import compute_checksum, guard_row
from credenda.storage.sql.match_words import compose_memory_words
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.store import Reader, Redaction, Rewording, pack_code
from credenda.storage.tombstone_key import SEALED, seal_key
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text

__all__ = ["redact_memory", "reword_memory", "seal_keys"]

_REDACTED: Final = "redacted"
_NOTHING: Final = "{}"
_FIELDS: Final = ("topic", "tags", "metadata", "entity", "entity_key")


def seal_keys(run: StatementRunner, key: bytes, event: int) -> None:
    """Replace the idempotency keys of jobs whose events all lost their words; the same call is still recognised."""
    for row in run("keys_of_deleted", event=event).fetchall():
        if not row["idempotency_key"].startswith(SEALED):
            run("set_key", id=row["id"], key=seal_key(key, row["idempotency_key"]))


def _list_forms(phrases: Iterable[str]) -> list[str]:
    """Return phrases in both forms of Unicode in which a reason may have them."""
    return list(dict.fromkeys(normalize(form, one) for one in phrases for form in ("NFC", "NFD")))


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
    for phrase in _list_forms(redaction.phrases):
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

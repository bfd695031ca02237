"""Export and import a whole memory as one JSON Lines file, without loss. The format: docs/reference/archive.md.

The first line names the format and the tenant, each row is a line, and the last line has their counts and hash, so that
a truncated or altered file is detected.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from credenda.clock import format_time
from credenda.errors import Conflict, Corrupt, Forbidden, Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor
from credenda.model.event import UPLOADED
from credenda.model.memory import ASSERTIVE_STANCES, HELD, Memory, Status, is_dreamed
from credenda.model.report import ExportReport, ImportReport
from credenda.portability.atomic_write import replace_file
from credenda.portability.importers.memory_files import PAM
from credenda.portability.importers.wording import ABOUT_USER, word_observation, word_relation
from credenda.portability.sources import Line, Lines
from credenda.runtime import Parts
from credenda.storage.rows import pack_json
from credenda.storage.store import EventFilter, MemoryFilter, Reader, Writer
from credenda.storage.transfer import MIGRATED, Cell, ExportHeader, ImportRow, TableRow, make_row_error
from credenda.text.normalize import normalise_name, normalise_text
from credenda.write.apply import Application, apply
from credenda.write.reconcile.candidate import hold_back_instructions

FORMAT: Final = "credenda-archive"
VERSION: Final = 1
_TAG: Final = re.compile(r"[0-9a-f]{5}[0-9]")
_KEY_BYTES: Final = 32
_BELIEVED: Final = HELD | {Status.ARCHIVED}


def export_archive(parts: Parts, path: Path, *, skip_damaged: bool = False) -> ExportReport:
    """Write a consistent snapshot of the tenant to a file.

    Rows that cannot be read raise `Corrupt`; with `skip_damaged` they are left out and named in the report.

    Two exports of the same state are identical bytes. The file contains the tenant's key: protect it like the memory.
    Raises `Invalid` for a folder, `Unavailable` if it cannot be written; an existing file is then unchanged.
    """
    # Write buffered usage records, so that the export includes them.
    waiting = [] if parts.read_only else parts.accesses.drain()
    if waiting:
        parts.store.commit(parts.user_id, lambda writer: [writer.put(access) for access in waiting])
    with replace_file(path) as file, parts.store.dump(parts.user_id, skip_damaged=skip_damaged) as dump:
        tally = _Tally()
        origin = dump.origin
        tenant = {
            "user_id": origin.user_id,
            "tag": origin.tag,
            "key": base64.b64encode(origin.key).decode(),
            "created_at": origin.created_us,
        }
        head = _encode_line({"format": FORMAT, "version": VERSION, "schema": origin.schema, "tenant": tenant})
        tally.add(head)
        file.write(head)
        for table, row in dump.rows:
            cells = {
                name: {"base64": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell
                for name, cell in row.items()
            }
            line = _encode_line({"table": table, "row": cells})
            tally.add(line, table)
            file.write(line)
        file.write(_encode_line({"end": tally.summary()}))
        counts = tally.counts
    return ExportReport(path=str(path), rows=counts, damaged=tuple(f"{one.table}: {one.key}" for one in dump.damaged))


def load_archive(
    parts: Parts, path: Path, lines: Lines, *, dry_run: bool = False, uploaded: bool = False
) -> ImportReport:
    """Import an archive from lines of which none has been read; `dry_run` checks and counts them.

    Of an `uploaded` one the standing instructions wait, also those that its messages will yield, and its pins are gone.
    """
    source = iter(lines)
    first = next(source, None)
    if first is None:
        raise Corrupt(f"{path.name} is empty", fix="export the archive again, or restore an intact copy")
    header, rows = _parse_header(first), _read_rows(first, source)
    lifts_erasure = any(one.matches(parts.user_id, header.tag) for one in parts.store.erasures())
    if lifts_erasure and uploaded:
        raise Forbidden(
            "this is the archive of a user who was erased here, and an upload never lifts an erasure",
            why="backups from before the erasure would then bring everything back",
            fix="whoever runs the server may import it there, with `credenda import FILE --user NAME`",
        )
    if dry_run:
        # Read an archive to its end, and say what stands in the way of its import.
        counts = dict(Counter(row.table for row in rows))
        with parts.store.reader(parts.user_id) as reader:
            has_events = bool(reader.find_events(EventFilter(limit=1, redacted=True)))
        problems = ("this memory is not empty, and an archive is imported into an empty one",) if has_events else ()
        return ImportReport(
            path=str(path),
            format="credenda",
            turns=counts.get("events", 0),
            rows=counts,
            problems=problems,
            passed_over=len(problems),
            lifted_erasure=lifts_erasure,
            dry_run=True,
        )
    counts = parts.store.load(parts.user_id, header, _mark_events(rows) if uploaded else rows)
    if uploaded and counts.get("memories"):
        parts.store.commit(parts.user_id, partial(_hold_back, now_us=parts.clock.now_us()))
    parts.indexes.drop(parts.user_id, store=parts.store_name)
    parts.jobs_ready.set()
    return ImportReport(
        path=str(path),
        format="credenda",
        turns=counts.get("events", 0),
        rows=counts,
        lifted_erasure=lifts_erasure,
    )


def _mark_events(rows: Iterable[ImportRow]) -> Generator[ImportRow]:
    """Flag the events of an archive; the chain of the journal does not cover flags."""
    for one in rows:
        row = one.row
        if one.table == "events":
            with suppress(ValueError, TypeError):  # a malformed cell is refused by the store
                row = {**row, "flags": pack_json([*json.loads(str(row.get("flags") or "[]")), UPLOADED])}
        yield one._replace(row=row)


def _hold_back(writer: Writer, now_us: int) -> None:
    """Let the standing instructions and the pins of a memory wait for the user."""
    instructions = writer.find(MemoryFilter(attribute="instruction", statuses=_BELIEVED))
    pinned = writer.find(MemoryFilter(pinned=True, statuses=_BELIEVED))
    apply(writer, hold_back_instructions(instructions, pinned), Application(actor=Actor.RULE, now_us=now_us))


def _encode_line(value: object) -> bytes:
    """Write one line: sorted keys, no spaces, UTF-8; numbers in Python's exact form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _from_json_cell(value: object) -> Cell:
    """Parse a column: a table is bytes; the store rejects other unknown values."""
    if isinstance(value, dict):
        (name, text), *more = cast("dict[str, str]", value).items()
        if name != "base64" or more:
            raise ValueError("neither bytes nor a column value")
        return base64.b64decode(text.encode(), validate=True)
    return cast("Cell", value)


@dataclass(slots=True)
class _Tally:
    """Running totals of an archive: rows per table, and a hash over every byte."""

    counts: dict[str, int] = field(default_factory=dict[str, int])
    _hash: Any = field(default_factory=hashlib.sha256)

    def add(self, line: bytes, table: str = "") -> None:
        self._hash.update(line)
        if table:
            self.counts[table] = self.counts.get(table, 0) + 1

    def summary(self) -> dict[str, object]:
        return {"rows": self.counts, "sha256": self._hash.hexdigest()}


def _parse_line(line: Line) -> Mapping[str, Any]:
    """Parse a line as a JSON object; raise `Corrupt` naming the line."""
    if line.too_long:
        raise make_row_error(line.number, "it is too long for an archive")
    try:
        value: object = json.loads(line.data)
    except (ValueError, RecursionError) as error:
        raise make_row_error(line.number, "it is not JSON") from error
    if not isinstance(value, dict):
        raise make_row_error(line.number, "it is not an object")
    return cast("Mapping[str, Any]", value)


def _parse_header(line: Line) -> ExportHeader:
    try:
        head = _parse_line(line)
    except Corrupt as error:
        if f'"{FORMAT}"'.encode() in line.data:
            raise
        raise _make_format_conflict() from error
    if head.get("format") != FORMAT:
        raise _make_format_conflict()
    version = head.get("version")
    if version != VERSION:
        raise Conflict(
            f"the archive has format version {str(version)[:20]!r}",
            why=f"a newer Credenda wrote it; this version supports {VERSION}",
            fix="install a newer version of Credenda; nothing was imported",
        )
    try:
        tenant = head["tenant"]
        origin = ExportHeader(
            user_id=tenant["user_id"],
            tag=tenant["tag"],
            key=base64.b64decode(tenant["key"], validate=True),
            created_us=tenant["created_at"],
            schema=head["schema"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise make_row_error(line.number, "it does not name a tenant") from error
    place = line.number
    if not all(type(number) is int for number in (origin.created_us, origin.schema)):
        raise make_row_error(place, "its times and versions are not whole numbers")
    named = type(origin.tag) is str and _TAG.fullmatch(origin.tag) and len(origin.key) == _KEY_BYTES
    if not named and (origin.tag, origin.key) != ("", b""):
        raise make_row_error(place, "tag and key are not valid for a tenant")
    return origin


def _make_format_conflict() -> Conflict:
    return Conflict(
        "this is not a Credenda archive",
        why=f"its first line does not name the format {FORMAT}",
        fix="leave out the format to detect it, or name another; nothing was imported",
    )


def _read_rows(first: Line, source: Iterable[Line]) -> Generator[ImportRow]:
    """Yield the rows between first and last line, and check them against the totals of the last line."""
    tally = _Tally()
    tally.add(first.data)
    place, ended = first.number, False
    for line in source:
        place = line.number
        table = _parse_line(line)
        if ended:
            raise make_row_error(place, "there is text after the end of the archive")
        if "end" in table:
            ended = True
            if table["end"] != tally.summary():
                raise make_row_error(place, "counts or hash do not match: the file was altered")
            continue
        name, row = _read_row(place, table)
        tally.add(line.data, name)
        yield ImportRow(place, name, row)
    if not ended:
        raise make_row_error(place, "the archive ends here without its last line: the file was cut off")


def _read_row(place: int, table: Mapping[str, Any]) -> tuple[str, TableRow]:
    name, row = table.get("table"), table.get("row")
    if not isinstance(name, str) or not isinstance(row, dict) or len(table) != 2:  # noqa: PLR2004 - those two
        raise make_row_error(place, "it is neither a row nor the last line")
    if name in MIGRATED:
        raise make_row_error(place, f"rows of {name} are in no archive")
    try:
        return name, {column: _from_json_cell(value) for column, value in cast("dict[str, object]", row).items()}
    except (ValueError, AttributeError, TypeError, binascii.Error) as error:
        raise make_row_error(place, "one of its columns is malformed") from error


# Export of a whole memory, or of its pages.


# Export beliefs in the format of the MCP reference memory server: entities, observations, relations.


MCP_MEMORY: Final = "mcp-memory"
_PAGE: Final = 500
_SELF: Final = "user"
_NO_TYPE: Final = "concept"
_PERSON: Final = "person"


def export_mcp_memory(parts: Parts, path: Path) -> ExportReport:
    """Write every active, asserted memory. Raises the same errors as the export of an archive."""
    graph = _Graph()
    with replace_file(path) as file, parts.store.reader(parts.user_id) as reader:
        for memory in _read_memories(reader, frozenset({Status.ACTIVE})):
            graph.take(memory)
        for line in graph.lines():
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return ExportReport(path=str(path), rows=graph.counts())


def _read_memories(reader: Reader, statuses: frozenset[Status]) -> Iterator[Memory]:
    """Return the memories of some statuses except derived ones, oldest first, so that a later export appends."""
    ids: list[str] = []
    below: int | None = None
    while True:
        found = reader.find(MemoryFilter(statuses=statuses, below=below, limit=_PAGE))
        ids += [memory.id for memory in found if not is_dreamed(memory)]
        if len(found) < _PAGE:
            break
        below = parse_id_number(found[-1].id, IdKind.MEMORY, reader.tenant.tag)
    ids.reverse()
    for start in range(0, len(ids), _PAGE):
        chunk = ids[start : start + _PAGE]
        by_id = {memory.id: memory for memory in reader.memories(chunk)}
        yield from (by_id[one] for one in chunk if one in by_id and by_id[one].stance in ASSERTIVE_STANCES)


@dataclass(slots=True)
class _Graph:
    """The content of the file; observations and relations keep their order, without duplicates."""

    _types: dict[str, str] = field(default_factory=dict[str, str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _observations: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    _relations: dict[tuple[str, str, str], None] = field(default_factory=dict[tuple[str, str, str], None])

    def take(self, memory: Memory) -> None:
        """Add a memory: in its imported form if its text is unchanged, else as an observation of its entity."""
        relation = _find_imported_relation(memory)
        if relation is not None:
            begin, kind, end = relation
            self._relations[self._entity(begin), kind, self._entity(end)] = None
            return
        entity = memory.metadata.get("entity")
        if isinstance(entity, str) and entity:
            kind = memory.metadata.get("entity_type")
            name = self._entity(entity, kind if isinstance(kind, str) else "")
            observation = memory.metadata.get("observation")
        else:
            about_user = normalise_name(memory.entity or _SELF) == _SELF
            name, observation = (
                (self._entity(ABOUT_USER, _PERSON) if about_user else self._entity(memory.entity or "")),
                memory.text,
            )
        if isinstance(observation, str):
            stands = observation == memory.text or _is_same(memory.text, word_observation(name, observation))
            self._observations[name][observation if stands else memory.text] = None

    def _entity(self, name: str, kind: str = "") -> str:
        """Return the exported name of an entity, for any spelling."""
        shown = self._names.setdefault(normalise_name(name) or name, name)
        self._observations.setdefault(shown, {})
        if kind or shown not in self._types:
            self._types[shown] = kind
        return shown

    def lines(self) -> Iterator[dict[str, object]]:
        """Return the lines of the file: entities first."""
        for name, observations in self._observations.items():
            kind = self._types.get(name) or _NO_TYPE
            yield {"type": "entity", "name": name, "entityType": kind, "observations": list(observations)}
        for begin, kind, end in self._relations:
            yield {"type": "relation", "from": begin, "to": end, "relationType": kind}

    def counts(self) -> dict[str, int]:
        """Count the exported entities, observations and relations."""
        observations = sum(map(len, self._observations.values()))
        return {"entities": len(self._observations), "observations": observations, "relations": len(self._relations)}


def _find_imported_relation(memory: Memory) -> tuple[str, str, str] | None:
    """Return the relation that a memory was imported from, if its text is unchanged."""
    found = memory.metadata.get("relation")
    if not isinstance(found, dict):
        return None
    table = cast("dict[str, object]", found)
    begin, kind, end = (str(table.get(name) or "") for name in ("from", "type", "to"))
    return (begin, kind, end) if _is_same(memory.text, word_relation(begin, kind, end)) else None


def _is_same(text: str, statement: str) -> bool:
    return normalise_text(text) == normalise_text(statement)


# Export memories as Portable AI Memory 1.0: one JSON file with every memory, its times and its status.


_STATUS: Final = {
    Status.ACTIVE: "active",
    Status.CHALLENGED: "active",
    Status.SUPERSEDED: "superseded",
    Status.MERGED: "superseded",
    Status.ARCHIVED: "archived",
    Status.INVALIDATED: "retracted",
}
_KNOWN: Final = frozenset({"fact", "preference"})
_INSTRUCTION: Final = "instruction"
_PAGE_TAG: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
_SPACES: Final = re.compile(r"\s+")
_VERSION: Final = "1.0"


def export_pam(parts: Parts, path: Path) -> ExportReport:
    """Write every asserted memory that is not deleted. Raises the same errors as the export of an archive."""
    now_us = parts.clock.now_us()
    counts = {"memories": 0, "relations": 0}
    head = {
        "schema": "portable-ai-memory",
        "schema_version": _VERSION,
        "export_id": hashlib.sha256(f"{parts.user_id}/{now_us}".encode()).hexdigest()[:32],
        "export_date": format_time(now_us),
        "export_type": "full",
        "owner": {"id": parts.user_id},
    }
    relations: list[dict[str, object]] = []
    with replace_file(path) as file, parts.store.reader(parts.user_id) as reader:
        file.write(json.dumps(head, ensure_ascii=False).encode()[:-1] + b', "memories": [')
        for memory in _read_memories(reader, frozenset(_STATUS)):
            file.write(b",\n" if counts["memories"] else b"\n")
            file.write(json.dumps(_describe(memory), ensure_ascii=False).encode())
            counts["memories"] += 1
            if memory.superseded_by:
                relations.append(
                    {
                        "id": f"{memory.superseded_by}-{memory.id}",
                        "from": memory.superseded_by,
                        "to": memory.id,
                        "type": "supersedes",
                        "created_at": format_time(memory.recorded_us),
                    }
                )
        counts["relations"] = len(relations)
        file.write(b'\n], "relations": ' + json.dumps(relations).encode() + b"}\n")
    return ExportReport(path=str(path), rows=counts)


def _describe(memory: Memory) -> Mapping[str, Any]:
    kind = "instruction" if memory.attribute == _INSTRUCTION else str(memory.type)
    custom = None if kind in _KNOWN or kind == _INSTRUCTION else kind
    slot = {"entity": memory.entity, "attribute": memory.attribute, "value": memory.value, "scope": memory.scope}
    return {
        "id": memory.id,
        "type": "custom" if custom else kind,
        "custom_type": custom,
        "status": _STATUS[memory.status],
        "content": memory.text,
        "content_hash": hash_content(memory.text),
        "tags": [tag for tag in memory.tags if _PAGE_TAG.fullmatch(tag)],
        "confidence": {"initial": memory.confidence, "current": memory.confidence, "decay_model": "none"},
        "temporal": {
            "created_at": format_time(memory.created_us),
            "updated_at": format_time(memory.recorded_us),
            "valid_from": _show(memory.valid_from_us),
            "valid_until": _show(memory.valid_until_us or memory.expires_us),
            "superseded_by": memory.superseded_by or None,
        },
        "provenance": {"platform": "credenda", "extraction_method": "api_export"},
        "metadata": {name: value for name, value in slot.items() if value},
    }


def _show(time_us: int | None) -> str | None:
    return None if time_us is None else format_time(time_us)


def hash_content(text: str) -> str:
    """Return the hash of a content as the format defines it: of the trimmed, lower-case, composed text.

    >>> hash_content(" I  like Tea. ") == hash_content("i like tea.")
    True
    """
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


_ARCHIVE: Final = "credenda"
EXPORTS: Final[Mapping[str, Callable[[Parts, Path], ExportReport]]] = {
    _ARCHIVE: export_archive,
    MCP_MEMORY: export_mcp_memory,
    PAM: export_pam,
}


def export_file(parts: Parts, path: Path, format: str, *, skip_damaged: bool = False) -> ExportReport:
    """Write a file; raise `Invalid` for an unknown format or a folder, `Unavailable` if it cannot be written.

    Damaged rows raise `Corrupt`; `skip_damaged` leaves them out of an archive.
    """
    write = EXPORTS.get(format) if isinstance(format, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if write is None:
        raise Invalid(f"{format!r} is not an export format", fix=f"choose one of {', '.join(EXPORTS)}")
    if not skip_damaged:
        return write(parts, path)
    if format != _ARCHIVE:
        why = "only an archive names the rows that it lacks"
        raise Invalid("damaged rows cannot be left out of this format", why=why, fix=f"export as {_ARCHIVE}")
    return export_archive(parts, path, skip_damaged=True)

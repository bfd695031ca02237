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
from collections import Counter
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from credenda.errors import Conflict, Corrupt
from credenda.model.change import Actor
from credenda.model.event import UPLOADED
from credenda.model.memory import HELD, Status
from credenda.model.report import ExportReport, ImportReport
from credenda.portability.atomic_write import replace_file
from credenda.portability.sources import Line, Lines
from credenda.runtime import Parts
from credenda.storage.rows import pack_json
from credenda.storage.store import EventFilter, MemoryFilter, Writer
from credenda.storage.transfer import MIGRATED, Cell, ExportHeader, ImportRow, TableRow, make_row_error
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
            line = _encode_line({"table": table, "row": {name: _to_json_cell(cell) for name, cell in row.items()}})
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
            dry_run=True,
        )
    counts = parts.store.load(parts.user_id, header, _mark_events(rows) if uploaded else rows)
    if uploaded and counts.get("memories"):
        parts.store.commit(parts.user_id, partial(_hold_back, now_us=parts.clock.now_us()))
    parts.indexes.drop(parts.user_id, store=parts.store_name)
    parts.jobs_ready.set()
    return ImportReport(path=str(path), format="credenda", turns=counts.get("events", 0), rows=counts)


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


def _to_json_cell(cell: Cell) -> object:
    return {"base64": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell


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
        raise make_row_error(line.number, "it is not a table")
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

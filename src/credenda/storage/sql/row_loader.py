"""The import of a tenant's rows: each is checked, and its words are indexed; a backend says how a row is inserted."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, NamedTuple

from credenda.errors import IMPOSSIBLE, SAVE_THE_REST, Conflict, Corrupt, make_damage_error
from credenda.ids import IdKind
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.records import count_vector_bytes
from credenda.storage.rows import compile_type_check, guard_row, name_document, to_evidence
from credenda.storage.sql.reader import compose_event_words, compose_memory_words
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.sql.writer import GENESIS, compute_chain_link, compute_content_hmac
from credenda.storage.store import CODE_BITS, Finding, TenantRecord, pack_code
from credenda.storage.transfer import (
    ARCHIVED,
    MIGRATED,
    Cell,
    DamagedRow,
    ExportHeader,
    ImportRow,
    TableRow,
    make_row_error,
)

# The rows of a tenant's tables as plain columns: which are sound, and how one is named without a word of its text.


TABLES: Final = ARCHIVED
ORDER: Final = (*ARCHIVED, *MIGRATED)
"""The tables of a tenant, in the order in which a migration writes them."""
_INTEGERS: Final = range(-(1 << 63), 1 << 63)
DECODERS: Final[Mapping[str, Callable[[Any, str], object]]] = {
    "events": rows.to_event,
    "memories": rows.to_memory,
    "evidence": to_evidence,
    "changes": rows.to_change,
    "contests": rows.to_contest,
    "operations": rows.to_job,
    "embeddings": lambda row, _: rows.to_vector(row),
}
_LETTERS: Final = {
    "events": IdKind.EVENT,
    "memories": IdKind.MEMORY,
    "changes": IdKind.CHANGE,
    "contests": IdKind.CONTEST,
    "operations": IdKind.JOB,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of our schema."""

    name: str
    kinds: tuple[type, ...]
    required: bool
    key_place: int


def is_of_kind(cell: Cell, kinds: tuple[type, ...]) -> bool:
    """Return whether a cell that is not None can be in a column of these kinds."""
    if isinstance(cell, bool) or not isinstance(cell, kinds):
        return False
    return not isinstance(cell, int) or cell in _INTEGERS


def is_sound(table: str, row: TableRow, columns: Iterable[Column], tag: str) -> bool:
    """Return whether every cell has the type of its column, and the row can be decoded."""
    for column in columns:
        cell = row[column.name]
        if column.required if cell is None else not is_of_kind(cell, column.kinds):
            return False
    decode = DECODERS.get(table)
    try:
        if decode is not None:
            decode(row, tag)
    except Corrupt:
        return False
    return True


def name_row(table: str, row: TableRow, keys: Iterable[Column]) -> str:
    """Return the id of a row without a word of its text."""
    if table in _LETTERS:
        version = f" version {row['version']}" if table == "memories" else ""
        return f"{_LETTERS[table].value}{row['id']}{version}"
    if table == "embeddings":
        return name_document(row["code"])  # type: ignore[arg-type]
    named = {column.name: row[column.name] for column in keys}
    return ", ".join(f"{name} {cell}" for name, cell in named.items() if isinstance(cell, int)) or "a row"


def write_query(table: str, columns: Sequence[Column]) -> str:
    """Return the statement that reads a user's rows of a table by primary key."""
    order = ", ".join(column.name for column in list_keys(columns))
    names = ", ".join(column.name for column in columns)
    return f"SELECT {names} FROM {table} WHERE user_id = :user_id ORDER BY {order}"  # noqa: S608 - names of our schema


def list_keys(columns: Iterable[Column]) -> list[Column]:
    """Return the columns of the primary key, in its order."""
    return sorted((column for column in columns if column.key_place), key=lambda column: column.key_place)


def filter_rows(
    table: str,
    columns: Sequence[Column],
    read: Callable[[], Iterable[Sequence[Any]]],
    *,
    tag: str,
    damaged: list[DamagedRow] | None,
    broken: tuple[type[Exception], ...] = (),
) -> Iterator[TableRow]:
    """Yield the sound rows among those that `read` gets by the statement of `write_query`.

    Damaged ones are added to a list; without one the first of them raises `Corrupt`. `broken` are the errors with which
    a damaged file ends the reading.
    """
    names, keys, key = [column.name for column in columns], list_keys(columns), "its first row"
    try:
        for found in read():
            row = dict(zip(names, found, strict=True))
            key = name_row(table, row, keys)
            if is_sound(table, row, columns, tag):
                yield row
            elif damaged is None:
                raise make_damage_error(table, key)
            else:
                damaged.append(DamagedRow(table, key))
    except broken:
        if damaged is None:
            raise
        damaged.append(DamagedRow(table, f"all rows after {key}"))


_DROPPED: Final = frozenset({"entities", "relations", "tool_call_records", "a2a_tasks"})
"""Tables that archives of older schemas may name. No statement ever wrote them, so an import skips their rows."""
_DROPPED_IN: Final = 10
"""The schema version without these tables."""
_ABSENT: Final = dict.fromkeys(("checksum", "payload", "outcome"))
"""Columns that rows of older archives lack."""
_check_header: Final = compile_type_check(ExportHeader)
_OWNERS: Final = range(1, 1 << 31)
"""The bound of event and memory numbers: a larger number would name a document of another tenant."""
_OFFSETS: Final = range(1 << 63)
_ORDINALS: Final = range(1 << 12)


class LoadTarget(ABC):
    """The tables of an empty tenant, inside a write transaction."""

    refused: ClassVar[tuple[type[Exception], ...]]
    """The errors with which the database refuses a row."""

    @abstractmethod
    def list_columns(self, table: str) -> list[Column]:
        """Return the columns of a table but `user_id`."""

    @abstractmethod
    def insert(self, place: int, table: str, row: TableRow) -> None:
        """Insert a row of an archive, which stands at a place of it."""

    @abstractmethod
    def find_event(self, number: int) -> Record | None:
        """Return role, speaker, occurred_at, text and passages of an event that was inserted."""

    @abstractmethod
    def put_words(self, code: int, body: str) -> None:
        """Index the words of a document."""

    @abstractmethod
    def finish(self) -> None:
        """Insert what is not inserted yet, and say that all words are indexed."""


def check_schema(origin: ExportHeader, latest: int) -> None:
    """Raise `Conflict` for an archive of a newer schema."""
    if origin.schema > latest:
        raise Conflict(
            f"this archive has schema version {origin.schema}",
            why=f"it was written by a newer Credenda; this one knows {latest}",
            fix="install a newer version of Credenda; nothing was imported",
        )


def make_occupied_error(table: str) -> Conflict:
    """Build the error for a tenant that has rows already."""
    return Conflict(
        "this user has memories already",
        why=f"an archive is a whole memory and is never merged with another; there are {table}",
        fix="import it under another user or into a new file, or erase this user first",
    )


def make_tag_error(tag: str) -> Conflict:
    """Build the error for a tag that another tenant of this database has."""
    return Conflict(
        "another user of this database has the ids of this archive",
        why=f"ids that end in -{tag} must name one thing only; the archive was perhaps taken from here",
        fix="import it into another file, or erase that user first",
    )


@guard_row("tenants")
def to_header(row: tuple[str, bytes, int], user_id: str, schema: int) -> ExportHeader:
    """Build an export header from a tenant's tag, key and time; tag and key are empty for one that never wrote."""
    tag, key, created_us = row
    return _check_header(ExportHeader(user_id=user_id, tag=tag, key=key, created_us=created_us, schema=schema))


def load_into(target: LoadTarget, origin: ExportHeader, placed: Iterable[ImportRow], latest: int) -> dict[str, int]:
    """Insert rows in the order of an archive and return the number of rows per table; see `TenantTransfer.load`."""
    loading = _RowLoader(target, origin, latest)
    for place, table, row in placed:
        loading.take(place, table, row)
    target.finish()
    return loading.counts


class _RowLoader:
    """The import of rows into one tenant."""

    def __init__(self, target: LoadTarget, origin: ExportHeader, latest: int) -> None:
        self.counts: dict[str, int] = {}
        self._target = target
        self._tag = origin.tag
        self._complete = origin.schema == latest
        self._skipped = _DROPPED if origin.schema < _DROPPED_IN else frozenset[str]()
        self._columns = {table: target.list_columns(table) for table in ORDER}
        self._reached = 0

    def take(self, place: int, table: str, row: TableRow) -> None:
        """Check and insert one row, and index its words; skip a row of a dropped table."""
        if table in self._skipped:
            return
        columns = self._columns.get(table)
        if columns is None:
            raise make_row_error(place, f"there is no table {table[:64]!r}")
        rank = ORDER.index(table)
        if rank < self._reached:
            raise make_row_error(place, f"{table} must come before {ORDER[self._reached]}")
        if not self._tag:
            raise make_row_error(place, "an archive of a user who never wrote holds rows")
        self._reached = rank
        self._check_cells(place, columns, row)
        try:
            decode = DECODERS.get(table)
            decoded = decode and decode({**_ABSENT, **row}, self._tag)
            if isinstance(decoded, Memory):  # rows of older archives have no end where newer ones have that cell
                row = {**row, "valid_until": rows.fill_end(decoded)}
            self._target.insert(place, table, row)
            self._index(table, row)
        except (Corrupt, *self._target.refused, ValueError, KeyError, TypeError, AttributeError) as error:
            raise make_row_error(place, f"a row of {table} is not valid in a store ({type(error).__name__})") from error
        self.counts[table] = self.counts.get(table, 0) + 1

    def _check_cells(self, place: int, columns: Iterable[Column], row: TableRow) -> None:
        given, names = frozenset(row), frozenset(column.name for column in columns)
        if not (given == names if self._complete else given <= names):
            odd = sorted(given ^ names)
            raise make_row_error(place, f"its columns are not those of the table: {', '.join(odd)[:200]}")
        for column in columns:
            cell = row.get(column.name)
            if cell is None and column.required and column.name in row:
                raise make_row_error(place, f"{column.name} is missing")
            if cell is not None and not is_of_kind(cell, column.kinds):
                raise make_row_error(place, f"{column.name} cannot be a {type(cell).__name__}")

    def _index(self, table: str, row: TableRow) -> None:
        """Index the words of a document as the writer does: an event or its passages, and a memory's first version."""
        if table == "events":
            number = _is_within(row["id"], _OWNERS)
            if row["passages"] == 1 and row["text"]:
                self._target.put_words(pack_code(number, memory=False), _compose_event_body(row, str(row["text"])))
        elif table == "passages":
            self._passage(row)
        elif table == "memories":
            number = _is_within(row["id"], _OWNERS)
            if row["version"] == 1 and row["text"]:
                body = compose_memory_words(*(row[name] for name in ("text", "entity", "attribute", "value")))  # type: ignore[arg-type]
                self._target.put_words(pack_code(number, memory=True), body)
        elif table == "embeddings":
            _is_within(row["code"], range(1 << CODE_BITS))
            dims, bits, data = row["dims"], row["bits"], row["data"]
            if not (isinstance(dims, int) and isinstance(bits, int) and isinstance(data, bytes)) or dims < 1:
                raise ValueError("no vector")
            if len(data) != count_vector_bytes(dims, bits):
                raise ValueError("a vector of another length")
        elif table == "contests":
            _check_names(row)

    def _passage(self, row: TableRow) -> None:
        number, ordinal = _is_within(row["event"], _OWNERS), _is_within(row["ordinal"], _ORDINALS)
        event = self._target.find_event(number)
        if event is None or ordinal >= event["passages"]:
            raise ValueError("a passage of no event")
        start, stop = _is_within(row["start"], _OFFSETS), _is_within(row["stop"], _OFFSETS)
        if not 0 <= start <= stop or (event["text"] and stop > len(event["text"])):
            raise ValueError("a passage beyond its event")
        if event["text"]:
            code = pack_code(number, ordinal, memory=False)
            self._target.put_words(code, _compose_event_body(event, event["text"][start:stop]))


def _is_within(cell: Cell, bounds: range) -> int:
    if not isinstance(cell, int) or cell not in bounds:
        raise ValueError("a number out of its range")
    return cell


def _check_names(row: TableRow) -> None:
    for name in ("vals", "memories"):
        listed: object = json.loads(str(row[name]))
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):  # pyright: ignore[reportUnknownVariableType]
            raise ValueError("not a list of words")


def _compose_event_body(row: Any, text: str) -> str:  # noqa: ANN401 - a row of the driver, or one about to become one
    return compose_event_words(row["role"], row["speaker"], row["occurred_at"], text)


# Checks of one tenant's rows: whether derived rows agree with their sources, and the journal with its chain.


_SHOWN: Final = 5
"""The number of rows that a finding names; the others are counted."""
RESTORE: Final = "restore an earlier backup, and keep the file to find the lost rows"
_ROW_CHECKS: Final = {"events": "journal_rows", "passages": "journal_rows", "changes": "change_rows"}
_REBUILD: Final = "run `credenda rebuild`, which restores it from the change log"
_REPAIR: Final = "run `credenda doctor --repair`, which deletes them"

NameRows = Callable[[str], Iterable[str]]
"""Returns the names of the rows that a check finds wrong."""


class RowCheck(NamedTuple):
    """A check for invalid rows: their description, and the fix. The statement `check_NAME` names the rows.

    The statements `repair` delete rows that are derived or no longer of use; they never change the journal or the log.
    """

    what: str
    fix: str
    repair: tuple[str, ...] = ()


CHECKS: Final[Mapping[str, RowCheck]] = {
    "current_version": RowCheck("memories without exactly one current version", _REBUILD),
    "evidence": RowCheck(
        "pieces of evidence of a missing memory or event",
        f"{_REBUILD}; `credenda doctor --repair` deletes evidence of missing memories",
        ("drop_lost_evidence",),
    ),
    "successor": RowCheck("memories superseded by a missing one", _REBUILD),
    "contests": RowCheck("contests of a missing memory", _REBUILD),
    "change_log": RowCheck("memories that no change in the log explains", RESTORE),
    "change_numbers": RowCheck("gaps in the log, where changes are missing", RESTORE),
    "journal_numbers": RowCheck("gaps in the journal, where events are missing", RESTORE),
    "passages": RowCheck("passages of missing events", _REPAIR, ("drop_lost_passages",)),
    "vectors": RowCheck("vectors of missing or redacted documents", _REPAIR, ("keep_vector_head", "drop_lost_vectors")),
    "accesses": RowCheck("impressions of missing memories", _REPAIR, ("drop_lost_accesses",)),
    "jobs": RowCheck("jobs for missing events", _REPAIR, ("drop_lost_jobs",)),
    "vector_checksums": RowCheck(
        "vectors that do not match their length or checksum",
        "run `credenda doctor --repair`, which makes them again",
        ("keep_vector_head", "drop_altered_vectors"),
    ),
    "tombstone_checksums": RowCheck(
        "tombstones that do not match their checksum, so that a deleted text may be stated again", RESTORE
    ),
    "dead_jobs": RowCheck(
        "jobs gave up after too many attempts", "see `credenda stats`; their messages are stored verbatim"
    ),
}


def run_check(name: str, name_rows: NameRows) -> Iterator[Finding]:
    """Yield the finding of a check, if it names any row."""
    check = CHECKS[name]
    found = list(name_rows(name))
    if found:
        yield Finding(check=name, detail=f"{len(found)} {check.what}", where=name_first(found), fix=check.fix)


def name_first(names: Sequence[str]) -> str:
    """Return the first of some names."""
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])


def complete_check(
    check: str,
    found: Iterator[Finding],
    *,
    place: str,
    damage: tuple[type[Exception], ...] = IMPOSSIBLE,
    passes: Callable[[Exception], bool] = lambda _: False,
) -> list[Finding]:
    """Collect the findings of a check; damage that ends the check is one of them, an error that `passes` is raised."""
    done: list[Finding] = []
    try:
        for finding in found:
            done.append(finding)  # noqa: PERF402 - those before the damage are kept
    except damage as error:
        if passes(error):
            raise
        detail = f"this check could not be completed ({type(error).__name__})"
        done.append(Finding(check=check, detail=detail, where=place, fix=RESTORE))
    return done


def check_rows(dump: Callable[[list[str], list[DamagedRow]], Iterable[object]]) -> Iterator[Finding]:
    """Yield a finding for each table with rows that cannot be decoded; vectors have a check with a repair."""
    damaged: list[DamagedRow] = []
    for _ in dump([one for one in TABLES if one != "embeddings"], damaged):
        pass
    for table in dict.fromkeys(one.table for one in damaged):
        names = [one.key for one in damaged if one.table == table]
        yield Finding(
            check=_ROW_CHECKS.get(table, "rows"),
            detail=f"{len(names)} rows of {table} cannot be read",
            where=f"{table}: {name_first(names)}",
            fix=SAVE_THE_REST,
        )


def repair_rows(run: Callable[[str], object], name_rows: NameRows, findings: Iterable[Finding]) -> list[Finding]:
    """Delete the derived rows that findings name, inside the caller's transaction; return the findings after that.

    A finding that the repair cannot fix is found once more and stays unrepaired.
    """
    done: list[Finding] = []
    for finding in findings:
        check = CHECKS.get(finding.check)
        if check is None or not check.repair:
            done.append(finding)
            continue
        for statement in check.repair:
            run(statement)
        left = next(run_check(finding.check, name_rows), None)
        done.append(replace(finding, repaired=True) if left is None else left)
    return done


def check_journal_chain(run: StatementRunner, tenant: TenantRecord) -> Iterator[Finding]:
    """Yield the first break of the journal's chain, and every event whose text is not what was recorded."""
    previous = GENESIS
    for row in run("journal_links"):
        emptied = row["redacted_at"] is not None and not row["text"]  # it has lost the names that its link covers
        if not emptied and compute_chain_link(previous, dict(row)) != row["chain_hash"]:
            yield Finding(
                check="journal_chain",
                detail=f"the chain of the journal breaks at event {row['id']}",
                where=f"e{row['id']}",
                fix=RESTORE,
            )
            return
        if row["redacted_at"] is None and compute_content_hmac(tenant.key, row["text"]) != row["content_hmac"]:
            yield Finding(
                check="journal_text",
                detail=f"the text of event {row['id']} is not what was recorded",
                where=f"e{row['id']}",
                fix=RESTORE,
            )
        previous = row["chain_hash"]

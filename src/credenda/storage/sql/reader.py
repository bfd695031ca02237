"""The rows of one tenant, read with named statements."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, NamedTuple

from credenda import limits
from credenda.clock import LONGEST_WAIT_US
from credenda.errors import make_damage_error
from credenda.ids import IdKind, extract_id_digits, format_id, parse_id_number, parse_id_numbers, parse_serial
from credenda.model.change import ChangeRecord, ContestCase, ContestState
from credenda.model.claim import Evidence
from credenda.model.core import RecallCounts
from credenda.model.evaluation import JUDGED, FeedbackCounts
from credenda.model.event import CODE, Event
from credenda.model.job import DutyRun
from credenda.model.memory import Layer, Memory, Status
from credenda.storage import rows
from credenda.storage.rows import compile_type_check, guard_row, read_fields, seal_key, to_evidence_list
from credenda.storage.sql.statements import Cursor, Record, StatementRunner
from credenda.storage.store import (
    Access,
    ChangeFilter,
    Counts,
    Delta,
    Document,
    DocumentState,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    SchedulerLease,
    Spend,
    TenantRecord,
    Vector,
    pack_code,
    unpack_code,
)
from credenda.text.passages import compose_event_text, compose_memory_text
from credenda.text.tokens import fold, is_run, segment_document, segment_query, tokenize

# The documents, states and vectors that an index has not read yet.


_check_document: Final = compile_type_check(Document)


def read_delta(
    run: StatementRunner, tip: IndexPosition, heads: IndexPosition, *, model_id: str | None, limit: int
) -> Delta:
    """Read at most `limit` events, changes and vectors between the index position `heads` and the end `tip`."""
    if tip == heads:
        return Delta(heads=heads)
    documents, event_head = _read_events(run, heads.event, limit) if tip.event > heads.event else ([], heads.event)
    change_head = int(run("change_at", after=heads.change, limit=limit).fetchone()[0])
    states: list[tuple[int, DocumentState]] = []
    for row in run("changed_memories", after=heads.change, until=change_head):
        document = _build_memory_document(row)
        states.append((document.code, document.state))
        if row["fresh"] and document.state is not DocumentState.GONE:
            documents.append(document)
    redacted = run("redacted_events", event=heads.event, after=heads.change, until=change_head).fetchall()
    for row in redacted:
        if row["passages"] == 1:
            spans = None
        else:
            found = run("passages_of", event=row["id"])
            spans = [(passage["ordinal"], passage["start"], passage["stop"]) for passage in found]
        documents += _build_event_documents(row, spans)
        if not row["text"]:
            states += [
                (pack_code(row["id"], ordinal, memory=False), DocumentState.GONE) for ordinal in range(row["passages"])
            ]
    until = int(run("vector_at", after=heads.vector, limit=limit).fetchone()[0])
    vectors = (
        [rows.to_vector(row) for row in run("vectors_after", after=heads.vector, until=until, model_id=model_id)]
        if until > heads.vector
        else []
    )
    vector_head = until if until > heads.vector else max(heads.vector, tip.vector)
    return Delta(
        heads=IndexPosition(event_head, change_head, vector_head),
        documents=tuple(sorted(documents, key=lambda document: document.code)),
        states=tuple(sorted(states)),
        vectors=tuple(sorted(vectors, key=lambda vector: vector.code)),
    )


def _read_events(run: StatementRunner, after: int, limit: int) -> tuple[list[Document], int]:
    found = run("events_after", after=after, limit=limit).fetchall()
    if not found:
        return [], after
    until = found[-1]["id"]
    cut: dict[int, list[tuple[int, int, int]]] = {}
    if any(row["passages"] != 1 for row in found):
        for row in run("passages_after", after=after, until=until):
            cut.setdefault(row["event"], []).append((row["ordinal"], row["start"], row["stop"]))
    documents: list[Document] = []
    for row in found:
        documents += _build_event_documents(row, cut.get(row["id"]))
    return documents, until


@guard_row("events", IdKind.EVENT)
def _build_event_documents(row: Record, spans: Iterable[tuple[int, int, int]] | None) -> list[Document]:
    """Build the documents of an event's passages; without spans its text is one passage."""
    if not row["text"]:
        return []
    # Whether a code scan created an event: a search then finds its memory instead.
    return [
        _check_document(
            Document(
                code=pack_code(row["id"], ordinal, memory=False),
                text=compose_event_text(
                    speaker=row["speaker"],
                    role=row["role"],
                    occurred_us=row["occurred_at"],
                    text=row["text"][start:stop],
                ),
                session=row["session_id"],
                speaker=row["speaker"],
                occurred_us=row["occurred_at"],
                state=DocumentState.HIDDEN
                if row["flags"] is not None and CODE in json.loads(row["flags"])
                else DocumentState.CURRENT,
            )
        )
        for ordinal, start, stop in ([(0, 0, len(row["text"]))] if spans is None else spans)
    ]


@guard_row("memories", IdKind.MEMORY)
def _build_memory_document(row: Record) -> Document:
    return _check_document(
        Document(
            code=pack_code(row["id"], memory=True),
            text=compose_memory_text(row["text"], entity=row["entity"], attribute=row["attribute"], value=row["value"]),
            session="",
            speaker=row["speaker"],
            occurred_us=row["valid_from"] or row["created_at"],
            state=rows.derive_document_state(Status(row["status"]), Layer(row["layer"])),
        )
    )


def renew_indexes(run: StatementRunner) -> None:
    """Give the rows of a tenant another generation and delete the stored indexes, so that all are built again."""
    for name in ("renew_generation", "delete_index_images"):
        run(name)


# The words under which documents are indexed, and whether a document holds a word, as the full-text index says.


# Letters and digits, except New Tai Lue and Vedic marks, which FTS5 treats as spaces.
_WORDS: Final = re.compile(r"[^\W_\u19b0-\u19c9\u1cf2\u1cf3]+")


def compose_event_words(role: str, speaker: str, occurred_us: int, text: str) -> str:
    """Return the text under which the full-text index stores an event's passage."""
    return segment_document(fold(compose_event_text(speaker=speaker, role=role, occurred_us=occurred_us, text=text)))


def compose_memory_words(text: str, entity: str | None, attribute: str | None, value: str | None) -> str:
    """Return the text under which the full-text index stores a memory."""
    return segment_document(fold(compose_memory_text(text, entity=entity, attribute=attribute, value=value)))


class MemoryWords:
    """The words of memories, each split once."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[Memory, frozenset[str]]] = {}

    def of(self, memory: Memory) -> frozenset[str]:
        """Return the words of a memory and their stems."""
        held = self._held.get(memory.id)
        if held is None or held[0] is not memory:
            body = compose_memory_words(memory.text, memory.entity, memory.attribute, memory.value)
            held = self._held[memory.id] = (memory, split_words(body))
        return held[1]


def split_words(body: str) -> frozenset[str]:
    """Return the words of a body of text and their stems."""
    return frozenset(_WORDS.findall(body)) | frozenset(tokenize(body))


def _split_term(term: str) -> list[str]:
    return _WORDS.findall(segment_query(fold(term)))


def analyse_term(term: str) -> list[tuple[str, frozenset[str], bool]]:
    """Return each word of a term with its stems, and whether a document needs only a word that begins with it.

    A document holds the term if it holds, for each of its words, the word or all of its stems.
    """
    return [(word, frozenset(tokenize(word)), _is_prefix(word)) for word in _split_term(term)]


def compile_term(term: str) -> Callable[[frozenset[str]], bool]:
    """Compile a test whether a body with some words matches a term, as `to_match_query` asks the full-text index."""
    words = analyse_term(term)

    def matches(held: frozenset[str]) -> bool:
        return all(
            any(one.startswith(word) for one in held) if prefix else word in held or (bool(stems) and stems <= held)
            for word, stems, prefix in words
        )

    return matches


def to_match_query(term: str) -> str:
    """Build a full-text query for a term; "" for a term without letters or digits.

    The index stores no positions, so that a term of several words ("node.js") asks for each of them. A single character
    of a script that is indexed as bigrams asks for all bigrams that begin with it.
    """
    return " AND ".join(f'{{body}} : "{word}"{" *" if _is_prefix(word) else ""}' for word in _split_term(term))


def _is_prefix(word: str) -> bool:
    return len(word) == 1 and is_run(word)


# The vectors of a tenant in a backend without an index of them.


class SqlVectorView:
    """A `VectorView` that runs named statements."""

    def __init__(self, run: StatementRunner) -> None:
        self._run = run

    @property
    def is_indexed(self) -> bool:
        """Whether this backend has an index of vectors."""
        return False

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:  # noqa: ARG002 - for an index
        """Return nothing: there is no index."""
        return [], 0

    def page(self, model_id: str, after: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """Return (number, code, dims, bits, data) of the next vectors of a model after a number, in their order."""
        return [tuple(row) for row in self._run("vector_page", model_id=model_id, after=after, limit=limit)]


# Choice of the statement that finds memories by an index.


_BY_STATUS: Final = {
    "current_of_pair": frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED, Status.CANDIDATE}),
    "replaced_of_pair": frozenset({Status.SUPERSEDED, Status.MERGED}),
}
_NO_CONDITION: Final = MemoryFilter()
_UNSET: Final = {field.name: getattr(_NO_CONDITION, field.name) for field in fields(MemoryFilter)}


def _choose_statement(wanted: MemoryFilter) -> str:
    """Choose the statement that finds memories by an index; the general one covers all other conditions."""
    if wanted.expires_before_us and _has_only(wanted, "expires_before_us", "limit"):
        return "expiring_memories"
    if wanted.pinned or wanted.attribute == "instruction":  # required by the index
        plain = _has_only(wanted, "pinned", "attribute", "statuses", "limit", "as_of_us")
        return "memories_always" if plain else "find_memories"
    if (wanted.pair is None) == (wanted.same_text_as is None):
        return "find_memories"
    if wanted.same_text_as is not None:
        return "memories_of_text" if _has_only(wanted, "same_text_as", "statuses", "limit") else "find_memories"
    if wanted.statuses is not None and _has_only(wanted, "pair", "statuses", "limit"):
        found = next((name for name, statuses in _BY_STATUS.items() if wanted.statuses <= statuses), None)
        if found is not None:
            return found
    return "memories_of_pair" if _has_only(wanted, "pair", "statuses", "limit", "as_of_us") else "find_memories"


def _has_only(wanted: MemoryFilter, *known: str) -> bool:
    """Return whether a filter has no other conditions."""
    return all(name in known or getattr(wanted, name) == unset for name, unset in _UNSET.items())


# The start of a view, the use of memories, and the progress of scheduled tasks.


_LINEAGE_CELLS: Final = 9
"""The last columns of the statements `view` and `lineage`: the generation, the last event, and the last change."""


class ViewStart(NamedTuple):
    """The row that a view of a tenant begins with, its heads, and the times before and after it was read."""

    row: Record | None = None
    heads: IndexPosition | None = None
    judged: bool | None = None
    taken: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of(cls, row: Record | None, taken: tuple[float, float]) -> ViewStart:
        """Take the row, or None for a tenant that never wrote."""
        return cls(taken=taken) if row is None else cls(row, to_index_position(row), bool(row["judged"]), taken)


def to_index_position(row: Record) -> IndexPosition:
    """Build the index position at the end of the logs from a row."""
    event, change, vector = row["event"], row["change"], row["vector"]
    if not isinstance(event, int) or not isinstance(change, int) or not isinstance(vector, int):
        raise make_damage_error("events, changes or embeddings", "the last row")
    return IndexPosition(event, change, vector)


class UsageView:
    """The use of one tenant's memories, in a consistent view."""

    def __init__(self, run: StatementRunner, tag: str, *, judged: bool | None = None) -> None:
        """Bind to a runner and a tenant's tag; pass `judged` if it is known already."""
        self._run = run
        self._tag = tag
        self._judged = judged

    @property
    def judged(self) -> bool:
        """Whether any memory has feedback."""
        if self._judged is None:
            return self._run("watermark", name=JUDGED).fetchone() is not None
        return self._judged

    def accesses(self, memory_ids: Sequence[str]) -> list[Access]:
        """Return the recorded use of these memories, by memory and then oldest first."""
        found = self._run("accesses_of", ids=self._numbers(memory_ids))
        return [read_fields(Access, row, memory_id=self._public(row)) for row in found]

    def recalled(self, first_day: int, until_day: int, limit: int) -> list[RecallCounts]:
        """Return the memories recalled on days [first, last): most days first, then most sessions.

        Days are counted since 1970-01-01 UTC. Memories with more useless than useful feedback come last.
        """
        return [
            RecallCounts(self._public(row), row["days"], row["sessions"], row["useful"], row["last_at"])
            for row in self._run("recalled", first_day=first_day, until_day=until_day, limit=limit)
        ]

    def regards(self, memory_ids: Sequence[str]) -> dict[str, FeedbackCounts]:
        """Return the feedback counts of those of these memories that have any."""
        return {
            self._public(row): FeedbackCounts(row["liked"], row["disliked"], row["silent"])
            for row in self._run("regards_of", ids=self._numbers(memory_ids))
        }

    def occasions(self) -> frozenset[tuple[str, int]]:
        """Return the sessions and days with useful feedback."""
        return frozenset((row["session_id"], row["day"]) for row in self._run("occasions"))

    def active_days(self) -> list[int]:
        """Return the days (since 1970-01-01 UTC) with events, oldest first."""
        return [row["day"] for row in self._run("active_days")]

    def _numbers(self, ids: Sequence[str]) -> str:
        return json.dumps(parse_id_numbers(ids, IdKind.MEMORY, self._tag))

    def _public(self, row: Record) -> str:
        return format_id(IdKind.MEMORY, row["memory"], self._tag)


_NO_START: Final = ViewStart()


class TaskProgress:
    """The progress of one tenant's scheduled tasks and the logs that they follow, in a consistent view."""

    def __init__(self, run: StatementRunner, start: ViewStart = _NO_START) -> None:
        """Bind to a runner; pass the `start` of a view if it was read already."""
        self._run = run
        self._start = start

    @property
    def taken(self) -> tuple[float, float]:
        """The times before and after the view was taken, in seconds of the monotonic clock of this process."""
        return self._start.taken

    @property
    def heads(self) -> IndexPosition:
        """The ends of the journal, the change log and the vectors."""
        return self._start.heads or to_index_position(self._run("heads").fetchone())

    def lineage(self, heads: IndexPosition) -> bytes:
        """Return a checksum of the tenant's history up to a position, which no redaction alters.

        It differs for another history with the same numbers, for a view that ends before the position, and after
        whatever puts other rows in the place of present ones: a restore, an import, a rebuild.
        """
        row, own = self._start[:2]
        if row is None or own is None or (own.event, own.change) != (heads.event, heads.change):
            row = self._run("lineage", event=heads.event, change=heads.change).fetchone()
        cells = None if row is None else tuple(row)[-_LINEAGE_CELLS:]
        return hashlib.blake2b(repr(cells).encode(), digest_size=16).digest()

    def count_waiting(self, kinds: Collection[str]) -> tuple[int, int | None]:
        """Count the messages of unfinished jobs of these kinds, and return when the oldest such job was filed."""
        row = self._run("count_waiting", kinds=json.dumps(sorted(kinds))).fetchone()
        return row["messages"], row["oldest_at"]

    def runs(self) -> list[DutyRun]:
        """Return the last run of each task, by name."""
        return [read_fields(DutyRun, row, failed=bool(row["failed"])) for row in self._run("duties")]

    def leases(self, now_us: int) -> list[SchedulerLease]:
        """Return the lease of the leader (its name is "") and the locks of tasks that are held at a time, by name."""
        return [
            SchedulerLease(name=row["name"], owner=row["lease_owner"], now_us=now_us, until_us=row["lease_until"])
            for row in self._run("leases", now_us=now_us)
        ]

    def watermark(self, name: str) -> int | None:
        """Return the watermark of a task; None without one."""
        row = self._run("watermark", name=name).fetchone()
        return None if row is None else int(row["value"])

    def prunable(self, showings_before_us: int, jobs_before_us: int) -> dict[str, int]:
        """Count the rows of each log ("showings", "jobs") that `Prune` would delete."""
        times = {"showings_before_us": showings_before_us, "jobs_before_us": jobs_before_us}
        return dict(self._run("count_prunable", **times).fetchone())


# The reader.


_LAST: Final = 1 << 62
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


def _to_sql_limit(limit: int | None) -> int:
    return _LAST if limit is None else limit


def _to_json_list(values: Iterable[str] | None) -> str | None:
    return None if values is None else json.dumps([str(value) for value in values])


Execute = Callable[[str, dict[str, object]], Cursor]
"""Runs a statement with its parameters on the connection of a view or unit of work."""


class SqlReader(ABC):
    """A `Reader` that runs named statements; a backend brings them, and finds documents by their words."""

    def __init__(self, tenant: TenantRecord, statements: Mapping[str, str], execute: Execute, **common: object) -> None:
        """Bind a tenant to a connection; `common` are parameters of every statement beside the user's id."""
        self._tenant = tenant
        self._statements = statements
        self._execute = execute
        self._common = {"user_id": tenant.user_id, **common}
        self._start = ViewStart()
        self._memory_words = MemoryWords()

    def _run(self, name: str, /, **parameters: object) -> Cursor:
        """Run a named statement for this tenant."""
        return self._execute(self._statements[name], {**parameters, **self._common})

    @abstractmethod
    def _list_codes(self, asked: Mapping[str, str], limit: int, *, memories: bool) -> list[list[int]]:
        """Return, for each term (by its full-text query), the codes of the first documents that hold it, in order.

        With `memories` only those of memories. The documents that wait for the index are not among them.
        """

    def _fetch_tuples(self, found: Any) -> tuple[list[str], list[tuple[Any, ...]]]:  # noqa: ANN401 - the cursor of `_run`
        """Return the column names, and the rows as tuples: those of SQLite, unless a backend has other cursors."""
        found.row_factory = None
        return [column[0] for column in found.description], found.fetchall()

    @property
    def tenant(self) -> TenantRecord:
        """The tenant of these rows."""
        return self._tenant

    def _value(self, name: str, /, **parameters: object) -> int:
        row = self._run(name, **parameters).fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    def _numbers(self, ids: Sequence[str], kind: IdKind) -> str:
        if not ids:
            return "[]"
        return f"[{','.join(extract_id_digits(ids, kind, self._tenant.tag))}]"

    def events(self, ids: Sequence[str]) -> list[Event]:
        """Return these events in order of id."""
        found = self._run("events_by_id", ids=self._numbers(ids, IdKind.EVENT))
        return rows.to_events(*self._fetch_tuples(found), self._tenant.tag)

    def find_events(self, wanted: EventFilter) -> list[Event]:
        """Return the events that match a filter."""
        if wanted.newest_first:
            statement = "find_events_newest"
        else:
            statement = "find_events" if wanted.expires_before_us is None else "find_expiring_events"
        found = self._run(
            statement,
            **rows.list_cells(
                wanted, after=wanted.after or 0, below=wanted.below or _LAST, limit=_to_sql_limit(wanted.limit)
            ),
        )
        return rows.to_events(*self._fetch_tuples(found), self._tenant.tag)

    def memories(self, ids: Sequence[str], known_at_us: int | None = None) -> list[Memory]:
        """Return the current versions, or those believed at a time, in order of id."""
        numbers = self._numbers(ids, IdKind.MEMORY)
        if known_at_us is None:
            found = self._run("memories_by_id", ids=numbers)
        else:
            found = self._run("memories_known_at", ids=numbers, known_at_us=known_at_us)
        return rows.to_memories(*self._fetch_tuples(found), self._tenant.tag)

    def find(self, wanted: MemoryFilter) -> list[Memory]:
        """Return the memories that match a filter."""
        found = self._run(_choose_statement(wanted), **self._conditions(wanted))
        return rows.to_memories(*self._fetch_tuples(found), self._tenant.tag)

    def count_fields(self, wanted: MemoryFilter, *, most: int, unused_before_us: int) -> dict[str, dict[str, int]]:
        """Count the memories that match a filter by the values of their fields."""
        bounds = {**self._conditions(wanted), "limit": most, "unused_before_us": unused_before_us}
        counts: dict[str, dict[str, int]] = {}
        for row in self._run("count_memory_fields", **bounds):
            counts.setdefault(row["field"], {})[row["value"]] = row["number"]
        return counts

    @staticmethod
    def _conditions(wanted: MemoryFilter) -> dict[str, object]:
        entity, attribute = wanted.pair or (wanted.entity, wanted.attribute)
        return rows.list_cells(
            wanted,
            limit=_to_sql_limit(wanted.limit),
            text_hash=None if wanted.same_text_as is None else rows.hash_text(wanted.same_text_as),
            below=wanted.below or _LAST,
            entity=entity,
            attribute=attribute,
            statuses=_to_json_list(wanted.statuses),
            types=_to_json_list(wanted.types),
            layers=_to_json_list(wanted.layers),
            stances=_to_json_list(wanted.stances),
        )

    def versions(self, ids: Sequence[str]) -> list[Memory]:
        """Return every version of these memories, by id and then oldest first."""
        found = self._run("versions", ids=self._numbers(ids, IdKind.MEMORY))
        return rows.to_memories(*self._fetch_tuples(found), self._tenant.tag)

    def evidence(self, *, memory_ids: Sequence[str] = (), event_ids: Sequence[str] = ()) -> list[Evidence]:
        """Return the evidence of these memories, or from these events."""
        numbers = {
            "memories": self._numbers(memory_ids, IdKind.MEMORY),
            "events": self._numbers(event_ids, IdKind.EVENT),
        }
        found = self._run("evidence", **numbers)
        return to_evidence_list(self._fetch_tuples(found)[1], self._tenant.tag)

    def authors(self, events: Sequence[str], changes: Sequence[str]) -> dict[str, str]:
        """Return the members who wrote these events and made these changes, by the ids of both."""
        numbers = {
            "events": self._numbers(events, IdKind.EVENT),
            "changes": self._numbers(changes, IdKind.CHANGE),
        }
        found = self._run("authors", **numbers)
        return {format_id(IdKind(row["kind"]), row["id"], self._tenant.tag): row["name"] for row in found}

    def changes(self, wanted: ChangeFilter) -> list[ChangeRecord]:
        """Return applied changes, oldest first."""
        tag = self._tenant.tag
        if wanted.memories is not None:
            found = self._run("changes_of_range", low=wanted.memories.start, high=wanted.memories.stop)
            return [rows.to_change(row, tag) for row in found]
        if wanted.reason is not None:
            found = self._run("changes_with_reason", phrase=wanted.reason)
            return [rows.to_change(row, tag) for row in found]
        common = {
            "after": wanted.after or 0,
            "kinds": _to_json_list(wanted.kinds),
            "cause": wanted.cause,
            "later_than_us": wanted.later_than_us,
            "until_us": wanted.until_us,
            "limit": _to_sql_limit(wanted.limit),
        }
        if wanted.memory_ids is not None:
            found = self._run("changes_of", memories=self._numbers(wanted.memory_ids, IdKind.MEMORY), **common)
        else:
            found = self._run("find_changes", **common)
        return [rows.to_change(row, tag) for row in found]

    def contests(
        self, *, state: ContestState | None = None, id: str | None = None, pair: tuple[str, str] | None = None
    ) -> list[ContestCase]:
        """Return contests, open ones first, then newest first."""
        tag = self._tenant.tag
        wanted = state.value if state else None
        if pair is not None and id is None:
            found = self._run("contests_of_pair", state=wanted, entity=pair[0], attribute=pair[1])
        else:
            number = parse_id_number(id, IdKind.CONTEST, tag) if id is not None else None
            found = self._run("find_contests", state=wanted, id=number)
        return [rows.to_contest(row, tag) for row in found]

    def delta(self, heads: IndexPosition, model_id: str | None, limit: int = 10_000) -> Delta:
        """Return the rows after an index position."""
        return read_delta(self._run, self.duties.heads, heads, model_id=model_id, limit=limit)

    def nominate(self, terms: Sequence[str], limit: int, *, memories: bool = False) -> list[int]:
        """Return codes of documents holding any term, rarest terms first."""
        waiting = [] if memories else [(code, split_words(body)) for code, body in self._unlisted()]
        return self._nominated(terms, limit, waiting, memories=memories)

    def _nominated(
        self, terms: Sequence[str], limit: int, waiting: Sequence[tuple[int, frozenset[str]]], *, memories: bool
    ) -> list[int]:
        """Nominate among the documents of the index and those that wait for it, given by code and words."""
        asked = {match: term for term in terms if (match := to_match_query(term))}
        lists = self._list_codes(asked, limit, memories=memories)
        for codes, term in zip(lists, asked.values() if waiting else (), strict=bool(waiting)):
            matches = compile_term(term)
            codes += [code for code, held in waiting if matches(held)]
        if memories:  # those that wait come last, and the index ends a list at the limit
            lists = [codes[:limit] for codes in lists]
        nominated: dict[int, None] = {}
        for codes in sorted(lists, key=len):
            nominated.update(dict.fromkeys(codes))
            if len(nominated) >= limit:
                break
        return list(nominated)[:limit]

    def search_memories(
        self, words: Sequence[str], limit: int, *, most: int | None = None, beside: Sequence[Memory] = ()
    ) -> list[Memory]:
        """Return the current versions of memories that hold any of these words, rarest words first."""
        waiting = [(pack_code(parse_serial(one.id), memory=True), self._memory_words.of(one)) for one in beside]
        codes = self._nominated(words, limit, waiting, memories=True)
        numbers = [unpack_code(code)[1] for code in codes[:most]]
        found = self._run("memories_by_id", ids=json.dumps(numbers)) if numbers else None
        read = [] if found is None else rows.to_memories(*self._fetch_tuples(found), self._tenant.tag)
        held = {memory.id: memory for memory in (*beside, *read)}
        ids = (self._public(IdKind.MEMORY, number) for number in numbers)
        return [held[name] for name in ids if name in held]

    def _unlisted(self) -> list[tuple[int, str]]:
        """Return code and words of the documents that are not in the full-text index yet; there are few (`limits`)."""
        return [
            (code, compose_event_words(row["role"], row["speaker"], row["occurred_at"], row["text"][start:stop]))
            for row in self._run("unlisted_events").fetchall()
            for code, (start, stop) in self._spans(row["id"], row["text"], row["passages"])
        ]

    def _spans(self, number: int, text: str, passages: int) -> list[tuple[int, tuple[int, int]]]:
        """Return the code and the characters of each passage of an event; `passages` is an upper bound."""
        found = [
            (pack_code(number, row["ordinal"], memory=False), (row["start"], row["stop"]))
            for row in (self._run("passages_of", event=number) if passages > 1 else ())
        ]
        return found or [(pack_code(number, memory=False), (0, len(text)))]

    def vectors(self, codes: Sequence[int], model_id: str) -> list[Vector]:
        """Return stored vectors of these documents in order of code."""
        found = self._run("vectors_by_code", model_id=model_id, codes=json.dumps(sorted(map(int, set(codes)))))
        return list(map(rows.make_vector, self._fetch_tuples(found)[1]))

    def vector_data(self, codes: Sequence[int], model_id: str) -> list[tuple[int, int, bytes]]:
        """Return (code, bits, data) of vectors, the minimum that a search needs: it reads hundreds."""
        found = self._run("vector_data", model_id=model_id, codes=json.dumps(codes))
        return self._fetch_tuples(found)[1]

    def tombstoned(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return those of the digests that are tombstones."""
        return {digest for digest in set(digests) if self._value("tombstoned", digest=digest)}

    def snapshot(self, name: str) -> tuple[bytes, ...]:
        """Return the blobs of a snapshot, () when there is none."""
        blobs: list[bytes] = [row[0] for row in self._run("snapshot", name=name)]
        return tuple(blobs)

    @property
    def by_vector(self) -> SqlVectorView:
        """The vectors, for a search without an index in memory."""
        return SqlVectorView(self._run)

    @property
    def usage(self) -> UsageView:
        """The use of the memories."""
        return UsageView(self._run, self._tenant.tag, judged=self._start.judged)

    @property
    def duties(self) -> TaskProgress:
        """The progress of the scheduled tasks."""
        return TaskProgress(self._run, self._start)

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Return jobs in the order in which they are due."""
        tag = self._tenant.tag
        if wanted.key is not None:
            found = self._run("job_by_key", key=wanted.key, sealed=seal_key(self._tenant.key, wanted.key))
        elif wanted.id is not None:
            found = self._run("job_by_id", id=parse_id_number(wanted.id, IdKind.JOB, tag))
        elif wanted.newest_first:
            lists = {"statuses": _to_json_list(wanted.statuses or None), "kinds": _to_json_list(wanted.kinds)}
            found = self._run("newest_jobs", below=wanted.below, limit=_to_sql_limit(wanted.limit), **lists)
        else:
            found = self._run(
                "waiting_jobs" if wanted.statuses and wanted.statuses <= _WAITING else "find_jobs",
                statuses=_to_json_list(wanted.statuses or None),
                due_us=_LAST if wanted.due_us is None else wanted.due_us,
                far_us=_LAST if wanted.due_us is None else wanted.due_us + LONGEST_WAIT_US,
                until_event=wanted.until_event,
                kinds=_to_json_list(wanted.kinds),
                other_kinds=_to_json_list(wanted.other_kinds or None),
                limit=_to_sql_limit(wanted.limit),
            )
        return [rows.to_job(row, tag) for row in found]

    def counts(self, model_id: str | None = None) -> Counts:
        """Count the tenant's rows, and the texts that have vectors but none of this model."""
        events = self._run("count_events").fetchone()
        rest = self._run("count_rest").fetchone()
        models = {row["model_id"]: row["n"] for row in self._run("count_vectors")}
        return Counts(
            events=events["total"],
            redacted_events=events["redacted"],
            memories={row["status"]: row["n"] for row in self._run("count_statuses")},
            types={row["type"]: row["n"] for row in self._run("count_types")},
            changes=rest["changes"],
            jobs={row["status"]: row["n"] for row in self._run("count_jobs")},
            open_contests=rest["open_contests"],
            vectors=sum(models.values()),
            vectors_by_model=models,
            texts_of_others=self._run("count_other_vectors", model_id=model_id).fetchone()["n"]
            if model_id is not None and models.keys() - {model_id}
            else 0,
            tombstones=rest["tombstones"],
            spends=tuple(Spend(**row) for row in self._run("spends", limit=limits.SPENDS_SHOWN)),  # type: ignore[arg-type]
        )

    def _public(self, kind: IdKind, number: int) -> str:
        return format_id(kind, number, self._tenant.tag)

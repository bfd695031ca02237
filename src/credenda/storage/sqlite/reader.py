"""The rows of one tenant in SQLite, read with named statements."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final

from credenda import limits
from credenda.ids import Kind, digits_of, number_of, public_id
from credenda.model.change import ChangeRecord
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase, ContestState
from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.sqlite.choose_statement import index_of
from credenda.storage.sqlite.connection import event_words
from credenda.storage.sqlite.duties import SqliteDuties, SqliteUsage, heads_of
from credenda.storage.sqlite.index_delta import read_delta
from credenda.storage.sqlite.statements import statements
from credenda.storage.store import (
    CODE_BITS,
    ChangeFilter,
    Counts,
    Delta,
    EventFilter,
    Heads,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    Spend,
    Tenant,
    Vector,
    pack_code,
)
from credenda.text.tokens import fold, is_run, segment, tokenize

__all__ = ["SqliteReader", "read_tenant", "tenant_of"]

_NO_LIMIT: Final = -1
_by_span: Final = itemgetter(1, 2, 3, 0, 4)
"""Event, start, stop, memory and claim of an evidence row."""
_LAST: Final = 1 << 62
# Letters and digits, except New Tai Lue and Vedic marks, which FTS5 treats as spaces.
_WORDS: Final = re.compile(r"[^\W_\u19b0-\u19c9\u1cf2\u1cf3]+")
_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})


def read_tenant(connection: sqlite3.Connection, user_id: str) -> Tenant | None:
    """Read a tenant's row; None for a tenant that never wrote."""
    row = connection.execute(statements()["tenant"], {"user_id": user_id}).fetchone()
    return None if row is None else tenant_of(row)


def tenant_of(row: sqlite3.Row) -> Tenant:
    """Build a tenant from a row."""
    return Tenant(
        user_id=row["user_id"],
        number=row["number"],
        tag=row["tag"],
        key=row["hmac_key"],
        has_tombstones=bool(row["has_tombstones"]),
        hold=row["hold"],
    )


def _plain(found: sqlite3.Cursor) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the column names, and the rows as tuples."""
    found.row_factory = None
    return [column[0] for column in found.description], found.fetchall()


def _limit(limit: int | None) -> int:
    return _NO_LIMIT if limit is None else limit


def _listed(values: Iterable[str] | None) -> str | None:
    return None if values is None else json.dumps([str(value) for value in values])


def _statement_of(wanted: EventFilter) -> str:
    """Choose the statement that finds events."""
    if wanted.newest_first:
        return "find_events_newest"
    return "find_events" if wanted.expires_before_us is None else "find_expiring_events"


def _words_of(body: str) -> frozenset[str]:
    """Return the words of a body of text and their stems."""
    return frozenset(_WORDS.findall(body)) | frozenset(tokenize(body))


def _holds(held: frozenset[str], term: str) -> bool:
    """Return whether a body with these words matches a term, as `_match` asks the full-text index."""
    words = _WORDS.findall(segment(fold(term)))
    return all(_has(held, word) for word in words)


def _has(held: frozenset[str], word: str) -> bool:
    if len(word) == 1 and is_run(word):
        return any(one.startswith(word) for one in held)
    return word in held or (bool(stems := tokenize(word)) and held.issuperset(stems))


def _match(term: str) -> str:
    """Build a full-text query for a term; "" for a term without letters or digits.

    The index stores no positions, so that a term of several words ("node.js") asks for each of them. A single character
    of a script that is indexed as bigrams asks for all bigrams that begin with it.
    """
    words = _WORDS.findall(segment(fold(term)))
    asked = [f'{{body}} : "{word}"{" *" if len(word) == 1 and is_run(word) else ""}' for word in words]
    return " AND ".join(asked)


class SqliteReader:
    """A `Reader` over one connection that is inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, tenant: Tenant) -> None:
        """Bind a connection to a tenant."""
        self._connection = connection
        self._tenant = tenant
        self._sql = statements()
        self._heads: Heads | None = None
        self._judged: bool | None = None

    @classmethod
    def of_view(cls, connection: sqlite3.Connection, user_id: str) -> SqliteReader:
        """Read a tenant and the first rows of every search, inside a read transaction."""
        row = connection.execute(statements()["view"], {"user_id": user_id}).fetchone()
        if row is None:
            return cls(connection, Tenant(user_id=user_id, number=0, tag="", key=b""))
        view = cls(connection, tenant_of(row))
        view._heads = heads_of(row)
        view._judged = bool(row["judged"])
        return view

    @property
    def tenant(self) -> Tenant:
        """The tenant of these rows."""
        return self._tenant

    def _run(self, name: str, /, **parameters: object) -> sqlite3.Cursor:
        parameters["user_id"] = self._tenant.user_id
        return self._connection.execute(self._sql[name], parameters)

    def _value(self, name: str, /, **parameters: object) -> int:
        row = self._run(name, **parameters).fetchone()
        return 0 if row is None or row[0] is None else int(row[0])

    def _numbers(self, ids: Sequence[str], kind: Kind) -> str:
        return f"[{','.join(digits_of(ids, kind, self._tenant.tag))}]"

    def events(self, ids: Sequence[str]) -> list[Event]:
        """Return these events in order of id."""
        found = self._run("events_by_id", ids=self._numbers(ids, Kind.EVENT))
        return rows.events_in(*_plain(found), self._tenant.tag)

    def find_events(self, wanted: EventFilter) -> list[Event]:
        """Return the events that match a filter."""
        found = self._run(
            _statement_of(wanted),
            after=wanted.after or 0,
            below=wanted.below or _LAST,
            redacted=wanted.redacted,
            worded=wanted.worded,
            session=wanted.session,
            topic=wanted.topic,
            source=wanted.source,
            recorded_before_us=wanted.recorded_before_us,
            occurred_before_us=wanted.occurred_before_us,
            expires_before_us=wanted.expires_before_us,
            limit=_limit(wanted.limit),
        )
        return rows.events_in(*_plain(found), self._tenant.tag)

    def memories(self, ids: Sequence[str], known_at_us: int | None = None) -> list[Memory]:
        """Return the current versions, or those believed at a time, in order of id."""
        numbers = self._numbers(ids, Kind.MEMORY)
        if known_at_us is None:
            found = self._run("memories_by_id", ids=numbers)
        else:
            found = self._run("memories_known_at", ids=numbers, known_at_us=known_at_us)
        return rows.memories_in(*_plain(found), self._tenant.tag)

    def find(self, wanted: MemoryFilter) -> list[Memory]:
        """Return the memories that match a filter."""
        found = self._run(index_of(wanted), **self._conditions(wanted))
        return rows.memories_in(*_plain(found), self._tenant.tag)

    @staticmethod
    def _conditions(wanted: MemoryFilter) -> dict[str, object]:
        entity, attribute = wanted.pair or (wanted.entity, wanted.attribute)
        return {
            "limit": _limit(wanted.limit),
            "offset": wanted.offset,
            "text_hash": wanted.text_hash,
            "below": wanted.below or _LAST,
            "known_at_us": wanted.known_at_us,
            "as_of_us": wanted.as_of_us,
            "entity": entity,
            "attribute": attribute,
            "statuses": _listed(wanted.statuses),
            "types": _listed(wanted.types),
            "layers": _listed(wanted.layers),
            "topic": wanted.topic,
            "pinned": wanted.pinned,
            "expires_before_us": wanted.expires_before_us,
        }

    def versions(self, ids: Sequence[str]) -> list[Memory]:
        """Return every version of these memories, by id and then oldest first."""
        found = self._run("versions", ids=self._numbers(ids, Kind.MEMORY))
        return rows.memories_in(*_plain(found), self._tenant.tag)

    def evidence(self, *, memory_ids: Sequence[str] = (), event_ids: Sequence[str] = ()) -> list[Evidence]:
        """Return the evidence of these memories, or from these events."""
        numbers = {"memories": self._numbers(memory_ids, Kind.MEMORY), "events": self._numbers(event_ids, Kind.EVENT)}
        found = self._run("evidence", **numbers)
        found.row_factory = None
        return rows.evidence_in(sorted(set(found.fetchall()), key=_by_span), self._tenant.tag)

    def changes(self, wanted: ChangeFilter) -> list[ChangeRecord]:
        """Return applied changes, oldest first."""
        tag = self._tenant.tag
        if wanted.memories is not None:
            found = self._run("changes_of_memories", low=wanted.memories.start, high=wanted.memories.stop)
            return [rows.change_of(row, tag) for row in found]
        common = {
            "after": wanted.after or 0,
            "kinds": _listed(wanted.kinds),
            "cause": wanted.cause,
            "later_than_us": wanted.later_than_us,
            "until_us": wanted.until_us,
            "limit": _limit(wanted.limit),
        }
        if wanted.memory_id is not None:
            memory = number_of(wanted.memory_id, Kind.MEMORY, tag)
            found = self._run("changes_of_memory", memory=memory, **common)
        else:
            found = self._run("find_changes", **common)
        return [rows.change_of(row, tag) for row in found]

    def contests(
        self, *, state: ContestState | None = None, id: str | None = None, pair: tuple[str, str] | None = None
    ) -> list[ContestCase]:
        """Return contests, open ones first, then newest first."""
        tag = self._tenant.tag
        wanted = state.value if state else None
        if pair is not None and id is None:
            found = self._run("contests_of_pair", state=wanted, entity=pair[0], attribute=pair[1])
        else:
            number = number_of(id, Kind.CONTEST, tag) if id is not None else None
            found = self._run("find_contests", state=wanted, id=number)
        return [rows.contest_of(row, tag) for row in found]

    def delta(self, heads: Heads, model_id: str | None, limit: int = 10_000) -> Delta:
        """Return the rows after an index position."""
        return read_delta(self._run, self.duties.heads, heads, model_id=model_id, limit=limit)

    def nominate(self, terms: Sequence[str], limit: int, *, memories: bool = False) -> list[int]:
        """Return codes of documents that contain any term, rarest terms first."""
        low = self._tenant.number << CODE_BITS
        bounds = {"low": low + pack_code(0, memory=memories), "high": low + (1 << CODE_BITS), "limit": limit}
        waiting = [] if memories else [(code, _words_of(body)) for code, body in self._unlisted()]
        asked = {match: term for term in terms if (match := _match(term))}
        found = self._run("matching_words", matches=json.dumps([*asked]), **bounds)
        lists = [
            [doc - low for doc in json.loads(row["docs"])] + [code for code, held in waiting if _holds(held, term)]
            for row, term in zip(found, asked.values(), strict=True)
        ]
        nominated: dict[int, None] = {}
        for codes in sorted(lists, key=len):
            nominated.update(dict.fromkeys(codes))
            if len(nominated) >= limit:
                break
        return list(nominated)[:limit]

    def _unlisted(self) -> list[tuple[int, str]]:
        """Return code and words of the documents that are not in the full-text index yet; there are few (`limits`)."""
        return [
            (code, event_words(row["role"], row["speaker"], row["occurred_at"], row["text"][start:stop]))
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
        found.row_factory = None  # tuples in the order of `Vector`: a search reads hundreds
        return list(map(Vector._make, found))

    def vector_data(self, codes: Sequence[int], model_id: str) -> list[tuple[int, int, bytes]]:
        """Return (code, bits, data) of vectors, the minimum that a search needs: it reads hundreds."""
        found = self._run("vector_data", model_id=model_id, codes=json.dumps(codes))
        found.row_factory = None
        return found.fetchall()

    def tombstoned(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return those of the digests that are tombstones."""
        return {digest for digest in set(digests) if self._value("tombstoned", digest=digest)}

    def snapshot(self, name: str) -> tuple[bytes, ...]:
        """Return the blobs of a snapshot, () when there is none."""
        blobs: list[bytes] = [row[0] for row in self._run("snapshot", name=name)]
        return tuple(blobs)

    @property
    def usage(self) -> SqliteUsage:
        """The use of the memories."""
        return SqliteUsage(self._run, self._tenant.tag, judged=self._judged)

    @property
    def duties(self) -> SqliteDuties:
        """The progress of the scheduled tasks."""
        return SqliteDuties(self._run, self._heads)

    def jobs(self, wanted: JobFilter) -> list[Job]:
        """Return jobs in the order in which they are due."""
        tag = self._tenant.tag
        if wanted.key is not None:
            found = self._run("job_by_key", key=wanted.key)
        elif wanted.id is not None:
            found = self._run("job_by_id", id=number_of(wanted.id, Kind.JOB, tag))
        else:
            found = self._run(
                "waiting_jobs" if wanted.statuses and wanted.statuses <= _WAITING else "find_jobs",
                statuses=_listed(wanted.statuses or None),
                due_us=_LAST if wanted.due_us is None else wanted.due_us,
                until_event=wanted.until_event,
                kinds=_listed(wanted.kinds),
                other_kinds=_listed(wanted.other_kinds or None),
                limit=_limit(wanted.limit),
            )
        return [rows.job_of(row, tag) for row in found]

    def counts(self) -> Counts:
        """Count the tenant's rows."""
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
            tombstones=rest["tombstones"],
            spends=tuple(Spend(**row) for row in self._run("spends", limit=limits.SPENDS_SHOWN)),  # type: ignore[arg-type]
        )

    def _public(self, kind: Kind, number: int) -> str:
        return public_id(kind, number, self._tenant.tag)

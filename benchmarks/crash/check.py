"""The checker of the crash benchmark: a fresh process that opens the file, settles it, and checks everything.

Started as `python -m benchmarks.crash.check`, with the record of acknowledgements as JSON on its standard input. It
reads the rows with plain SQL, independently of the product's read path, and also calls the public API.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.crash.ledger import Ledger
from credenda import Credenda, CredendaError, NotFound
from credenda.index.cache import IndexCache
from credenda.index.resident import ResidentIndex
from credenda.index.snapshot import STATE_GONE
from credenda.providers.embed.factory import open_embedder
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Job
from credenda.write.indexing import EMBED, find_missing_vectors

LOST: Final = "lost:"
"""Prefix of a finding about something acknowledged that is missing."""
_TOKEN: Final = re.compile(r"\w+z0\b")
_CLAIM: Final = "Remember that I love "
_SAMPLE: Final = 25
_SETTLE_SECONDS: Final = 120.0
_WORDED: Final = ("events", "memories", "changes", "contests", "operations")
_SHARED: Final = "kq"
"""What the words begin with that every user says: those under an idempotency key."""
_NUMBERED: Final = ("events", "changes", "operations")


def check(ledger: Ledger, *, thorough: bool = True) -> list[str]:
    """Return every contradiction between the file and the acknowledgements; empty if there is none.

    Without `thorough`, jobs are left as they are, no search is made, and the stored index is left to `doctor`.
    """
    findings: list[str] = []
    with Credenda.open(ledger.path, user=ledger.user, embedder=ledger.embedder, workers=False) as memory:
        findings += _settle_and_search(memory, ledger) if thorough else ()
        findings += _check_statuses(memory, ledger)
        report = memory.data.doctor()
        damage = [finding for finding in report.findings if finding.check != "permissions"]  # those of the copy
        findings += [f"doctor: {finding.check}: {finding.detail}" for finding in damage]
    connection = sqlite3.connect(f"{Path(ledger.path).absolute().as_uri()}?mode=ro", uri=True)
    try:
        rows = _Rows(connection, ledger)
        for part in (rows.events, rows.tokens, rows.numbers, rows.remains, rows.halves, rows.strangers, rows.guests):
            findings += part()
        findings += [*rows.covered(), *rows.claims(), *rows.jobs()] if thorough else rows.covered()
    finally:
        connection.close()
    return findings + (list(_index_parity(ledger)) if thorough else [])


def _settle_and_search(memory: Credenda, ledger: Ledger) -> Iterator[str]:
    """Do the work that waits, then search."""
    try:
        memory.settle(_SETTLE_SECONDS)
    except CredendaError as error:
        yield f"settle: {error}"
    yield from _check_searches(memory, ledger)


def _check_statuses(memory: Credenda, ledger: Ledger) -> Iterator[str]:
    """Check the status of every memory against the allowed statuses."""
    for name, allowed in ledger.memories.items():
        try:
            held = memory.get(name)
        except NotFound:
            if "deleted" not in allowed:
                yield f"{LOST} memory {name}, which should be {' or '.join(allowed)}"
            continue
        if held.status.value not in allowed:
            yield f"memory {name} is {held.status.value}, not {' or '.join(allowed)}"
        if name in ledger.texts and held.text != ledger.texts[name]:
            yield f"memory {name} has another text than was acknowledged"


def _pick_evenly(names: Sequence[str]) -> Sequence[str]:
    """Pick names evenly from first to last."""
    return names[:: max(1, len(names) // _SAMPLE)][-_SAMPLE:]


def _check_searches(memory: Credenda, ledger: Ledger) -> Iterator[str]:
    """Search for acknowledged and for deleted texts."""
    uncertain = {*ledger.deleted, *ledger.doubtful}
    for name in _pick_evenly([name for name in ledger.said if name not in uncertain]):
        found = memory.search(_find_token(ledger.said[name]), limit=50, record_access=False)
        reached = {hit.id for hit in found.hits} | {event.id for hit in found.hits for event in hit.evidence}
        if name not in reached:
            yield f"search does not find the acknowledged event {name}"
    known = {**ledger.said, **ledger.texts}
    for name in _pick_evenly([name for name in ledger.deleted if name in known]):
        token = _find_token(known[name])
        found = memory.search(token, limit=50, include=("superseded", "low_confidence", "archived"))
        if any(token in hit.text for hit in found.hits):
            yield f"search still finds {name}, which was deleted"


def _find_token(text: str) -> str:
    """Return the word that only this text has."""
    return _TOKEN.findall(text)[-1]


class _Rows:
    """The rows of one tenant, read with plain SQL."""

    def __init__(self, connection: sqlite3.Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger
        row = connection.execute("SELECT tag FROM tenants WHERE user_id = ?", (ledger.user,)).fetchone()
        self._tag = row[0] if row else ""
        self._texts = {
            f"e{number}-{self._tag}": text
            for number, text in self._all("SELECT id, text FROM events WHERE user_id = ? ORDER BY id")
        }

    def _all(self, statement: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, (self._ledger.user,)).fetchall()

    def events(self) -> Iterator[str]:
        """Check that every acknowledged event exists with its exact text, or without it if it was deleted."""
        for name, text in self._ledger.said.items():
            there = self._texts.get(name)
            if name in self._ledger.deleted:
                if there != "":
                    yield f"event {name} was deleted and still has words"
            elif name in self._ledger.doubtful:
                if there not in (text, ""):
                    yield f"event {name} is half deleted"
            elif there != text:
                yield f"{LOST} event {name}" if there is None else f"event {name} is not what was acknowledged"

    def tokens(self) -> Iterator[str]:
        """Check that no message is in the journal twice."""
        counts = Counter(token for text in self._texts.values() for token in set(_TOKEN.findall(text)))
        yield from (f"{token} is in {count} events" for token, count in counts.items() if count > 1)

    def claims(self) -> Iterator[str]:
        """Check that each claim has exactly one memory, however often its job was started."""
        held: defaultdict[str, set[int]] = defaultdict(set)
        for number, text in self._all("SELECT id, text FROM memories WHERE user_id = ? AND expired_at IS NULL"):
            tokens = set(_TOKEN.findall(text))
            if len(tokens) == 1:  # a consolidated entry has those of its members
                held[tokens.pop()].add(number)
        yield from (f"{token} is in memories {sorted(ids)}" for token, ids in held.items() if len(ids) > 1)
        uncertain = {*self._ledger.deleted, *self._ledger.doubtful}
        for name, text in self._ledger.said.items():
            if text.startswith(_CLAIM) and name not in uncertain and not held[_find_token(text)]:
                yield f"no memory was made from event {name}"

    def jobs(self) -> Iterator[str]:
        """Check that no job is queued or failed."""
        counts = self._all("SELECT status, count(*) FROM operations WHERE user_id = ? GROUP BY status")
        yield from (f"{count} jobs are {status}" for status, count in counts if status != "complete")

    def covered(self) -> Iterator[str]:
        """Check that each message is covered by exactly one job."""
        covered: Counter[int] = Counter()
        for first, last in self._all("SELECT first, last FROM operations WHERE user_id = ? AND kind = 'extract'"):
            covered.update(range(first, last + 1))
        for name in self._ledger.said:
            times = covered[int(name[1:].partition("-")[0])]
            if times != 1:
                yield f"event {name} is covered by {times} jobs"

    def numbers(self) -> Iterator[str]:
        """Check that events, changes and jobs are numbered without gaps."""
        for table in _NUMBERED:
            statement = f"SELECT count(*), coalesce(max(id), 0), coalesce(min(id), 1) FROM {table} WHERE user_id = ?"  # noqa: S608 - a constant name
            for count, highest, lowest in self._all(statement):
                if count != highest or lowest != 1:
                    yield f"{table} are numbered {lowest} to {highest}, but there are {count}"

    def halves(self) -> Iterator[str]:
        """Check that the messages of one call are all there, or none of them."""
        texts = set(self._texts.values())
        for call in self._ledger.together:
            if len({text in texts for text in call}) > 1:
                yield f"one call was applied in part: {len(call)} messages"

    def strangers(self) -> Iterator[str]:
        """Check that no word of another user is in this user's rows."""
        own = (*self._ledger.prefixes, _SHARED)
        for table in _WORDED if self._ledger.prefixes else ():
            for row in self._all(f"SELECT * FROM {table} WHERE user_id = ?"):  # noqa: S608 - a constant name
                words = _TOKEN.findall(" ".join(value for value in row if isinstance(value, str)))
                yield from (f"{word} of another user is in {table}" for word in words if not word.startswith(own))

    def guests(self) -> Iterator[str]:
        """Check that no row of an erased user is left."""
        for guest in self._ledger.guests:
            for table in ("tenants", *_WORDED):
                statement = f"SELECT count(*) FROM {table} WHERE user_id = ?"  # noqa: S608 - a constant name
                if self._connection.execute(statement, (guest,)).fetchone()[0]:
                    yield f"{table} has rows of an erased user"

    def remains(self) -> Iterator[str]:
        """Check that no deleted word is left in any row."""
        known = {**self._ledger.said, **self._ledger.texts}
        gone = {_find_token(known[name]): name for name in self._ledger.deleted if name in known}
        for table in ("tenants", *_WORDED):
            for row in self._all(f"SELECT * FROM {table} WHERE user_id = ?"):  # noqa: S608 - as above
                words = set(_TOKEN.findall(" ".join(value for value in row if isinstance(value, str))))
                yield from (f"words of deleted {gone[word]} are left in {table}" for word in words & gone.keys())


def _index_parity(ledger: Ledger) -> Iterator[str]:
    """Compare the index of the stored snapshot, brought up to date, with an index built from the rows."""
    model_id = _name_model(ledger.embedder)
    store = SqliteStore(ledger.path)
    try:
        with store.reader(ledger.user) as reader:
            kept = IndexCache().get(reader, model_id=model_id)
            fresh = ResidentIndex(model_id=model_id)
            while True:
                delta = reader.delta(fresh.heads, model_id)
                if delta.heads == fresh.heads:
                    break
                fresh.fold(delta)
            every = Job(kind=EMBED, first=1, last=fresh.heads.event)
            without = 0 if model_id is None else len(find_missing_vectors(reader, [every], model_id))
    finally:
        store.close()
    one, other = _read_documents(kept), _read_documents(fresh)
    differing = [code for code in one.keys() | other.keys() if one.get(code) != other.get(code)]
    if differing:
        yield f"the stored index differs from a fresh one in {len(differing)} of {len(other)} documents"
    if without:
        yield f"{without} documents have no vector"


def _read_documents(index: ResidentIndex) -> dict[int, tuple[int, int, bool]]:
    """Return the state, length and presence of a vector for every current document."""
    columns = (index.codes, index.state, index.length, index.has_vector)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {code: (state, length, vector) for code, state, length, vector in rows if state != STATE_GONE}


def _name_model(embedder: str) -> str | None:
    engine = open_embedder(embedder)
    return None if engine is None else engine.model_id


def main() -> None:
    """Read the acknowledgements, check the file, write the findings."""
    findings = check(Ledger(**json.load(sys.stdin)))
    sys.stdout.write(json.dumps(findings))


if __name__ == "__main__":
    main()

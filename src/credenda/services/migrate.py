"""Copy the memories of a database into another one, and verify the copies by their rows and by searches.

A user is one unit: all of its rows are copied from one consistent view in one transaction. A migration that was
interrupted is repeated: users whose rows are in the target already are only verified. A step that meets `Unavailable`,
such as a server that restarts, is tried again after a while.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappush, heapreplace
from typing import Final, TypeVar

from credenda import limits
from credenda.clock import StoppedClock, pause
from credenda.errors import Conflict, Corrupt, CredendaError, Invalid, NotFound, Unavailable
from credenda.model.server import MigrationReport, UnmovedUser
from credenda.runtime import Parts
from credenda.services.search import search
from credenda.storage.store import Store
from credenda.storage.transfer import ARCHIVED, MIGRATED, ImportRow, TableRow, TenantExport
from credenda.text.recalled_block import count_noun

_TABLES: Final = frozenset((*ARCHIVED, *MIGRATED))
LEFT: Final = (
    "records of calls: export them with `credenda audit export`; the chain of the target begins anew",
    "logins and codes of OAuth: people and connected clients sign in again",
    "when each scheduled task last ran: tasks that are due run again",
    "indexes: they are built from the rows",
)
Progress = Callable[[str, str], None]
"""Takes the name of a user, and a step that was done, such as "20,000 rows verified"."""
T = TypeVar("T")

_STEP_ROWS: Final = 20_000
"""Rows between two reports of progress."""
_TRIES: Final = 5
_BACKOFF_SECONDS: Final = 1.0
"""Pause before the second try; it doubles."""
_PAGE: Final = 256
_WORDS: Final = 12
_CHARACTERS: Final = 200
_BITS: Final = 256
_SCORE_DIGITS: Final = 6


@dataclass(slots=True)
class _Digest:
    """The number of rows of each table and the sum of their hashes, which no order of rows alters; a few texts."""

    counts: dict[str, int] = field(default_factory=dict[str, int])
    sums: dict[str, int] = field(default_factory=dict[str, int])
    _texts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, table: str, row: TableRow) -> None:
        """Add a row."""
        seen = hashlib.sha256(repr((table, sorted(row.items()))).encode("utf-8", "surrogatepass")).digest()
        number = int.from_bytes(seen)
        self.counts[table] = self.counts.get(table, 0) + 1
        self.sums[table] = (self.sums.get(table, 0) + number) % (1 << _BITS)
        text = row.get("text")
        if isinstance(text, str) and text.strip():
            # Keep the texts with the smallest hashes: the same ones in every run, and from everywhere in the memory.
            entry = (-number, " ".join(text.split()[:_WORDS])[:_CHARACTERS])
            if len(self._texts) < limits.MIGRATION_SEARCHES:
                heappush(self._texts, entry)
            elif entry > self._texts[0]:
                heapreplace(self._texts, entry)

    @property
    def queries(self) -> list[str]:
        """Words to search for."""
        return [text for _, text in sorted(self._texts)]

    def compare(self, other: _Digest) -> str:
        """Say which tables differ; "" if none does."""
        tables = sorted(self.counts.keys() | other.counts.keys())
        return ", ".join(
            f"{table} ({self.counts.get(table, 0)} and {other.counts.get(table, 0)} rows)"
            for table in tables
            if self.sums.get(table) != other.sums.get(table) or self.counts.get(table) != other.counts.get(table)
        )


def migrate(
    source: Parts, target: Parts, *, user: str | None = None, progress: Progress | None = None, besides: str = ""
) -> MigrationReport:
    """Copy one user or all of them, verify each, then copy their tokens and members, and the ledger of erasures.

    `besides` names a user that is left out. Tokens and members never enter the memory of somebody else who has the same
    name in the target. A user that cannot be moved does not keep the others waiting: the report
    names it. Raises `Unavailable` where a database stays so.
    """
    run = _Migration(source, target, progress or (lambda _user, _step: None))
    for name in run.list_users(user):
        if name != besides:
            run.move(name)
    tokens = run.repeat("", partial(_move_tokens, source.store, target.store, user, run.may_enter))
    members = run.repeat("", partial(_move_members, source.store, target.store, user, run.may_enter))
    erasures = 0 if user is not None else run.repeat("", partial(_move_ledger, source.store, target.store))
    return MigrationReport(
        ok=not run.unmoved,
        moved=run.moved,
        present=run.present,
        rows=run.rows,
        searches=run.searches,
        tokens=tokens,
        members=members,
        erasures=erasures,
        unmoved=tuple(run.unmoved),
        left=LEFT,
    )


@contextmanager
def name_option(option: str, missing: str = "") -> Generator[None]:
    """Name the option in an error about its database; `missing` is the remedy where that is not there."""
    try:
        yield
    except CredendaError as error:
        fix = missing if missing and isinstance(error, NotFound) else error.fix
        raise type(error)(f"{option}: {error.what}", why=error.why, fix=fix, **error.ids) from error


def check_user(source: Store, user: str) -> None:
    """Raise `NotFound` for a user that the source does not have."""
    with source.reader(user) as reader:
        if not reader.tenant.tag:
            raise NotFound(f"the database has no memory of {user!r}", fix="check --from and --user")


@dataclass(slots=True)
class _Migration:
    """One run."""

    source: Parts
    target: Parts
    tell: Progress
    moved: int = 0
    present: int = 0
    searches: int = 0
    rows: dict[str, int] = field(default_factory=dict[str, int])
    unmoved: list[UnmovedUser] = field(default_factory=list[UnmovedUser])
    _same: set[str] = field(default_factory=set[str])
    """Users whose memory in the target was verified to be that of the source."""
    _was_away: bool = False
    """Whether a database was unavailable for the last user: if it is so for the next one too, the run ends."""

    def list_users(self, user: str | None) -> Iterator[str]:
        """Yield one user, or all of them."""
        store = self.source.store
        if user is not None:
            yield user
            return
        after = ""
        while page := self.repeat("", partial(store.users, after=after, limit=_PAGE)):
            yield from page
            after = page[-1]

    def repeat(self, user: str, work: Callable[[], T]) -> T:
        """Do work, again after a while where a database is unavailable; raises `Unavailable` after the last try."""
        for tried in range(_TRIES - 1):
            try:
                return work()
            except Unavailable as error:
                wait = _BACKOFF_SECONDS * 2**tried
                self.tell(user, f"{_describe(error)}; trying again in {wait:g} s")
            pause(wait)
        return work()

    def move(self, user: str) -> None:
        """Move and verify a user, or note why it cannot be moved; raises `Unavailable` for a second user in a row."""
        try:
            given, loaded = self.repeat(user, partial(self._copy, user))
            searches = self.repeat(user, partial(self._verify, user, given))
        except (Conflict, Corrupt, Invalid, Unavailable) as error:
            is_away = isinstance(error, Unavailable)
            if is_away and self._was_away:
                raise
            self._was_away = is_away
            self.unmoved.append(UnmovedUser(user=user, why=_describe(error)))
            return
        self._was_away = False
        self._same.add(user)
        self.moved += loaded
        self.present += not loaded
        self.searches += searches
        for table, count in given.counts.items():
            self.rows[table] = self.rows.get(table, 0) + count
        self.tell(user, f"{count_noun(sum(given.counts.values()), 'row')} verified")

    def may_enter(self, user: str) -> bool:
        """Return whether who may use a user's memory in the source may do so in the target."""
        if user in self._same:
            return True
        if user in {one.user for one in self.unmoved}:
            return False
        with self.target.store.reader(user) as reader:
            return not reader.tenant.tag

    def _copy(self, user: str) -> tuple[_Digest, bool]:
        """Copy the rows of a user, unless they are there; return their digest, and whether they were copied."""
        given = _Digest()
        with self.source.store.dump(user, only=_TABLES) as dump:
            origin = dump.origin
            if any(one.matches(user, origin.tag) for one in self.target.store.erasures()):
                why = "a copy from before the erasure must not bring the memory back"
                raise Conflict("the user was erased in the target", why=why)
            if self.target.store.user_of(dump.origin.tag) == user:
                for table, row in dump.rows:
                    given.add(table, row)
                return given, False
            try:
                self.target.store.load(user, dump.origin, self._number_rows(user, dump, given))
            except Corrupt as error:  # whose words are for a file
                place = error.ids.get("line")
                what = f"row {place} of the source cannot be copied" if place else error.what
                raise Corrupt(what, why=error.why) from error
        self.target.indexes.drop(user, store=self.target.store_name)
        return given, True

    def _number_rows(self, user: str, dump: TenantExport, digest: _Digest) -> Generator[ImportRow]:
        for place, (table, row) in enumerate(dump.rows, 1):
            digest.add(table, row)
            yield ImportRow(place, table, row)
            if place % _STEP_ROWS == 0:
                self.tell(user, f"{place:,} rows copied")

    def _verify(self, user: str, given: _Digest) -> int:
        """Compare the rows and some searches of a user; return the number of searches."""
        found = _Digest()
        with self.target.store.dump(user, only=_TABLES) as dump:
            for table, row in dump.rows:
                found.add(table, row)
        if different := given.compare(found):
            why = f"these tables differ: {different}; one of them was written to since, or is damaged"
            raise Conflict("the memory in the target is not equal to the one in the source", why=why)
        now_us = self.source.clock.now_us()
        with _open_view(self.source, user, now_us) as old, _open_view(self.target, user, now_us) as new:
            for query in given.queries:
                if _search(old, query) != _search(new, query):
                    raise Conflict("a search in the target found something else than in the source")
        return len(given.queries)


def _describe(error: CredendaError) -> str:
    return "; ".join(filter(None, (error.what, error.why)))


@contextmanager
def _open_view(parts: Parts, user: str, now_us: int) -> Generator[Parts]:
    view = parts.for_user(user)
    try:
        yield replace(view, clock=StoppedClock(now_us))
    finally:
        view.release()


def _search(parts: Parts, query: str) -> list[tuple[str, str, float]]:
    found = search(parts, query, {"record_access": False})
    return [(hit.kind, hit.id, round(hit.score, _SCORE_DIGITS)) for hit in found.hits]


def _move_tokens(source: Store, target: Store, user: str | None, may_enter: Callable[[str], bool]) -> int:
    added = 0
    for token in source.tokens.list_tokens(user):
        stored = source.tokens.find_token(token.id)
        if stored is not None and target.tokens.find_token(token.id) is None and may_enter(token.user):
            target.tokens.add_token(stored)
            added += 1
    return added


def _move_members(source: Store, target: Store, user: str | None, may_enter: Callable[[str], bool]) -> int:
    known = {(one.user, one.id) for one in target.members.list_members(user)}
    missing = [one for one in source.members.list_members(user) if (one.user, one.id) not in known]
    added = [one for one in missing if may_enter(one.user)]
    for member in added:
        target.members.add_member(member)
    return len(added)


def _move_ledger(source: Store, target: Store) -> int:
    known = {one.id for one in target.erasures()}
    missing = [one for one in source.erasures() if one.id not in known]
    target.take_over(missing)
    return len(missing)

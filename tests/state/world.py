"""The world that the machine moves: one file, two tenants, and what each of them may rely on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, cast

from credenda import Conflict, Credenda, restore_backup
from credenda.clock import parse_time
from credenda.manage.rebuild import compare_with_log
from credenda.model.event import Event
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import EventFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_value
from credenda.write.forget.tombstones import hash_slot_forms
from credenda.write.reconcile.slots import get_slot

from .fragile import FUSE, SUFFIXES
from .reaching import reached, saying_again, without
from .speech import Speech

USERS = ("ana", "ben")
START = "2026-03-01T09:00:00Z"
LEASE = timedelta(minutes=30)
"""Longer than a job belongs to a process that died."""


class JumpingClock:
    """A clock that goes where it is told, back as well, as the clocks of machines do."""

    def __init__(self) -> None:
        self.us = parse_time(START)

    def now_us(self) -> int:
        return self.us

    def jump(self, step: timedelta) -> None:
        self.us += step // timedelta(microseconds=1)


class Standing(NamedTuple):
    """What a memory says, and how it stood."""

    version: int
    status: Status
    text: str
    value: str | None


def standing(memories: Iterable[Memory]) -> dict[str, Standing]:
    return {
        one.id: Standing(one.version, one.status, one.text, one.value)
        for one in memories
        if one.status is not Status.DELETED
    }


@dataclass
class Ledger:
    """What one tenant was promised: events by id with their words, and words that are gone for good."""

    events: dict[str, str] = field(default_factory=dict[str, str])
    touched: set[str] = field(default_factory=set[str])
    """Events of which something was deleted."""
    gone: set[str] = field(default_factory=set[str])
    seen: dict[int, dict[str, Standing]] = field(default_factory=dict[int, dict[str, Standing]])
    """How each memory stood, by the time at which nothing more was to happen."""


@dataclass(frozen=True)
class Backup:
    """A backup, what it holds, and who was erased since."""

    path: Path
    rows: dict[str, list[object]]
    ledgers: dict[str, Ledger]
    erased: set[str] = field(default_factory=set[str])


class World:
    """A file, its clients, and the ledgers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = JumpingClock()
        self.speech = Speech()
        self.lives = 0
        self.path = folder / "life0.db"
        self.ledgers = {user: Ledger() for user in USERS}
        self.clients: dict[str, Credenda] = {}
        self.backup: Backup | None = None
        self.backups = 0
        self.erasing = ""
        self.latest_us = self.clock.us
        """The latest time at which anything may have been written."""

    def begin(self) -> None:
        """Make the file, so that nothing later is a tenant's first breath."""
        for user in USERS:
            for text in ("I live in Linz.", "I prefer morning meetings.", "My favourite colour is green."):
                self.acknowledged(user, self.client(user).remember(text, session="s0").event_ids)
            self.client(user).settle()

    def client(self, user: str) -> Credenda:
        if user not in self.clients:
            with FUSE.wet():
                self.clients[user] = Credenda.open(
                    self.path,
                    user=user,
                    clock=self.clock,
                    embedder="hashed",
                    workers=False,
                    extractor=self.speech,
                )
        return self.clients[user]

    def close(self) -> None:
        clients, self.clients = self.clients, {}
        for client in clients.values():
            client.close()

    def reopen(self) -> None:
        """Go on with the files as the crash left them."""
        image = self.image()
        self.close()
        FUSE.snuff()
        self.lives += 1
        self.move(LEASE)
        self.path = image
        if self.erasing and self.path.exists():
            with self.reader(self.erasing) as reader:
                begun = reader.tenant.tag == ""
            if begun:
                self.erased(self.erasing)
        self.erasing = ""
        for user in USERS:
            with suppress(Conflict):
                self.client(user).manage.lift_hold("the machine goes on")

    def move(self, step: timedelta) -> None:
        """Let time go on or back; what is known of a time that comes again is not final."""
        if self.path.exists() and self.clock.us >= self.latest_us and step > timedelta():
            for user in USERS:
                with self.reader(user) as reader:
                    self.ledgers[user].seen[self.clock.us] = standing(reader.find(MemoryFilter()))
        self.clock.jump(step)
        self.latest_us = max(self.latest_us, self.clock.us)
        for ledger in self.ledgers.values():
            ledger.seen = {at: held for at, held in ledger.seen.items() if at < self.clock.us}

    def erased(self, user: str) -> None:
        """Whoever is erased begins with nothing; the words are nowhere."""
        words = {text for text in self.ledgers[user].events.values() if text}
        self.ledgers[user] = Ledger()
        if self.backup is not None:
            self.backup.erased.add(user)
        assert not any(row for row in self.rows(user)[1:]), "rows of an erased tenant"
        others = "\0".join(self.corpus(other) for other in USERS if other != user)
        blob = self.files()
        for text in words:
            assert text in others or text.encode() not in blob, f"erased {text!r} is in the file"

    def corpus(self, user: str) -> str:
        with self.reader(user) as reader:
            return "\0".join(_texts(reader))

    def back_up(self, user: str) -> None:
        self.backups += 1
        path = self.folder / f"backup{self.backups}.db"
        self.client(user).data.backup(path)
        self.backup = Backup(path, {one: self.rows(one) for one in USERS}, deepcopy(self.ledgers))

    def put_back(self) -> None:
        """Restore the backup: everybody has what they had, but for who was erased, and what was deleted, since."""
        backup = self.backup
        if backup is None or not backup.path.exists():
            return
        self.close()
        lost = {user: _lost(self.rows(user)) for user in USERS}
        now = self.ledgers
        report = restore_backup(backup.path, self.path, replace=True, clock=self.clock)
        there = {user for user in USERS if backup.ledgers[user].events or len(backup.rows[user]) > 1}
        assert report.erased == len(backup.erased & there), (report, backup.erased)
        self.ledgers = deepcopy(backup.ledgers)
        for user in USERS:
            if user in backup.erased:
                self.erased(user)
            elif lost[user] <= _lost(backup.rows[user]):
                assert self.rows(user) == backup.rows[user], "a backup came back otherwise"
            else:
                assert lost[user] & _lost(backup.rows[user]) <= _lost(self.rows(user))
                self.ledgers[user].gone |= now[user].gone
                self.ledgers[user].touched |= now[user].touched
                self.ledgers[user].seen.clear()  # words are gone from what was seen

    def blown(self) -> bool:
        return FUSE.blown

    def lit(self) -> bool:
        return FUSE.lit

    @contextmanager
    def reader(self, user: str) -> Generator[Reader]:
        """Look into the file from outside."""
        with FUSE.wet(), closing(SqliteStore(str(self.path), clock=self.clock)) as store, store.reader(user) as reader:
            yield reader

    def acknowledged(self, user: str, ids: Iterable[str]) -> None:
        with self.reader(user) as reader:
            for event in reader.events(list(ids)):
                self.ledgers[user].events[event.id] = event.text

    def will_delete(self, user: str, *, memory: Memory | None = None, events: Iterable[str] = ()) -> list[str]:
        """Say which texts must be gone once this is deleted: those that nothing else holds."""
        ledger = self.ledgers[user]
        with self.reader(user) as reader:
            held = [one for one in reader.find(MemoryFilter()) if one.text]
            evidence = reader.evidence(memory_ids=[memory.id]) if memory else []
            touched = {item.span.event_id for item in evidence} | set(events)
            all_events = events_of(reader)
            ledger.touched |= touched | (reached(reader, memory, held, all_events) if memory else set())
            ledger.touched |= saying_again([one for one in all_events if one.id in touched], all_events)
        texts = [memory.text] if memory else [one.text for one in all_events if one.id in touched]
        elsewhere = [one.text for one in held if memory is None or one.id != memory.id]
        others = [one.text for one in all_events if one.id not in touched]
        elsewhere += [without(other, texts) for other in others] if memory else others
        return [text for text in texts if text and not any(text in other for other in elsewhere)]

    def events_in(self, user: str, session: str) -> list[str]:
        with self.reader(user) as reader:
            return [one.id for one in events_of(reader) if one.session == session]

    def deleted(self, user: str, texts: Iterable[str]) -> None:
        self.ledgers[user].gone.update(texts)

    def image(self) -> Path:
        return self.folder / f"life{self.lives + 1}.db"

    def light(self, statements: int) -> None:
        if self.path.exists():
            FUSE.light(statements, self.path, self.image())

    def files(self) -> bytes:
        """Every byte of the files as they are now."""
        names = [Path(f"{self.path}{suffix}") for suffix in (*SUFFIXES, "-shm")]
        return b"".join(name.read_bytes() for name in names if name.exists())

    def rows(self, user: str) -> list[object]:
        """Everything that a tenant has."""
        if not self.path.exists():
            return []
        with (
            FUSE.wet(),
            closing(SqliteStore(str(self.path), clock=self.clock)) as store,
            store.dump(user) as dump,
        ):
            return [dump.origin, *((table, tuple(row.items())) for table, row in dump.rows)]


def _lost(rows: list[object]) -> set[object]:
    """Name what has lost words in the rows of a tenant, and the tombstones."""
    found: set[object] = set()
    for table, cells in cast("list[tuple[str, tuple[tuple[str, object], ...]]]", rows[1:]):
        row = dict(cells)
        if table == "tombstones":
            found.add(row["digest"])
        elif table == "memories" and row["status"] == Status.DELETED.value:
            found.add((table, row["id"]))
        elif table == "events" and row["redacted_at"] is not None:
            found.add((table, row["id"], row["text"]))
    return found


def events_of(reader: Reader) -> list[Event]:
    return reader.find_events(EventFilter(redacted=True))


def check(world: World) -> None:
    """Hold the file against every promise."""
    if not world.path.exists():
        return
    with closing(SqliteStore(str(world.path), clock=world.clock)) as store:
        corpora: dict[str, str] = {}
        for user in USERS:
            with store.reader(user) as reader:
                corpora[user] = "\0".join(_texts(reader))
                _nothing_is_lost(reader, world.ledgers[user])
                _beliefs_hold(reader, world.clock.now_us())
                wrong = compare_with_log(reader)
                assert not wrong, f"fold differs from the rows: {wrong}"
                assert not wrong.unexplained, wrong.unexplained
                assert (wrong.redacted, wrong.unsupported) == (0, 0)
    _nothing_returns(world, corpora)


def _texts(reader: Reader) -> Iterator[str]:
    for event in events_of(reader):
        yield event.text
    for memory in reader.find(MemoryFilter()):
        yield from (memory.text, memory.value or "")


def _nothing_is_lost(reader: Reader, ledger: Ledger) -> None:
    held = {event.id: event for event in events_of(reader)}
    for event_id, text in ledger.events.items():
        assert event_id in held, f"acknowledged event {event_id} is missing"
        if event_id not in ledger.touched:
            assert held[event_id].text == text


def _nothing_returns(world: World, corpora: dict[str, str]) -> None:
    blob = world.files()
    for user in USERS:
        others = "\0".join(corpora[other] for other in USERS if other != user)
        for text in world.ledgers[user].gone:
            assert text not in corpora[user], f"deleted {text!r} came back"
            assert text in others or text.encode() not in blob, f"deleted {text!r} is in the file"


def _beliefs_hold(reader: Reader, now_us: int) -> None:
    memories = reader.find(MemoryFilter())
    slots: dict[object, list[Memory]] = defaultdict(list)
    numbers = {event.id for event in events_of(reader)}
    for memory in memories:
        evidence = reader.evidence(memory_ids=[memory.id])
        assert evidence, f"{memory.id} rests on nothing"
        assert {item.span.event_id for item in evidence} <= numbers
        assert not _is_covered(reader, memory), f"{memory.id} is held, and a tombstone covers it"
        slot = get_slot(memory)
        if _is_live(memory, now_us) and slot is not None:
            slots[slot].append(memory)
    for slot, held in slots.items():
        values = {normalise_value(memory.value or memory.text) for memory in held}
        assert len(values) <= 1 or all(memory.contested for memory in held), (slot, held)


def _is_covered(reader: Reader, memory: Memory) -> bool:
    """Say whether more evidence for what is held would be refused."""
    gone = memory.status is Status.DELETED
    return not gone and bool(reader.tombstoned(hash_slot_forms(reader.tenant.key, memory)))


def _is_live(memory: Memory, now_us: int) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.cardinality is Cardinality.SINGLE
        and memory.stance is Stance.ASSERTED
        and (memory.valid_from_us or 0) <= now_us
        and (memory.valid_until_us is None or memory.valid_until_us > now_us)
    )

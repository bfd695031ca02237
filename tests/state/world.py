"""The world that the machine moves: one file, two tenants, and what each of them may rely on."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from credenda import Credenda
from credenda.clock import from_datetime, parse_time
from credenda.manage.rebuild import compare
from credenda.model.event import Event
from credenda.model.memory import Cardinality, Memory, Stance, Status
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import EventFilter, MemoryFilter, Reader
from credenda.text.normal import value_key
from credenda.write.slots import slot_of

from .fragile import FUSE, SUFFIXES

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


@dataclass
class Ledger:
    """What one tenant was promised: events by id with their words, and words that are gone for good."""

    events: dict[str, str] = field(default_factory=dict[str, str])
    touched: set[str] = field(default_factory=set[str])
    """Events of which something was deleted."""
    gone: set[str] = field(default_factory=set[str])


class World:
    """A file, its clients, and the ledgers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = JumpingClock()
        self.lives = 0
        self.path = folder / "life0.db"
        self.ledgers = {user: Ledger() for user in USERS}
        self.clients: dict[str, Credenda] = {}

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
                    self.path, user=user, clock=self.clock, embedder="hashed", workers=False
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
        self.clock.jump(LEASE)
        self.path = image

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
            ledger.touched |= touched
            all_events = events_of(reader)
        texts = [memory.text] if memory else [one.text for one in all_events if one.id in touched]
        elsewhere = [one.text for one in held if memory is None or one.id != memory.id]
        elsewhere += [one.text for one in all_events if one.id not in touched]
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


def copy_of(path: Path, target: Path) -> None:
    for suffix in SUFFIXES:
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", f"{target}{suffix}")


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
                wrong = compare(reader)
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
        slot = slot_of(memory)
        if _is_live(memory, now_us) and slot is not None:
            slots[slot].append(memory)
    for slot, held in slots.items():
        values = {value_key(memory.value or memory.text) for memory in held}
        assert len(values) <= 1 or all(memory.contested for memory in held), (slot, held)


def _is_live(memory: Memory, now_us: int) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.cardinality is Cardinality.SINGLE
        and memory.stance is Stance.ASSERTED
        and (memory.valid_from_us or 0) <= now_us
        and (memory.valid_until_us is None or memory.valid_until_us > now_us)
    )


__all__ = ["USERS", "World", "check", "copy_of", "from_datetime"]

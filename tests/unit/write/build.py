"""One tenant's real store, what is put into it in one line, and a second, independent reading of the log."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from credenda.clock import parse_time
from credenda.model.change import Actor, Add, Change, ChangeKind, ChangeRecord, Support
from credenda.model.claim import Span
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Draft, Memory, MemoryType, Slot, Status, TypeClass
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import ChangeFilter, Counts, MemoryFilter, Reader
from credenda.testing import ManualClock
from credenda.write.apply import Application, Applied, apply

T = TypeVar("T")
START = parse_time("2026-03-01T09:00:00Z")
MEETINGS = Slot("user", "user", "meeting_time", None, TypeClass.BELIEF)
_BARE: dict[str, object] = {"status": "active", "relation": None, "superseded_by": None, "contested": False}


def draft(text: str = "Lives in Graz", /, **fields: object) -> Draft:
    parts: dict[str, Any] = {"text": text, "type": MemoryType.FACT, **fields}
    return Draft(**parts)


def add(key: str, held: Draft | None = None, *support: Support) -> Add:
    return Add(key=f"new:{key}", draft=held or draft(f"Memory {key}"), support=support, reason="said so")


@dataclass(frozen=True, slots=True)
class House:
    """Ana's store on disk."""

    store: SqliteStore
    clock: ManualClock

    def apply(self, *changes: Change, actor: Actor = Actor.RULE, cause: str | None = None) -> Applied:
        application = Application(actor=actor, now_us=self.clock.now_us(), cause=cause)
        return self.store.commit("ana", lambda writer: apply(writer, changes, application))

    def add(self, held: Draft | None = None) -> str:
        (memory_id,) = self.apply(add("one", held)).ids.values()
        return memory_id

    def say(self, text: str) -> str:
        event = NewEvent(text=text, role=Role.USER, speaker="user", occurred_us=self.clock.now_us())
        return self.store.commit("ana", lambda writer: writer.put(event))

    def see(self, question: Callable[[Reader], T]) -> T:
        with self.store.reader("ana") as reader:
            return question(reader)

    def memory(self, memory_id: str) -> Memory:
        (found,) = self.see(lambda reader: reader.memories([memory_id]))
        return found

    def versions(self, memory_id: str) -> list[Memory]:
        return self.see(lambda reader: reader.versions([memory_id]))

    def log(self, memory_id: str | None = None) -> list[ChangeRecord]:
        return self.see(lambda reader: reader.changes(ChangeFilter(memory_ids=(memory_id,) if memory_id else None)))

    def counts(self) -> Counts:
        return self.see(lambda reader: reader.counts())

    def all(self) -> list[Memory]:
        return self.see(lambda reader: reader.find(MemoryFilter(statuses=frozenset(Status))))


def support(event_id: str, start: int = 0, stop: int = 4, name: bytes = b"c") -> Support:
    return Support(span=Span(event_id, start, stop), claim_hash=name * 16)


def folded(log: Sequence[ChangeRecord]) -> dict[str, dict[str, object]]:
    """Fold the log into the fields that a belief has now, knowing nothing but the log's own rule: later deltas win."""
    beliefs: dict[str, dict[str, object]] = {}
    for change in log:
        if change.memory_id is None:  # a contest's own entry: it says what is asked, and moves no belief by itself
            assert change.kind in (ChangeKind.CONTEST, ChangeKind.RESOLVE)
            continue
        if change.kind is ChangeKind.ADD:
            bare = asdict(Draft(text="", type=MemoryType.FACT))
            beliefs[change.memory_id] = {**bare, **_BARE, "confirmations": 0, "version": 0}
        belief = beliefs[change.memory_id]
        counted = "confirmations" if change.kind is ChangeKind.CONFIRM else "version"
        belief[counted] = int(str(belief[counted])) + 1
        if change.kind is ChangeKind.DELETE:
            gone = {"status": "deleted", "text": "", "value": None, "entity": None, "attribute": None, "scope": None}
            belief = beliefs[change.memory_id] = gone | {name: belief[name] for name in ("version", "confirmations")}
        belief.update(change.after)
    return {memory_id: _plain(belief) for memory_id, belief in beliefs.items()}


def believed(memory: Memory, fields: Sequence[str]) -> dict[str, object]:
    """Give the same fields as a row has them."""
    return _plain({name: getattr(memory, name) for name in fields})


def _plain(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}  # type: ignore[arg-type]


def made(text: str, attribute: str | None, value: str | None, *, entity: str = "user", id: str = "m1") -> Memory:
    """Make a memory by hand: a fact in a slot, or words alone."""
    return Memory(
        id=id,
        text=text,
        type=MemoryType.FACT,
        entity=entity if attribute else None,
        attribute=attribute,
        value=value,
        version=1,
        created_us=0,
        recorded_us=0,
    )

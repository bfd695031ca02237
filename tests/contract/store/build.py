"""Short ways to make the values that a store files, and to file and read them in one line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, ChangeKind, ChangeRecord, ContestCase, ContestState
from credenda.model.claim import Evidence, Span
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Memory, MemoryType, Status
from credenda.storage.store import Reader, Row, Store, Vector, Writer

T = TypeVar("T")

ANA = "ana"
BEN = "ben"
MAY_8_2023_US = 1_683_504_000_000_000


@dataclass(slots=True)
class SetClock:
    """A clock that moves when told to."""

    us: int = MAY_8_2023_US

    def now_us(self) -> int:
        return self.us


def put(store: Store, user_id: str, *rows: Row) -> list[str]:
    """File rows in one unit and return their ids."""
    return store.commit(user_id, lambda writer: [writer.put(row) for row in rows])


def see(store: Store, user_id: str, question: Callable[[Reader], T]) -> T:
    """Ask one question of one tenant's rows."""
    with store.reader(user_id) as reader:
        return question(reader)


def number(store: Store, user_id: str, kind: IdKind, id_: str) -> int:
    return parse_id_number(id_, kind, see(store, user_id, lambda reader: reader.tenant.tag))


def said(text: str, **fields: object) -> NewEvent:
    return replace(NewEvent(text=text, role=Role.USER, speaker="user", occurred_us=MAY_8_2023_US), **fields)


def held(text: str, **fields: object) -> Memory:
    bare = Memory(
        text=text, id="", version=1, type=MemoryType.FACT, created_us=MAY_8_2023_US, recorded_us=MAY_8_2023_US
    )
    return replace(bare, **fields)


def followed(memory: Memory, **moved: object) -> Memory:
    """Give the next version of a memory, recorded a second later."""
    later = replace(memory, version=memory.version + 1, recorded_us=memory.recorded_us + 1_000_000)
    return replace(later, **moved)


def ended(memory: Memory, status: Status = Status.SUPERSEDED, **moved: object) -> Memory:
    return followed(memory, status=status, valid_until_us=memory.recorded_us + 1_000_000, **moved)


def logged(kind: ChangeKind, memory_id: str | None = None, **fields: object) -> ChangeRecord:
    bare = ChangeRecord(id="", kind=kind, actor=Actor.RULE, reason="said so", at_us=MAY_8_2023_US, memory_id=memory_id)
    return replace(bare, **fields)


def because(memory_id: str, event_id: str, span: tuple[int, int] = (0, 4), claim: bytes = b"c" * 16) -> Evidence:
    return Evidence(memory_id=memory_id, span=Span(event_id, *span), claim_hash=claim)


def contested(*memory_ids: str, **fields: object) -> ContestCase:
    bare = ContestCase(
        id="",
        speaker="user",
        entity="user",
        attribute="meeting_time",
        scope=None,
        type_class="belief",
        values=("morning", "afternoon"),
        memory_ids=memory_ids,
        state=ContestState.OPEN,
        question="Morning or afternoon?",
        opened_us=MAY_8_2023_US,
    )
    return replace(bare, **fields)


def vector(code: int, data: bytes = b"\x01\x02\x03\x04", **fields: object) -> Vector:
    return Vector(code=code, model_id="tiny", dims=2, bits=16, scale=1.0, data=data)._replace(**fields)


def add(store: Store, user_id: str, *memories: Memory) -> list[str]:
    """File new memories, each with the change that explains it."""

    def work(writer: Writer) -> list[str]:
        ids = [writer.put(memory) for memory in memories]
        for memory_id in ids:
            writer.put(logged(ChangeKind.ADD, memory_id))
        return ids

    return store.commit(user_id, work)


def current(store: Store, user_id: str, memory_id: str) -> Memory:
    (found,) = see(store, user_id, lambda reader: reader.memories([memory_id]))
    return found


def texts(found: Sequence[NewEvent] | Sequence[Memory]) -> list[str]:
    return [item.text for item in found]

"""Short ways to make the values that a store files, and to file and read them in one line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from credenda.ids import Kind, number_of
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.claim import Evidence, Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Memory, MemoryType, Status
from credenda.storage.store import Reader, Row, Store, Vector

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


def number(store: Store, user_id: str, kind: Kind, id_: str) -> int:
    return number_of(id_, kind, see(store, user_id, lambda reader: reader.tenant.tag))


def said(text: str, **fields: Any) -> NewEvent:
    standard: dict[str, Any] = {"role": Role.USER, "speaker": "user", "occurred_us": MAY_8_2023_US}
    return NewEvent(text=text, **(standard | fields))


def held(text: str, **fields: Any) -> Memory:
    standard: dict[str, Any] = {
        "id": "",
        "version": 1,
        "type": MemoryType.FACT,
        "created_us": MAY_8_2023_US,
        "recorded_us": MAY_8_2023_US,
    }
    return Memory(text=text, **(standard | fields))


def followed(memory: Memory, **moved: Any) -> Memory:
    """Give the next version of a memory, recorded a second later."""
    standard: dict[str, Any] = {"version": memory.version + 1, "recorded_us": memory.recorded_us + 1_000_000}
    return replace(memory, **(standard | moved))


def ended(memory: Memory, status: Status = Status.SUPERSEDED, **moved: Any) -> Memory:
    return followed(memory, status=status, valid_until_us=memory.recorded_us + 1_000_000, **moved)


def logged(kind: ChangeKind, memory_id: str | None = None, **fields: Any) -> ChangeRecord:
    standard: dict[str, Any] = {"id": "", "actor": Actor.RULE, "reason": "said so", "at_us": MAY_8_2023_US}
    return ChangeRecord(kind=kind, memory_id=memory_id, **(standard | fields))


def because(memory_id: str, event_id: str, start: int = 0, stop: int = 4, claim: bytes = b"c" * 16) -> Evidence:
    return Evidence(memory_id=memory_id, span=Span(event_id, start, stop), claim_hash=claim)


def contested(*memory_ids: str, **fields: Any) -> ContestCase:
    standard: dict[str, Any] = {
        "id": "",
        "speaker": "user",
        "entity": "user",
        "attribute": "meeting_time",
        "scope": None,
        "type_class": "belief",
        "values": ("morning", "afternoon"),
        "state": ContestState.OPEN,
        "question": "Morning or afternoon?",
        "opened_us": MAY_8_2023_US,
    }
    return ContestCase(memory_ids=memory_ids, **(standard | fields))


def vector(code: int, data: bytes = b"\x01\x02\x03\x04", **fields: Any) -> Vector:
    standard: dict[str, Any] = {"model_id": "tiny", "dims": 2, "bits": 16, "scale": 1.0}
    return Vector(code=code, data=data, **(standard | fields))


def add(store: Store, user_id: str, *memories: Memory) -> list[str]:
    """File new memories, each with the change that explains it."""

    def work(writer: Any) -> list[str]:
        ids = [writer.put(memory) for memory in memories]
        for memory_id in ids:
            writer.put(logged(ChangeKind.ADD, memory_id))
        return ids

    return store.commit(user_id, work)


def current(store: Store, user_id: str, memory_id: str) -> Memory:
    (found,) = see(store, user_id, lambda reader: reader.memories([memory_id]))
    return found


def texts(found: Sequence[Any]) -> list[str]:
    return [item.text for item in found]


def only(table: Mapping[str, int]) -> dict[str, int]:
    """Leave out what counts nothing."""
    return {name: count for name, count in table.items() if count}

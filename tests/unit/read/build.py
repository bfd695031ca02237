"""A small world in a real SQLite file: say things, hold memories, then ask."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from credenda.clock import DAY_US, parse_time
from credenda.ids import IdKind, parse_id_number
from credenda.index.resident import ResidentIndex
from credenda.model.change import Actor, ChangeKind, ChangeRecord, ContestCase, ContestState
from credenda.model.claim import Evidence, Span
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Layer, Memory, MemoryType, Relation, Stance, Status
from credenda.model.query import Context, Hit, HitKind, Query, SearchResult
from credenda.read.candidates import Candidates, Floats, Integers, Mask
from credenda.read.context import build_context
from credenda.read.search import Embed, search
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.store import Reader, Redaction, Vector, Writer, pack_code
from credenda.text.fence import TokenBudget

DAY_ZERO = parse_time("2026-01-05T09:00:00Z")
MODEL = "minilm"
USER = "ana"


def day(number: float) -> int:
    return DAY_ZERO + int(number * DAY_US)


def unit(*values: float) -> NDArray[np.float32]:
    vector = np.zeros(64, np.float32)
    vector[: len(values)] = values
    vector[len(values) :] = -0.01
    return vector / np.float32(np.linalg.norm(vector))


class Clock:
    def __init__(self) -> None:
        self.now = DAY_ZERO

    def now_us(self) -> int:
        return self.now


class MemoryParts(TypedDict, total=False):
    type: MemoryType
    topic: str | None
    entity: str | None
    attribute: str | None
    value: str | None
    scope: str | None
    stance: Stance
    confidence: float
    importance: float
    layer: Layer
    status: Status
    relation: Relation | None
    superseded_by: str | None
    valid_from_us: int | None
    valid_until_us: int | None
    expires_us: int | None
    pinned: bool
    contested: bool
    tags: tuple[str, ...]
    metadata: Mapping[str, object]
    access_count: int
    last_accessed_us: int | None
    decay_score: float | None


class CandidateParts(TypedDict, total=False):
    owners: Integers
    coverage: Floats
    words: Floats
    own_words: Floats
    cosine: Floats
    meaning: Floats
    length: Floats
    by_named: Mask
    slot: Mask
    belief: Mask
    governs: Floats
    speaker_fit: float
    searched: int


def candidates(count: int, **parts: Unpack[CandidateParts]) -> Candidates:
    zero, none = np.zeros(count, np.float32), np.zeros(count, np.bool_)
    plain = Candidates(
        codes=np.arange(count) << 12,
        owners=np.arange(count),
        words=zero,
        own_words=zero,
        coverage=zero,
        session=zero,
        in_session=none,
        cosine=np.full(count, np.nan, np.float32),
        meaning=zero,
        claim=np.full(count, np.nan, np.float32),
        length=zero,
        by_named=none,
        slot=none,
        timely=none,
        belief=none,
        governs=zero,
        rarest=none,
        speaker_fit=0.0,
        lead=0.0,
        searched=count,
        complete=True,
    )
    return replace(plain, **parts)


class SlotName(TypedDict):
    entity: str
    attribute: str


class EventParts(TypedDict, total=False):
    topic: str | None
    occurred_us: int
    expires_us: int | None
    flags: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: Mapping[str, object]


class QueryParts(TypedDict, total=False):
    limit: int
    topic: str | None
    kinds: frozenset[HitKind]
    types: frozenset[MemoryType] | None
    layers: frozenset[Layer] | None
    mode: Literal["facts_only", "facts_plus_rules", "full_context"]
    min_confidence: float
    as_of_us: int | None
    known_at_us: int | None
    recency_weight: float
    profile: Literal["default", "recall", "evidence"]
    tags: frozenset[str] | None
    metadata: Mapping[str, object] | None
    session: str | None
    exclude_session: str | None
    include: frozenset[str]
    explain: bool
    refuse_below: float


def memory(
    text: str = "I live in Linz", *, id: str = "m1-abcde1", at: float = 0, **parts: Unpack[MemoryParts]
) -> Memory:
    base = Memory(id=id, text=text, version=1, created_us=day(at), recorded_us=day(at), type=MemoryType.FACT)
    return replace(base, **parts)


class World:
    def __init__(self, path: Path, *, user: str = USER) -> None:
        self.clock = Clock()
        self.user = user
        self.store = SqliteStore(str(path), clock=self.clock)

    def put(self, work: Callable[[Writer], str]) -> str:
        return self.store.commit(self.user, work)

    def say(
        self, text: str, *, at: float = 0, speaker: str = "user", session: str = "", **parts: Unpack[EventParts]
    ) -> str:
        roles = {"user": Role.USER, "assistant": Role.ASSISTANT}
        self.clock.now = max(self.clock.now, day(at))
        role = roles.get(speaker, Role.PERSON)
        said = NewEvent(text=text, role=role, speaker=speaker, session=session, occurred_us=day(at))
        return self.put(lambda writer: writer.put(replace(said, **parts)))

    def hold(self, text: str, *, event: str | None = None, at: float = 0, **parts: Unpack[MemoryParts]) -> str:
        """Hold a memory as a fact unless said otherwise, resting on a new or a given event."""
        source = event or self.say(text, at=at)
        start = max(self.text_of(source).find(text), 0)
        made = memory(text, id="", at=at, **parts)

        def work(writer: Writer) -> str:
            name = writer.put(made)
            span = Span(source, start, start + len(text))
            claim = len(text).to_bytes(8, "big") + name.encode()[:8].ljust(8, b"\0")
            writer.put(Evidence(memory_id=name, span=span, claim_hash=claim))
            writer.put(self._change(ChangeKind.ADD, name, cause=source, reason="said", at=at))
            return name

        return self.put(work)

    def _change(self, kind: ChangeKind, name: str, *, at: float, reason: str, cause: str | None = None) -> ChangeRecord:
        return ChangeRecord(
            id="", kind=kind, actor=Actor.RULE, reason=reason, at_us=day(at), memory_id=name, cause=cause
        )

    def text_of(self, event: str) -> str:
        with self.reader() as reader:
            return reader.events([event])[0].text

    def alter(
        self,
        name: str,
        *,
        at: float = 1,
        kind: ChangeKind = ChangeKind.SET_STATUS,
        reason: str = "altered",
        cause: str | None = None,
        **parts: Unpack[MemoryParts],
    ) -> None:
        """Add a version of a memory with some fields changed."""

        def work(writer: Writer) -> str:
            (present,) = writer.memories([name])
            writer.put(replace(present, version=present.version + 1, recorded_us=day(at), **parts))
            return writer.put(self._change(kind, name, at=at, reason=reason, cause=cause))

        self.put(work)

    def supersede(
        self, old: str, new: str, *, at: float = 1, relation: Relation = Relation.CHANGED, cause: str | None = None
    ) -> None:
        self.alter(
            old,
            at=at,
            kind=ChangeKind.SUPERSEDE,
            status=Status.SUPERSEDED,
            relation=relation,
            superseded_by=new,
            valid_until_us=day(at),
            reason=f"{relation.value} by {new}",
            cause=cause,
        )

    def forget(self, name: str, *, at: float = 1) -> None:
        self.alter(name, at=at, kind=ChangeKind.FORGET, status=Status.FORGOTTEN, reason="asked to")

    def delete(self, name: str, *, at: float = 1) -> None:
        self.alter(name, at=at, kind=ChangeKind.DELETE, status=Status.DELETED, reason="asked to")
        self.put(lambda writer: writer.put(Redaction(id=name, at_us=day(at))))

    def contest(self, names: Sequence[str], values: Sequence[str], question: str) -> str:
        for name in names:
            self.alter(name, contested=True, kind=ChangeKind.CONTEST)
        case = ContestCase(
            id="",
            speaker="user",
            entity="user",
            attribute="meetings",
            scope=None,
            type_class="belief",
            values=tuple(values),
            memory_ids=tuple(names),
            state=ContestState.OPEN,
            question=question,
            opened_us=day(1),
        )
        return self.put(lambda writer: writer.put(case))

    def embed(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Store vectors of events and memories by id."""
        with self.reader() as reader:
            tag = reader.tenant.tag
        for name, values in vectors.items():
            kind = IdKind(name[0])
            code = pack_code(parse_id_number(name, kind, tag), memory=kind is IdKind.MEMORY)
            row = Vector(
                code=code, model_id=MODEL, dims=len(values), bits=16, scale=1.0, data=values.astype("<f2").tobytes()
            )
            self.put(lambda writer, row=row: writer.put(row))

    @contextmanager
    def reader(self) -> Generator[Reader]:
        with self.store.reader(self.user) as reader:
            yield reader

    def search(
        self,
        text: str,
        *,
        now: float = 10,
        vector: NDArray[np.float32] | None = None,
        cold: bool = False,
        **query: Unpack[QueryParts],
    ) -> SearchResult:
        with self.reader() as reader:
            index = None if cold else built(reader, MODEL if vector is not None else None)
            embed = None if vector is None else giving(vector)
            asked = Query(text=text, **query)
            return search(asked, reader=reader, index=index, embed=embed, now_us=day(now))

    def context(self, text: str | None, *, budget: int = 800, now: float = 10, **query: Unpack[QueryParts]) -> Context:
        with self.reader() as reader:
            asked = None if text is None else Query(text=text, **query)
            return build_context(
                asked, budget=TokenBudget(budget), reader=reader, index=built(reader, None), now_us=day(now)
            )


def giving(vector: NDArray[np.float32]) -> Embed:
    return lambda texts: np.stack([vector] * len(texts))


def built(reader: Reader, model_id: str | None) -> ResidentIndex:
    index = ResidentIndex(model_id=model_id)
    while (delta := reader.delta(index.heads, model_id)).heads != index.heads:
        index.fold(delta)
    return index


def hit_of(result: SearchResult, name: str) -> Hit:
    (found,) = (hit for hit in result.hits if hit.id == name)
    return found


def names(result: SearchResult | Context) -> list[str]:
    return [hit.id for hit in result.hits]

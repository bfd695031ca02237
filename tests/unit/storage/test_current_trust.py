"""The trust in a memory as it stands now: its best witness, and the least along the chain that it was made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from credenda.model.claim import Evidence, Span
from credenda.model.event import TRUST, Event, Role, Source
from credenda.model.memory import Memory, MemoryType
from credenda.storage.current_trust import combine_trust, find_current_trust
from credenda.storage.store import Reader


def make_event(number: int, source: Source, *, role: Role = Role.USER, text: str = "I like tea.") -> Event:
    return Event(
        id=f"e{number}-000001",
        text=text,
        role=role,
        speaker="user",
        source=source,
        trust=TRUST[source],
        occurred_us=number,
        recorded_us=number,
    )


def make_memory(number: int, trust: float, *, confirmations: int = 0, **metadata: object) -> Memory:
    return Memory(
        id=f"m{number}-000001",
        version=1,
        created_us=1,
        recorded_us=1,
        text="Ana likes tea.",
        type=MemoryType.FACT,
        trust=trust,
        confirmations=confirmations,
        metadata=metadata,
    )


class Rows:
    """The rows that a reader would find."""

    def __init__(self, memories: Sequence[Memory] = (), links: Sequence[tuple[str, Event]] = ()) -> None:
        self._memories = {memory.id: memory for memory in memories}
        self._links = links
        self.reads = 0

    def memories(self, ids: Sequence[str]) -> list[Memory]:
        self.reads += 1
        return [self._memories[one] for one in ids if one in self._memories]

    def evidence(self, *, memory_ids: Sequence[str]) -> list[Evidence]:
        self.reads += 1
        return [
            Evidence(memory_id=name, span=Span(event.id, 0, 3), claim_hash=b"")
            for name, event in self._links
            if name in memory_ids
        ]

    def events(self, ids: Sequence[str]) -> list[Event]:
        self.reads += 1
        return [event for _, event in self._links if event.id in ids]


def find(rows: Rows, *memories: Memory) -> list[float]:
    return [one.trust for one in find_current_trust(cast("Reader", rows), memories)]


@pytest.mark.parametrize(
    ("written", "sources", "trust"),
    [
        (1.0, [Source.HUMAN], 1.0),
        (0.5, [Source.INGEST, Source.HUMAN], 1.0),
        (1.0, [Source.INGEST], 0.5),
        (0.5, [Source.AI], 0.5),
        (0.5, [Source.AI, Source.AI, Source.INTERACTION], 0.5),
        (0.7, [], 0.7),
    ],
)
def test_a_memory_is_as_trusted_as_its_best_witness(written: float, sources: list[Source], trust: float) -> None:
    evidence = [make_event(at, source) for at, source in enumerate(sources, 1)]
    assert combine_trust(make_memory(1, written), evidence) == trust


def test_a_redacted_event_and_an_assistant_are_no_persons() -> None:
    gone = make_event(1, Source.HUMAN, text="")
    told = make_event(2, Source.HUMAN, role=Role.ASSISTANT)
    page = make_event(3, Source.INGEST)
    assert combine_trust(make_memory(1, 1.0), [gone, page]) == 0.5
    assert combine_trust(make_memory(1, 0.5), [told, page]) == 0.5


def test_a_summary_is_no_more_trusted_than_any_memory_along_its_chain() -> None:
    weak = make_memory(1, 1.0, confirmations=1)
    strong = make_memory(2, 1.0)
    summary = make_memory(3, 1.0, consolidated={"sources": [weak.id, strong.id]})
    card = make_memory(4, 0.9, cites=[summary.id, strong.id])
    links = [(weak.id, make_event(1, Source.HUMAN, text="")), (weak.id, make_event(2, Source.INGEST))]
    rows = Rows([weak, strong, summary], links)
    assert find(rows, card, summary, weak, strong) == [0.5, 0.5, 0.5, 1.0]


def test_a_circle_and_a_source_that_is_gone_end_the_chain() -> None:
    first = make_memory(1, 0.8, cites=["m2-000001", "m9-000001"])
    second = make_memory(2, 0.6, cites=[first.id])
    assert find(Rows([first, second]), first) == [0.6]


def test_memories_with_one_witness_are_not_read_again() -> None:
    rows = Rows()
    assert find(rows, make_memory(1, 0.7), make_memory(2, 1.0)) == [0.7, 1.0]
    assert rows.reads == 0

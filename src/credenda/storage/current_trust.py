"""The trust in memories as their evidence and sources stand now; what a row says of its own trust is only a bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from credenda.errors import CredendaError
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.model.event import Event, Role, Source
from credenda.model.memory import HELD, Memory, list_merged_sources, list_sources
from credenda.storage.records import unpack_code
from credenda.storage.rows import NO_END
from credenda.storage.store import Reader
from credenda.storage.transfer import Cell, TableRow

_OWN: Final = frozenset({Source.HUMAN, Source.FILE})
_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})
_EVIDENCE: Final = 16
"""The most events of a memory that count: the first and the latest."""
_DEPTH: Final = 4
"""How many summaries of summaries are followed; a deeper one keeps the trust that it was written with."""


def combine_trust(memory: Memory, evidence: Sequence[Event]) -> float:
    """Return the trust in a memory on this evidence: that of its best witness.

    A person is trusted as such. Any other event adds no more than the trust with which the memory was written, because
    it may only repeat another. Redacted events witness nothing. Without evidence the trust stays as it was written.
    """
    witnesses = [event for event in evidence if event.text]
    if not witnesses:
        return memory.trust
    return max(
        event.trust if (event.role in _SPEAKING and event.source in _OWN) else min(event.trust, memory.trust)
        for event in witnesses
    )


def find_current_trust(reader: Reader, memories: Sequence[Memory]) -> list[Memory]:
    """Return memories with the trust that they have now: at most that of every memory that they were made of."""
    trusts = _compute(reader, memories, _DEPTH)
    return [
        memory if (trust := trusts.get(memory.id, memory.trust)) == memory.trust else replace(memory, trust=trust)
        for memory in memories
    ]


def _compute(reader: Reader, memories: Collection[Memory], depth: int) -> Mapping[str, float]:
    """Return the trust of those memories that may differ from their rows."""
    sources = {
        memory.id: found for memory in memories if (found := (list_sources(memory) | list_merged_sources(memory)))
    }
    stated = [memory for memory in memories if memory.confirmations and memory.id not in sources]
    if stated:
        events_of: dict[str, dict[str, None]] = {memory.id: {} for memory in stated}
        for link in reader.evidence(memory_ids=list(events_of)):
            events_of[link.memory_id][link.span.event_id] = None
        chosen = {name: _choose(found) for name, found in events_of.items()}
        wanted = sorted({event_id for ids in chosen.values() for event_id in ids})
        events = {event.id: event for event in reader.events(wanted)} if wanted else {}
        trusts = {
            memory.id: combine_trust(memory, [events[one] for one in chosen[memory.id] if one in events])
            for memory in stated
        }
    else:
        trusts = {}
    if sources and depth:
        named = sorted({name for names in sources.values() for name in names})
        made_of = reader.memories(named)
        known = {one.id: one.trust for one in made_of} | dict(_compute(reader, made_of, depth - 1))
        rows = {memory.id: memory.trust for memory in memories}
        for memory_id, names in sources.items():
            trusts[memory_id] = min([rows[memory_id], *(known[name] for name in names if name in known)])
    return trusts


def _choose(event_ids: Collection[str]) -> list[str]:
    ordered = sorted(event_ids, key=parse_serial)
    return ordered if len(ordered) <= _EVIDENCE else [*ordered[: _EVIDENCE // 2], *ordered[-_EVIDENCE // 2 :]]


# Cut the rows of a memory at a past moment: those that it had just before an event was recorded.


_KEPT: Final = frozenset({"tombstones"})
"""Tables that are copied whole: what was deleted since does not return."""


@dataclass(slots=True)
class Cut:
    """The moment, and the numbers of rows that existed before it.

    `event` is the number of the first event that did not exist, `change` that of the first change; `at_us` is the time
    of that event.
    """

    event: int
    at_us: int
    tag: str
    change: int | None = None
    memories: set[int] = field(default_factory=set[int])
    uses: dict[int, list[int]] = field(default_factory=lambda: defaultdict[int, list[int]](list))

    def take(self, table: str, row: TableRow) -> None:
        """Note a change or a use that came before; changes come in their order, and the first later one ends them."""
        if table == "access_log" and _to_number(row["at"]) < self.at_us:
            self.uses[_to_number(row["memory"])].append(_to_number(row["at"]))
        if table != "changes" or self.change is not None:
            return
        if _to_number(row["at"]) > self.at_us or self._follows(row.get("cause")):
            self.change = _to_number(row["id"])
        elif row["memory"] is not None:
            self.memories.add(_to_number(row["memory"]))

    def _follows(self, cause: Cell) -> bool:
        """Return whether a change was caused by an event that did not exist yet."""
        if not isinstance(cause, str):
            return False
        try:
            return parse_id_number(cause, IdKind.EVENT, self.tag) >= self.event
        except CredendaError:
            return False


def plan_cut(rows: Iterable[tuple[str, TableRow]], event: int, at_us: int, tag: str) -> Cut:
    """Find the changes and memories that existed, and their uses; read every row once."""
    cut = Cut(event=event, at_us=at_us, tag=tag)
    for table, row in rows:
        cut.take(table, row)
    return cut


def cut_rows(rows: Iterable[tuple[str, TableRow]], cut: Cut) -> Iterator[tuple[str, TableRow]]:
    """Yield the rows as they were; rows that are derived from the log are left to be rebuilt from it.

    Jobs, contests, budgets, watermarks and scores are left out: contests are rebuilt, the others do
    not shape a context.
    """
    for table, row in rows:
        kept = _RULES.get(table)
        if table in _KEPT or (kept is not None and kept(row, cut)):
            yield table, _restore_past(row, cut) if table == "memories" else row


def _has_vector(row: TableRow, cut: Cut) -> bool:
    is_memory, number, _ = unpack_code(_to_number(row["code"]))
    return number in cut.memories if is_memory else number < cut.event


_RULES: Final[Mapping[str, Callable[[TableRow, Cut], bool]]] = {
    "events": lambda row, cut: _to_number(row["id"]) < cut.event,
    "passages": lambda row, cut: _to_number(row["event"]) < cut.event,
    "memories": lambda row, cut: _to_number(row["id"]) in cut.memories and _to_number(row["recorded_at"]) <= cut.at_us,
    "evidence": lambda row, cut: _to_number(row["memory"]) in cut.memories and _to_number(row["event"]) < cut.event,
    "changes": lambda row, cut: cut.change is None or _to_number(row["id"]) < cut.change,
    "embeddings": _has_vector,
    "access_log": lambda row, cut: _to_number(row["memory"]) in cut.memories and _to_number(row["at"]) < cut.at_us,
}


def _restore_past(row: TableRow, cut: Cut) -> Mapping[str, Cell]:
    """Return a version with the uses that it had by then; one that ended later had not ended."""
    uses = cut.uses.get(_to_number(row["id"]), [])
    ended = row["expired_at"]
    later = ended is not None and _to_number(ended) > cut.at_us
    return {
        **row,
        "expired_at": None if later else ended,
        "valid_until": None if later and row["valid_until"] == NO_END and row["status"] in HELD else row["valid_until"],
        "access_count": len(uses),
        "last_accessed": max(uses, default=None),
    }


def _to_number(cell: Cell) -> int:
    return cast("int", cell)

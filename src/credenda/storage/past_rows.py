"""Cut the rows of a memory at a past moment: those that it had just before an event was recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from credenda.errors import CredendaError
from credenda.ids import IdKind, parse_id_number
from credenda.storage.records import unpack_code
from credenda.storage.tenant_transfer import Cell, TableRow

__all__ = ["Cut", "cut_rows", "plan_cut"]

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
        if table in _KEPT or _is_kept(table, row, cut):
            yield table, _restore_past(row, cut) if table == "memories" else row


def _is_kept(table: str, row: TableRow, cut: Cut) -> bool:
    kept = _RULES.get(table)
    return kept is not None and kept(row, cut)


def _has_vector(row: TableRow, cut: Cut) -> bool:
    is_memory, number, _ = unpack_code(_to_number(row["code"]))
    return number in cut.memories if is_memory else number < cut.event


def _has_version(row: TableRow, cut: Cut) -> bool:
    return _to_number(row["id"]) in cut.memories and _to_number(row["recorded_at"]) <= cut.at_us


def _has_change(row: TableRow, cut: Cut) -> bool:
    return cut.change is None or _to_number(row["id"]) < cut.change


_RULES: Final[Mapping[str, Callable[[TableRow, Cut], bool]]] = {
    "events": lambda row, cut: _to_number(row["id"]) < cut.event,
    "passages": lambda row, cut: _to_number(row["event"]) < cut.event,
    "memories": _has_version,
    "evidence": lambda row, cut: _to_number(row["memory"]) in cut.memories and _to_number(row["event"]) < cut.event,
    "changes": _has_change,
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
        "access_count": len(uses),
        "last_accessed": max(uses, default=None),
    }


def _to_number(cell: Cell) -> int:
    return cast("int", cell)

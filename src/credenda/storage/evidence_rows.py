"""Conversion of the rows of evidence."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from credenda.ids import IdKind
from credenda.model.claim import Evidence, Span
from credenda.model.fast_dataclass import compile_row_constructor
from credenda.storage.damage import IMPOSSIBLE, make_damage_error

__all__ = ["EvidenceRow", "to_evidence", "to_evidence_list"]

EvidenceRow = tuple[int, int, int, int, bytes, str | None]
"""Memory, event, start, stop, hash of the claim and extractor, in the order of the statements."""
_by_span: Final = itemgetter(1, 2, 3, 0, 4)
"""Event, start, stop, memory and claim of an evidence row."""
_new_span: Final = compile_row_constructor(Span)
_new_evidence: Final = compile_row_constructor(Evidence)


def to_evidence(row: Mapping[str, Any], tag: str) -> Evidence:
    """Build evidence from a row without the extractor's version, because older archives lack it."""
    columns = (row["memory"], row["event"], row["start"], row["stop"], row["claim_hash"])
    return to_evidence_list([(*columns, None)], tag)[0]


def to_evidence_list(found: Collection[EvidenceRow], tag: str) -> list[Evidence]:
    """Build evidence from tuples, without repetition, in the order of the journal; a search reads many."""
    try:
        _check_evidence(found)
    except IMPOSSIBLE as error:
        damaged = next((row for row in found if not _is_evidence(row)), None)
        key = "a row" if damaged is None else f"the evidence of {IdKind.MEMORY.value}{damaged[0]}"
        raise make_damage_error("evidence", key) from error
    rows = sorted(set(found), key=_by_span)
    memories, events = IdKind.MEMORY.value, IdKind.EVENT.value
    return [
        _new_evidence(
            (f"{memories}{memory}-{tag}", _new_span((f"{events}{event}-{tag}", start, stop)), claim_hash, reader or "")
        )
        for memory, event, start, stop, claim_hash, reader in rows
    ]


def _check_evidence(found: Collection[EvidenceRow]) -> None:
    """Raise `TypeError` for a cell of another type than its column; a few operations check all rows."""
    if found:
        *numbers, hashes, readers = zip(*found, strict=True)
        array("q", chain(*numbers))
        b"".join(hashes)
        "".join(reader or "" for reader in readers)


def _is_evidence(row: EvidenceRow) -> bool:
    try:
        _check_evidence([row])
    except IMPOSSIBLE:
        return False
    return True

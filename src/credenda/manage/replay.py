"""The change log, read again: the memories, evidence and contests that it says there are. Pure.

A memory is what the changes that name it made of it, one version a change (a confirmation alone counts on
the version that stands); a contest is what the last change about it left. What is counted rather than decided is not in
the log and is not folded: showings, decay, surprise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, cast

from credenda.model.change import ChangeKind, ChangeRecord
from credenda.model.change_fields import DRAFT_FIELDS, draft_of, typed
from credenda.model.claim import Evidence
from credenda.model.contest import ContestCase, contest_from
from credenda.model.memory import Memory, Status
from credenda.model.surprise import adjusted
from credenda.text.sentiment import valence

__all__ = ["COUNTED", "WORDS", "Folded", "fold_contests", "fold_memory", "memory_differences", "weighed"]

COUNTED: Final = ("last_accessed_us", "access_count", "decay_score", "surprise", "emotional_valence")
"""Fields of a memory that the log does not hold: they are counted from elsewhere, or derived."""

WORDS: Final[Mapping[str, object]] = {
    "text": "",
    "topic": None,
    "entity": None,
    "attribute": None,
    "value": None,
    "scope": None,
    "tags": (),
    "metadata": {},
}
"""Fields of a memory that deleting empties, in every version, and what they then hold."""

_FIELDS: Final = frozenset(field.name for field in fields(Memory))
_STILL: Final = frozenset({ChangeKind.CONFIRM, ChangeKind.REBUILD, ChangeKind.LINK})
"""Kinds of changes that make no version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What the log says of one memory: its versions, oldest first, and its evidence.

    `whole` is false where a version older than this one redacted the log so far that it says no more than that there
    was a memory; `supported` where it kept no evidence.
    """

    versions: tuple[Memory, ...]
    evidence: frozenset[Evidence]
    whole: bool = True
    supported: bool = True

    @property
    def current(self) -> Memory:
        """The version that is held now."""
        return self.versions[-1]


def fold_memory(records: Iterable[ChangeRecord]) -> Folded | None:
    """Fold the changes that name one memory, oldest first; None where none of them adds it."""
    versions: list[Memory] = []
    evidence: set[Evidence] = set()
    supported = whole = True
    deleted = False
    for record in records:
        memory_id = record.memory_id or ""
        if record.kind is ChangeKind.ADD:
            whole = "type" in record.after
            versions = [_added(record, memory_id)]
        elif not versions:
            return None
        elif record.kind is ChangeKind.CONFIRM:
            versions[-1] = replace(versions[-1], confirmations=versions[-1].confirmations + 1)
        elif record.kind not in _STILL:
            versions += _next(versions.pop(), record)
        if record.kind in (ChangeKind.ADD, ChangeKind.CONFIRM):
            supported = supported and record.support is not None
        evidence.update(
            Evidence(memory_id=memory_id, span=one.span, claim_hash=one.claim_hash, reader=one.reader)
            for one in record.support or ()
        )
        deleted = deleted or record.kind is ChangeKind.DELETE
    if not versions:
        return None
    kept = (replace(one, **cast("dict[str, Any]", WORDS)) for one in versions) if deleted else versions
    if deleted:  # deleting takes the hash of what was claimed
        evidence = {replace(one, claim_hash=bytes(len(one.claim_hash))) for one in evidence}
    return Folded(versions=tuple(kept), evidence=frozenset(evidence), whole=whole, supported=supported)


def _added(record: ChangeRecord, memory_id: str) -> Memory:
    draft = draft_of(record.after)
    content = {name: getattr(draft, name) for name in DRAFT_FIELDS}
    return Memory(
        **content,
        id=memory_id,
        version=1,
        created_us=record.at_us,
        recorded_us=record.at_us,
        base_importance=draft.importance,
        emotional_valence=valence(draft.text),
    )


def _next(last: Memory, record: ChangeRecord) -> tuple[Memory, Memory]:
    """Close the version that stood, and give it and the one that replaced it."""
    moved = {name: value for name, value in typed(record.after).items() if name in _FIELDS}
    if record.kind is ChangeKind.DELETE:
        moved["status"] = Status.DELETED
    version = replace(last, version=last.version + 1, recorded_us=record.at_us, **moved)  # type: ignore[arg-type]
    return replace(last, expired_us=record.at_us), version


def fold_contests(records: Iterable[ChangeRecord]) -> dict[str, ContestCase | None]:
    """Fold the changes that name no memory, oldest first: contests by id, None for one whose words the log lost."""
    cases: dict[str, ContestCase | None] = {}
    for record in records:
        contest_id = record.after.get("contest")
        if isinstance(contest_id, str):
            case = record.after.get("case")
            cases[contest_id] = contest_from(cast("Mapping[str, Any]", case)) if case else cases.get(contest_id)
    return cases


def memory_differences(folded: Folded, live: Iterable[Memory], evidence: Iterable[Evidence]) -> list[str]:
    """Name the fields in which the rows of a memory differ from what the log says, and versions and evidence.

    What an older log does not hold is not compared.
    """
    rows = list(live)
    found: list[str] = []
    if not folded.whole:
        return [] if rows and rows[-1].status is Status.DELETED and not rows[-1].text else ["status"]
    if [one.version for one in rows] != [one.version for one in folded.versions]:
        found.append("versions")
    for said, held in zip(folded.versions, rows, strict=False):
        found += _fields_apart(said, held)
    if folded.supported and _places(folded, evidence) != _places(folded, folded.evidence):
        found.append("evidence")
    return list(dict.fromkeys(found))


def _places(folded: Folded, evidence: Iterable[Evidence]) -> frozenset[object]:
    """Give what of the evidence is compared: of a deleted memory only where it stood."""
    if folded.current.status is Status.DELETED:
        return frozenset((one.span.event_id, one.span.start) for one in evidence)
    return frozenset(evidence)


def _fields_apart(said: Memory, held: Memory) -> list[str]:
    names = sorted(_FIELDS - set(COUNTED))
    said = weighed(said, held.surprise)
    return [name for name in names if getattr(said, name) != getattr(held, name)]


def weighed(said: Memory, surprise: float | None) -> Memory:
    """Give a memory the importance that its surprise makes of the stated one; what the log moved since then stands."""
    if said.importance != said.base_importance:
        return said
    return replace(said, importance=adjusted(said.base_importance, surprise))

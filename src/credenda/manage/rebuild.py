"""Rebuild: replay the change log, compare rows with it, and repair rows that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any, Final, cast

from credenda.errors import IMPOSSIBLE, make_damage_error
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.model.change import (
    DRAFT_FIELDS,
    Actor,
    ChangeKind,
    ChangeRecord,
    ContestCase,
    from_contest_dict,
    parse_fields,
    to_draft,
)
from credenda.model.claim import Evidence
from credenda.model.memory import Memory, Status, adjust_importance
from credenda.storage.store import ChangeFilter, Reader, ReplayedRows, Writer
from credenda.text.sentiment import score_valence

# Replay the change log: rebuild memories, evidence and contests from it. Each change of a memory makes one version of
# it; a confirmation only increases a count of the current version. A contest is as its last change left it. Derived
# values are not in the log: impressions, decay, surprise.


COUNTED: Final = ("last_accessed_us", "access_count", "decay_score", "surprise", "emotional_valence")
"""Fields of a memory that the log does not contain, because they are derived."""

REDACTED_FIELDS: Final[Mapping[str, object]] = {
    "text": "",
    "topic": None,
    "entity": None,
    "attribute": None,
    "value": None,
    "scope": None,
    "tags": (),
    "metadata": {},
    "speaker": "user",
    "source_session": "",
}
"""Fields that a deletion empties in every version, with their empty values."""

_KEPT_BEFORE: Final = frozenset({"speaker", "source_session"})
"""Fields that older versions of Credenda left in the rows of deleted memories."""
_FIELDS: Final = frozenset(field.name for field in fields(Memory))
_STILL: Final = frozenset({ChangeKind.CONFIRM, ChangeKind.REBUILD, ChangeKind.LINK})
"""Kinds of changes that make no version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedMemory:
    """A memory as replayed from the log: its versions, oldest first, and its evidence.

    `whole` is False if a version of Credenda older than this one redacted its log entries down to its existence;
    `supported` is False if that log kept no evidence.
    """

    versions: tuple[Memory, ...]
    evidence: frozenset[Evidence]
    whole: bool = True
    supported: bool = True

    @property
    def current(self) -> Memory:
        """The current version."""
        return self.versions[-1]


def replay_memory(records: Iterable[ChangeRecord]) -> ReplayedMemory | None:
    """Replay the changes of one memory, oldest first; None if none of them adds it.

    Raises `Corrupt` for a change with an impossible value.
    """
    known = list(records)
    try:
        return _replay_changes(known)
    except IMPOSSIBLE as error:
        raise make_damage_error("changes", f"one of the changes of {known[0].memory_id}") from error


def _replay_changes(records: Iterable[ChangeRecord]) -> ReplayedMemory | None:
    versions: list[Memory] = []
    evidence: set[Evidence] = set()
    supported = whole = True
    deleted = False
    for record in records:
        memory_id = record.memory_id or ""
        if record.kind is ChangeKind.ADD:
            whole = "type" in record.after
            versions = [_replay_add(record, memory_id)]
        elif not versions:
            return None
        elif record.kind is ChangeKind.CONFIRM:
            versions[-1] = replace(versions[-1], confirmations=versions[-1].confirmations + 1)
        elif record.kind not in _STILL:
            last = versions.pop()
            moved = {name: value for name, value in parse_fields(record.after).items() if name in _FIELDS}
            if record.kind is ChangeKind.DELETE:
                moved["status"] = Status.DELETED
            version = replace(last, version=last.version + 1, recorded_us=record.at_us, **moved)  # type: ignore[arg-type]
            versions += (replace(last, expired_us=record.at_us), version)
        if record.kind in (ChangeKind.ADD, ChangeKind.CONFIRM):
            supported = supported and record.support is not None
        evidence.update(
            Evidence(memory_id=memory_id, span=one.span, claim_hash=one.claim_hash, reader=one.reader)
            for one in record.support or ()
        )
        deleted = deleted or record.kind is ChangeKind.DELETE
    if not versions:
        return None
    kept = (replace(one, **cast("dict[str, Any]", REDACTED_FIELDS)) for one in versions) if deleted else versions
    if deleted:  # a deletion clears the claim hash
        evidence = {replace(one, claim_hash=bytes(len(one.claim_hash))) for one in evidence}
    return ReplayedMemory(versions=tuple(kept), evidence=frozenset(evidence), whole=whole, supported=supported)


def _replay_add(record: ChangeRecord, memory_id: str) -> Memory:
    draft = to_draft(record.after)
    content = {name: getattr(draft, name) for name in DRAFT_FIELDS}
    return Memory(
        **content,
        id=memory_id,
        version=1,
        created_us=record.at_us,
        recorded_us=record.at_us,
        base_importance=draft.importance,
        emotional_valence=score_valence(draft.text),
    )


def replay_contests(records: Iterable[ChangeRecord]) -> dict[str, ContestCase | None]:
    """Replay the changes of contests, oldest first; None for a contest whose data the log has lost."""
    cases: dict[str, ContestCase | None] = {}
    for record in records:
        contest_id = record.after.get("contest")
        if isinstance(contest_id, str):
            case = record.after.get("case")
            try:
                case = from_contest_dict(cast("Mapping[str, Any]", case)) if case else cases.get(contest_id)
            except IMPOSSIBLE as error:
                raise make_damage_error("changes", record.id) from error
            cases[contest_id] = case
    return cases


def diff_memory(folded: ReplayedMemory, live: Iterable[Memory], evidence: Iterable[Evidence]) -> list[str]:
    """Return the fields in which the rows of a memory differ from the log, and "versions" and "evidence".

    Data that an older log does not contain is not compared.
    """
    rows = list(live)
    found: list[str] = []
    if not folded.whole:
        return [] if rows and rows[-1].status is Status.DELETED and not rows[-1].text else ["status"]
    if [one.version for one in rows] != [one.version for one in folded.versions]:
        found.append("versions")
    kept = _KEPT_BEFORE if folded.current.status is Status.DELETED else frozenset[str]()
    for said, held in zip(folded.versions, rows, strict=False):
        found += [name for name in _diff_fields(said, held) if name not in kept]
    if folded.supported and _locate_evidence(folded, evidence) != _locate_evidence(folded, folded.evidence):
        found.append("evidence")
    return list(dict.fromkeys(found))


def _locate_evidence(folded: ReplayedMemory, evidence: Iterable[Evidence]) -> frozenset[object]:
    """Return the comparable part of the evidence: of a deleted memory only events and offsets."""
    if folded.current.status is Status.DELETED:
        return frozenset((one.span.event_id, one.span.start) for one in evidence)
    return frozenset(evidence)


def _diff_fields(said: Memory, held: Memory) -> list[str]:
    names = sorted(_FIELDS - set(COUNTED))
    said = apply_surprise(said, held.surprise)
    return [name for name in names if getattr(said, name) != getattr(held, name)]


def apply_surprise(said: Memory, surprise: float | None) -> Memory:
    """Apply surprise to the stated importance, unless a later change set the importance."""
    if said.importance != said.base_importance:
        return said
    return replace(said, importance=adjust_importance(said.base_importance, surprise))


_MEMORIES_A_STEP: Final = 500
_ABOUT_CONTESTS: Final = frozenset({ChangeKind.CONTEST, ChangeKind.RESOLVE, ChangeKind.UNDO, ChangeKind.DELETE})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDifferences:
    """The memories, with differing fields, and contests whose rows differ from the change log.

    `unexplained` are memories and contests that no change in the log adds. `redacted` counts memories, and
    `unsupported` those whose evidence, that an older version of Credenda logged incompletely.
    """

    memories: dict[str, tuple[str, ...]]
    contests: tuple[str, ...]
    unexplained: tuple[str, ...]
    compared: int
    redacted: int
    unsupported: int

    def __bool__(self) -> bool:
        return bool(self.memories or self.contests)


def compare_with_log(reader: Reader) -> LogDifferences:
    """Replay the whole log of a tenant and compare it with its rows, in batches of bounded size."""
    wrong: dict[str, tuple[str, ...]] = {}
    unexplained: list[str] = []
    compared = redacted = unsupported = 0
    for memory_id, folded, rows, evidence in _iterate_memories(reader):
        if folded is None:
            unexplained.append(memory_id)
            continue
        compared += 1
        redacted += not folded.whole
        unsupported += not folded.supported
        if names := diff_memory(folded, rows, evidence):
            wrong[memory_id] = tuple(names)
    said = _load_contests(reader)
    held = {case.id: case for case in reader.contests()}
    apart = [one for one, case in said.items() if case is not None and held.get(one) != case]
    return LogDifferences(
        memories=wrong,
        contests=tuple(apart),
        unexplained=(*unexplained, *(one for one in held if one not in said)),
        compared=compared,
        redacted=redacted,
        unsupported=unsupported,
    )


def _load_contests(reader: Reader) -> dict[str, ContestCase | None]:
    changes = reader.changes(ChangeFilter(kinds=_ABOUT_CONTESTS))
    return replay_contests(change for change in changes if change.memory_id is None)


def _iterate_memories(reader: Reader) -> Iterator[tuple[str, ReplayedMemory | None, list[Memory], list[Evidence]]]:
    """Yield each memory with its replay and its rows."""
    tag, start = reader.tenant.tag, 1
    while tag:  # a tenant without a tag has no rows
        numbers = range(start, start + _MEMORIES_A_STEP)
        ids = [format_id(IdKind.MEMORY, number, tag) for number in numbers]
        rows = {one: list(versions) for one, versions in groupby(reader.versions(ids), key=lambda memory: memory.id)}
        evidence = _group_evidence(reader.evidence(memory_ids=ids))
        grouped = groupby(reader.changes(ChangeFilter(memories=numbers)), key=lambda change: change.memory_id or "")
        folds = {memory_id: replay_memory(records) for memory_id, records in grouped}
        known = [one for one in ids if one in rows or one in folds]
        if not known:
            return
        for one in known:
            yield one, folds.get(one), rows.get(one, []), evidence.get(one, [])
        start = numbers.stop


def _group_evidence(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for item in evidence:
        found.setdefault(item.memory_id, []).append(item)
    return found


def repair_rows(writer: Writer, wrong: LogDifferences, now_us: int) -> int:
    """Replace rows that differ by the replayed ones, in the caller's transaction; return their number.

    Each repaired memory gets a change of its own, which updates the indexes.
    """
    tag = writer.tenant.tag
    done = 0
    for memory_id in wrong.memories:
        number = parse_id_number(memory_id, IdKind.MEMORY, tag)
        folded = replay_memory(writer.changes(ChangeFilter(memories=range(number, number + 1))))
        if folded is None or not folded.whole:
            continue
        # Copy derived fields from the rows.
        rows = writer.versions([memory_id])
        held = {one.version: one for one in rows}
        versions = [
            apply_surprise(replace(one, **{name: getattr(row, name) for name in COUNTED}), row.surprise)
            if (row := held.get(one.version)) is not None
            else one
            for one in folded.versions
        ]
        writer.put(ReplayedRows(versions=tuple(versions), evidence=folded.evidence if folded.supported else None))
        writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.REBUILD,
                actor=Actor.USER,
                reason="rows repaired from the change log",
                at_us=now_us,
                memory_id=memory_id,
            )
        )
        done += 1
    said = _load_contests(writer)
    for contest_id in wrong.contests:
        case = said.get(contest_id)
        if case is not None:
            writer.put(ReplayedRows(contest=case))
            done += 1
    return done

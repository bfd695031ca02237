"""Consolidation: find candidate groups, judge each, and apply each result in its own transaction.

Pending memories are processed in batches until none is left. A group that fails changes nothing, keeps its new memories
pending, and does not stop the others. A second run finds nothing to do, and memories made by a run are not pending for
the next.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from credenda import limits
from credenda.clock import to_local_time
from credenda.current_call import report_progress
from credenda.errors import Conflict, CredendaError
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.index.quantize import decode_rows
from credenda.manage.consolidation_guards import (
    EXACT_SEEDS,
    Member,
    NearestNeighbours,
    SharedKeyIndex,
    compute_floor,
    compute_keys,
    get_slot_key,
    has_relative_date,
)
from credenda.manage.consolidation_judge import (
    Keep,
    Pair,
    Remove,
    Replace,
    Trigger,
    Verdict,
    cluster_pairs,
    explain_skip,
    is_candidate,
    judge_by_rules,
    link_remaining,
    plan_changes,
)
from credenda.model.change import Actor, Add, ChangeKind, ChangeRecord, Link, Support
from credenda.model.memory import CONSOLIDATED, Memory, Relation, Status, get_valid_from_us
from credenda.model.report import ConsolidationGroup, ConsolidationReport
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.runtime import Parts
from credenda.services.consolidation_progress import (
    RAN,
    ModelAwayError,
    ModelJudge,
    open_judge,
    read_marks,
    write_watermarks,
)
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader, Watermark, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_fraction, check_name
from credenda.workers.loop import HeldError, hold_lock
from credenda.write.apply import Application, apply
from credenda.write.forget.tombstones import is_deleted

# Find the candidate pairs and groups of consolidation, page by page.


SEEDS_MOST: Final = 32_000
"""Seeds compared in one walk, and memories compared at a time with many: 50 MB of vectors of 384 dimensions each."""
_PAGE: Final = 500
_HELD: Final = frozenset({Status.ACTIVE})
_REPLACED: Final = frozenset({Relation.CHANGED, Relation.CORRECTED})
_TELLING: Final = frozenset({ChangeKind.UNDO, ChangeKind.LINK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The scope of a run: a topic or all, the similarity threshold, neighbours per memory, and largest group.

    `floor` is the minimum cosine of neighbours if it does not follow from the threshold; groups smaller than `least`
    are skipped.
    """

    topic: str | None
    threshold: float
    k: int
    cluster_max: int
    floor: float | None = None
    least: int = 1


def _walk_pages(parts: Parts, topic: str | None, above: int = 0) -> Generator[tuple[Reader, list[tuple[int, Memory]]]]:
    """Yield the candidates, newest first, each page with its own view, which is open until the next page."""
    below: int | None = None
    while True:
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            found = reader.find(MemoryFilter(statuses=_HELD, topic=topic, below=below, limit=_PAGE))
            numbered = [(parse_id_number(one.id, IdKind.MEMORY, tag), one) for one in found]
            inside = [(number, one) for number, one in numbered if number > above]
            yield reader, [(number, one) for number, one in inside if is_candidate(one)]
        if len(inside) < _PAGE:
            return
        below = numbered[-1][0]


def find_pending(parts: Parts, topic: str | None, above: int, *, enough: int | None = None) -> list[int]:
    """Return the numbers of memories that no run has judged, oldest first, except memories made by a run.

    Counting stops at `enough`. For a named topic all its memories are returned.
    """
    found: list[int] = []
    with closing(_walk_pages(parts, topic, above)) as pages:
        for _, page in pages:
            found += (
                number
                for number, one in page
                if topic is not None or not isinstance(one.metadata.get(CONSOLIDATED), dict)
            )
            if enough is not None and len(found) >= enough:
                break
    return sorted(found)


class Nominations:
    """The neighbours of many memories, found in one walk over the store."""

    def __init__(self, parts: Parts, seeds: Sequence[int], wanted: Wanted) -> None:
        """Compare the seeds, at most `SEEDS_MOST`, with all candidates."""
        self._wanted = wanted
        self._near = _Near(parts, seeds, wanted)
        self._keys = SharedKeyIndex(key for keys in self._near.keys.values() for key in keys)
        self._changed: set[int] = set()
        chosen = frozenset(seeds)
        with closing(_walk_pages(parts, wanted.topic)) as pages:
            for reader, page in pages:
                self._near.show(reader, page)
                for number, memory in page:
                    self._keys.add(number, compute_keys(memory))
                    if number in chosen and get_slot_key(memory) is not None:
                        self._changed.add(number)

    def groups(self, batch: Sequence[int]) -> list[tuple[int, ...]]:
        """Group seeds with their neighbours; a memory that may describe a change is in a group of its own."""
        keys = (key for number in batch for key in self._near.keys.get(number, ()))
        pairs = [*self._keys.pairs(keys), *self._near.pairs(batch)]
        found = cluster_pairs(pairs, self._wanted.cluster_max)
        placed = {number for group in found for number in group}
        alone = self._changed.intersection(batch) - placed
        groups = sorted([*found, *((number,) for number in alone)])
        return [group for group in groups if len(group) >= self._wanted.least]


class _Near:
    """The nearest memories of each seed, by stored vectors or, without an embedding model, by spelling."""

    def __init__(self, parts: Parts, seeds: Sequence[int], wanted: Wanted) -> None:
        self._model_id = parts.embedder.model_id if parts.embedder is not None else None
        self._dims = parts.embedder.dims if parts.embedder is not None else 0
        if self._model_id is None:
            self._hashed = HashedEmbedder()
        self.keys: dict[int, tuple[int, ...]] = {}
        """The exact keys of the seeds, by number."""
        self._waiting: list[tuple[list[int], NDArray[np.float32]]] = []
        numbers: list[int] = []
        blocks: list[NDArray[np.float32]] = []
        with parts.store.reader(parts.user_id) as reader:
            tag = reader.tenant.tag
            for start in range(0, len(seeds), _PAGE):
                found = reader.memories([format_id(IdKind.MEMORY, one, tag) for one in seeds[start : start + _PAGE]])
                numbered = [(parse_id_number(one.id, IdKind.MEMORY, tag), one) for one in found]
                named, vectors = self._vectors(reader, numbered)
                numbers += named
                blocks.append(vectors)
                self.keys.update((number, compute_keys(one)) for number, one in numbered)
        floor = compute_floor(wanted.threshold) if wanted.floor is None else wanted.floor
        self._nearest = NearestNeighbours(numbers, _stack_blocks(blocks), k=wanted.k, floor=floor)

    def _vectors(self, reader: Reader, page: Sequence[tuple[int, Memory]]) -> tuple[list[int], NDArray[np.float32]]:
        """Return the numbers of the memories with a vector, and their vectors, (n, d) rows of unit length."""
        if self._model_id is None:
            return [number for number, _ in page], self._hashed.embed([one.text for _, one in page])
        codes = {name_memory_document(one.id, reader.tenant.tag): number for number, one in page}
        by_width: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for code, bits, data in reader.vector_data(list(codes), self._model_id):
            by_width[bits].append((codes[code], data))
        blocks = [decode_rows([data for _, data in rows], bits, self._dims) for bits, rows in by_width.items()]
        return [number for rows in by_width.values() for number, _ in rows], _stack_blocks(blocks)

    def show(self, reader: Reader, page: Sequence[tuple[int, Memory]]) -> None:
        """Compare the seeds with a page, at once or, if the seeds are many, together with others."""
        self._waiting.append(self._vectors(reader, page))
        if len(self._waiting) * _PAGE >= (SEEDS_MOST if len(self.keys) > EXACT_SEEDS else 0):
            self._compare()

    def _compare(self) -> None:
        numbers = [number for named, _ in self._waiting for number in named]
        self._nearest.show(numbers, _stack_blocks([vectors for _, vectors in self._waiting]))
        self._waiting = []

    def pairs(self, batch: Sequence[int]) -> list[Pair]:
        """Return the pairs of these seeds above the threshold."""
        self._compare()
        return self._nearest.pairs(batch)


def _stack_blocks(blocks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    given = [block for block in blocks if len(block)]
    return np.concatenate(given) if given else np.empty((0, 0), np.float32)


def read_members(reader: Reader, parts: Parts, numbers: Sequence[int], seeds: frozenset[int]) -> list[Member]:
    """Read the current versions of a group's memories with the data that judging needs."""
    tag = reader.tenant.tag
    found = [
        one for one in reader.memories([format_id(IdKind.MEMORY, one, tag) for one in numbers]) if is_candidate(one)
    ]
    fresh = {one.id for one in found if parse_id_number(one.id, IdKind.MEMORY, tag) in seeds}
    past = {one.id: _find_earlier_values(reader, one) for one in found if one.id in fresh}
    ids = tuple(one.id for one in chain(found, *past.values()))
    support: defaultdict[str, list[Support]] = defaultdict(list)
    for item in reader.evidence(memory_ids=ids):
        support[item.memory_id].append(Support(span=item.span, claim_hash=item.claim_hash, reader=item.reader))
    dated = [one.id for one in chain(found, *past.values()) if has_relative_date(one.text) and support[one.id]]
    # When the event of each memory was said.
    events = {name: support[name][0].span.event_id for name in dated}
    said = {one.id: one.occurred_us for one in reader.events(sorted(set(events.values())))} if events else {}
    told = {name: said[event] for name, event in events.items() if event in said}

    log: defaultdict[str, list[ChangeRecord]] = defaultdict(list)
    for record in reader.changes(ChangeFilter(memory_ids=ids, kinds=_TELLING)):
        log[record.memory_id or ""].append(record)

    def read(memory: Memory) -> Member:
        before = tuple(read(one) for one in past.get(memory.id, ()))
        made = _make_member(parts, memory, told.get(memory.id), support=tuple(support[memory.id]), log=log[memory.id])
        return replace(made, past=before)

    return [replace(read(one), fresh=one.id in fresh) for one in found]


def _make_member(
    parts: Parts, memory: Memory, told_us: int | None, *, support: tuple[Support, ...], log: Sequence[ChangeRecord]
) -> Member:
    since_us = get_valid_from_us(memory)
    since_us = since_us if told_us is None else told_us
    named = (one.after.get("linked") for one in log if one.kind is ChangeKind.LINK)
    return Member(
        memory=memory,
        support=support,
        fresh=False,
        told_us=told_us,
        left_alone=any(one.kind is ChangeKind.UNDO for one in log),
        linked=frozenset(str(name) for ids in named if isinstance(ids, list) for name in cast("list[object]", ids)),
        zone_us=to_local_time(since_us, parts.settings.zone) - since_us,
    )


def _find_earlier_values(reader: Reader, memory: Memory) -> list[Memory]:
    """Return the earlier values in a memory's slot, and the values that it corrected."""
    slot = get_slot_key(memory)
    if slot is None or not (memory.entity and memory.attribute):
        return []
    pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
    wanted = MemoryFilter(pair=pair, statuses=frozenset({Status.SUPERSEDED}), limit=limits.SLOT_ROWS)
    return [one for one in reader.find(wanted) if one.relation in _REPLACED and get_slot_key(one) == slot]


_log = logging.getLogger(__name__)
THRESHOLD: Final = 0.85
_BATCH: Final = SEEDS_MOST
"""New memories per batch of the rules: two that are in one batch are compared once."""
_MODEL_BATCH: Final = 2_000
"""New memories per batch of a model, whose answers a stopped run must not repeat."""
_RENEW_GROUPS: Final = 500
"""Groups that are judged between two renewals of the lock."""
_PATIENCE_SECONDS: Final = 1.0
_LOCK: Final = "consolidation"
_LOCK_SECONDS: Final = 300
"""Seconds until the lock of a killed process expires; a running process renews it."""
_SHOWN: Final = 500
"""Maximum number of groups in a report; the counts include all groups."""
_VERDICTS: Final = {Relation.MERGED: "merge", Relation.CHANGED: "change", Relation.CORRECTED: "correction"}


def consolidate(
    parts: Parts,
    *,
    topic: str | None = None,
    similarity_threshold: float = THRESHOLD,
    dry_run: bool = False,
    force: bool = False,
) -> ConsolidationReport:
    """Merge equivalent memories, and combine successive values into one entry (R-101…R-111, S-028…S-047).

    Raises `Invalid` for a threshold outside 0 to 1.
    """
    settings = parts.settings
    wanted = Wanted(
        topic=check_name(topic, "topic"),
        threshold=check_fraction(similarity_threshold, "similarity_threshold"),
        k=settings.memory_consolidation_neighbor_k,
        cluster_max=settings.memory_consolidation_cluster_max,
    )
    return run_over(parts, wanted, dry_run=dry_run, force=force)


def run_over(
    parts: Parts, wanted: Wanted, *, dry_run: bool, force: bool = False, night: bool = False
) -> ConsolidationReport:
    """Consolidate the wanted memories; a run of the dream (`night`) has no trigger and has its own watermarks."""
    with open_judge(parts) as model:
        run = _Run(parts, wanted, model, dry_run=dry_run, night=night)
        reason = "" if dry_run or night else run.closed(force=force)
        if reason or (model is not None and not force and (reason := model.resting())):
            return run.report(ran=False, reason=reason)
        try:
            seconds = _LOCK_SECONDS + 2 * int(parts.settings.llm_timeout_seconds)
            with hold_lock(parts, _LOCK, seconds, free=dry_run) as lock:
                run.work(lock.renew)
        except HeldError as error:
            return run.report(ran=False, reason=f"lock: {error}")
        return replace(run.report(ran=True), took_over=lock.taken)


@dataclass(slots=True)
class _Tally:
    """The results of a run so far."""

    groups: list[ConsolidationGroup] = field(default_factory=list[ConsolidationGroup])
    found: int = 0
    gone: list[str] = field(default_factory=list[str])
    created: list[str] = field(default_factory=list[str])
    changes: list[ChangeRecord] = field(default_factory=list[ChangeRecord])
    examined: int = 0
    linked: int = 0
    failed: int = 0
    refused: int = 0
    reason: str = ""


class _Run:
    """One run of consolidation."""

    def __init__(
        self, parts: Parts, wanted: Wanted, model: ModelJudge | None, *, dry_run: bool, night: bool = False
    ) -> None:
        self._parts = parts
        self._wanted = wanted
        self._model = model
        self._dry = dry_run
        self._night = night
        self._judge = f"{'dream.' if night else ''}{'rules' if model is None else 'model'}"
        self._tally = _Tally()
        self._pending = 0
        with parts.store.reader(parts.user_id) as reader:
            self._marks = read_marks(reader, self._judge)
            self._last_us = reader.duties.watermark(RAN)

    def closed(self, *, force: bool) -> str:
        """Return why the trigger has not fired, "" if it has; a named topic needs no new memories."""
        gate = Trigger(
            min_hours=self._parts.settings.memory_consolidation_min_hours,
            min_facts=self._parts.settings.memory_consolidation_min_facts,
        )
        enough = 1 if force else max(gate.min_facts, 1)
        return explain_skip(
            gate,
            now_us=self._parts.clock.now_us(),
            last_us=self._last_us,
            new=len(find_pending(self._parts, self._wanted.topic, self._above, enough=enough)),
            retries=len(self._marks.waiting),
            force=force,
        )

    @property
    def _above(self) -> int:
        return 0 if self._wanted.topic is not None else self._marks.top

    def work(self, renew: Callable[[], None]) -> None:
        """Process the pending memories batch by batch; the watermark advances only over judged memories."""
        new = find_pending(self._parts, self._wanted.topic, self._above)
        waiting = [] if self._wanted.topic is not None else sorted(self._marks.waiting)
        seeds = sorted({*waiting, *new} - (self._marks.quarantined if self._wanted.topic is None else set()))
        self._pending = len(seeds)
        for start in range(0, len(seeds), SEEDS_MOST):
            renew()
            if not self._work(seeds[start : start + SEEDS_MOST], renew):
                return
        if not self._dry and not self._night:
            now_us = self._parts.clock.now_us()
            ran = Watermark(name=RAN, value=now_us, at_us=now_us)
            self._parts.store.commit(self._parts.user_id, lambda writer: writer.put(ran))

    def _work(self, seeds: Sequence[int], renew: Callable[[], None]) -> bool:
        """Process seeds batch by batch; return False if the judge is unavailable."""
        nominated = Nominations(self._parts, seeds, self._wanted)
        size = _BATCH if self._model is None else _MODEL_BATCH
        for start in range(0, len(seeds), size):
            renew()
            batch = seeds[start : start + size]
            failed = self._batch(batch, nominated.groups(batch), renew)
            self._tally.examined += len(batch)
            if failed is None:
                return False
            if not self._dry and self._wanted.topic is None:
                self._marks.note(batch, failed)
                self._marks.top = max(self._marks.top, *batch)
                self._file_marks()
            report_progress(self._tally.examined, self._pending, "memories compared")
        return True

    def _file_marks(self) -> None:
        now_us = self._parts.clock.now_us()
        self._parts.store.commit(
            self._parts.user_id, lambda writer: write_watermarks(writer, self._judge, self._marks, now_us)
        )

    def _batch(
        self, batch: Sequence[int], groups: Iterable[tuple[int, ...]], renew: Callable[[], None]
    ) -> dict[int, bool] | None:
        """Judge a batch; return the new memories of failed groups, and whether the failure counts as an attempt.

        Return None if the judge is unavailable; the batch then stays pending.
        """
        seeds = frozenset(batch)
        failed: dict[int, bool] = {}
        for count, group in enumerate(groups, 1):
            self._parts.active_calls.wait_idle(_PATIENCE_SECONDS)
            if count % _RENEW_GROUPS == 0:
                renew()
            try:
                self._by_rules(group, seeds)
                if self._model is not None and len(group) > 1:
                    renew()
                    self._by_model(self._model, group, seeds)
            except HeldError:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary of a group: the others continue
                failed |= dict.fromkeys(seeds.intersection(group), not isinstance(error, ModelAwayError))
                why = error.code if isinstance(error, CredendaError) else type(error).__name__
                self._tally.failed += 1
                _log.warning("group not judged", extra={"error": why, "memories": len(group)})
                with self._parts.store.reader(self._parts.user_id) as reader:
                    tag = reader.tenant.tag
                ids = tuple(format_id(IdKind.MEMORY, one, tag) for one in group)
                self._show(ConsolidationGroup(ids=ids, texts=(), verdict="failed", reason=why))
        if self._model is not None and self._model.gave_up:
            self._tally.reason = self._model.gave_up
            return None
        answered = self._model is not None and self._model.answered > 0
        return {number: counts or answered for number, counts in failed.items()}

    def _by_rules(self, group: tuple[int, ...], seeds: frozenset[int]) -> None:
        """Judge a group by rules and apply the verdicts in one transaction."""

        def judged(reader: Reader) -> tuple[dict[str, Member], list[Verdict]]:
            members = read_members(reader, self._parts, group, seeds)
            verdicts = judge_by_rules(members)
            link = link_remaining(members, verdicts) if self._model is None else None
            return {one.id: one for one in members}, [*verdicts, *([link] if link else [])]

        if self._dry:
            with self._parts.store.reader(self._parts.user_id) as reader:
                members, verdicts = judged(reader)
            self._told(members, verdicts, {})
            return

        def work(writer: Writer) -> tuple[dict[str, Member], list[Verdict], dict[str, str], list[ChangeRecord]]:
            now, found = judged(writer)
            made, records = self._apply(writer, now, found, Actor.RULE)
            return now, found, made, records

        self._filed(*commit_decided(self._parts.store, self._parts.user_id, work, return_decided))

    def _by_model(self, model: ModelJudge, group: tuple[int, ...], seeds: frozenset[int]) -> None:
        """Let a model judge the rest of a group, outside any transaction, and apply the valid verdicts."""
        with self._parts.store.reader(self._parts.user_id) as reader:
            members = {one.id: one for one in read_members(reader, self._parts, group, seeds) if not one.left_alone}
        if len(members) < 2:  # noqa: PLR2004 - a pair
            return
        ruling = model.judge(list(members.values()))
        self._tally.refused += len(ruling.refused)
        by_id = {one.id: one.memory.text for one in members.values()}
        for one in ruling.refused:
            texts = tuple(by_id[name] for name in one.ids)
            self._show(ConsolidationGroup(ids=one.ids, texts=texts, verdict="refused", reason=one.reason))
        if self._dry or not ruling.verdicts:
            self._told(members, list(ruling.verdicts), {})
            return

        def work(writer: Writer) -> tuple[dict[str, Member], list[Verdict], dict[str, str], list[ChangeRecord]]:
            now = {one.id: one for one in read_members(writer, self._parts, group, seeds)}
            moved = any(_find_slot(now.get(name)) != _find_slot(one) for name, one in members.items())
            if moved:
                raise Conflict("memories changed while they were judged", fix="the next run judges them again")
            verdicts = list(ruling.verdicts)
            made, records = self._apply(writer, now, verdicts, Actor.MODEL)
            return now, verdicts, made, records

        self._filed(*commit_decided(self._parts.store, self._parts.user_id, work, return_decided))

    def _apply(
        self, writer: Writer, members: dict[str, Member], verdicts: list[Verdict], actor: Actor
    ) -> tuple[dict[str, str], list[ChangeRecord]]:
        """Apply verdicts; return the new memory by the first member of each, and the log entries.

        A verdict that would restore deleted words is skipped.
        """
        now_us = self._parts.clock.now_us()
        made: dict[str, str] = {}
        records: list[ChangeRecord] = []
        for verdict in list(verdicts):
            if isinstance(verdict, Keep):
                changes = [Link(memory_ids=verdict.ids, reason=verdict.reason)]
                name = verdict.ids[0]
            else:
                changes = plan_changes(verdict, members, now_us)
                name = verdict.target
            if any(is_deleted(writer, change.draft) for change in changes if isinstance(change, Add)):
                verdicts.remove(verdict)
                continue
            embeds = self._parts.embedder is not None
            application = Application(actor=actor, now_us=now_us, cause=f"consolidation:{name}", embeds=embeds)
            applied = apply(writer, changes, application)
            made.update((name, new) for new in applied.ids.values())
            records += applied.records
            # Reload the memory that a duplicate was merged into, for the next duplicate.
            if isinstance(verdict, Remove):
                kept = members[verdict.same_as]
                (memory,) = writer.memories([kept.id])
                support = tuple(dict.fromkeys((*kept.support, *members[verdict.target].support)))
                members[kept.id] = replace(kept, memory=memory, support=support)
        return made, records

    def _filed(
        self, members: dict[str, Member], verdicts: list[Verdict], made: dict[str, str], records: list[ChangeRecord]
    ) -> None:
        self._told(members, verdicts, made)
        self._tally.changes += (one for one in records if one.kind is not ChangeKind.LINK)
        if records:
            self._parts.jobs_ready.set()

    def _told(self, members: dict[str, Member], verdicts: list[Verdict], made: dict[str, str]) -> None:
        for verdict in verdicts:
            shown = _describe_group(verdict, members, made)
            self._tally.found += 1
            self._tally.linked += isinstance(verdict, Keep)
            self._tally.gone += shown.gone
            self._tally.created += [shown.created] if shown.created else []
            self._show(shown)

    def _show(self, group: ConsolidationGroup) -> None:
        if len(self._tally.groups) < _SHOWN:
            self._tally.groups.append(group)

    def report(self, *, ran: bool, reason: str = "") -> ConsolidationReport:
        """Build the report of the run."""
        tally = self._tally
        with self._parts.store.reader(self._parts.user_id) as reader:
            tag = reader.tenant.tag
        texts = sum(group.verdict in {"merge", "change"} for group in tally.groups)
        return ConsolidationReport(
            ran=ran,
            reason=reason or tally.reason,
            dry_run=self._dry,
            judge="rules" if self._model is None else self._model.model_id,
            groups=tuple(tally.groups),
            groups_found=tally.found,
            memories_consolidated=len(tally.gone),
            memories_created=texts if self._dry else len(tally.created),
            deleted_ids=tuple(tally.gone),
            created=tuple(tally.created),
            examined=tally.examined,
            linked=tally.linked,
            failed=tally.failed,
            refused=tally.refused,
            quarantined=tuple(format_id(IdKind.MEMORY, one, tag) for one in sorted(self._marks.quarantined)),
            changes=tuple(tally.changes),
        )


def _find_slot(member: Member | None) -> tuple[str, int] | None:
    return None if member is None else (member.memory.text, member.memory.version)


def _describe_group(verdict: Verdict, members: dict[str, Member], made: dict[str, str]) -> ConsolidationGroup:
    def texts(ids: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(members[one].memory.text for one in ids if one in members)

    match verdict:
        case Keep():
            return ConsolidationGroup(ids=verdict.ids, texts=texts(verdict.ids), verdict="keep", reason=verdict.reason)
        case Remove():
            ids = (verdict.same_as, verdict.target)
            return ConsolidationGroup(
                ids=ids,
                texts=texts(ids),
                verdict="duplicate",
                proposed=members[verdict.same_as].memory.text,
                gone=(verdict.target,),
                reason=verdict.reason,
            )
        case Replace():
            ids = (verdict.target, *verdict.sources)
            past: dict[str, Memory] = {one.id: one.memory for member in members.values() for one in member.past}
            corrected = verdict.relation is Relation.CORRECTED
            kind = "change" if verdict.past else _VERDICTS[verdict.relation]
            return ConsolidationGroup(
                ids=(*ids, *verdict.past),
                texts=tuple(
                    members[one].memory.text if one in members else past[one].text for one in (*ids, *verdict.past)
                ),
                verdict=kind,
                proposed=verdict.text,
                gone=(verdict.target,) if corrected else ids,
                created=made.get(verdict.target),
                reason=verdict.reason,
            )

"""Consolidation: find candidate groups, judge each, and apply each result in its own transaction.

Pending memories are processed in batches until none is left. A group that fails changes nothing, keeps its new memories
pending, and does not stop the others. A second run finds nothing to do, and memories made by a run are not pending for
the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from credenda.errors import Conflict, CredendaError
from credenda.ids import IdKind, format_id
from credenda.manage.consolidation.judge import (
    Keep,
    Remove,
    Replace,
    Verdict,
    judge_by_rules,
    link_remaining,
    plan_changes,
)
from credenda.manage.consolidation.member import Member
from credenda.manage.consolidation.trigger import Trigger, explain_skip
from credenda.model.change import Actor, Add, ChangeKind, ChangeRecord, Link
from credenda.model.consolidation import ConsolidationGroup, ConsolidationReport
from credenda.model.memory import Memory, Relation
from credenda.progress import report_progress
from credenda.runtime import Parts
from credenda.services.consolidation_candidates import SEEDS_MOST, Nominations, Wanted, find_pending, read_members
from credenda.services.consolidation_progress import (
    RAN,
    ModelAwayError,
    ModelJudge,
    open_judge,
    read_marks,
    write_watermarks,
)
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import Reader, Watermark, Writer
from credenda.validation import check_fraction, check_name
from credenda.workers.leases import HeldError, hold_lock
from credenda.write.apply import Application, apply
from credenda.write.forget.tombstones import is_deleted

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
                self._judged(group, seeds, renew)
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

    def _judged(self, group: tuple[int, ...], seeds: frozenset[int], renew: Callable[[], None]) -> None:
        self._by_rules(group, seeds)
        if self._model is not None and len(group) > 1:
            renew()
            self._by_model(self._model, group, seeds)

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
            return _describe_replacement(verdict, members, made)


def _describe_replacement(verdict: Replace, members: dict[str, Member], made: dict[str, str]) -> ConsolidationGroup:
    ids = (verdict.target, *verdict.sources)
    past: dict[str, Memory] = {one.id: one.memory for member in members.values() for one in member.past}
    corrected = verdict.relation is Relation.CORRECTED
    kind = "change" if verdict.past else _VERDICTS[verdict.relation]
    return ConsolidationGroup(
        ids=(*ids, *verdict.past),
        texts=tuple(members[one].memory.text if one in members else past[one].text for one in (*ids, *verdict.past)),
        verdict=kind,
        proposed=verdict.text,
        gone=(verdict.target,) if corrected else ids,
        created=made.get(verdict.target),
        reason=verdict.reason,
    )

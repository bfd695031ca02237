"""Derive the beliefs again from the journal with the current rules, and apply the user's decisions again.

The journal is replayed in an in-memory copy, in the order of the log. Decisions by rules are made again with the
current rules; decisions by users or an LLM are applied as recorded. The result is compared with the current beliefs,
and the differences become ordinary changes: the log is never rewritten, and earlier states remain known.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from credenda.errors import Conflict, Invalid
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import (
    BY_HAND,
    Actor,
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
    Confirm,
    Contest,
    Resolve,
    Revise,
    Supersede,
    parse_fields,
    to_draft,
)
from credenda.model.claim import Evidence
from credenda.model.contest import ContestState, from_contest_dict
from credenda.model.memory import Slot, Status, TypeClass, is_dreamed
from credenda.model.report import RebuildDifference, RebuildReport
from credenda.runtime import Parts
from credenda.services.consolidation_progress import forget_marks
from credenda.services.llm_extraction import Answers, ask_again, forget_answers
from credenda.storage.job_kinds import EXTRACT, REREAD, THINK
from credenda.storage.store import ChangeFilter, JobFilter, JobStatus, MemoryFilter, Reader, Writer
from credenda.write.apply import Application, apply
from credenda.write.corrections.diff_beliefs import (
    BeliefSet,
    RederivationPlan,
    diff_beliefs,
    find_counterpart,
    get_slot_key,
)
from credenda.write.extract_job import extract_turns
from credenda.write.reconcile_job import apply_claims

_TRIES: Final = 5
_READ: Final = frozenset({EXTRACT, THINK, REREAD})
_DONE: Final = frozenset({JobStatus.COMPLETE, JobStatus.DEAD})
_PERSONAL: Final = frozenset({ChangeKind.PIN, ChangeKind.RESTORE, ChangeKind.SET_STATUS, ChangeKind.CONFIRM})
_DERIVED: Final = frozenset({ChangeKind.REVISE, ChangeKind.REBUILD, ChangeKind.LINK})


def reextract(parts: Parts, *, dry_run: bool, model: bool = False) -> RebuildReport:
    """Derive all beliefs again and, except in a dry run, apply the differences in one transaction.

    With `model` an LLM extracts every message that may contain claims; nothing is changed while some are pending.
    Raises `Invalid` if there is no model, `Conflict` if other processes keep changing beliefs.
    """
    answers = _read_answers(parts) if model else None
    if answers is not None and answers.waiting:
        report = RebuildReport(reextract=True, dry_run=dry_run, compared=0, differences=(), applied=False)
        return replace(report, asked=answers.asked, waiting=answers.waiting, why=answers.why)
    for _ in range(_TRIES):
        found = _derive(parts, answers)
        report = _report(found, dry_run=dry_run)
        if answers is not None:
            report = replace(report, asked=answers.asked, unread=len(answers.unread))
        if dry_run or (not found.plan.changes and answers is None) or _commit(parts, found, answers):
            return report
    raise Conflict(
        "beliefs kept changing during the re-extraction",
        why="another process is writing",
        fix="try again when no other process writes; nothing was changed",
    )


def _read_answers(parts: Parts) -> Answers:
    line = parts.llm
    if line is None:
        raise Invalid("no LLM is configured", why="extraction uses rules alone", fix='set llm, like "openai:MODEL"')
    with parts.store.reader(parts.user_id) as reader:
        readable = _find_readable(reader) if reader.tenant.tag else []
    return ask_again(parts, line, readable)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The result of a replay, and the last change that it includes."""

    plan: RederivationPlan
    live: BeliefSet
    head: int


def _commit(parts: Parts, found: _Found, answers: Answers | None) -> bool:
    """Apply the differences; return False if the log has grown meanwhile."""

    def work(writer: Writer) -> bool:
        if writer.changes(ChangeFilter(after=found.head, limit=1)):
            return False
        embeds = parts.embedder is not None
        actor = Actor.RULE if answers is None else Actor.MODEL
        apply(writer, found.plan.changes, Application(actor=actor, now_us=parts.clock.now_us(), embeds=embeds))
        if answers is not None:
            forget_answers(writer, answers)
        forget_marks(writer)
        return True

    with parts.active_calls:
        done = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return done


def _derive(parts: Parts, answers: Answers | None) -> _Found:
    with parts.store.reader(parts.user_id) as reader:
        log = reader.changes(ChangeFilter())
        live = _read_beliefs(reader)
        readable = _find_readable(reader)
    if not reader.tenant.tag:  # nothing was ever written
        return _Found(plan=RederivationPlan(), live=live, head=0)
    head = parse_id_number(log[-1].id, IdKind.CHANGE, reader.tenant.tag) if log else 0
    with parts.store.scratch(parts.user_id) as scratch:
        replay = _Replay(parts, scratch, readable, live, answers)
        replay.run(log)
        fresh = _read_beliefs(scratch)
    found: dict[str, frozenset[str]] = {}
    for record in log:
        if record.actor in (Actor.SCHEDULE, Actor.DREAM) and record.memory_id is not None:
            counted = {"confirmations"} if record.kind is ChangeKind.CONFIRM else frozenset(record.after)
            found[record.memory_id] = found.get(record.memory_id, frozenset[str]()) | counted
    mine = (one for one in log if one.actor in BY_HAND and one.kind in _PERSONAL)
    plan = diff_beliefs(
        live,
        fresh,
        replayed=replay.ids,
        touched=found,
        personal=frozenset(one.memory_id for one in mine if one.memory_id is not None),
    )
    plan.kept += replay.lost
    return _Found(plan=plan, live=live, head=head)


def _read_beliefs(reader: Reader) -> BeliefSet:
    memories = {one.id: one for one in reversed(reader.find(MemoryFilter())) if not is_dreamed(one)}
    evidence: dict[str, list[Evidence]] = {}
    for item in reader.evidence(memory_ids=list(memories)) if memories else ():
        evidence.setdefault(item.memory_id, []).append(item)
    grouped = {name: tuple(items) for name, items in evidence.items()}
    return BeliefSet(memories=memories, evidence=grouped, contests=tuple(reader.contests()))


def _find_readable(reader: Reader) -> list[int]:
    """Return the numbers of the events that rules have extracted, oldest first; pending ones are left to their jobs."""
    jobs = [job for job in reader.jobs(JobFilter(statuses=_DONE)) if job.kind in _READ]
    return sorted({number for job in jobs for number in range(job.first, job.last + 1)})


@dataclass(slots=True)
class _Replay:
    """A replay of the log over a copy of the journal."""

    parts: Parts
    scratch: Writer
    readable: list[int]
    live: BeliefSet
    answers: Answers | None = None
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """New memory ids by the id of the current memory, for memories added by a user or an LLM."""
    lost: list[str] = field(default_factory=list[str])
    _read: set[int] = field(default_factory=set[int])

    def run(self, log: list[ChangeRecord]) -> None:
        """Extract events where the log first decided about them, the others in order, and apply recorded decisions."""
        known = set(self.readable) - (self.answers.unread if self.answers is not None else frozenset())
        anew = frozenset({Actor.RULE}) if self.answers is None else frozenset({Actor.RULE, Actor.MODEL})
        firsts: dict[int, int] = {}
        for record in log:
            number = self._event(record)
            if number in known and record.actor in anew:
                firsts.setdefault(number, record.at_us)
            elif record.actor is Actor.MODEL:
                known.discard(number)  # extractions by an LLM stay
        silent = [number for number in self.readable if number in known and number not in firsts]
        for record in log:
            number = self._event(record)
            if number in firsts and record.actor in anew:
                if number not in self._read:
                    while silent and silent[0] < number:
                        self._believe(silent.pop(0), None)
                    self._believe(number, firsts[number])
            elif record.actor in BY_HAND | {Actor.MODEL} or (record.actor is Actor.RULE and number):
                self._again(record)
        for number in silent:
            self._believe(number, None)

    def _event(self, record: ChangeRecord) -> int:
        cause = record.cause or ""
        return parse_id_number(cause, IdKind.EVENT, self.scratch.tenant.tag) if cause.startswith(IdKind.EVENT) else 0

    def _believe(self, number: int, now_us: int | None) -> None:
        self._read.add(number)
        rules = self.parts.extractor
        extractor = rules if self.answers is None else self.answers.extractor(rules)
        for turn, claims in extract_turns(self.scratch, number, number, extractor):
            at_us = turn.event.recorded_us if now_us is None else now_us
            resting = self.live.by_event.get(turn.event.id, ())
            links = (item for one in resting if one.text for item in self.live.evidence[one.id])
            standing = [item.span for item in links if item.span.event_id == turn.event.id]
            turns = [(turn.event, claims)]
            apply_claims(self.scratch, turns, at_us, embeds=False, standing=standing)

    def _again(self, record: ChangeRecord) -> None:
        if record.memory_id is None:
            self._question(record)
        elif record.kind is ChangeKind.ADD:
            if "text" in record.after:
                key = f"new:{record.memory_id}"
                add = Add(key=key, draft=to_draft(record.after), support=record.support or (), reason=record.reason)
                self.ids[record.memory_id] = self._apply(record, add)[key]
        elif record.kind not in _DERIVED | {ChangeKind.DELETE, ChangeKind.CONTEST, ChangeKind.RESOLVE}:
            self._move(record, record.memory_id)

    def _move(self, record: ChangeRecord, live_id: str) -> None:
        held = self.live.memories.get(live_id)
        if held is None or held.status is Status.DELETED:
            return
        target = self._counterpart(live_id)
        if target is None:
            self.lost.append(f"{record.id} ({record.kind}) concerns {live_id}, which is not extracted any more")
        elif record.kind is ChangeKind.CONFIRM:
            confirm = Confirm(memory_id=target, support=record.support or (), reason=record.reason)
            self._apply(record, confirm)
        else:
            fields = parse_fields(record.after)
            if fields.get("superseded_by") is not None:
                fields["superseded_by"] = self._counterpart(str(fields["superseded_by"]))
            self._apply(record, Revise(memory_id=target, fields=fields, reason=record.reason))

    def _counterpart(self, live_id: str) -> str | None:
        """Return the new memory that corresponds to a current one."""
        if live_id in self.ids:
            return self.ids[live_id]
        held = self.live.memories.get(live_id)
        if held is None or held.status is Status.DELETED:
            return None
        evidence = self.live.evidence.get(live_id, ())
        near = self.scratch.evidence(event_ids=sorted({item.span.event_id for item in evidence}))
        memories = self.scratch.memories(sorted({item.memory_id for item in near}))
        grouped = {one.id: tuple(item for item in near if item.memory_id == one.id) for one in memories}
        among = BeliefSet(memories={one.id: one for one in memories}, evidence=grouped)
        return find_counterpart(held, evidence, among, frozenset(self.ids.values()))

    def _question(self, record: ChangeRecord) -> None:
        raw = record.after.get("case")
        if not raw or record.kind is ChangeKind.DELETE:
            return
        case = from_contest_dict(cast("dict[str, Any]", raw))
        members = tuple(name for name in map(self._counterpart, case.memory_ids) if name is not None)
        found = next((one for one in self.scratch.contests() if get_slot_key(one) == get_slot_key(case)), None)
        if record.kind is ChangeKind.CONTEST:
            if len(members) > 1:
                slot = Slot(case.speaker, case.entity, case.attribute, case.scope, TypeClass(case.type_class))
                contest = Contest(
                    slot=slot, memory_ids=members, values=case.values, question=case.question, reason=record.reason
                )
                self._apply(record, contest)
        elif found is not None and record.kind is ChangeKind.RESOLVE and found.state is ContestState.OPEN:
            keep = tuple(name for name in map(self._counterpart, self._kept(record)) if name is not None)
            resolve = Resolve(
                contest_id=found.id,
                resolution=case.resolution or "",
                scopes=case.scopes,
                keep=keep,
                reason=record.reason,
            )
            self._apply(record, resolve)
        elif found is not None and record.kind is ChangeKind.UNDO:
            self.scratch.put(replace(case, id=found.id, memory_ids=members))

    @staticmethod
    def _kept(record: ChangeRecord) -> list[str]:
        kept = record.after.get("keep")
        return [str(name) for name in cast("list[object]", kept)] if isinstance(kept, list) else []

    def _apply(self, record: ChangeRecord, change: Change) -> dict[str, str]:
        application = Application(actor=record.actor, now_us=record.at_us, cause=record.cause)
        return dict(apply(self.scratch, [change], application).ids)


def _report(found: _Found, *, dry_run: bool) -> RebuildReport:
    return RebuildReport(
        reextract=True,
        dry_run=dry_run,
        compared=len(found.live.memories),
        differences=tuple(_describe_difference(change, found.live) for change in found.plan.changes),
        applied=bool(found.plan.changes) and not dry_run,
        kept=tuple(found.plan.kept),
    )


def _describe_difference(change: Change, live: BeliefSet) -> RebuildDifference:
    match change:
        case Add():
            return RebuildDifference(id=None, what="add", after=change.draft.text, reason=change.reason)
        case Supersede():
            before = _find_text(live, change.memory_id)
            return RebuildDifference(id=change.memory_id, what="withdraw", before=before, reason=change.reason)
        case Revise():
            return RebuildDifference(
                id=None if change.memory_id.startswith("new:") else change.memory_id,
                what="revise",
                fields=tuple(change.fields) or ("evidence",),
                before=_find_text(live, change.memory_id),
                after=str(change.fields.get("text", "")),
                reason=change.reason,
            )
        case Resolve():
            return RebuildDifference(id=change.contest_id, what="close", reason=change.reason)
        case Contest():
            return RebuildDifference(id=None, what="ask", after=change.question, reason=change.reason)
        case _:
            return RebuildDifference(id=None, what=type(change).__name__.casefold(), reason=change.reason)


def _find_text(live: BeliefSet, memory_id: str) -> str:
    held = live.memories.get(memory_id)
    return held.text if held is not None else ""

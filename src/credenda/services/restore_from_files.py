"""Restore a memory from a folder of pages alone: `rebuild --from-files`.

It fills an empty memory in one transaction; an interruption leaves it empty. The folder's tombstones apply even to
older pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from credenda.errors import Conflict, CredendaError, Invalid, NotFound
from credenda.ids import IdKind, draw_tag, parse_id_number, parse_serial
from credenda.model.change import (
    BY_HAND,
    Actor,
    Add,
    Change,
    ChangeKind,
    ChangeRecord,
    Confirm,
    Contest,
    ContestCase,
    ContestState,
    Resolve,
    Revise,
    Supersede,
    Support,
    from_contest_dict,
    parse_fields,
    to_draft,
)
from credenda.model.claim import Evidence, Span
from credenda.model.evaluation import RebuildDifference, RebuildReport
from credenda.model.event import Source
from credenda.model.memory import Slot, Status, TypeClass, is_dreamed
from credenda.paths import find_path_kind
from credenda.portability.files.folder import STATE, ZEROS, Folder, Found, open_folder
from credenda.portability.files.next_state import read_key, read_tombstones, write_tombstones
from credenda.portability.files.page_plan import Believed, Filed, Record, record
from credenda.portability.files.state import Base, Line, State, dump_state, hash_tenant, hash_text, load_state
from credenda.portability.importers.format import make_stable_key
from credenda.runtime import Parts
from credenda.services.consolidation_progress import forget_marks
from credenda.services.file_sync import check_owner
from credenda.services.llm_extraction import Answers, ask_again, forget_answers
from credenda.storage.records import EMBED, EXTRACT, KEEP, REREAD, THINK, mark_complete
from credenda.storage.store import ChangeFilter, Job, JobFilter, JobStatus, MemoryFilter, Reader, Tombstone, Writer
from credenda.storage.transfer import ExportHeader, ImportRow
from credenda.text.recalled_block import count_noun
from credenda.write.apply import Application, apply
from credenda.write.correct import BeliefSet, RederivationPlan, diff_beliefs, find_counterpart, get_slot_key
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import AS_TYPE, Accepted, Submission, accept, screen_draft
from credenda.write.journal import compare_with_tombstones, file_submission
from credenda.write.reconcile_job import apply_claims, extract_turns

_REASON: Final = "read from a page"
_HASH_BYTES: Final = 16


def rebuild_from_files(parts: Parts, path: str | Path, *, dry_run: bool = False) -> RebuildReport:
    """Fill an empty memory from a folder of pages: events, memories with their status, and contests.

    Raises `NotFound` if the folder does not exist, `Conflict` if the memory is not empty or a page cannot be parsed;
    nothing is changed then.
    """
    if find_path_kind(Path(path).expanduser()) != "folder":
        raise NotFound(f"there is no folder {str(path)[:200]}", fix="pass a folder written by `files sync`")
    folder = open_folder(path)
    with folder.locked():
        found = _read_folder(folder)
        check_owner(parts, found)
        key, state = read_key(folder), load_state(folder.load(STATE))
        said = record(found.texts, lambda name, text: _find_digest(state, key, name) not in {"", hash_text(key, text)})
        stones, others = read_tombstones(folder, key)
        with parts.store.reader(parts.user_id) as reader:
            counts = reader.counts()
        if counts.events or counts.memories:
            raise Conflict(
                f"the memory of {parts.user_id} is not empty",
                why="restoring the pages would duplicate its contents",
                fix="use a new database or another user; to apply edits in pages, use `files sync`",
            )
        if not (said.events or said.memories):
            raise NotFound("the folder contains no entry", fix="pass a folder written by `files sync`")
        notes = list(said.notes)
        if said.statements:
            notes.append(f"{count_noun(said.statements, 'statement')} without a comment; `files sync` takes them in")
        if others:
            notes.append(f"{others} tombstones cannot be checked: their key is not in this folder")
        start = partial(_Refill, parts, said, drawn=partial(_is_unchanged, state, key))
        run = start(notes=notes)
        if not dry_run:
            _take_over(parts, key, stones)
            with parts.active_calls:
                run = parts.store.commit(parts.user_id, lambda writer: start(notes=[*notes]).work(writer))
            parts.indexes.drop(parts.user_id, store=parts.store_name)
            parts.jobs_ready.set()
            _write_state(parts, folder, run, state)
    return RebuildReport(
        reextract=False,
        dry_run=dry_run,
        compared=len(said.memories),
        differences=tuple(
            RebuildDifference(id=run.ids.get(one.name), what="add", after=one.draft.text, reason=one.path)
            for one in said.memories
            if dry_run or one.name in run.ids
        ),
        applied=bool(run.ids) and not dry_run,
        kept=tuple(run.notes),
    )


def _read_folder(folder: Folder) -> Found:
    found = folder.read()
    found.troubles |= {text.path: ZEROS for text in found.texts if text.zeros}
    if found.troubles:
        name, why = min(found.troubles.items())
        raise Conflict(
            f"{name} {why}",
            why="a memory is restored from all pages or from none",
            fix="repair it, or remove it from the folder; nothing was changed",
        )
    return found


def _find_digest(state: State, key: bytes, name: str) -> str:
    """Return the hash of an entry's text at the last synchronisation, "" if unknown."""
    base = state.entries.get(name)
    return base.digest if base is not None and state.mark == hash_tenant(key) != "" else ""


def _is_unchanged(state: State, key: bytes, name: str, text: str) -> bool:
    """Return whether an entry is unchanged since the last synchronisation, which had applied all deletions."""
    return _find_digest(state, key, name) == hash_text(key, text)


def _take_over(parts: Parts, key: bytes, stones: list[Tombstone]) -> None:
    """Give the empty memory the key and tombstones of the store that wrote the folder; they depend on each other."""
    if not key or not stones:
        return
    origin = ExportHeader(user_id=parts.user_id, tag=draw_tag(), key=key, created_us=parts.clock.now_us(), schema=0)
    rows = (
        ImportRow(
            number,
            "tombstones",
            {
                "digest": stone.digest,
                "kind": stone.kind,
                "normaliser": stone.normaliser,
                "created_at": stone.created_us,
            },
        )
        for number, stone in enumerate(sorted(stones, key=lambda one: one.digest), 1)
    )
    parts.store.load(parts.user_id, origin, rows)


def _write_state(parts: Parts, folder: Folder, run: _Refill, before: State) -> None:
    """Write the new ids of the entries to the folder, as the state for the next synchronisation."""
    with parts.store.reader(parts.user_id) as reader:
        tenant = reader.tenant
    entries = {
        one.name: Base(run.ids[one.name], one.path, hash_text(tenant.key, text), held=held)
        for one, text, held in run.placed()
        if one.name in run.ids
    }
    write_tombstones(parts, folder)
    names = {one.local: name for name, one in before.entries.items()}
    new = State(
        mark=hash_tenant(tenant.key),
        tag=tenant.tag,
        entries=entries,
        lines={
            path: {
                name: Line(tuple(run.ids[known] for one in line.events if (known := names.get(one, one)) in run.ids))
                for name, line in lines.items()
            }
            for path, lines in before.lines.items()
        },
    )
    folder.save(STATE, dump_state(new))


@dataclass(slots=True)
class _Refill:
    """One restore, inside one transaction; `ids` maps the ids in the files to the new ones.

    Tombstones do not apply to an entry that `drawn` accepts: it was written after the same sentence or value had been
    deleted elsewhere.
    """

    parts: Parts
    said: Record
    notes: list[str]
    drawn: Callable[[str, str], bool]
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def placed(self) -> Iterator[tuple[Filed | Believed, str, bool]]:
        """Yield every entry with its text and whether it is current."""
        yield from ((one, one.text, True) for one in self.said.events)
        for one in self.said.memories:
            yield one, one.draft.text, one.draft.status.value in ("active", "challenged")

    def work(self, writer: Writer) -> _Refill:
        """Add the events, memories and contests of the folder, and return itself."""
        numbers = [parse_serial(name) for one in self.said.events if (name := self._event(writer, one))]
        application = Application(actor=Actor.FILE, now_us=self.parts.clock.now_us())
        adds = [add for one in self.said.memories if (add := self._add(writer, one))]
        self.ids |= {key.removeprefix("new:"): local for key, local in apply(writer, adds, application).ids.items()}
        apply(
            writer,
            [
                Confirm(memory_id=self.ids[one.name], support=(), reason=_REASON)
                for one in self.said.memories
                if one.name in self.ids
                for _ in range(one.confirmations)
            ],
            application,
        )
        for case in self.said.cases:
            self._case(writer, case, application)
        apply(writer, list(self._standing(writer)), application)
        if self.parts.embedder is not None and numbers:
            writer.put(Job(kind=EMBED, first=numbers[0], last=numbers[-1]))
        return self

    def _event(self, writer: Writer, one: Filed) -> str | None:
        """Add an event without its deleted parts; it is not extracted again."""
        try:
            accepted = self._accepted(one)
            if self.drawn(one.name, one.text):
                self.ids[one.name] = event_id = writer.put(accepted.events[0])
                number = parse_serial(event_id)
                writer.put(mark_complete(Job(kind=KEEP, first=number, last=number)))
                return event_id
            receipt = file_submission(writer, compare_with_tombstones(writer, accepted, self.parts.extractor), KEEP)
        except CredendaError as error:
            self.notes.append(f"{one.path}: {one.name[:32]}: {error.what}")
            return None
        self.notes += [f"{one.path}: {one.name[:32]}: {refused}" for refused in receipt.refused]
        if receipt.job_id is not None:
            (job,) = writer.jobs(JobFilter(id=receipt.job_id))
            writer.put(mark_complete(job))
        self.ids[one.name] = receipt.event_ids[0]
        return receipt.event_ids[0]

    def _accepted(self, one: Filed) -> Accepted:
        table = one.table
        message = {"role": table.get("role", "user"), "content": one.text, "id": table.get("external_id")}
        if message["role"] != "user":
            message["name"] = table.get("speaker")
        sources = table.get("sources") or [Source.FILE.value]
        accepted = accept(
            Submission(
                content=[message],
                user_id=self.parts.user_id,
                topic=table.get("topic"),
                session=table.get("session"),
                agent=table.get("agent"),
                source=str(sources[0]),
                occurred_at=table.get("said") or table.get("first_seen"),
                tags=table.get("tags") or (),
                metadata=table.get("metadata"),
                expires_at=table.get("expires"),
                idempotency_key=make_stable_key("refill", one.name),
            ),
            policy=self.parts.settings.secrets_policy,
            zone=self.parts.settings.zone,
            now_us=self.parts.clock.now_us(),
        )
        event = accepted.get_event()
        asked = tuple(flag for flag in table.get("flags") or () if str(flag).startswith(AS_TYPE))
        return replace(accepted, events=(replace(event, flags=(*event.flags, *asked)),))

    def _add(self, writer: Writer, one: Believed) -> Add | None:
        support: list[Support] = []
        for place, span in enumerate(one.sources):
            event_id = self.ids.get(span.event_id)
            if event_id is not None:
                (event,) = writer.events([event_id])
                stop = max(0, min(span.stop, len(event.text)))
                hashed = hashlib.blake2b(f"{one.name}\x00{place}".encode(), digest_size=_HASH_BYTES).digest()
                support.append(Support(span=Span(event_id, min(max(span.start, 0), stop), stop), claim_hash=hashed))
        if not self.drawn(one.name, one.draft.text) and is_deleted(writer, one.draft):
            self.notes.append(f"{one.path}: {one.name[:32]} was skipped, because it was deleted")
            return None
        draft = screen_draft(one.draft, self.parts.settings.secrets_policy)
        return Add(key=f"new:{one.name}", draft=draft, support=tuple(support), reason=_REASON)

    def _case(self, writer: Writer, case: ContestCase, application: Application) -> None:
        """Open a contest, and resolve it if it was resolved; a contest about missing memories is skipped."""
        members = tuple(self.ids[name] for name in case.memory_ids if name in self.ids)
        if not members or len(members) < len(case.memory_ids):
            self.notes.append(f"the contest {case.id[:32]} was skipped, because its memories are missing")
            return
        slot = Slot(case.speaker, case.entity, case.attribute, case.scope, TypeClass(case.type_class))
        asked = Contest(slot=slot, memory_ids=members, values=case.values, question=case.question, reason=_REASON)
        records = apply(writer, [asked], application).records
        if case.state is ContestState.RESOLVED:
            answer = Resolve(
                contest_id=str(records[0].after["contest"]),
                resolution=case.resolution or "",
                scopes=case.scopes,
                keep=(),
                reason=_REASON,
            )
            apply(writer, [answer], application)

    def _standing(self, writer: Writer) -> Iterator[Change]:
        """Yield the changes that set each memory to the status in its page, which contests may have changed."""
        for one in self.said.memories:
            local = self.ids.get(one.name)
            if local is None:
                continue
            wanted: dict[str, object] = {
                "status": one.draft.status,
                "valid_until_us": one.draft.valid_until_us,
                "relation": one.relation,
                "superseded_by": self.ids.get(one.superseded_by or ""),
                "contested": one.contested,
            }
            (memory,) = writer.memories([local])
            moved = {name: value for name, value in wanted.items() if getattr(memory, name) != value}
            if moved:
                yield Revise(memory_id=local, fields=moved, reason=_REASON)


# Derive the beliefs again from the journal with the current rules, and apply the user's decisions again.


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
    if model:
        line = parts.llm
        if line is None:
            raise Invalid("no LLM is configured", why="extraction uses rules alone", fix='set llm, like "openai:MODEL"')
        with parts.store.reader(parts.user_id) as reader:
            readable = _find_readable(reader) if reader.tenant.tag else []
        answers = ask_again(parts, line, readable)
    else:
        answers = None
    if answers is not None and answers.waiting:
        report = RebuildReport(reextract=True, dry_run=dry_run, compared=0, differences=(), applied=False)
        return replace(report, asked=answers.asked, waiting=answers.waiting, why=answers.why)
    for _ in range(_TRIES):
        found = _derive(parts, answers)
        report = RebuildReport(
            reextract=True,
            dry_run=dry_run,
            compared=len(found.live.memories),
            differences=tuple(_describe_difference(change, found.live) for change in found.plan.changes),
            applied=bool(found.plan.changes) and not dry_run,
            kept=tuple(found.plan.kept),
        )
        if answers is not None:
            report = replace(report, asked=answers.asked, unread=len(answers.unread))
        if dry_run or (not found.plan.changes and answers is None) or _commit(parts, found, answers):
            return report
    raise Conflict(
        "beliefs kept changing during the re-extraction",
        why="another process is writing",
        fix="try again when no other process writes; nothing was changed",
    )


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
    for change in log:
        if change.actor in (Actor.SCHEDULE, Actor.DREAM) and change.memory_id is not None:
            counted = {"confirmations"} if change.kind is ChangeKind.CONFIRM else frozenset(change.after)
            found[change.memory_id] = found.get(change.memory_id, frozenset[str]()) | counted
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
        for change in log:
            number = self._event(change)
            if number in known and change.actor in anew:
                firsts.setdefault(number, change.at_us)
            elif change.actor is Actor.MODEL:
                known.discard(number)  # extractions by an LLM stay
        silent = [number for number in self.readable if number in known and number not in firsts]
        for change in log:
            number = self._event(change)
            if number in firsts and change.actor in anew:
                if number not in self._read:
                    while silent and silent[0] < number:
                        self._believe(silent.pop(0), None)
                    self._believe(number, firsts[number])
            elif change.actor in BY_HAND | {Actor.MODEL} or (change.actor is Actor.RULE and number):
                self._again(change)
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

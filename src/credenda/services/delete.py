"""Delete permanently: a memory, an event, all events that meet conditions, or a user; legal holds and retention."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

from credenda import limits, portability
from credenda.clock import format_time
from credenda.errors import Conflict, Invalid, NotFound, Unavailable
from credenda.hook_files import remove_hook_files
from credenda.ids import IdKind, parse_id, parse_id_number, parse_serial
from credenda.model.change import Actor, ChangeKind
from credenda.model.claim import Span
from credenda.model.event import Event, Source
from credenda.model.governance import (
    BlankedWords,
    ComplianceReport,
    DeletionPlan,
    DeletionReceipt,
    LegalHold,
    RetentionPolicy,
    SharedMemory,
)
from credenda.model.memory import Memory, Status
from credenda.model.report import DeletionReport, EraseReceipt, RestoredReport
from credenda.model.server import AuditReport
from credenda.paths import check_path
from credenda.portability.atomic_write import replace_file
from credenda.private import has_private
from credenda.runtime import Parts
from credenda.services.browse import read_expectation, read_span, resolve_id_in
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader, Store, Tombstone, Writer
from credenda.storage.transfer import ErasedTenant, Erasure, locate_ledger, name_owner, read_ledger
from credenda.text.given_time import parse_start
from credenda.validation import check_condition, check_member, check_text
from credenda.write.forget.delete import Deletion, find_last_number
from credenda.write.forget.scope import BLANK, find_mentions
from credenda.write.intake.validate import screen_label

T = TypeVar("T", Memory, Event)
P = TypeVar("P")


def delete(parts: Parts, target_id: str, *, actor: Actor = Actor.USER, whole_message: bool = False) -> DeletionReceipt:
    """Delete a memory or event with everything that only it supports; repeating this changes nothing.

    `actor` is the user, through an interface or a page. `whole_message` deletes the messages of a memory whole. Raises
    `NotFound` for an unknown id, `Conflict` under a legal hold.
    """
    expected = read_expectation()

    def work(writer: Writer) -> tuple[str, Deletion, tuple[str, ...]]:
        target = _find_target(writer, resolve_id_in(writer, target_id, exact=True))
        if isinstance(target, Memory):
            expected.check(target.id, target)
        reason = "removed from a page" if actor is Actor.FILE else "deleted by the user"
        run = Deletion(writer, parts.clock.now_us(), actor=actor, reason=reason, extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return target.id, run, tuple(one.id for one in run.find_mentions())

    with parts.active_calls:
        named, run, mentions = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return DeletionReceipt(
        id=named,
        events=len(run.events),
        memories=run.deleted + len(run.withdrawn),
        kept=tuple(run.renamed.get(name, name) for name in run.kept),
        taken=tuple(name for name in run.removed if name != named),
        mentions=mentions,
        log_emptied=parts.store.log_emptied,
    )


def _delete(run: Deletion, target: Memory | Event, *, whole_message: bool) -> None:
    if isinstance(target, Event):
        run.event(target)
        return
    if whole_message and target.status is not Status.DELETED:
        run.messages(target)
    for memory in run.writer.memories([target.id]):
        run.memory(memory)


class _Undone(Exception):  # noqa: N818 - it only undoes the transaction, and never leaves this module
    """Undoes the transaction that raises it."""


def attempt(parts: Parts, work: Callable[[Writer], P]) -> P:
    """Return the result of some work, which is done in a transaction that is undone."""
    plans: list[P] = []

    def undo(writer: Writer) -> None:
        plans.append(work(writer))
        raise _Undone

    with contextlib.suppress(_Undone), parts.active_calls:
        parts.store.commit(parts.user_id, undo)
    return plans[-1]


def plan_deletion(parts: Parts, target_id: str, *, whole_message: bool = False) -> DeletionPlan:
    """Say what `delete` would remove: it deletes in a transaction that is undone. Short ids are accepted.

    Raises `NotFound` for an id that is unknown here, `Conflict` under a legal hold.
    """

    def work(writer: Writer) -> DeletionPlan:
        target = _find_target(writer, resolve_id_in(writer, target_id, exact=True))
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return DeletionPlan(
            id=target.id,
            text=target.text,
            events=len(run.events),
            memories=run.deleted + len(run.withdrawn),
            blanked=tuple(BlankedWords(event_id=name, words=words) for name, words in run.blanked),
            kept=tuple(SharedMemory(id=name, text=text, left=left) for name, (text, left) in run.kept.items()),
            taken=tuple(
                SharedMemory(id=name, text=text, reason=run.reasons.get(name, "it states the same"))
                for name, text in run.removed.items()
                if name != target.id
            ),
            mentions=tuple(SharedMemory(id=one.id, text=one.text, left=one.text) for one in run.find_mentions()),
        )

    return attempt(parts, work)


def _find_target(writer: Writer, target_id: str) -> Memory | Event:
    """Return the memory or event that an id names."""
    kind, _ = parse_id(target_id, writer.tenant.tag)
    if kind is IdKind.MEMORY:
        return _require_found(writer.memories([target_id]), target_id)
    if kind is IdKind.EVENT:
        return _require_found(writer.events([target_id]), target_id)
    raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")


def _require_found(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]


# Delete every event that meets conditions.


_BATCH: Final = 50


@dataclass(slots=True)
class _Tally:
    """Sum up the batches of a deletion. A memory that other messages state too keeps its first id here."""

    events: int = 0
    taken: dict[str, str] = field(default_factory=dict[str, str])
    kept: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    told: set[str] = field(default_factory=set[str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    """The first ids of memories that got another one."""

    def add(self, run: Deletion, events: int) -> None:
        """Add a batch."""
        self.events += events
        self.told |= run.told
        for before, after in run.renamed.items():
            self.first[after] = self.first.get(before, before)
        for name, (text, left) in run.kept.items():
            known = self.first.get(name, name)
            self.kept[known] = (self.kept.get(known, (text, ""))[0], left)
        for name, text in run.removed.items():
            known = self.first.get(name, name)
            self.taken[known] = self.kept.pop(known, (text, ""))[0]

    def report(self, reader: Reader, *, dry_run: bool) -> DeletionReport:
        """Name the memories; `reader` sees the state after the deletion."""
        shortened = {name for name, (text, left) in self.kept.items() if text != left}
        mentions = find_mentions(reader, self.told, self.taken.keys() | shortened | self.first.keys())
        latest = {first: name for name, first in self.first.items()}

        def name(found: Iterable[tuple[str, str, str]]) -> tuple[SharedMemory, ...]:
            first = islice(found, limits.DELETION_NAMES)
            if dry_run:
                return tuple(SharedMemory(id=one, text=text, left=left) for one, text, left in first)
            return tuple(SharedMemory(id=latest.get(one, one), text="") for one, _, _ in first)

        return DeletionReport(
            events=self.events,
            memories=len(self.taken),
            dry_run=dry_run,
            kept=name((one, text, left) for one, (text, left) in self.kept.items()),
            kept_total=len(self.kept),
            taken=name((one, text, "") for one, text in self.taken.items()),
            mentions=name((one.id, one.text, one.text) for one in mentions),
            mentions_total=len(mentions),
        )


def delete_where(
    parts: Parts,
    *,
    session: str | None = None,
    topic: str | None = None,
    source: str | None = None,
    before: datetime | str | None = None,
    dry_run: bool = False,
) -> DeletionReport:
    """Delete every event that meets all conditions, and everything that only they support.

    `dry_run` does the same in a transaction that is undone.
    """
    wanted = _check_conditions(parts, session, topic, (source, before))

    def work(writer: Writer, after: int) -> tuple[Deletion, int, int | None]:
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        found = writer.find_events(replace(wanted, after=after))
        for event in found:
            run.event(event)
        return run, sum(bool(event.text) for event in found), find_last_number(found, writer.tenant.tag)

    def work_all(writer: Writer) -> DeletionReport:
        tally, after = _Tally(), 0
        while after is not None:
            run, events, after = work(writer, after)
            tally.add(run, events)
        return tally.report(writer, dry_run=True)

    if dry_run:
        return replace(attempt(parts, work_all), before_us=wanted.occurred_before_us)
    tally, after = _Tally(), 0
    while after is not None:
        with parts.active_calls:
            run, events, after = parts.store.commit(parts.user_id, partial(work, after=after))
        tally.add(run, events)
    parts.jobs_ready.set()
    with parts.store.reader(parts.user_id) as reader:
        report = tally.report(reader, dry_run=False)
    return replace(report, before_us=wanted.occurred_before_us, log_emptied=parts.store.log_emptied)


def _check_conditions(
    parts: Parts, session: str | None, topic: str | None, rest: tuple[str | None, datetime | str | None]
) -> EventFilter:
    """Validate the conditions; the filter includes redacted events, so that their remaining text is deleted as well."""
    source, before = rest
    if session is None and topic is None and source is None and before is None:
        raise Invalid("delete_where needs a condition", why="without one it would delete everything", fix="name one")
    before_us = None if before is None else parse_start(before, parts.settings.zone, parts.clock.now_us())
    return EventFilter(
        session=check_condition(session, "session"),
        topic=check_condition(topic, "topic"),
        source=None if source is None else check_member(Source, source, "source").value,
        occurred_before_us=before_us,
        redacted=True,
        limit=_BATCH,
    )


# Erase a user, and manage legal holds and retention policies.


PHRASE = "DELETE MY DATA"
"""Confirms an erasure in place of the name, for clients that know their user by a token alone (R-173)."""


def erase(parts: Parts, confirm: str, *, export: str | Path | None = None) -> EraseReceipt:
    """Erase all data of this tenant; `confirm` must be its name or the phrase. A repeat completes an interrupted one.

    With `export` everything is first written to that file, and nothing is erased unless that succeeds. Raises `Invalid`
    for another name, `Conflict` under a legal hold or if data is written after the export.
    """
    if confirm not in {parts.user_id, PHRASE}:
        raise Invalid(
            "the confirmation does not name this user",
            why=f"nothing is erased without the exact name, or the phrase {PHRASE!r}",
            fix=f"confirm {parts.user_id!r}, or open the memory of the user you mean",
        )
    with parts.active_calls:
        exported = (
            None
            if export is None
            else dict(portability.archive.export_file(parts, check_path(export), "credenda").rows)
        )
        parts.accesses.drain()
        erasure = parts.store.erase(parts.user_id, exported=exported)
        listed = any(one.matches(parts.user_id, one.tag) for one in parts.store.erasures())
    remove_hook_files(parts.store_name, parts.user_id)
    if parts.resident.in_use:
        parts.indexes.drop(parts.user_id, store=parts.store_name)
    parts.questions.clear()
    return _make_receipt(erasure, None if export is None else str(export), listed=listed)


def _make_receipt(erasure: Erasure, exported: str | None, *, listed: bool) -> EraseReceipt:
    """Tell what an erasure did; of a proof that counts nothing, `remaining_matches` says whether it held."""
    proof = erasure.proof
    return EraseReceipt(
        rows=sum(erasure.rows.values()),
        windows_searched=int(proof.get("windows_searched", "0")),
        remaining_matches=int(proof.get("remaining_matches", "0" if erasure.held else "1")),
        tables=erasure.rows,
        log_emptied=proof.get("log_emptied", "yes") == "yes",
        backups=erasure.backups if listed else (),
        owed=erasure.owed,
        listed=listed,
        exported=exported,
    )


# Set, lift and list legal holds.


def hold(parts: Parts, reason: str) -> LegalHold:
    """Forbid every deletion in this tenant until the hold is lifted; raises `Conflict` if a hold is in force."""
    why = _check_reason(parts, reason)

    def work(writer: Writer) -> LegalHold:
        if writer.tenant.hold is not None:
            raise Conflict("a legal hold is in force", why=writer.tenant.hold, fix="lift it before setting another")
        made = LegalHold(reason=why, set_us=parts.clock.now_us())
        writer.put(made)
        return made

    with parts.active_calls:
        return parts.store.commit(parts.user_id, work)


def lift_hold(parts: Parts, reason: str) -> LegalHold:
    """Allow deletions again; raises `Conflict` if no hold is in force."""
    why = _check_reason(parts, reason)

    def work(writer: Writer) -> None:
        if writer.tenant.hold is None:
            raise Conflict("there is no legal hold", why="none is in force", fix="see `credenda holds`")
        writer.put(LegalHold(reason="", set_us=0, lifted_us=parts.clock.now_us(), lifted_reason=why))

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)
    return list_holds(parts)[-1]


def list_holds(parts: Parts) -> tuple[LegalHold, ...]:
    """Return every legal hold, oldest first, with when and why it was lifted."""
    return parts.store.rules(parts.user_id).holds


def _check_reason(parts: Parts, reason: str) -> str:
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy)
    if not why:
        raise Invalid(
            "a legal hold needs a reason",
            why="the hold is kept as a record",
            fix="pass a reason, such as a case number",
        )
    return why


# Set and remove retention policies.


def set_policy(
    parts: Parts, days: int | None, topic: str | None, *, remove: bool = False
) -> tuple[RetentionPolicy, ...]:
    """Set or remove a policy, or change nothing; return the policies in force, by topic."""
    name = check_condition(topic, "topic")
    if has_private(name or ""):
        raise Invalid("the topic of a policy contains private text", fix="use another topic")
    if remove and days is not None:
        raise Invalid("a policy is set or removed, not both", why="days and remove are both given", fix="give one")
    if days is not None and not (type(days) is int and 1 <= days <= limits.POLICY_DAYS):
        raise Invalid(
            f"a policy cannot be {days!r} days", why=f"it must be 1 to {limits.POLICY_DAYS}", fix="give whole days"
        )
    if days is None and not remove and topic is not None:
        raise Invalid("a topic alone is not a policy", why="neither days nor remove is given", fix="give one of them")
    if days is not None or remove:
        row = RetentionPolicy(topic=name, days=days or 0, set_us=parts.clock.now_us())
        with parts.active_calls:
            parts.store.commit(parts.user_id, lambda writer: writer.put(row))
    return parts.store.rules(parts.user_id).policies


# Write reports for those who must account for a memory, as JSON Lines: calls, changes and deletions.


_LAST_US: Final = 1 << 62
Line = dict[str, Any]


def export_compliance(
    parts: Parts, path: Path, *, since: datetime | str | None = None, until: datetime | str | None = None
) -> ComplianceReport:
    """Write the report of a span of time: a head, audit records, changes, policies and holds, and a foot."""
    since_us, until_us = read_span(parts, since, until)
    counts = Counter[str]()
    audit = parts.store.audit.verify_audit()
    with replace_file(path) as file:
        head = {"user": parts.user_id, "made_at": format_time(parts.clock.now_us())}
        span = {"since": _name_time(since_us), "until": _name_time(until_us)}
        _write(file, counts, {"line": "report", **head, **span})
        for line in _list_lines(parts, since_us, until_us):
            _write(file, counts, line)
        foot = {"audit_ok": audit.ok, "audit_records": audit.records, "audit_head": audit.head}
        _write(file, counts, {"line": "end", "counts": dict(counts), **foot})
    return ComplianceReport(path=str(path), lines=dict(counts), audit_ok=audit.ok, audit_head=audit.head)


def verify_audit(parts: Parts, anchor: str = "") -> AuditReport:
    """Verify the whole chain of the database, through an earlier head where one is given."""
    named = check_text(anchor, "anchor").strip()
    return parts.store.audit.verify_audit([named] if named else [])


def export_audit(parts: Parts, path: Path) -> ComplianceReport:
    """Write the audit records of this user, in their order, as they are hashed."""
    counts = Counter[str]()
    audit = parts.store.audit.verify_audit()
    with replace_file(path) as file:
        for line in _list_audit(parts, 0, _LAST_US):
            _write(file, counts, line)
    return ComplianceReport(path=str(path), lines=dict(counts), audit_ok=audit.ok, audit_head=audit.head)


def _name_time(moment_us: int) -> str | None:
    return format_time(moment_us) if moment_us else None


def _write(file: IO[bytes], counts: Counter[str], line: Line) -> None:
    counts[line["line"]] += 1
    file.write(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def _list_lines(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    yield from _list_audit(parts, since_us, until_us)
    yield from _list_changes(parts, since_us, until_us)
    rules = parts.store.rules(parts.user_id)
    for policy in rules.policies:
        yield {"line": "policy", "topic": policy.topic, "days": policy.days}
    for hold in rules.holds:
        lifted = None if hold.lifted_us is None else format_time(hold.lifted_us)
        yield {"line": "hold", "set_at": format_time(hold.set_us), "lifted_at": lifted}


def _list_audit(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    after = 0
    while records := parts.store.audit.read_audit_of(parts.user_id, after, limits.COMPLIANCE_PAGE):
        for record in records:
            at_us = record.fields["at_us"]
            if isinstance(at_us, int) and since_us <= at_us <= until_us:
                yield {"line": "audit", **record.fields, "hash": record.hash}
        after = records[-1].seq


def _list_changes(parts: Parts, since_us: int, until_us: int) -> Iterator[Line]:
    after = 0
    while True:
        wanted = ChangeFilter(later_than_us=since_us - 1, until_us=until_us, after=after, limit=limits.COMPLIANCE_PAGE)
        with parts.store.reader(parts.user_id) as reader:
            records = reader.changes(wanted)
        for record in records:
            cause: Mapping[str, str] = {"cause": record.cause} if record.cause else {}
            yield {
                "line": "deletion" if record.kind is ChangeKind.DELETE else "change",
                "id": record.id,
                "kind": record.kind.value,
                "actor": record.actor.value,
                "at": format_time(record.at_us),
                "memory_id": record.memory_id,
                **cause,
            }
        if len(records) < limits.COMPLIANCE_PAGE:
            return
        after = parse_serial(records[-1].id)


# Repeat in a restored backup the deletions made in the database since the backup.


_ERASED_BATCH: Final = 50
_REASON: Final = "deleted since the backup was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gone:
    """The deletions in a database: redacted events with their remaining text, and memories."""

    events: Mapping[str, Event]
    memories: Mapping[str, Memory]


def delete_again(old: Store, new: Store, user_id: str, now_us: int) -> int:
    """Delete in `new`, an earlier state of `old`, everything deleted in `old`; return the number of rows deleted.

    A row that only shares the id of a deleted row, because the databases diverged, is left unchanged.
    """
    with old.reader(user_id) as before, new.reader(user_id) as after:
        if not before.tenant.tag or (before.tenant.tag, before.tenant.key) != (after.tenant.tag, after.tenant.key):
            return 0
        gone = _Gone(
            events={one.id: one for one in _read_redacted(before)},
            memories={one.id: one for one in before.find(MemoryFilter(statuses=frozenset({Status.DELETED})))},
        )
    names = [*gone.memories, *gone.events]
    count = 0
    for start in range(0, len(names), _ERASED_BATCH):
        batch = names[start : start + _ERASED_BATCH]
        count += new.commit(user_id, lambda writer, batch=batch: _delete_erased(writer, gone, batch, now_us))
    # Read the tombstones of a user; rows of a dump have plain values.
    found: list[Tombstone] = []
    with old.dump(user_id) as dump:
        for table, row in dump.rows:
            if table == "tombstones":
                cells = cast("Mapping[str, Any]", row)
                kind, normaliser, created_us = cells["kind"], cells["normaliser"], cells["created_at"]
                digest = bytes(cells["digest"])
                found.append(Tombstone(digest=digest, kind=kind, normaliser=normaliser, created_us=created_us))
    stones = found
    new.commit(user_id, lambda writer: _add_tombstones(writer, stones))
    return count


def _read_redacted(reader: Reader) -> Iterator[Event]:
    after = 0
    while found := reader.find_events(EventFilter(after=after, redacted=True, limit=_ERASED_BATCH * 10)):
        yield from (event for event in found if event.redacted_us is not None)
        after = parse_id_number(found[-1].id, IdKind.EVENT, reader.tenant.tag)


def _delete_erased(writer: Writer, gone: _Gone, names: Sequence[str], now_us: int) -> int:
    run = Deletion(writer, now_us, actor=Actor.USER, reason=_REASON, buried=False)
    count = 0
    for memory in writer.memories([name for name in names if name in gone.memories]):
        if memory.status is not Status.DELETED and memory.created_us == gone.memories[memory.id].created_us:
            run.memory(memory)
            count += 1
    for event in writer.events([name for name in names if name in gone.events]):
        left = gone.events[event.id]
        if event.chain_hash != left.chain_hash or event.text == left.text:
            continue
        if not left.text:
            run.event(event)
        for span in _find_blanked_spans(event, left.text):
            run.span(span)
        count += 1
    return count


def _find_blanked_spans(event: Event, left: str) -> list[Span]:
    """Return the spans that are blank in the remaining text of an event; blanking preserves positions."""
    hidden = [at for at, (now, then) in enumerate(zip(left, event.text, strict=False)) if now == BLANK != then]
    runs = (list(run) for _, run in groupby(enumerate(hidden), key=lambda pair: pair[1] - pair[0]))
    return [Span(event.id, run[0][1], run[-1][1] + 1) for run in runs]


def _add_tombstones(writer: Writer, stones: Sequence[Tombstone]) -> None:
    held = writer.tombstoned([stone.digest for stone in stones])
    for stone in stones:
        if stone.digest not in held:
            writer.put(stone)


# Erase from a restored database whoever was erased since its backup was made, and repeat later deletions in it.


_PAGE: Final = 256


def read_ledgers(paths: Iterable[str | Path]) -> dict[str, ErasedTenant]:
    """Read the entries of ledger files by id.

    Raises `Invalid` for another kind of file, `NotFound` for a missing one, and `Corrupt` for a damaged one.
    """
    found: dict[str, ErasedTenant] = {}
    for path in paths:
        owner = name_owner(path)
        if not locate_ledger(owner).is_file():
            raise NotFound(f"there is no ledger of erasures at {path}", fix="check the path")
        found |= read_ledger(owner)
    return found


def repeat_erasures(parts: Parts, entries: Mapping[str, ErasedTenant], *, later: Store | None = None) -> RestoredReport:
    """Erase the users that the entries list, and with `later`, a newer state of the database, what is gone there.

    A user that only has the tag or only the name of an entry stays. Repeating it does nothing.
    """
    store = parts.store
    wanted = {**entries, **({} if later is None else {one.id: one for one in later.erasures()})}
    store.take_over(wanted.values())
    erased = 0
    for entry in wanted.values():
        name = store.user_of(entry.tag)
        if name is not None and entry.matches(name, entry.tag):
            if _has_hold(parts.store, name):  # it was lifted before the erasure, which a hold prevents
                _lift_hold(parts, name, "the user was erased after this backup was made")
            if not parts.store.erase(name).held:
                raise Unavailable("a user could not be erased", why="some of its data is left", fix="run this again")
            parts.indexes.drop(name, store=parts.store_name)
            erased += 1
    deleted, held = (0, 0) if later is None else _delete_restored(parts, later)
    return RestoredReport(listed=len(wanted), erased=erased, deleted=deleted, held=held)


def _delete_restored(parts: Parts, later: Store) -> tuple[int, int]:
    """Repeat the deletions of a newer state; return their number, and that of users whom a hold protects."""
    deleted, held, after = 0, 0, ""
    while page := parts.store.users(after=after, limit=_PAGE):
        for user in page:
            if _has_hold(parts.store, user):
                if _has_hold(later, user):
                    held += 1
                    continue
                _lift_hold(parts, user, "the hold was lifted after this backup was made")
            deleted += delete_again(later, parts.store, user, parts.clock.now_us())
            parts.indexes.drop(user, store=parts.store_name)
        after = page[-1]
    return deleted, held


def _has_hold(store: Store, user: str) -> bool:
    return any(hold.lifted_us is None for hold in store.rules(user).holds)


def _lift_hold(parts: Parts, user: str, reason: str) -> None:
    hold = LegalHold(reason="", set_us=0, lifted_us=parts.clock.now_us(), lifted_reason=reason)

    def lift(writer: Writer) -> None:
        writer.put(hold)

    parts.store.commit(user, lift)

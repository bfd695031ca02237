"""Synchronise a folder of Markdown pages with the store in both directions: `files sync`.

The user's changes in pages are applied first, by the same operations as in other interfaces; then the pages are drawn,
and last the state for the next comparison is written. An interrupted round is repeated safely: applied changes are
recognised by their text or idempotency key. Pages that code did not write are read, and never written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.errors import Conflict, CredendaError, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Contest, ContestState
from credenda.model.claim import Span
from credenda.model.event import DENIED, QUARANTINED, Receipt, Source
from credenda.model.memory import Draft, Memory, MemoryType, Slot, Status, get_type_class
from credenda.model.report import SyncReport
from credenda.paths import find_path_kind
from credenda.portability.files.folder import (
    IGNORE,
    STATE,
    Folder,
    Found,
    find_days_of_pages,
    list_foreign,
    load_view,
    open_folder,
    recognise_own,
    set_aside_unread,
)
from credenda.portability.files.next_state import (
    keep_bases,
    list_pages,
    list_pending,
    map_bases,
    map_ids,
    read_deleted_texts,
    read_removed,
    write_tombstones,
)
from credenda.portability.files.page_plan import Layout, Placing, index_lines, lay_out
from credenda.portability.files.parse import Said, parse, to_file_text
from credenda.portability.files.render import draw, draw_index, is_empty
from credenda.portability.files.state import (
    AWAY,
    Added,
    Base,
    Line,
    Sides,
    Spot,
    State,
    Tier,
    View,
    build_memory_side,
    dump_state,
    hash_line,
    hash_tenant,
    hash_text,
    load_state,
)
from credenda.portability.files.three_way_diff import (
    Edit,
    EditConflict,
    GoneLines,
    Plan,
    Removed,
    compare,
    sort_gone_lines,
)
from credenda.portability.importers.format import make_stable_key, require_content
from credenda.portability.importers.notes import is_agents_alone
from credenda.portability.importers.wording import word_observation
from credenda.runtime import Parts
from credenda.services.browse import get_current
from credenda.services.core import core
from credenda.services.delete import delete
from credenda.services.edit import (
    Correction,
    check_not_deleted,
    commit_edit,
    extract_correction,
    forget,
    journal_correction,
    make_application,
    put_right,
)
from credenda.services.remember import remember
from credenda.storage.store import Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.text.recalled_block import count_noun
from credenda.workers.loop import settle
from credenda.write.apply import apply
from credenda.write.correct import Wanted, decide_correction
from credenda.write.forget.tombstones import is_deleted, put_deleted_texts
from credenda.write.intake.validate import Submission, accept
from credenda.write.reconcile.alternation import format_question, get_contest_slot
from credenda.write.reconcile.slots import CURRENT_STATUSES, display_value, get_slot
from credenda.write.reconcile_job import get_statement_context

# The submission of a new statement in a synchronised folder, and the part of its results that its page shows.


_OWN_WORDS: Final = ("i ", "i'", "i’", "my ", "we ", "our ", "me ")


def make_submission(news: Added, user_id: str, number: int, *, by_agent: bool = False) -> Submission:
    """Build the submission of a statement, with an idempotency key for this round."""
    about = news.about if normalise_name(news.about) not in ("", "user", "notes") else ""
    own = news.text.casefold().startswith(_OWN_WORDS)
    text = word_observation(about, news.text) if about and not own and news.tier is Tier.PAGES else news.text
    short = len(text) <= limits.MEMORY_TEXT_CHARACTERS
    place = news.name or f"{news.spot.path}:{news.spot.block}"
    return Submission(
        content=text,
        user_id=user_id,
        source=(Source.AI if by_agent else Source.FILE).value,
        metadata={"file": news.spot.path},
        occurred_at=news.said or None,
        memory_type="fact" if short and news.tier is not Tier.ARCHIVE else None,
        idempotency_key=make_stable_key("file", str(number), place, text, *filter(None, [news.said])),
    )


def may_replace(parts: Parts, text: str) -> bool:
    """Return whether a text can replace a memory: not too long, no prompt injection, and not private as a whole."""
    try:
        event = accept(
            Submission(content=text, user_id=parts.user_id, source=Source.FILE.value),
            policy=parts.settings.secrets_policy,
            zone=parts.settings.zone,
            now_us=parts.clock.now_us(),
        ).get_event()
    except (Invalid, LimitExceeded):
        return False
    return len(text) <= limits.MEMORY_TEXT_CHARACTERS and not {DENIED, QUARANTINED} & set(event.flags)


def is_kept(news: Added, receipt: Receipt, texts: Sequence[str]) -> bool:
    """Return whether a line stays in its page as it is: it is a message of a day, or its memories say less than it."""
    shown = normalise_text(" ".join(texts))
    stays = news.tier is Tier.ARCHIVE or not shown.endswith(normalise_text(news.text))
    return stays and news.line and not receipt.refused


def list_results(news: Added, receipt: Receipt, memory_ids: Sequence[str], standing: Collection[str]) -> list[str]:
    """Return the new ids of a statement that have no place yet: events in the archive, memories on a page."""
    if news.tier is Tier.ARCHIVE:
        return list(receipt.event_ids) if news.name else []
    made = dict.fromkeys(one for one in memory_ids if one not in standing)
    return list(made) if news.tier is Tier.PAGES else []


# Check whether the entries of a folder belong to another user.


def check_owner(parts: Parts, found: Found) -> None:
    """Raise `Conflict` if a folder has entries of another user of this database.

    An entry's id ends with the tag of its user. Tags of other databases and of erased users are ignored.
    """
    tags = {one.name.rpartition("-")[2] for text in found.texts for one in text.page.entries}
    owners = {owner for tag in sorted(tags) if (owner := parts.store.user_of(tag)) is not None}
    if owners - {parts.user_id}:
        raise Conflict(
            "this folder contains the memory of another user",
            why="ids in its pages belong to another user of this database",
            fix="use a separate folder for each user; nothing was changed",
        )


# Pages of a synchronised folder that code did not write: their days, and deletions on both sides.


_WORDS_STAND: Final = "with words that were deleted or forgotten here; they stay in this page until you remove them"


def take_over_deletions(parts: Parts, folder: Folder, sides: Sides) -> None:
    """Put a tombstone for every text that another program deleted in the folder, unless the memory has it."""
    held = {normalise_text(mine.text) for mine in sides.ours.values()}
    texts = [text for text in read_deleted_texts(folder) if normalise_text(text) not in held]
    if texts:
        now_us = parts.clock.now_us()
        parts.store.commit(parts.user_id, lambda writer: put_deleted_texts(writer, texts, now_us))


def find_deleted_words(parts: Parts, found: Found, plan: Plan, after: View) -> list[str]:
    """Name the pages, not ours, in which words stand that were deleted or forgotten."""
    status = {one.id: one.status for one in after.memories}
    forgotten = {
        one.span.event_id
        for local, evidence in after.evidence.items()
        if status.get(local) is Status.FORGOTTEN
        for one in evidence
    }
    said = {one.id: to_file_text(one.text) for one in after.events}
    notes: list[str] = []
    with parts.store.reader(parts.user_id) as reader:
        for text in found.texts:
            read = plan.read.get(text.path, {})
            lines = [] if not text.theirs else [one.text for one in text.page.blocks if isinstance(one, Said)]
            count = 0
            for line in lines:
                events = read.get(hash_line(line), Line()).events
                known = any(to_file_text(line) in said.get(one, "") for one in events)  # its words are not deleted
                count += not forgotten.isdisjoint(events) or (
                    not known and is_deleted(reader, Draft(text=line, type=MemoryType.FACT))
                )
            if count:
                notes.append(f"{text.path}: {count_noun(count, 'line')} {_WORDS_STAND}")
    return notes


# Open a contest about a memory that was changed both in a page and in the store.


def contest_edit(parts: Parts, memory_id: str, text: str, *, base: str) -> Memory:
    """Add the user's text as a second memory, open a contest between the two, and return the new memory.

    `base` is the memory that the user saw, which may have been replaced since. Raises the errors of `correct`; nothing
    is changed then.
    """

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        event = journal_correction(parts, writer, text, source=Source.FILE)
        why = "changed in a page and in the memory"
        seen = replace(get_current(writer, base), status=Status.ACTIVE, valid_until_us=None)
        changes = decide_correction(
            seen,
            Wanted(text=event.text, claims=extract_correction(parts, writer, event)),
            reason=why,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        (add,) = (one for one in changes if isinstance(one, Add))
        # Build the contest, including the values of a contest that is already open in this slot.
        slot = get_slot(memory) or _name_slot(writer, memory)
        ids: list[str] = []
        values = [_name_value(memory, add.draft), _name_value(add.draft, memory)]
        for case in writer.contests(pair=(slot.entity, slot.attribute)):
            if case.state is ContestState.OPEN and get_contest_slot(case) == slot:
                ids, values = [*case.memory_ids], [*case.values, *values]
        told = tuple({normalise_value(value): value for value in values}.values())
        asked = Contest(
            slot=slot,
            memory_ids=tuple(dict.fromkeys([*ids, memory.id, add.key])),
            values=told,
            question=format_question(slot, told),
            reason=why,
        )
        applied = apply(writer, [add, asked], make_application(parts, event.id, Actor.FILE))
        return get_current(writer, applied.ids[add.key])

    return commit_edit(parts, work)


def _name_value(one: Draft, other: Draft) -> str:
    """Return the value of a memory, or its text if the values do not distinguish the two."""
    apart = one.value and other.value and normalise_value(display_value(one)) != normalise_value(display_value(other))
    return display_value(one) if apart else one.text


def _name_slot(writer: Writer, memory: Memory) -> Slot:
    """Return a slot of its own for a memory without one."""
    number = parse_id_number(memory.id, IdKind.MEMORY, writer.tenant.tag)
    return Slot(
        speaker=normalise_name(memory.speaker),
        entity=normalise_name(memory.entity or "user"),
        attribute=normalise_attribute(f"wording {number}"),
        scope=None,
        type_class=get_type_class(memory.type),
    )


# Write the pages of a synchronised folder that changed, and remove those of ours that became empty.


@dataclass(slots=True)
class DrawnPages:
    """The files that changed and those that could not be written, the footers by file, and notes for the user."""

    failed: set[str]
    written: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    footers: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def draw_pages(folder: Folder, found: Found, layout: Layout, after: View) -> DrawnPages:
    """Draw all pages that can be drawn, then that of the core block, which all link to, then the index."""
    made = DrawnPages(failed=set(found.troubles))
    parsed = {text.path: text.page for text in found.texts if text.own}
    for path, sheet in sorted(layout.sheets.items(), key=lambda one: one[0] == layout.core):
        old = parsed.get(path)
        text = draw(old, sheet, folder.find_ending(path))
        try:
            page = parse(text)
            if is_empty(page, sheet) and not (path == layout.core and made.footers):
                if old is not None:
                    folder.remove(path)
                    made.removed.append(path)
            else:
                made.footers[path] = page.footer
                made.written += [path] if folder.write(path, text) else []
        except Unavailable as error:
            made.footers.pop(path, None)
            made.failed.add(path)
            made.notes.append(f"{error.what}" + (f": {error.why}" if error.why else ""))
    try:
        lines = index_lines(after, layout, core=layout.core in made.footers)
        old = folder.read_index(layout.index)
        written = folder.write(layout.index, draw_index(old, lines, folder.find_ending(layout.index)))
        made.written += [layout.index] if written else []
    except Unavailable as error:
        made.notes.append(error.what)
    return made


MISSING: Final = ("ask", "delete", "restore")
_SETTLE_SECONDS: Final = 60.0
_ANOTHER: Final = "this folder belonged to another memory until now; its statements have been added"
_BY_AGENT: Final = "removed from its folder by an agent"
_NOTES_MAX: Final = 100
_TOGETHER: Final = 100
"""Lines of other pages that are told before they are waited for."""
_REFUSED: Final = (Invalid, Conflict, LimitExceeded, NotFound)


def sync_files(
    parts: Parts, path: str | Path, *, missing: str = "ask", by_agent: bool = False, trial: Parts | None = None
) -> SyncReport:
    """Apply the changes made in a folder and draw its pages; a second call right after changes nothing.

    `by_agent` tells that an agent writes the folder: its lines are its own words, what it removes is forgotten, which
    `undo` takes back, and an entry that it rewrites stays beside the new line. With a `trial`, a copy of the memory,
    everything is done in that copy and no file is written: the report says what a run would do.

    Raises `Invalid` if the path is not a folder, `NotFound` if a dry run finds none, `Unavailable` if the folder or the
    store cannot be written.
    """
    if missing not in MISSING:
        raise Invalid(f"{missing!r} is not a treatment of missing entries", fix=f"choose one of {', '.join(MISSING)}")
    if trial is not None and find_path_kind(Path(path).expanduser()) is None:
        raise NotFound(f"there is no folder {str(path)[:200]}", fix="leave out the dry run to create it")
    folder = open_folder(path, trial=trial is not None)
    with folder.locked():
        return _Round(trial or parts, folder, missing, by_agent, real=parts).run()


@dataclass(slots=True)
class _Counts:
    corrected: int = 0
    deleted: int = 0
    remembered: int = 0
    contested: int = 0


@dataclass(slots=True)
class _Round:
    """One synchronisation."""

    parts: Parts
    folder: Folder
    missing: str
    by_agent: bool
    real: Parts
    """The memory itself, of which `parts` may be a copy."""
    _counts: _Counts = field(default_factory=_Counts)
    _notes: list[str] = field(default_factory=list[str])
    _placed: dict[Spot, list[str]] = field(default_factory=dict[Spot, list[str]])
    _told: list[tuple[Added, Receipt]] = field(default_factory=list[tuple[Added, Receipt]])
    _changed: dict[str, str] = field(default_factory=dict[str, str])
    """New memory ids by the id that a correction replaced."""
    _left: set[Spot] = field(default_factory=set[Spot])
    """Blocks that could not be applied, and stay in the page unchanged."""

    def run(self) -> SyncReport:
        """Compare, apply the user's changes, and draw."""
        found, state, before, plan, gone = self._compare()
        lost = None
        if self.real is not self.parts:
            lines = gone.removed | gone.find_waiting()
            lost = list_pending({*plan.away, *(one.local for one in plan.gone)}, lines, state, before)
        self._carry_out(plan, state.round)
        # Forget what rested on lines that are gone, unless new words have replaced it.
        held = {one.id for one in self._view().memories if one.status in CURRENT_STATUSES} if gone.removed else ()
        for local, path in gone.removed.items():
            why = _BY_AGENT if self.by_agent else f"its line was removed from {path}"
            if local in held and self._try(path, partial(forget, self.parts, local, why)):
                self._counts.deleted += 1
                self._notes.append(f"{path}: the line of {local} is gone: forgotten, and `restore` brings it back")
        after = self._view()
        if after.memories:
            after = replace(after, core=[(line.section, line.memory_id) for line in core(self.parts).lines])
        self._find_places(plan)
        self._notes += find_deleted_words(self.parts, found, plan, after)
        report = self._write(found, state, plan=plan, after=after, gone=gone)
        return report if lost is None else replace(report, dry_run=True, pending=tuple(lost))

    def _compare(self) -> tuple[Found, State, View, Plan, GoneLines]:
        found = self.folder.read()
        check_owner(self.real, found)
        before = self._view()
        state = self._state(before)
        set_aside_unread(found, state, before.key)
        recognise_own(found, state, by_agent=self.by_agent)
        sides = self._sides(found, state, before)
        plan = compare(sides, partial(hash_text, before.key))
        if before.tag or plan.quoted:
            take_over_deletions(self.parts, self.folder, sides)
        self._notes += plan.notes
        fresh = [(one.spot.path, one.text) for one in plan.quoted]
        gone = sort_gone_lines(sides, plan.read, fresh, before.evidence)
        reasons = Counter(why for _, why in gone.waiting.values())
        self._notes += [f"{count_noun(count, 'missing line', 'waits')}: {why}" for why, count in reasons.items()]
        return found, state, before, plan, gone

    def _view(self) -> View:
        with self.parts.store.reader(self.parts.user_id) as reader:
            return load_view(reader)

    def _state(self, before: View) -> State:
        """Load the state of the last round; of that of another store only the lines of an erased memory count."""
        state = load_state(self.folder.load(STATE))
        mark = hash_tenant(before.key)
        if mark and state.mark == mark:
            return state
        erased = not state.mark or bool(self.real.store.erased({state.tag}))
        self._notes += [_ANOTHER] if state.mark else []
        lines = {path: dict.fromkeys(found, Line()) for path, found in state.lines.items()} if erased else {}
        return State(round=state.round, lines=lines)

    def _sides(self, found: Found, state: State, before: View) -> Sides:
        tags = {one.name.rpartition("-")[2] for text in found.texts for one in text.page.entries}
        return Sides(
            state=state,
            ours=build_memory_side(before),
            texts=found.texts,
            tag=before.tag,
            hidden=found.hidden,
            unread=bool(found.troubles),
            removed=read_removed(self.folder),
            erased=self.real.store.erased(tags - {before.tag}) if tags - {before.tag} else (),
            missing=self.missing,
            closed=found.troubles,
            dates=find_days_of_pages(self.folder, found.texts, self.parts.settings.zone, self.parts.clock.now_us()),
        )

    def _carry_out(self, plan: Plan, number: int) -> None:
        """Apply the user's changes: deletions first, so that they do not delete new content."""
        for gone in plan.gone:
            self._try(gone.name, partial(self._delete, gone))
        work = [(edit, partial(self._correct, edit)) for edit in plan.edits]
        work += [(clash, partial(self._dispute, clash)) for clash in plan.clashes]
        news = list(plan.news)
        for change, do in work:
            if self.by_agent or not (may_replace(self.parts, change.text) and self._try(change.spot.path, do)):
                news.append(Added(change.text, change.spot, Tier.PAGES, restored=True))
        self._quote(plan, number)
        for tier in (Tier.ARCHIVE, Tier.PAGES, Tier.CORE):
            self._tell([one for one in news if one.tier is tier], plan, number)
        if plan.gone or plan.edits or plan.clashes:
            self._settle()

    def _tell(self, news: Sequence[Added], plan: Plan, number: int) -> None:
        """Remember the new statements of one tier, except those that another tier has already added."""
        held = (
            {normalise_text(one.text): one.id for one in self._view().memories if one.status in CURRENT_STATUSES}
            if self._told and news
            else {}
        )
        before = len(self._told)
        for one in news:
            if self.by_agent and is_agents_alone(one.spot.path, one.text):
                self._left.add(one.spot)
                continue
            local = None if one.restored or one.tier is Tier.ARCHIVE else held.get(normalise_text(one.text))
            if local is not None and one.name and plan.where.get(local):
                plan.bound[one.name] = AWAY  # an entry of another memory about what stands here already
            elif local is not None:
                self._placed[one.spot] = [local]
                plan.where.setdefault(local, one.spot.path if one.tier is Tier.PAGES else "")
                if one.name:
                    plan.bound.setdefault(one.name, local)
            elif not self._try(one.spot.path, partial(self._remember, one, number)):
                self._left.add(one.spot)
        if len(self._told) > before:
            self._settle()

    def _quote(self, plan: Plan, number: int) -> None:
        """Remember the new lines of pages that are not ours, oldest first; they stay where they are."""
        waiting = 0
        for one in sorted(plan.quoted, key=lambda quoted: (not quoted.said, quoted.said)):
            if self.by_agent and is_agents_alone(one.spot.path, one.text):
                continue
            try:
                line = Line(self._file(one, number).event_ids)
            except _REFUSED as error:
                self._note_refusal(one.spot.path, error)
                if not isinstance(error, Invalid):
                    continue  # it may be accepted later
                line = Line()
            plan.read[one.spot.path][hash_line(one.text)] = line
            waiting += len(line.events)
            if waiting >= _TOGETHER:  # so that a large folder is read in the time that one wait may take
                waiting = self._settle()
        if waiting:
            self._settle()

    def _settle(self) -> int:
        try:
            settle(self.parts, _SETTLE_SECONDS)
        except Unavailable as error:
            self._notes.append(f"not everything has been processed yet: {error.what}")
        return 0

    def _try(self, place: str, work: Callable[[], object]) -> bool:
        """Run one step; a refused step adds a note and does not stop the others."""
        try:
            work()
        except _REFUSED as error:
            self._note_refusal(place, error)
            return False
        return True

    def _note_refusal(self, place: str, error: CredendaError) -> None:
        self._notes.append(f"{place}: {error.what}" + (f" ({error.why})" if error.why else ""))

    def _delete(self, gone: Removed) -> None:
        if not self.by_agent:
            delete(self.parts, gone.local, actor=Actor.FILE)
        elif gone.local.startswith(IdKind.MEMORY.value):
            forget(self.parts, gone.local, _BY_AGENT)
            self._notes.append(f"{gone.local} was removed by the agent: forgotten, and `restore` brings it back")
        else:
            return  # a message in the archive, which an agent cannot take back
        self._counts.deleted += 1

    def _correct(self, edit: Edit) -> None:
        wanted = Correction(text=edit.text, reason="edited in a page", actor=Actor.FILE)
        memory = put_right(self.parts, edit.local, wanted)
        self._counts.corrected += 1
        self._changed[edit.local] = memory.id
        self._placed[edit.spot] = [memory.id, edit.local]

    def _dispute(self, clash: EditConflict) -> None:
        memory = contest_edit(self.parts, clash.local, clash.text, base=clash.base)
        self._counts.contested += 1
        self._placed[clash.spot] = [clash.local, memory.id]

    def _remember(self, news: Added, number: int) -> None:
        self._told.append((news, self._file(news, number)))

    def _file(self, news: Added, number: int) -> Receipt:
        news = news._replace(text=require_content(news.text))
        receipt = remember(self.parts, make_submission(news, self.parts.user_id, number, by_agent=self.by_agent))
        self._counts.remembered += not receipt.cached
        self._notes += [f"{news.spot.path}: {refused}" for refused in receipt.refused]
        return receipt

    def _find_places(self, plan: Plan) -> None:
        """Place the memories of new statements where these were written, unless they have a place already."""
        for spot in plan.dropped:
            self._placed.setdefault(spot, [])
        for spot, local in plan.places.items():
            self._placed.setdefault(spot, [local])
        with self.parts.store.reader(self.parts.user_id) as reader:
            for news, receipt in self._told:
                found = [item.memory_id for item in reader.evidence(event_ids=receipt.event_ids)]
                texts = [one.text for one in reader.memories(list(dict.fromkeys(found)))]
                if is_kept(news, receipt, texts):
                    plan.read[news.spot.path][hash_line(news.text)] = Line(receipt.event_ids)
                    plan.stay.add(news.spot)
                made = list_results(news, receipt, found, plan.where)
                refused = bool(receipt.refused)
                lasts = bool(news.name) and not made and not refused
                if news.name and (made or lasts):
                    plan.bound[news.name] = made[0] if made else AWAY
                if not (news.restored or lasts or news.spot in plan.stay):
                    self._placed[news.spot] = list(made)
                for local in made:
                    plan.where.setdefault(local, news.spot.path)
        for old, new in self._changed.items():
            if old in plan.where:
                plan.where.setdefault(new, plan.where[old])

    def _write(self, found: Found, state: State, *, plan: Plan, after: View, gone: GoneLines) -> SyncReport:
        """Draw all pages that can be drawn, then the index, the tombstones, and last the state."""
        names = map_ids(state, plan, after)
        here = {one.id for one in (*after.memories, *after.events)}
        plan.away &= here  # what went with something else waits for nothing
        hidden = {local for local in here if names.get(local, local) in found.hidden}
        placing = Placing(
            texts=found.texts,
            where=plan.where,
            placed=self._placed,
            names=names,
            kept={name for name, local in plan.bound.items() if local == AWAY},
            skipped=hidden | plan.away,
            left=self._left,
            closed=found.troubles,
            pages=state.pages,
            foreign=list_foreign(found, state),
            index=found.index,
        )
        layout = lay_out(after, placing)
        made = draw_pages(self.folder, found, layout, after)
        self._notes += made.notes
        standing = ({text.path for text in found.texts} | set(made.written)) - set(made.removed)
        drawn = map_bases(layout, names, made.failed, after.key)
        stay = here | {AWAY}
        kept = keep_bases(state, skipped=placing.skipped, failed=made.failed, away=plan.away, stay=stay)
        away = {name: Base(AWAY, "", "", held=False) for name in placing.kept}
        new = State(
            mark=hash_tenant(after.key),
            tag=after.tag,
            round=state.round,
            entries={**away, **kept, **drawn},
            pages=list_pages(found, layout, standing),
            core=state.core if layout.core in made.failed else frozenset(layout.list_core()),
            footers={**{path: one for path, one in state.footers.items() if path in made.failed}, **made.footers},
            lines={path: {**gone.kept.get(path, {}), **plan.read.get(path, {})} for path in {*gone.kept, *plan.read}},
        )
        acted = bool(self._told or plan.gone or plan.edits or plan.clashes or new.lines != state.lines)
        self.folder.save(IGNORE, b"*\n")
        removed_names = [name for name, one in state.entries.items() if one.local not in stay]
        self._notes += write_tombstones(self.parts, self.folder, removed=removed_names, shown={*drawn, *away})
        self.folder.save(STATE, dump_state(replace(new, round=state.round + 1) if acted else new))
        pending = list_pending(plan.away, gone.find_waiting(), state, after)
        waiting = len(plan.away) + len(gone.waiting)
        counts, more = self._counts, len(self._notes) - _NOTES_MAX
        return SyncReport(
            path=str(self.folder.root),
            corrected=counts.corrected,
            deleted=counts.deleted,
            remembered=counts.remembered,
            contested=counts.contested,
            waiting=waiting,
            pending=tuple(pending),
            written=tuple(made.written),
            removed=tuple(made.removed),
            left_alone=tuple(f"{name} {why}" for name, why in sorted(found.troubles.items())),
            notes=(*self._notes[:_NOTES_MAX], *([f"and {more} more"] if more > 0 else [])),
        )

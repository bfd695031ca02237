"""Synchronise a folder of Markdown pages with the store in both directions: `files sync`.

The user's changes in pages are applied first, by the same operations as in other interfaces; then the pages are drawn,
and last the state for the next comparison is written. An interrupted round is repeated safely: applied changes are
recognised by their text or idempotency key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded, NotFound, Unavailable
from credenda.ids import IdKind
from credenda.model.change import Actor
from credenda.model.event import DENIED, QUARANTINED, Receipt, Source
from credenda.model.sync_report import SyncReport
from credenda.paths import find_path_kind
from credenda.portability.files.folder import IGNORE, STATE, Folder, Found, open_folder
from credenda.portability.files.layout import CORE, INDEX
from credenda.portability.files.load_memory_side import load_view
from credenda.portability.files.memory_side import View, build_memory_side
from credenda.portability.files.next_state import list_pages, list_pending, map_bases, map_ids
from credenda.portability.files.page_plan import Layout, Placing, index_lines, lay_out
from credenda.portability.files.parse import parse
from credenda.portability.files.render import draw, draw_index, is_empty
from credenda.portability.files.state import AWAY, Base, State, dump_state, hash_tenant, hash_text, load_state
from credenda.portability.files.three_way_diff import Added, Edit, EditConflict, Plan, Removed, compare
from credenda.portability.files.tombstones import read_removed, write_tombstones
from credenda.portability.files.types import Sides, Spot, Tier
from credenda.portability.files.unread_pages import set_aside_unread
from credenda.portability.importers.memory_folder import is_agents_alone
from credenda.portability.importers.placeholders import require_content
from credenda.runtime import Parts
from credenda.services.core import core
from credenda.services.correct import Correction, put_right
from credenda.services.delete import delete
from credenda.services.file_conflict import contest_edit
from credenda.services.file_submission import make_submission
from credenda.services.folder_owner import check_owner
from credenda.services.forget import forget
from credenda.services.remember import remember
from credenda.text.normalize import normalise_text
from credenda.workers.loop import settle
from credenda.write.intake.validate import Submission, accept
from credenda.write.reconcile.slots import CURRENT_STATUSES

__all__ = ["MISSING", "sync_files"]

MISSING: Final = ("ask", "delete", "restore")
_SETTLE_SECONDS: Final = 60.0
_ANOTHER: Final = "this folder belonged to another memory until now; its statements have been added"
_BY_AGENT: Final = "removed from its folder by an agent"
_NOTES_MAX: Final = 100
_REFUSED: Final = (Invalid, Conflict, LimitExceeded, NotFound)


def sync_files(
    parts: Parts, path: str | Path, *, missing: str = "ask", dry_run: bool = False, by_agent: bool = False
) -> SyncReport:
    """Apply the changes made in a folder and draw its pages; a second call right after changes nothing.

    `by_agent` tells that an agent writes the folder: its lines are its own words, what it removes is forgotten, which
    `undo` takes back, and an entry that it rewrites stays beside the new line.

    Raises `Invalid` if the path is not a folder, `NotFound` if a dry run finds none, `Unavailable` if the folder or the
    store cannot be written.
    """
    if missing not in MISSING:
        raise Invalid(f"{missing!r} is not a treatment of missing entries", fix=f"choose one of {', '.join(MISSING)}")
    if dry_run and find_path_kind(Path(path).expanduser()) is None:
        raise NotFound(f"there is no folder {str(path)[:200]}", fix="leave out the dry run to create it")
    folder = open_folder(path)
    if dry_run:
        return _Round(parts, folder, missing, by_agent).preview()
    with folder.locked():
        return _Round(parts, folder, missing, by_agent).run()


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
    by_agent: bool = False
    _counts: _Counts = field(default_factory=_Counts)
    _notes: list[str] = field(default_factory=list[str])
    _placed: dict[Spot, list[str]] = field(default_factory=dict[Spot, list[str]])
    _told: list[tuple[Added, Receipt]] = field(default_factory=list[tuple[Added, Receipt]])
    _changed: dict[str, str] = field(default_factory=dict[str, str])
    """New memory ids by the id that a correction replaced."""
    _left: set[Spot] = field(default_factory=set[Spot])
    """Blocks that could not be applied, and stay in the page unchanged."""
    _footers: dict[str, str] = field(default_factory=dict[str, str])
    """The footers of the pages that were drawn."""

    def preview(self) -> SyncReport:
        """Compare, and report what a run would do; change nothing."""
        found, state, before, plan = self._compare()
        self._counts = _Counts(len(plan.edits), len(plan.gone), len(plan.news), len(plan.clashes))
        gone = [*plan.away, *(one.local for one in plan.gone)]
        return replace(self._report(found, plan, pending=list_pending(gone, state, before)), dry_run=True)

    def run(self) -> SyncReport:
        """Compare, apply the user's changes, and draw."""
        found, state, _, plan = self._compare()
        self._carry_out(plan, state.round)
        after = self._view()
        if after.memories:
            after = replace(after, core=[(line.section, line.memory_id) for line in core(self.parts).lines])
        self._find_places(plan)
        return self._write(found, state, plan, after)

    def _compare(self) -> tuple[Found, State, View, Plan]:
        found = self.folder.read()
        check_owner(self.parts, found)
        before = self._view()
        state = self._state(before)
        set_aside_unread(found, state, before.key)
        plan = compare(self._sides(found, state, before), partial(hash_text, before.key))
        self._notes += plan.notes
        return found, state, before, plan

    def _view(self) -> View:
        with self.parts.store.reader(self.parts.user_id) as reader:
            return load_view(reader)

    def _state(self, before: View) -> State:
        """Load the state of the last round; the state of another store is ignored."""
        state = load_state(self.folder.load(STATE))
        mark = hash_tenant(before.key)
        if mark and state.mark == mark:
            return state
        self._notes += [_ANOTHER] if state.mark else []
        return State(round=state.round)

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
            erased=self.parts.store.erased(tags - {before.tag}) if tags - {before.tag} else (),
            missing=self.missing,
        )

    def _carry_out(self, plan: Plan, number: int) -> None:
        """Apply the user's changes: deletions first, so that they do not delete new content."""
        for gone in plan.gone:
            self._try(gone.name, partial(self._delete, gone))
        work = [(edit, partial(self._correct, edit)) for edit in plan.edits]
        work += [(clash, partial(self._dispute, clash)) for clash in plan.clashes]
        news = list(plan.news)
        for change, do in work:
            if self.by_agent or not (self._fits(change.text) and self._try(change.spot.path, do)):
                news.append(Added(change.text, change.spot, Tier.PAGES, restored=True))
        for tier in (Tier.ARCHIVE, Tier.PAGES, Tier.CORE):
            self._tell([one for one in news if one.tier is tier], plan, number)
        if plan.gone or plan.edits or plan.clashes:
            self._settle()

    def _tell(self, news: Sequence[Added], plan: Plan, number: int) -> None:
        """Remember the new statements of one tier, except those that another tier has already added."""
        held = self._held_texts() if self._told and news else {}
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

    def _held_texts(self) -> dict[str, str]:
        return {normalise_text(one.text): one.id for one in self._view().memories if one.status in CURRENT_STATUSES}

    def _settle(self) -> None:
        try:
            settle(self.parts, _SETTLE_SECONDS)
        except Unavailable as error:
            self._notes.append(f"not everything has been processed yet: {error.what}")

    def _try(self, place: str, work: Callable[[], None]) -> bool:
        """Run one step; a refused step adds a note and does not stop the others."""
        try:
            work()
        except _REFUSED as error:
            self._notes.append(f"{place}: {error.what}" + (f" ({error.why})" if error.why else ""))
            return False
        return True

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

    def _fits(self, text: str) -> bool:
        """Return whether a text can replace a memory: not too long, and no prompt injection."""
        try:
            accepted = accept(
                Submission(content=text, user_id=self.parts.user_id, source=Source.FILE.value),
                policy=self.parts.settings.secrets_policy,
                zone=self.parts.settings.zone,
                now_us=self.parts.clock.now_us(),
            )
            flags = accepted.get_event().flags
        except _REFUSED:
            return False
        return len(text) <= limits.MEMORY_TEXT_CHARACTERS and DENIED not in flags and QUARANTINED not in flags

    def _remember(self, news: Added, number: int) -> None:
        news = news._replace(text=require_content(news.text))
        receipt = remember(self.parts, make_submission(news, self.parts.user_id, number, by_agent=self.by_agent))
        self._told.append((news, receipt))
        self._counts.remembered += not receipt.cached
        self._notes += [f"{news.spot.path}: {refused}" for refused in receipt.refused]

    def _find_places(self, plan: Plan) -> None:
        """Place the memories of new statements where these were written, unless they have a place already."""
        for spot in plan.dropped:
            self._placed.setdefault(spot, [])
        for spot, local in plan.places.items():
            self._placed.setdefault(spot, [local])
        with self.parts.store.reader(self.parts.user_id) as reader:
            for news, receipt in self._told:
                found = reader.evidence(event_ids=receipt.event_ids)
                made = _list_results(news, receipt, [item.memory_id for item in found], plan.where)
                self._settle_down(plan, news, made, refused=bool(receipt.refused))
        for old, new in self._changed.items():
            if old in plan.where:
                plan.where.setdefault(new, plan.where[old])

    def _settle_down(self, plan: Plan, news: Added, made: Sequence[str], *, refused: bool) -> None:
        """Place the memories of a statement at its spot, and map its name in the file to them.

        An entry of another store that produced no memory here stays in the file, unless its words were deleted.
        """
        lasts = bool(news.name) and not made and not refused
        if news.name and (made or lasts):
            plan.bound[news.name] = made[0] if made else AWAY
        if not (news.restored or lasts):
            self._placed[news.spot] = list(made)
        for local in made:
            plan.where.setdefault(local, news.spot.path)

    def _write(self, found: Found, state: State, plan: Plan, after: View) -> SyncReport:
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
        )
        layout = lay_out(after, placing)
        written, removed, failed = self._draw(found, layout, after)
        standing = ({text.path for text in found.texts} | set(written)) - set(removed)
        drawn = map_bases(layout, names, failed, after.key)
        stay = here | {AWAY}
        held_back = [
            name
            for name, one in state.entries.items()
            if one.local in placing.skipped or (one.path in failed and one.local in stay)
        ]
        kept = {name: replace(one, away=one.local in plan.away) for name in held_back if (one := state.entries[name])}
        away = {name: Base(AWAY, "", "", held=False) for name in placing.kept}
        new = State(
            mark=hash_tenant(after.key),
            tag=after.tag,
            round=state.round,
            entries={**away, **kept, **drawn},
            pages=list_pages(found, layout, standing),
            core=state.core if CORE in failed else frozenset(one.local for one in layout.sheets[CORE].entries),
            footers={**{path: one for path, one in state.footers.items() if path in failed}, **self._footers},
        )
        acted = bool(self._told or plan.gone or plan.edits or plan.clashes)
        self.folder.save(IGNORE, b"*\n")
        gone = [name for name, one in state.entries.items() if one.local not in stay]
        write_tombstones(self.parts, self.folder, removed=gone, shown={*drawn, *away})
        self.folder.save(STATE, dump_state(replace(new, round=state.round + 1) if acted else new))
        return self._report(
            found, plan, written=written, removed=removed, pending=list_pending(plan.away, state, after)
        )

    def _report(
        self,
        found: Found,
        plan: Plan,
        *,
        pending: Sequence[str],
        written: Sequence[str] = (),
        removed: Sequence[str] = (),
    ) -> SyncReport:
        counts, more = self._counts, len(self._notes) - _NOTES_MAX
        return SyncReport(
            path=str(self.folder.root),
            corrected=counts.corrected,
            deleted=counts.deleted,
            remembered=counts.remembered,
            contested=counts.contested,
            waiting=len(plan.away),
            pending=tuple(pending),
            written=tuple(written),
            removed=tuple(removed),
            left_alone=tuple(f"{name} {why}" for name, why in sorted(found.troubles.items())),
            notes=(*self._notes[:_NOTES_MAX], *([f"and {more} more"] if more > 0 else [])),
        )

    def _draw(self, found: Found, layout: Layout, after: View) -> tuple[list[str], list[str], set[str]]:
        parsed = {text.path: text.page for text in found.texts}
        written, removed = list[str](), list[str]()
        standing, failed = set[str](), set(found.troubles)
        for path, sheet in sorted(layout.sheets.items(), key=lambda one: one[0] == CORE):  # every page has a link to it
            old = parsed.get(path)
            text = draw(old, sheet)
            try:
                page = parse(text)
                if is_empty(page, sheet) and not (path == CORE and standing):
                    if old is not None:
                        self.folder.remove(path)
                        removed.append(path)
                else:
                    standing.add(path)
                    written += [path] if self.folder.write(path, text) else []
                    self._footers[path] = page.footer
            except Unavailable as error:
                failed.add(path)
                self._notes.append(f"{error.what}" + (f": {error.why}" if error.why else ""))
        if self._draw_index(index_lines(after, layout, core=CORE in standing)):
            written.append(INDEX)
        return written, removed, failed

    def _draw_index(self, lines: Sequence[str]) -> bool:
        try:
            old = self.folder.read_index()
            return self.folder.write(INDEX, draw_index(old, lines))
        except Unavailable as error:
            self._notes.append(error.what)
            return False


def _list_results(news: Added, receipt: Receipt, memory_ids: Sequence[str], standing: Collection[str]) -> list[str]:
    """Return the new ids of a statement that have no place yet: events in the archive, memories on a page."""
    if news.tier is Tier.ARCHIVE:
        return list(receipt.event_ids) if news.name else []
    made = dict.fromkeys(one for one in memory_ids if one not in standing)
    return list(made) if news.tier is Tier.PAGES else []

"""Three sides held against each other: what both had, what the memory holds, what the files say. Pure.

What only one side changed is taken over by the other. What both changed is never decided here: it becomes an
`EditConflict`, which asks. What a person wrote is either told to the memory or left where it stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from credenda.portability.files.markers import to_file_text
from credenda.portability.files.missing_entries import sort_missing
from credenda.portability.files.parse import Entered, Said
from credenda.portability.files.quoted_lines import bind_quoted
from credenda.portability.files.state import AWAY, Base, Line, hash_line
from credenda.portability.files.suspicious_deletions import find_suspicious
from credenda.portability.files.types import Added, MemorySide, Sides, Spot, Text, Tier
from credenda.text.normalize import normalise_text

__all__ = ["Added", "Edit", "EditConflict", "Plan", "Removed", "compare"]


class Edit(NamedTuple):
    """A person changed the text of a memory that is otherwise unchanged."""

    local: str
    text: str
    spot: Spot


class EditConflict(NamedTuple):
    """Both sides changed: `local` is the current memory's id, `base` the common one's, `text` the file's text."""

    local: str
    base: str
    text: str
    spot: Spot


class Removed(NamedTuple):
    """A person removed an unchanged entry."""

    local: str
    name: str


@dataclass(slots=True)
class Plan:
    """The result of a comparison.

    `where` gives each local id its file and `places` its block; `dropped` are blocks whose text is stored already, or
    was deleted. `bound` maps ids in the files to local ids; `away` are entries that are missing from the files and wait
    for the user's decision; `notes` are for the user. `quoted` are new lines of pages that are not ours, `read` the
    lines that stay in their pages, and `stay` the blocks of such lines in pages of ours.
    """

    gone: list[Removed] = field(default_factory=list[Removed])
    edits: list[Edit] = field(default_factory=list[Edit])
    clashes: list[EditConflict] = field(default_factory=list[EditConflict])
    news: list[Added] = field(default_factory=list[Added])
    where: dict[str, str] = field(default_factory=dict[str, str])
    places: dict[Spot, str] = field(default_factory=dict[Spot, str])
    dropped: set[Spot] = field(default_factory=set[Spot])
    bound: dict[str, str] = field(default_factory=dict[str, str])
    away: set[str] = field(default_factory=set[str])
    notes: list[str] = field(default_factory=list[str])
    quoted: list[Added] = field(default_factory=list[Added])
    read: defaultdict[str, dict[str, Line]] = field(default_factory=lambda: defaultdict(dict[str, Line]))
    stay: set[Spot] = field(default_factory=set[Spot])


def compare(sides: Sides, hashed: Any) -> Plan:  # noqa: ANN401 - a function from texts to digests
    """Return the changes for each side; `hashed` returns the digest of a text."""
    return _Comparison(sides, hashed).plan()


class _Sight(NamedTuple):
    """An occurrence of an entry in a file."""

    local: str
    name: str
    text: str
    spot: Spot
    tier: Tier


class _Comparison:
    """The state of one comparison."""

    def __init__(self, sides: Sides, hashed: Any) -> None:  # noqa: ANN401 - see `compare`
        self._sides = sides
        self._hashed = hashed
        self._plan = Plan()
        self._seen: dict[str, list[_Sight]] = defaultdict(list)
        self._bare: list[Added] = []
        self._left: list[_Sight] = []
        self._quoted: Collection[str] = ()
        self._taken: dict[tuple[str, Tier], str] = {}
        self._base = {one.local: one for one in sides.state.entries.values() if one.local != AWAY}
        self._names = {one.local: name for name, one in sides.state.entries.items() if one.local != AWAY}

    def plan(self) -> Plan:
        """Go through every block, match moved ones, and compare the rest."""
        for text in self._sides.texts:
            for number, block in enumerate(text.page.blocks):
                self._look(text, Spot(text.path, number), block)
        self._plan.quoted, self._quoted = bind_quoted(self._sides, self._plan.quoted, self._plan.read)
        self._bind_swapped()
        self._bind_bare()
        self._bind_left()
        for local, sights in self._seen.items():
            self._compare(local, sights)
        self._plan.news += self._bare
        self._miss()
        return self._plan

    def _look(self, text: Text, spot: Spot, block: object) -> None:
        if isinstance(block, Said):
            self._look_at_line(text, spot, block)
        if not isinstance(block, Entered):
            return
        if block.kind == "k":
            self._look_at_question(text, spot, block)
            return
        local = self._local(block.name)
        if local is None:
            self._foreign(text, spot, block)
        elif local != AWAY and block.text:
            self._seen[local].append(_Sight(local, block.name, block.text, spot, text.tier))
            self._plan.bound[block.name] = local
        elif local == AWAY:
            self._plan.bound[block.name] = AWAY

    def _look_at_line(self, text: Text, spot: Spot, block: Said) -> None:
        """Tell a line that was read and stays from a new one."""
        name = hash_line(block.text)
        known = self._sides.lines.get(text.path, {}).get(name)
        said = Added(block.text, spot, text.tier, text.about, line=True, said=self._sides.dates.get(spot, ""))
        if known is None and not text.theirs:
            self._bare.append(said)
        elif known is None:
            self._plan.quoted.append(said)
        elif not text.theirs and known.events and not self._is_said(block.text, known.events):
            self._plan.dropped.add(spot)  # deleted since, and the page is ours
        else:
            self._plan.read[text.path][name] = known._replace(away=False)
            self._plan.stay.add(spot)

    def _is_said(self, text: str, events: Sequence[str]) -> bool:
        ours = self._sides.ours
        return any(one in ours and to_file_text(text) in ours[one].text for one in events)

    def _look_at_question(self, text: Text, spot: Spot, block: Entered) -> None:
        asked = to_file_text(str(block.table.get("question", "")))
        if block.text and asked not in block.text:
            self._bare.append(Added(block.text, spot, text.tier, text.about, restored=True))

    def _local(self, name: str) -> str | None:
        """Return the local id of an id in a file; None for an entry of another memory."""
        known = self._sides.state.entries.get(name)
        if known is not None:
            return known.local
        own = bool(self._sides.tag) and name.endswith(f"-{self._sides.tag}")
        return name if own else None

    def _foreign(self, text: Text, spot: Spot, block: Entered) -> None:
        """Handle an entry of another memory: store its text if it is active there, else only keep the entry."""
        if block.name.rpartition("-")[2] in self._sides.erased:
            self._plan.dropped.add(spot)
            self._plan.notes.append(f"{spot.path}: an entry of an erased memory was removed")
            return
        held = bool(block.text) and block.table.get("status", "active") in ("active", "challenged")
        core = text.tier is Tier.CORE
        if held:
            name = "" if core else block.name
            self._bare.append(Added(block.text, spot, text.tier, text.about, name, table=block.table))
        elif core:
            self._plan.dropped.add(spot)
        else:
            self._plan.bound[block.name] = AWAY

    def _same(self, sight: _Sight) -> bool:
        mine = self._sides.ours.get(sight.local)
        return mine is not None and mine.text == sight.text

    def _intact(self, local: str, tier: Tier) -> bool:
        return any(self._same(sight) for sight in self._seen.get(local, ()) if sight.tier is tier)

    def _bind_swapped(self) -> None:
        """Match texts that were swapped with their own comments.

        Texts below a comment that was moved are handled last.
        """
        by_text: dict[tuple[bool, str], list[str]] = defaultdict(list)
        for local in self._base:
            mine = self._sides.ours.get(local)
            if mine is not None:
                by_text[mine.event, mine.text].append(local)
        wrong = [one for local in self._seen if local in self._sides.ours for one in self._seen[local]]
        wrong = [one for one in wrong if not self._same(one)]
        left: list[_Sight] = []
        taken: dict[tuple[str, Tier], str] = {}
        for sight in wrong:
            key = (self._sides.ours[sight.local].event, sight.text)
            free = [one for one in by_text.get(key, ()) if self._is_free(one, sight, taken)]
            if not free:
                left.append(sight)
                continue
            self._seen[sight.local].remove(sight)
            taken[free[0], sight.tier] = sight.local
            self._bind(free[0], sight)
        self._left = left
        self._taken = taken

    def _bind_left(self) -> None:
        """Match unknown texts below the comment of an entry that is elsewhere.

        Such a text belongs to the entry that left its place, or to the only missing entry of the page; else it is new.
        """
        for sight in self._left:
            if not self._intact(sight.local, sight.tier):
                continue
            self._seen[sight.local].remove(sight)
            vacant = self._taken.get((sight.local, sight.tier))
            missing = [
                local for local, base in self._base.items() if base.path == sight.spot.path and self._lacks(local)
            ]
            if vacant is not None and self._lacks(vacant):
                self._bind(vacant, sight)
            elif len(missing) == 1:
                self._bind(missing[0], sight)
            else:
                self._plan.news.append(Added(sight.text, sight.spot, sight.tier))

    def _lacks(self, local: str) -> bool:
        return local in self._sides.ours and not self._seen.get(local)

    def _is_free(self, local: str, sight: _Sight, taken: Collection[tuple[str, Tier]]) -> bool:
        return local != sight.local and (local, sight.tier) not in taken and not self._intact(local, sight.tier)

    def _bind(self, local: str, sight: _Sight) -> None:
        self._seen[local].append(sight._replace(local=local))
        self._plan.places[sight.spot] = local

    def _bind_bare(self) -> None:
        """Match statements without a comment that are stored already: moved, copied, or stored from another page."""
        exact: dict[tuple[bool, str], list[str]] = defaultdict(list)
        normal: dict[str, str] = {}
        for local, mine in self._sides.ours.items():
            exact[mine.event, mine.text].append(local)
            if mine.held and not mine.event:
                normal.setdefault(normalise_text(mine.text), local)
        left: list[Added] = []
        for one in self._bare:
            event = one.tier is Tier.ARCHIVE
            free = [local for local in exact[event, one.text] if self._unseen(local, one)]
            free.sort(key=lambda local: bool(self._seen.get(local)))  # one that lacks its text, not one that was edited
            known = free[0] if free else normal.get(normalise_text(one.text)) if not event else None
            if known is None or one.restored:
                left.append(one)
            elif free or not self._seen.get(known):
                self._seen[known].append(_Sight(known, one.name, self._sides.ours[known].text, one.spot, one.tier))
                self._plan.places[one.spot] = known
                if one.name:
                    self._plan.bound[one.name] = known
            elif one.name:
                self._plan.bound[one.name] = AWAY
            else:
                self._plan.dropped.add(one.spot)
        self._bare = left

    def _unseen(self, local: str, one: Added) -> bool:
        """Return whether a statement may be an entry that lost its comment: no copy with a comment is left."""
        if self._intact(local, one.tier):
            return False
        mine = self._sides.ours[local]
        return local in self._base or (bool(one.name) if mine.event else mine.held)

    def _compare(self, local: str, sights: Sequence[_Sight]) -> None:
        mine = self._sides.ours.get(local)
        for sight in sights:
            if sight.tier is not Tier.CORE and mine is not None:
                self._plan.where.setdefault(local, sight.spot.path)
        told: set[str] = set()
        for sight in sights:
            if mine is not None and (sight.text == mine.text or sight.text in told):
                continue
            told.add(sight.text)
            self._differs(sight, mine)

    def _differs(self, sight: _Sight, mine: MemorySide | None) -> None:
        """Decide about a text that differs from the memory's."""
        base = self._base.get(sight.local)
        untouched = base is not None and base.digest == self._hashed(sight.text)
        if untouched:
            if mine is None:
                self._plan.dropped.add(sight.spot)
            return
        news = Added(sight.text, sight.spot, sight.tier, restored=mine is not None)
        head = self._sides.ours.get(mine.head) if mine is not None and mine.head else None
        if (
            head is not None
            and mine is not None
            and mine.head
            and normalise_text(head.text) == normalise_text(sight.text)
        ):
            return
        was_held = mine is not None and (mine.held if base is None else base.held)
        if mine is None or mine.event or mine.head is None or head is None or not was_held:
            self._plan.news.append(news)
            if mine is not None:
                self._plan.notes.append(
                    f"{sight.spot.path}: {sight.local} was not changed; the new text is stored separately"
                )
        elif base is None or self._moved(base, mine):
            self._plan.clashes.append(EditConflict(mine.head, sight.local, sight.text, sight.spot))
        else:
            self._plan.edits.append(Edit(sight.local, sight.text, sight.spot))

    def _moved(self, base: Base, mine: MemorySide) -> bool:
        return base.digest != mine.digest or base.held != mine.held

    def _miss(self) -> None:
        """Find entries that are missing from the files, and decide about each."""
        gone = [local for local in self._base if self._is_gone(local)]
        changed = {local for local in gone if self._moved(self._base[local], self._sides.ours[local])}
        for local in sorted(changed):
            self._plan.notes.append(
                f"{self._base[local].path}: {local} was removed, but had changed meanwhile: it stays"
            )
        if self._sides.missing == "restore":
            return
        found = sort_missing(self._sides, [one for one in gone if one not in changed], self._base, self._names)
        self._plan.away.update(found.waiting)
        for why, count in Counter(found.waiting.values()).items():
            self._plan.notes.append(f"{count} missing {'entry waits' if count == 1 else 'entries wait'}: {why}")
        for tier in (Tier.PAGES, Tier.ARCHIVE):
            removed = [one for one in found.removed if self._sides.ours[one].event is (tier is Tier.ARCHIVE)]
            doubted = set[str]() if self._sides.missing == "delete" else self._doubt(tier, removed)
            self._plan.gone += [Removed(local, self._names[local]) for local in removed if local not in doubted]

    def _doubt(self, tier: Tier, fresh: Sequence[str]) -> Collection[str]:
        """Keep removed entries whose text is still in the files."""
        ours, plan = self._sides.ours, self._plan
        standing = [ours[local].text for local in self._seen if tier is Tier.PAGES and self._intact(local, tier)]
        written = [one.text for one in plan.news if one.tier is tier and not (one.name or one.restored)]
        found = find_suspicious({local: ours[local].text for local in fresh}, standing, written)
        paths = {text.path for text in self._sides.texts}
        for local, why in found.items():
            path = self._base[local].path
            plan.notes.append(f"{path}: {local} was removed, but {why}: it stays")
            if path in paths:
                plan.where[local] = path
        return found

    def _is_gone(self, local: str) -> bool:
        if local not in self._sides.ours or self._names[local] in self._sides.hidden or local in self._quoted:
            return False
        copied = local in self._sides.state.core
        return not any(sight.tier is not Tier.CORE or not copied for sight in self._seen.get(local, ()))

"""Three sides held against each other: what both had, what the memory holds, what the files say. Pure.

What only one side changed is taken over by the other. What both changed is never decided here: it becomes an
`EditConflict`, which asks. What a person wrote is either told to the memory or left where it stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from credenda import limits
from credenda.model.claim import Evidence
from credenda.portability.files.parse import Entered, Said, to_file_text
from credenda.portability.files.state import (
    AWAY,
    Added,
    Base,
    Line,
    Lines,
    MemorySide,
    Sides,
    Spot,
    Text,
    Tier,
    bind_quoted,
    hash_line,
    is_closed,
)
from credenda.text.normalize import normalise_text
from credenda.text.tokens import space_runs

# Decide which of the entries that are missing from the files a person removed. Pure.


_FEW: Final = 2
"""Entries that may be removed from a page or folder of any size."""
_MOST: Final = 3
"""More than one entry in three of a page or folder counts as many."""

UNREAD: Final = "a page could not be read; nothing is deleted until it is repaired or removed"
BEFORE: Final = "missing since an earlier synchronisation"
NO_PAGE: Final = "their page is gone"
OTHER_VERSION: Final = "their page is not the version that the last synchronisation left"
MANY: Final = "many are missing at once"


@dataclass(slots=True)
class Missing:
    """Missing entries by local id: those that a person removed, and those that wait, with the reason."""

    removed: list[str] = field(default_factory=list[str])
    waiting: dict[str, str] = field(default_factory=dict[str, str])


def sort_missing(sides: Sides, gone: Sequence[str], base: Mapping[str, Base], names: Mapping[str, str]) -> Missing:
    """Sort missing entries; `base` has every entry of the last state by local id, `names` their ids in the files."""
    if sides.unread:
        return Missing(waiting=dict.fromkeys(gone, UNREAD))
    if sides.missing == "delete":
        return Missing(removed=list(gone))
    texts = {text.path: text for text in sides.texts}
    found = Missing()
    for local in gone:
        why = _find_doubt(sides, base[local], names[local], texts.get(base[local].path))
        if why:
            found.waiting[local] = why
        else:
            found.removed.append(local)
    fresh = [local for local in gone if not base[local].away]
    if len(fresh) > limits.FILES_GONE_TOGETHER:
        many = set(fresh)
    else:
        known = [local for local in base if local in sides.ours]
        parts = {local: "archive" if sides.ours[local].event else "pages" for local in known}
        pages = {local: base[local].path for local in known}
        many = {
            *_find_crowded(fresh, dict.fromkeys(known, ""), all_of_them=True),
            *_find_crowded(fresh, parts, all_of_them=True),
            *_find_crowded(fresh, pages, all_of_them=False),
        }
    found.waiting |= {local: MANY for local in found.removed if local in many}
    found.removed = [local for local in found.removed if local not in many]
    return found


def _find_doubt(sides: Sides, base: Base, name: str, text: Text | None) -> str:
    """Return the reason why a missing entry may not have been removed by a person; "" if there is none."""
    if base.away:
        return BEFORE
    if name in sides.removed:  # another memory that shares the folder recorded the deletion
        return ""
    if text is None:
        return NO_PAGE
    return "" if text.page.footer == sides.state.footers.get(text.path, "") else OTHER_VERSION


def _find_crowded(fresh: Sequence[str], places: Mapping[str, str], *, all_of_them: bool) -> Iterator[str]:
    """Yield the missing entries of places that lost many; with `all_of_them`, also two if there were no more."""
    before, gone = Counter(places.values()), Counter(places[local] for local in fresh)
    for local in fresh:
        count, total = gone[places[local]], before[places[local]]
        if (count > _FEW and count * _MOST > total) or (all_of_them and 1 < count == total):
            yield local


# Detect entries that are missing from the files but may not have been deleted on purpose. Pure.


_ALIKE: Final = 0.6
"""Share of common words, from 0 to 1, above which one text may be an edit of the other.

"I live in Linz" and "I live in Graz" have 3/4, "I like tea" and "I like the cello" 4/7.
"""


def find_suspicious(gone: Mapping[str, str], standing: Iterable[str], written: Iterable[str]) -> dict[str, str]:
    """Return the ids of entries that may not have been deleted on purpose, with the reason.

    `gone` gives texts by ids, `standing` the texts of remaining entries, `written` lines without an entry.

    >>> find_suspicious({"m1": "I live in Linz.", "m2": "I like tea."}, [], ["I live in Graz.", "I like the cello."])
    {'m1': 'a line without a comment may be an edit of it'}
    """
    left = {normalise_text(one) for one in standing}
    lines = [_count_words(one) for one in written]
    found: dict[str, str] = {}
    for local, text in gone.items():
        words = _count_words(text)
        if normalise_text(text) in left:
            found[local] = "another entry has the same text"
        elif any(_measure_overlap(words, line) >= _ALIKE for line in lines):
            found[local] = "a line without a comment may be an edit of it"
    return found


def _count_words(text: str) -> Counter[str]:
    return Counter(space_runs(normalise_text(text)).split())


def _measure_overlap(one: Counter[str], other: Counter[str]) -> float:
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 0.0


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
        self._plan.news += self._bare
        self._miss()
        return self._plan

    def _look(self, text: Text, spot: Spot, block: object) -> None:
        if isinstance(block, Said):
            # Tell a line that was read and stays from a new one.
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
            free = [
                one
                for one in by_text.get(key, ())
                if one != sight.local and (one, sight.tier) not in taken and not self._intact(one, sight.tier)
            ]
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
        was_valid_within = mine is not None and (mine.held if base is None else base.held)
        if mine is None or mine.event or mine.head is None or head is None or not was_valid_within:
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


# Decide what it means that a line which a person wrote is gone from its page. Pure.


@dataclass(slots=True)
class GoneLines:
    """Memories whose lines are gone: those to forget, with their pages, those that wait, with pages and reasons.

    `kept` are the lines that the next state has although no page shows them.
    """

    removed: dict[str, str] = field(default_factory=dict[str, str])
    waiting: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    kept: dict[str, dict[str, Line]] = field(default_factory=dict[str, dict[str, Line]])

    def find_waiting(self) -> dict[str, str]:
        """Return the memories that wait, with the pages of their lines."""
        return {local: path for local, (path, _) in self.waiting.items()}


def sort_gone_lines(
    sides: Sides, read: Lines, fresh: Sequence[tuple[str, str]], evidence: Mapping[str, Sequence[Evidence]]
) -> GoneLines:
    """Compare the lines of the last state with those that were read now.

    `fresh` are new lines with their pages: beside one that says nearly the same, a line was edited, not removed.
    """
    found = GoneLines()
    gone: list[tuple[str, str, Line]] = []
    standing = {event for lines in read.values() for line in lines.values() for event in line.events}
    own = {*sides.state.footers} - {text.path for text in sides.texts if text.theirs}
    for path, lines in sides.lines.items():
        for name, line in () if path in own else lines.items():
            if is_closed(path, sides.closed):
                found.kept.setdefault(path, {})[name] = line
                standing.update(line.events)
            elif name not in read.get(path, {}):
                gone.append((path, name, line))
    on = {event: (path, line) for path, _, line in gone for event in line.events if event not in standing}
    known = {
        event: path
        for path, lines in sides.lines.items()
        for line in (() if path in own else lines.values())
        for event in line.events
    }
    supports = {
        local: [one.span.event_id for one in found]
        for local, found in evidence.items()
        if found and (mine := sides.ours.get(local)) is not None and mine.held
    }
    base = {
        local: Base(local, known[events[0]], "", held=True, away=events[0] in on and on[events[0]][1].away)
        for local, events in supports.items()
        if all(event in known for event in events)
    }
    targets = [local for local, events in supports.items() if all(one in on for one in events)]
    if sides.missing == "restore" or not targets:
        return found
    edited = [
        local
        for local in targets
        if find_suspicious(
            {local: sides.ours[local].text}, (), [line for page, line in fresh if page == base[local].path]
        )
    ]
    missing = [local for local in targets if local not in edited]
    sorted_ = sort_missing(replace(sides, removed=()), missing, base, {local: local for local in base})
    found.removed = {local: base[local].path for local in (*edited, *sorted_.removed)}
    found.waiting = {local: (base[local].path, why) for local, why in sorted_.waiting.items()}
    awaited = {one.span.event_id for local in found.waiting for one in evidence[local]}
    for path, name, line in gone:
        if not awaited.isdisjoint(line.events):
            found.kept.setdefault(path, {})[name] = line._replace(away=True)
    return found

"""Decide what it means that a line which a person wrote is gone from its page. Pure.

A line that was read stays in its page, so only the person can have removed it. A memory that rests on such lines alone
was taken back; it is forgotten, which `restore` reverses, because the line had no mark that would tell it from a note
that is tidied away. Many at once, and those of a page that is gone or unread, wait for a decision as entries do. On a
page of ours the memories have entries, and the line beside them is only a text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from credenda.model.claim import Evidence
from credenda.portability.files.missing_entries import sort_missing
from credenda.portability.files.state import Base, Line, Lines
from credenda.portability.files.suspicious_deletions import find_suspicious
from credenda.portability.files.types import Sides, is_closed

__all__ = ["GoneLines", "sort_gone_lines"]


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
    supports = _list_supports(sides, evidence)
    base = {
        local: Base(local, known[events[0]], "", held=True, away=events[0] in on and on[events[0]][1].away)
        for local, events in supports.items()
        if all(event in known for event in events)
    }
    targets = [local for local, events in supports.items() if all(one in on for one in events)]
    if sides.missing == "restore" or not targets:
        return found
    edited = _find_edited({local: (base[local].path, sides.ours[local].text) for local in targets}, fresh)
    missing = [local for local in targets if local not in edited]
    sorted_ = sort_missing(replace(sides, removed=()), missing, base, {local: local for local in base})
    found.removed = {local: base[local].path for local in (*edited, *sorted_.removed)}
    found.waiting = {local: (base[local].path, why) for local, why in sorted_.waiting.items()}
    awaited = {one.span.event_id for local in found.waiting for one in evidence[local]}
    for path, name, line in gone:
        if not awaited.isdisjoint(line.events):
            found.kept.setdefault(path, {})[name] = line._replace(away=True)
    return found


def _find_edited(gone: Mapping[str, tuple[str, str]], fresh: Sequence[tuple[str, str]]) -> list[str]:
    return [
        local
        for local, (path, text) in gone.items()
        if find_suspicious({local: text}, (), [line for page, line in fresh if page == path])
    ]


def _list_supports(sides: Sides, evidence: Mapping[str, Sequence[Evidence]]) -> dict[str, list[str]]:
    """Return the events that each current memory rests on."""
    return {
        local: [one.span.event_id for one in found]
        for local, found in evidence.items()
        if found and (mine := sides.ours.get(local)) is not None and mine.held
    }

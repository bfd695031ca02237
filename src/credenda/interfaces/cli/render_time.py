"""Text output over time: the history of a slot as a timeline, and the difference between two times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.clock import DAY_US, to_datetime
from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.interfaces.cli.render_beliefs import describe_replacement, describe_validity, label, name_value
from credenda.model.diff import Diff, Difference, DifferenceKind
from credenda.model.memory import Relation, Status, TypeClass
from credenda.model.query import SlotVersion
from credenda.model.statement import name_slot

__all__ = ["render_diff", "render_history"]

_WIDTH: Final = 80
_BAR: Final = 24
_GAP: Final = "  "
_WRONG: Final = frozenset({Status.INVALIDATED, Status.FORGOTTEN, Status.DELETED})
_CLASSES: Final = {TypeClass.DECISION: "decision", TypeClass.PROCEDURE: "procedure"}
_TITLES: Final = {
    DifferenceKind.CHANGED: "Changed",
    DifferenceKind.CORRECTED: "Corrected",
    DifferenceKind.MERGED: "Merged",
    DifferenceKind.ADDED: "New",
    DifferenceKind.RESTORED: "Restored",
    DifferenceKind.ENDED: "Ended",
    DifferenceKind.DELETED: "Deleted",
    DifferenceKind.CONTESTED: "Contested now",
    DifferenceKind.RESOLVED: "Resolved now",
    DifferenceKind.DOUBTED: "Challenged now",
    DifferenceKind.CONFIRMED: "Confirmed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Glyphs:
    """The characters of a bar: true, wrong or unused, contested; begin, end, and open end."""

    true: str
    wrong: str
    unsettled: str
    begin: str
    end: str
    open: str


_LINES: Final = _Glyphs(true="━", wrong="╌", unsettled="≈", begin="┣", end="┫", open="▶")
_PLAIN: Final = _Glyphs(true="=", wrong=".", unsettled="~", begin="|", end="|", open=">")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps times to columns of a bar, from the first to the last time shown, with the characters to draw."""

    first_us: int
    last_us: int
    glyphs: _Glyphs

    def column(self, moment_us: int) -> int:
        """Return the column of a time, from 0 to the bar's width less one."""
        span = max(self.last_us - self.first_us, 1)
        return max(0, min(_BAR - 1, (moment_us - self.first_us) * _BAR // span))


def render_history(screen: Screen, versions: Sequence[SlotVersion]) -> str:
    """Draw the values of a slot as bars over a common time span, oldest first; one group per slot.

    Never wider than 80 columns; without a terminal the bars are plain ASCII.
    """
    if not versions:
        return "This slot never had a value."
    page = replace(screen, width=min(screen.width or _WIDTH, _WIDTH))
    scale = _scale(screen, versions)
    groups: dict[str, list[SlotVersion]] = {}
    for one in versions:
        groups.setdefault(_group(one), []).append(one)
    named = next((name for name in groups if name), "")
    if named and "" in groups:  # a deleted value has no slot names: show it with the first named group
        groups[named] = sorted([*groups[named], *groups.pop("")], key=_find_start_us)
    blocks = ("\n".join(_draw_slot(page, name, held, scale)) for name, held in groups.items())
    return "\n\n".join(blocks)


def _group(one: SlotVersion) -> str:
    """Name the slot of a value: entity, attribute, scope and speaker."""
    if one.attribute is None and one.entity is None:
        return ""
    name = name_slot(one.entity, one.attribute, one.scope)
    notes = [_CLASSES.get(one.kind, ""), "" if one.speaker == "user" else f"speaker {one.speaker}"]
    told = ", ".join(note for note in notes if note)
    return f"{name}, {told}" if told else name


def _scale(screen: Screen, versions: Iterable[SlotVersion]) -> _Scale:
    ends = [one.valid_until_us for one in versions if one.valid_until_us is not None]
    begins = [_find_start_us(one) for one in versions]
    last = max(begins + ends) if screen.now_us is None else max(*begins, *ends, screen.now_us)
    glyphs = _PLAIN if screen.width is None else _LINES
    return _Scale(min(begins), max(last, min(begins) + DAY_US), glyphs)


def _find_start_us(one: SlotVersion) -> int:
    return one.recorded_us if one.valid_from_us is None else one.valid_from_us


def _draw_slot(screen: Screen, name: str, versions: Sequence[SlotVersion], scale: _Scale) -> Iterator[str]:
    first, last = (screen.day(to_datetime(moment_us)) for moment_us in (scale.first_us, scale.last_us))
    ruler = f"{first}{last.rjust(_BAR - len(first))}"
    yield f"{screen.dim(ruler)}{_GAP}{screen.bold(escape_controls(name) or 'memory')}"
    margin = " " * (_BAR + len(_GAP))
    for one in versions:
        bar = _draw_bar(one, scale)
        value, *rest = screen.fill(_word_value(one), margin).split("\n")
        yield f"{screen.warn(bar) if one.contested else bar}{value[_BAR:]}"
        yield from rest
        yield screen.dim(screen.fill(_describe_version(screen, one), margin))
        if one.reason:
            yield screen.dim(screen.fill(one.reason, margin))


def _draw_bar(one: SlotVersion, scale: _Scale) -> str:
    """Draw the time span of a value; wrong or unused values are dim."""
    glyphs = scale.glyphs
    start = scale.column(_find_start_us(one))
    still = one.valid_until_us is None
    stop = _BAR - 1 if one.valid_until_us is None else max(start, scale.column(one.valid_until_us - 1))
    wrong = one.relation is Relation.CORRECTED or one.status in _WRONG
    line = glyphs.wrong if wrong else glyphs.unsettled if one.contested else glyphs.true
    body = [line] * (stop - start + 1)
    body[-1] = glyphs.open if still and not wrong else glyphs.end
    if len(body) > 1:
        body[0] = glyphs.begin
    return (" " * start + "".join(body)).ljust(_BAR)


def _word_value(one: SlotVersion) -> str:
    if one.status is Status.DELETED:
        return "(deleted)"
    value = one.value or one.text
    return f"not {value}" if one.denied and one.value else value


def _describe_version(screen: Screen, one: SlotVersion) -> str:
    """Describe the time span, status and id of a value."""
    standing = "" if one.status is Status.ACTIVE else one.status.value
    if one.relation is not None:
        standing = f"{standing} ({one.relation.value})"
    contested = "contested" if one.contested else ""
    return " · ".join(note for note in (describe_validity(screen, one), standing, contested, one.memory_id) if note)


def render_diff(screen: Screen, diff: Diff) -> str:
    """Show the changes between two times, grouped by kind."""
    compared = "beliefs" if diff.axis == "known" else "facts"
    lines = [
        screen.dim(
            f"{compared}, from {_format_moment(screen, diff.since_us)} to {_format_moment(screen, diff.until_us)}"
        )
    ]
    for kind, title in _TITLES.items():
        found = [one for one in diff.differences if one.kind is kind]
        if found:
            lines += ["", screen.heading(title), *(_describe_difference(screen, one) for one in found)]
    if not diff.differences:
        lines.append("Nothing changed.")
    return "\n".join(lines)


def _format_moment(screen: Screen, moment_us: int) -> str:
    """Format a time to the second, rounded up: the end of a day shows as the beginning of the next."""
    seconds = -(-moment_us // 1_000_000)
    return screen.moment(to_datetime(seconds * 1_000_000))


def _describe_difference(screen: Screen, one: Difference) -> str:
    memory, previous = one.memory, one.previous
    ids = memory.id if previous is None else f"{memory.id}, was {previous.id}"
    if one.kind is DifferenceKind.DELETED:
        told = "(its text was deleted)"
    elif previous is not None:
        told = f"{label(memory)}: {describe_replacement(memory, [previous])}"
    else:
        told = f"{label(memory)}: {name_value(memory)}"
    again = f", confirmed {one.confirmations} times" if one.confirmations > 1 else ""
    day = screen.day(to_datetime(one.at_us))
    return "\n".join(
        [
            screen.fill(told, "  ", "    "),
            screen.dim(screen.fill(f"{day} · {ids}{again}{f' · {one.reason}' if one.reason else ''}", "    ")),
        ]
    )

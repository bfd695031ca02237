"""Text output of undo, of the statuses of a memory, and of slots that flip-flop."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from credenda.interfaces.cli.output import Screen, escape_controls, register_output
from credenda.model.change import SlotLoop
from credenda.model.query import StatusStep
from credenda.model.report import UndoneMemory, UndoReport
from credenda.model.statement import name_slot
from credenda.text.recalled_block import count_noun


@register_output(UndoReport)
def render_undo(screen: Screen, report: UndoReport) -> str:
    """Show the reverted changes, or a preview, and the later changes that block them."""
    count = len(report.undone)
    changes = count_noun(count, "change")
    if not count:
        lines = ["There was nothing to undo."]
    else:
        lines = [f"Undid {changes}." if report.ran else f"Would undo {changes}; nothing was changed."]
    rows = [(one.id, _describe_move(screen, one)) for one in report.memories]
    if rows:
        lines.append(screen.table(("ID", "EFFECT"), rows, indent="  "))
    if report.conflicts:
        lines.append(screen.warn("Later changes depend on these; --cascade undoes them as well:"))
        found = [(one.id, one.kind.value, one.memory_id or "", escape_controls(one.reason)) for one in report.conflicts]
        lines.append(screen.table(("CHANGE", "KIND", "ID", "REASON"), found, indent="  "))
    if report.lasting:
        lines.append(f"{len(report.lasting):,} cannot be undone: their text was permanently deleted.")
    return "\n".join(lines)


def _describe_move(screen: Screen, one: UndoneMemory) -> str:
    """Say what becomes of a memory, in words for the fields that people know."""
    said = [_describe_field(screen, one, name) for name in one.after]
    return ", ".join(dict.fromkeys(part for part in said if part))


def _describe_field(screen: Screen, one: UndoneMemory, name: str) -> str:
    before, after = _format_value(screen, one.before.get(name)), _format_value(screen, one.after[name])
    match name:
        case "status":
            said = f"{after} (was {before})"
        case "superseded_by":
            said = f"replaced by {after}" if one.after[name] else f"no longer replaced by {before}"
        case "valid_until":
            said = f"true until {after}" if one.after[name] else "true until further notice"
        case "contested" | "pinned":
            said = name if one.after[name] else f"no longer {name}"
        case "relation":
            said = ""  # the status and the replacement say it
        case _:
            said = f"{name.replace('_', ' ')} {after} (was {before})"
    return said


def _format_value(screen: Screen, value: object) -> str:
    if isinstance(value, datetime):
        return screen.day(value)
    return "none" if value is None else escape_controls(str(value))


def render_status_history(screen: Screen, found: Sequence[StatusStep]) -> str:
    """Show the statuses of a memory, oldest first."""
    rows = [
        (screen.moment(one.at), one.status.value, one.actor.value, escape_controls(one.reason), one.change_id)
        for one in found
    ]
    return screen.table(("WHEN", "STATUS", "BY", "REASON", "CHANGE"), rows)


def render_loops(screen: Screen, found: Sequence[SlotLoop]) -> str:
    """Show the slots that flip-flop, most replacements first."""
    if not found:
        return "No slot flip-flops."
    rows = [
        (
            f"{one.superseded_count:,}",
            name_slot(one.entity, one.attribute, one.scope),
            screen.day(one.first_seen),
            screen.day(one.last_superseded),
            one.contest_id or "",
            escape_controls(one.chain),
        )
        for one in found
    ]
    return screen.table(("REPLACED", "ABOUT", "FIRST SEEN", "LAST REPLACED", "CONTEST", "VALUES"), rows)

"""Text output of installations of the plugin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from credenda.interfaces.cli.output import Screen, escape_controls
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda.interfaces.plugin.manage import PluginReport, PluginStatus


def render_plugin(screen: Screen, report: PluginReport) -> str:
    """Show what an installation or a removal did."""
    listed = (
        ("wrote", report.written),
        ("copy of before", report.backups),
        ("removed", report.removed),
        ("kept, as you changed it", report.kept),
    )
    rows = [(name, escape_controls(path)) for name, paths in listed for path in paths]
    rows += [("then", escape_controls(report.next_step))] if report.next_step else []
    head = f"{report.done.capitalize()}: {report.host}"
    return f"{head}\n{screen.pairs(rows)}" if rows else head


def render_plugins(screen: Screen, found: Sequence[PluginStatus]) -> str:
    """Show where the plugin is installed."""
    if not found:
        return "The plugin is not installed; `credenda plugin install HOST` does."
    lines: list[str] = []
    for one in found:
        lines.append(
            f"{one.host}: {_write_state(screen, one)}, version {escape_controls(one.version)}, "
            f"{count_noun(one.files, 'file')}"
        )
        lines += [f"  then: {escape_controls(one.next_step)}"] if one.next_step else []
        lines += [f"  missing: {escape_controls(path)}" for path in one.missing]
        lines += [f"  changed by you: {escape_controls(path)}" for path in one.changed]
    return "\n".join(lines)


def _write_state(screen: Screen, one: PluginStatus) -> str:
    if one.missing:
        return screen.warn("incomplete: install it again")
    if one.hooks_ran_at is None:
        return screen.warn("no hook has run since it was installed")
    return f"ok, hooks last ran {screen.moment(datetime.fromisoformat(one.hooks_ran_at))}"

"""Text output of tests of beliefs, and of replayed contexts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda.clock import to_datetime
from credenda.interfaces.cli.output import Screen, escape_controls
from credenda.model.evaluation import BeliefTestReport, CheckedAssertion, ReplayedPrompt, ReplayReport
from credenda.model.rebuild_report import RebuildDifference

_AGAINST: Final = {
    "memory": "this memory",
    "reextracted": "the journal, read again",
    "data": "the data",
}


def render_belief_test(screen: Screen, report: BeliefTestReport) -> str:
    """Show the failed assertions with both sides, the belief diff, and the counts."""
    name = Path(report.path).name
    lines: list[str] = []
    for check in report.checks:
        if not check.passed:
            lines.append(screen.warn(f"FAILED {name}:{check.line}: {escape_controls(check.assertion)}"))
            lines += [f"  {escape_controls(line)}" for line in list_diff(check)]
    if report.differences:
        lines.append(screen.bold(f"Reading again changes {len(report.differences):,} beliefs"))
        lines += [f"  {escape_controls(line)}" for one in report.differences for line in _list_change(one)]
    lines += [screen.fill(f"note: {escape_controls(problem)}", "  ", "    ") for problem in report.problems]
    counts = f"{report.passed:,} passed, {report.failed:,} failed"
    return "\n".join([*lines, f"{counts}, against {_AGAINST[report.tested]}"])


def list_diff(check: CheckedAssertion) -> Iterator[str]:
    """Yield the lines of a difference: what was expected after a minus, what was found after a plus."""
    yield from (f"- {line}" for line in check.expected)
    yield from (f"+ {line}" for line in check.found)


def _list_change(one: RebuildDifference) -> Iterator[str]:
    """Yield a changed belief as its text before and after."""
    name = f"  [{one.id}]" if one.id else ""
    reason = f"  ({one.reason})" if one.reason else ""
    if one.before and one.before != one.after:
        yield f"- {one.before}{name}"
    if one.after:
        yield f"+ {one.after}{name if not one.before else ''}{reason}"
    if one.before == one.after:
        yield f"  {', '.join(one.fields) or one.what}{reason}"


def render_replay(screen: Screen, report: ReplayReport) -> str:
    """Show each prompt with its context, or with the difference that the memory makes."""
    lines = [line for prompt in report.prompts for line in _show_prompt(screen, prompt, report.without)]
    if report.left_out:
        lines.append(screen.dim(f"{report.left_out:,} earlier prompts; --limit shows more."))
    if report.without is not None:
        lines.append(f"{report.without} changes {report.changed:,} of {len(report.prompts):,} contexts")
    return "\n".join(lines)


def _show_prompt(screen: Screen, one: ReplayedPrompt, without: str | None) -> Iterator[str]:
    yield screen.bold(f"{one.event_id}  {screen.moment(to_datetime(one.at_us))}  {escape_controls(one.prompt)}")
    if without is None:
        yield from (f"  {escape_controls(line)}" for line in one.with_text.splitlines() or ["(empty)"])
    elif not one.changed:
        yield "  the same"
    else:
        before, after = one.with_text.splitlines(), (one.without_text or "").splitlines()
        changed = difflib.unified_diff(before, after, "with", "without", lineterm="", n=1)
        yield from (f"  {escape_controls(line)}" for line in changed)

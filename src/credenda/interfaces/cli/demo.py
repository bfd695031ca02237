"""`credenda demo`: run Credenda on the included conversation, offline, in a separate database."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_command, write_either
from credenda.interfaces.cli.output import Session, escape_controls, open_screen

_HELP = """Run Credenda on the included conversation, offline.

Stores eight months of chat message by message, and tells in five scenes what became of it: a job that changes, the
reasons, a question, a deletion, and what an agent gets. Everything shown is read from the new database. With --long
also all beliefs, replaced and refused values, searches and timings.
"""


@make_command(
    "demo",
    click.Option(["--keep", "path"], metavar="PATH", help="Create the database here. [default: a temporary file]"),
    click.Option(["--check"], is_flag=True, help="Check the result against expectations; exit with 1 if any fails."),
    click.Option(["--long", "whole"], is_flag=True, help="Show all beliefs, refusals, searches and timings."),
    help=_HELP,
    short_help="Run Credenda on the included conversation, offline.",
)
def show_demo(session: Session, *, path: str | None, check: bool, whole: bool) -> None:
    """Run the demo, and show or check what it did."""
    wanted = path or session.db
    if check and not wanted:
        folder = Path(tempfile.mkdtemp(prefix="credenda-demo-"))
        try:
            _check(session, folder / "demo.db")
        finally:
            shutil.rmtree(folder)
        return
    place = Path(wanted) if wanted else Path(tempfile.mkdtemp(prefix="credenda-demo-")) / "demo.db"
    if check:
        _check(session, place)
    else:
        script = cli.demo_run.load_script()
        run = cli.demo_run.run_demo(script, place, session.user, measured=whole or session.json)
        user = f" --user {shlex.quote(session.user)}" if session.user else ""
        program = "credenda" if shutil.which("credenda") else shlex.quote(sys.argv[0])
        command = f"{program} --db {shlex.quote(str(place))}{user}"
        write_either(session, run, cli.demo_run.write_report(open_screen(), run, script, command, whole=whole))


def _check(session: Session, path: Path) -> None:
    script = cli.demo_run.load_script()
    cli.demo_run.run_demo(script, path, session.user)
    report = cli.demo_run.check_beliefs(script, path, session.user)
    wrong = [f"{one.assertion}: found {'; '.join(one.found)}" for one in report.checks if not one.passed]
    opening = f"{report.passed} of {len(report.checks)} expectations are met."
    shown = {"ok": report.ok, "checks": len(report.checks), "mismatches": wrong}
    write_either(session, shown, "\n".join([opening, *(f"  {escape_controls(problem)}" for problem in wrong)]))
    if not report.ok:
        raise click.exceptions.Exit(1)

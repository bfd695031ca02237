"""`credenda demo`: run Credenda on the included conversation, offline, in a separate database."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_program_options, write_result
from credenda.interfaces.cli.output import Session, open_screen, write_output

_HELP = """Run Credenda on the included conversation, offline.

Stores eight months of chat message by message, and tells in five scenes what became of it: a job that changes, the
reasons, a question, a deletion, and what an agent gets. Everything shown is read from the new database.
"""


def make_demo_command() -> click.Command:
    """Make the command."""
    return click.Command(
        "demo",
        params=[
            click.Option(
                ["--keep", "path"], metavar="PATH", help="Create the database here. [default: a temporary file]"
            ),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_run_demo),
        help=_HELP,
        short_help="Run Credenda on the included conversation, offline.",
    )


def _run_demo(session: Session, *, path: str | None) -> None:
    wanted = path or session.db
    place = Path(wanted) if wanted else Path(tempfile.mkdtemp(prefix="credenda-demo-")) / "demo.db"
    script = cli.demo_run.load_script()
    run = cli.demo_run.run_demo(script, place, session.user)
    if session.json:
        write_result(session, "demo", run)
        return
    # The command with which the user can run this program
    program = "credenda" if shutil.which("credenda") else shlex.quote(sys.argv[0])
    user = f" --user {shlex.quote(session.user)}" if session.user else ""
    command = f"{program} --db {shlex.quote(str(place))}{user}"
    write_output(cli.demo_show.write_story(open_screen(), run, script, command))

"""The help of `credenda hook`, whose work the program does without this command line (`credenda.__main__`)."""

from __future__ import annotations

import click

from credenda.interfaces.cli.session import Session
from credenda.interfaces.hook.payload import HOSTS
from credenda.interfaces.hook.run import run_command

__all__ = ["make_hook_command"]


def make_hook_command() -> click.Command:
    """Make the command; it runs only where program options stand before it."""
    options: list[click.Parameter] = [
        click.Argument(["event"]),
        click.Option(["--host"], type=click.Choice(HOSTS), default=HOSTS[0], show_default=True, help="The agent."),
        click.Option(
            ["--db"], metavar="PATH", help="Database. [default: CREDENDA_DB, else a file in your data folder]"
        ),
        click.Option(["--user"], metavar="NAME", help="User. [default: CREDENDA_USER, else default]"),
        click.Option(["--only"], metavar="FOLDER", multiple=True, help="Work in this folder and below alone."),
        click.Option(["--no-background"], is_flag=True, help="Start no process that files messages."),
    ]
    return click.Command(
        "hook",
        params=options,
        callback=click.pass_obj(_run),
        help="Handle an event of a coding agent: its JSON on standard input, the answer on standard output.",
        epilog="`credenda plugin install` writes the calls. It never fails its agent: the exit code is 0.",
    )


def _run(
    session: Session,
    event: str,
    *,
    host: str,
    db: str | None,
    user: str | None,
    only: tuple[str, ...],
    no_background: bool,
) -> int:
    database, name = db or session.db, user or session.user
    words = [event, "--host", host, *(["--no-background"] if no_background else [])]
    words += ["--db", database] if database else []
    words += ["--user", name] if name else []
    return run_command([*words, *(word for one in only for word in ("--only", one))])

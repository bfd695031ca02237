"""The command line: `credenda COMMAND`. Every error becomes one line and an exit code here."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import click

from credenda import __version__
from credenda.config import is_debug_wanted, limit_blas_threads
from credenda.errors import CredendaError
from credenda.interfaces import cli as cli_modules
from credenda.interfaces.cli.commands import build, list_names, make_program_options
from credenda.interfaces.cli.output import (
    Commands,
    MissingCommand,
    Session,
    escape_controls,
    fill_streams,
    note,
    write_output,
)
from credenda.interfaces.hook.payload import HOSTS
from credenda.interfaces.hook.run import Options, run_options
from credenda.paths import make_file_error
from credenda.private import cut_tagged

_INTERNAL: Final = 1
_USAGE: Final = 2
_INTERRUPTED: Final = 130
_HELP: Final = """Memory for an agent, kept as a belief state: what it believes, since when, and on which evidence.

Results go to standard output, everything else to standard error. The options below may also follow a command.
"""
_EPILOG: Final = (
    "Exit codes: 0 done, 1 internal error or forbidden, 2 usage or invalid input, 3 not found, 4 conflict, "
    "5 unavailable, 6 limit exceeded, 7 corrupt."
)

_BUILDERS: Final[Mapping[str, str]] = {
    "demo": "demo.show_demo",
    "serve": "server_commands.serve",
    "migrate": "server_commands.migrate",
    "erase-again": "server_commands.repeat_erasures",
    "token": "server_commands.TOKENS",
    "member": "server_commands.MEMBERS",
    "login-link": "server_commands.issue_login_link",
    "password": "server_commands.set_password",
    "audit": "server_commands.AUDIT",
    "mcp": "agent_processes.serve_client",
    "worker": "agent_processes.run_worker",
    "install": "agent_processes.install_client",
    "plugin": "agent_processes.PLUGINS",
    "hook": "main.handle_hook",
    "completion": "main.print_completion",
}
"""Modules and names of the commands that are no operations; each module is loaded when its command is asked for."""


class Program(Commands):
    """The group of all commands, which are built when requested; it prints every error as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in display order."""
        del ctx
        return ["demo", *list_names(), *list(_BUILDERS)[1:-1], "bench", "completion"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Build a command; None for an unknown name."""
        del ctx
        if cmd_name in _BUILDERS:
            return attrgetter(_BUILDERS[cmd_name])(cli_modules)
        return _Benches("bench", help="Run benchmarks on this machine.") if cmd_name == "bench" else build(cmd_name)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 - click's signature
        **extra: Any,  # noqa: ANN401 - as above
    ) -> Any:  # noqa: ANN401 - as above
        """Run the program; in standalone mode exit, otherwise return the exit code."""
        given = list(sys.argv[1:] if args is None else args)

        def run() -> object:
            return click.Group.main(self, given, prog_name or "credenda", complete_var, standalone_mode=False, **extra)

        code = _run_guarded(run, as_json="--json" in given)
        if standalone_mode:
            sys.exit(code)
        return code


class _Benches(Commands):
    """The benchmarks, imported only when one is requested, so that the program's help loads quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the benchmarks."""
        return cli_modules.commands.load_benchmarks().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a benchmark."""
        return cli_modules.commands.load_benchmarks().get_command(ctx, cmd_name)


def _run_guarded(run: Callable[[], object], *, as_json: bool) -> int:
    """Run a function and return its exit code, whatever it raises."""
    # Silence logs unless CREDENDA_DEBUG is set, so that they do not mix with results; a warning is one line.
    warnings.showwarning = _show_warning
    if is_debug_wanted():
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    else:
        logging.getLogger("credenda").addHandler(logging.NullHandler())
    try:
        result = run()
    except CredendaError as error:
        return _report(error, as_json=as_json)
    except click.exceptions.Abort:
        note("interrupted")
        return _INTERRUPTED
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        if isinstance(error, MissingCommand) and context is not None and not as_json:
            note(context.get_help())
            return _USAGE
        command = context.command_path if context else "credenda"
        what = cut_tagged(error.format_message()).rstrip(".")
        message = f"{what}{' See' if what.endswith('?') else '; see'} `{command} --help`"
        _say({"code": "usage", "message": message, "retryable": False}, as_json=as_json)
        return _USAGE
    except Exception as error:  # noqa: BLE001 - where the command line ends: one line instead of a traceback
        return _report_unexpected(error, as_json=as_json)
    return result if isinstance(result, int) else 0


def _show_warning(message: Warning | str, *_: object) -> None:
    note(f"warning: {escape_controls(str(message))}")


def _report(error: CredendaError, *, as_json: bool) -> int:
    parts = {"code": error.code, "message": str(error), "what": error.what, "why": error.why, "fix": error.fix}
    _say({**parts, "retryable": error.retryable, "ids": dict(error.ids)}, as_json=as_json)
    if is_debug_wanted():
        _print_traceback()
    return error.exit_code


def _report_unexpected(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, OSError) and error.filename is not None:
        return _report(make_file_error(error.filename, error, "used"), as_json=as_json)
    what = cut_tagged(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    message = f"internal error: {what}; run it again with CREDENDA_DEBUG=1 to see where"
    _say({"code": "internal", "message": message, "retryable": False}, as_json=as_json)
    if is_debug_wanted():
        _print_traceback()
    return _INTERNAL


def _say(error: dict[str, object], *, as_json: bool) -> None:
    """Print an error as one line: text, or with --json a JSON object."""
    if as_json:
        note(cli_modules.jsonout.dump_json({"error": error}, ascii_only=True, indent=None))
    else:
        note(f"error: {escape_controls(str(error['message']))}")


def _print_traceback() -> None:
    import traceback

    traceback.print_exc()


@click.command(
    "completion",
    params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))],
    help="Print a script that completes commands and options in your shell.",
    epilog='For bash: eval "$(credenda completion bash)"',
)
def print_completion(shell: str) -> None:
    """Print a completion script."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"unknown shell {shell}")
    complete = kind(cli, {}, "credenda", "_CREDENDA_COMPLETE")
    write_output(complete.source_template % complete.source_vars())


def _start() -> None:
    """Show the help when no command was given."""
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        write_output(context.get_help())


cli: Final = Program(
    "credenda",
    params=make_program_options(),
    callback=_start,
    invoke_without_command=True,
    help=_HELP,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(__version__, "--version", prog_name="credenda", message="%(prog)s %(version)s")(cli)


def main() -> int:
    """Run `credenda` and return its exit code."""
    fill_streams()
    limit_blas_threads()
    return cli.main(standalone_mode=False)


# The help of `credenda hook`, whose work the program does without this command line (`credenda.__main__`).


@click.command(
    "hook",
    params=[
        click.Argument(["event"]),
        click.Option(["--host"], type=click.Choice(HOSTS), default=HOSTS[0], show_default=True, help="The agent."),
        click.Option(
            ["--db"], metavar="PATH", help="Database. [default: CREDENDA_DB, else a file in your data folder]"
        ),
        click.Option(["--user"], metavar="NAME", help="User. [default: CREDENDA_USER, else default]"),
        click.Option(["--only"], metavar="FOLDER", multiple=True, help="Work in this folder and below alone."),
        click.Option(["--no-background"], is_flag=True, help="Start no process that files messages."),
    ],
    help="Handle an event of a coding agent: its JSON on standard input, the answer on standard output.",
    epilog="`credenda plugin install` writes the calls. It never fails its agent: the exit code is 0.",
)
@click.pass_obj
def handle_hook(
    session: Session,
    event: str,
    *,
    host: str,
    db: str | None,
    user: str | None,
    only: tuple[str, ...],
    no_background: bool,
) -> int:
    """Run where program options stand before the command."""
    database, name = db or session.db or "", user or session.user or ""
    given = Options(event=event, host=host, database=database, user=name, only=only, background=not no_background)
    return run_options(given)

"""Commands, built from the operations table, which describes each parameter once for every interface."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit
from urllib.request import url2pathname

import click

from credenda.errors import NotFound
from credenda.interfaces import cli
from credenda.interfaces.cli.actions import run_operation
from credenda.interfaces.cli.output import Commands, Session, note, open_screen, write_output
from credenda.model.query import SearchResult
from credenda.operation import Operation, Param
from credenda.operations import OPERATIONS, TOOLSETS

_YES: Final = click.Option(["--yes"], is_flag=True, help="Do not ask; needed where nobody can be asked.")
_ONLY_HERE: Final[Mapping[str, tuple[click.Option, ...]]] = {
    "remember": (
        click.Option(
            ["--wait/--no-wait"],
            default=None,
            help="Wait until the message is processed, and show the resulting beliefs. [default: wait]",
        ),
    ),
    "context": (
        click.Option(
            ["--tokenizer"],
            metavar="FILE",
            help="Count tokens with this tokenizer.json or .tiktoken file. [default: the setting, else an estimate]",
        ),
    ),
    "contests": (
        click.Option(["--all"], is_flag=True, help="Also list resolved contests."),
        click.Option(["--audit"], is_flag=True, help="List slots that keep changing instead of contests."),
        click.Option(["--days"], type=click.INT, help="How far back the audit looks. [default: 30]"),
    ),
    "rebuild": (click.Option(["--yes"], is_flag=True, help="Apply the result of --reextract without asking."),),
    "files": (
        click.Option(["--watch"], is_flag=True, help="Keep running, and sync whenever a page or the memory changes."),
        click.Option(["--yes"], is_flag=True, help="Delete missing entries without asking, as --missing delete."),
    ),
    "restore": (
        click.Option(["--replace"], is_flag=True, help="Let a backup replace an existing database."),
        click.Option(
            ["--deletions"],
            metavar="FILE",
            help="The database that was backed up, or a later backup: deletions made there are repeated here.",
        ),
        _YES,
    ),
    "delete": (
        click.Option(["--session"], help="Instead of an ID: everything from this session."),
        click.Option(["--topic"], help="Instead of an ID: everything about this topic."),
        click.Option(["--source"], help="Instead of an ID: everything from this source, such as ingest."),
        click.Option(["--before"], metavar="TIME", help="Instead of an ID: everything from before this time."),
        click.Option(["--dry-run"], is_flag=True, default=None, help="Only say what would go."),
        _YES,
    ),
    "erase": (
        click.Option(["--force"], is_flag=True, help="Let the export take the place of a file that is there."),
        _YES,
    ),
    **dict.fromkeys(
        ("export", "compliance"),
        (click.Option(["--force"], is_flag=True, help="Take the place of a file that is there."),),
    ),
    "test": (click.Option(["--junit"], metavar="FILE", help="Also write the result as JUnit XML."),),
    "doctor": (
        click.Option(
            ["--server"], metavar="URL", help="Check a server instead; a token for it comes from CREDENDA_TOKEN."
        ),
    ),
}
"""Options that only make sense at a terminal."""
_GROUPS: Final = {"files": "sync"}
"""Operations that form a command group, with their names there."""
_OPTIONAL_HERE: Final = {"delete": "id"}
"""Arguments that conditions may replace."""
_EPILOGS: Final[Mapping[str, str]] = {
    "get": "The id of an event shows what was said, and the memories that rest on it.",
    **dict.fromkeys(("export", "compliance"), "`-` as PATH writes standard output."),
    "delete": "A short id will do: what it names is said before anything goes.",
    "restore": "The path of a backup as ID replaces the database by that backup.",
    "test": "Exits with 4 when an assertion fails, and with 2 when a line is no assertion.",
    "score": "`-` as CONTEXT reads standard input.",
    "remember": "`-` as CONTENT reads standard input.",
    "drift": "Exits with 7 when it finds an error: run it before you deploy.",
    "doctor": "Exits with 7 when something is wrong.",
    "files": "Exits with 4 while entries wait for `--missing`, or a page could not be read.",
}


class _Pair(click.ParamType):  # pyright: ignore[reportMissingTypeArgument] - generic only since click 8.4
    """A parameter type that parses one KEY=VALUE."""

    name = "pair"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:  # noqa: ANN401 - click's signature
        """Split at the first equals sign."""
        if isinstance(value, tuple):
            return value  # pyright: ignore[reportUnknownVariableType]
        key, sign, rest = str(value).partition("=")
        if not sign or not key.strip():
            self.fail(f"{value!r} is not KEY=VALUE", param, ctx)
        return key.strip(), rest


class _Document(click.ParamType):  # pyright: ignore[reportMissingTypeArgument] - generic only since click 8.4
    """A parameter type that parses a JSON document; the operation checks what it holds."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> object:  # noqa: ANN401 - click's signature
        """Parse a text once."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            self.fail(f"this is no JSON ({error})", param, ctx)


_TYPES: Final[Mapping[str, click.ParamType[Any]]] = {
    "integer": click.INT,
    "number": click.FLOAT,
    "table": _Pair(),
    "tables": _Document(),
}


def list_names() -> list[str]:
    """Return the names of the operations that the command line offers, in the table's order."""
    return [name for name, operation in OPERATIONS.items() if "cli" in operation.doors]


def build(name: str) -> click.Command | None:
    """Build the command of an operation; None for an operation without a command."""
    operation = OPERATIONS.get(name)
    if operation is None or "cli" not in operation.doors:
        return None
    params: list[click.Parameter] = [
        _make_parameter(replace(param, optional=True) if _OPTIONAL_HERE.get(name) == param.name else param)
        for param in operation.params
    ]
    # Write the help of a command, including its arguments, which click does not list.
    arguments = [(param.name.upper(), param.help) for param in operation.params if param.positional]
    widest = max((len(name) for name, _ in arguments), default=0)
    lines = [f"  {name.ljust(widest)}  {text}" for name, text in arguments]
    command = make_command(
        _GROUPS.get(name, name),
        *params,
        *_ONLY_HERE.get(name, ()),
        help="\n".join([operation.summary, *(["", "\b", *lines] if lines else [])]),
        short_help=operation.summary,
        epilog=_EPILOGS.get(name),
    )(partial(_run, operation))
    return make_group(name, command, help=operation.summary) if name in _GROUPS else command


def _run(operation: Operation, session: Session, /, **given: Any) -> None:  # noqa: ANN401 - what click parsed
    """Run a command and show its result. Omitted inputs are left out, so that the operations own all defaults."""
    said = {
        name: _convert_value(operation, name, value)
        for name, value in given.items()
        if value is not None and value != ()
    }
    outcome = run_operation(session, operation, said)
    if outcome.written:
        return
    write_result(session, outcome.shown_as or operation.name, outcome.value)
    if outcome.noted:
        note(outcome.noted)
    if outcome.exit_code:
        raise click.exceptions.Exit(outcome.exit_code)


def write_result(session: Session, name: str, value: object) -> None:
    """Write a result in the requested form. Imports only the renderer of that result, to start quickly."""
    screen = open_screen(session.zone)
    if session.json:
        write_either(session, value, "")
    elif isinstance(value, SearchResult):
        write_output("\n".join(cli.render_beliefs.show_results(screen, value)))
    else:
        write_output(cli.render.render(screen, name, value))


def _convert_value(operation: Operation, name: str, value: Any) -> Any:  # noqa: ANN401 - what click parsed
    """Turn repeated KEY=VALUE pairs into a mapping."""
    tables = {param.name for param in operation.params if param.kind == "table"}
    if name not in tables:
        return value
    if len(dict(value)) < len(value):
        raise click.BadParameter(f"the same key was given twice to --{name}")
    return dict(value)


def _make_parameter(param: Param) -> click.Parameter:
    if param.positional:
        many = -1 if param.kind == "names" else 1
        return click.Argument(
            [param.name], required=param.required, type=_choose_type(param), metavar=_choose_metavar(param), nargs=many
        )
    return _make_flag(param) if param.kind == "flag" else _make_option(param)


def _choose_metavar(param: Param) -> str:
    name = f"{param.name.upper()}{'...' if param.kind == 'names' else ''}"
    return f"[{name}]" if param.optional else name


def _choose_type(param: Param) -> click.ParamType[Any]:
    return click.Choice(param.choices) if param.choices else _TYPES.get(param.kind, click.STRING)


def _make_option(param: Param) -> click.Option:
    flag = (param.option or param.name).replace("_", "-")
    several = param.kind in {"names", "table"}
    metavar = {"table": "KEY=VALUE", "tables": "JSON", "time": "TIME"}.get(param.kind)
    return click.Option(
        [f"--{flag}", param.name],
        type=_choose_type(param),
        multiple=several,
        metavar=metavar,
        help=param.help + (" Repeatable." if several else "") + _describe_default(param),
    )


def _make_flag(param: Param) -> click.Option:
    on, _, off = (param.option or param.name).replace("_", "-").partition("/")
    names = [f"--{on}/--{off or f'no-{on}'}", param.name]
    if param.required:
        return click.Option(names, required=True, help=param.help)
    return click.Option(names, default=None, help=param.help)


def _describe_default(param: Param) -> str:
    """Describe the default of an option; the operation applies it, not click."""
    if param.default in {None, "", ()}:
        return ""
    several = isinstance(param.default, tuple)
    words = " and ".join(map(str, cast("tuple[object, ...]", param.default))) if several else str(param.default)
    return f" [default: {words}]"


def make_program_options(*, hidden: bool = False) -> list[click.Option]:
    """Make the options of the program; commands accept the same options, hidden from their help."""
    kept: dict[str, Any] = {"hidden": hidden, "expose_value": False, "callback": _keep}
    flag: dict[str, Any] = {**kept, "is_flag": True, "default": None}
    database = (
        "Database: a path, sqlite:///path or postgresql://user@host/database. "
        "[default: CREDENDA_DB, else a file in your data folder]"
    )
    user = "The user whose memory is opened. [default: CREDENDA_USER, else default]"
    return [
        click.Option(["--db"], metavar="TARGET", help=database, **kept),
        click.Option(["--user"], metavar="NAME", help=user, **kept),
        click.Option(["--json"], help="Write the result as one JSON document.", **flag),
        click.Option(["--read-only"], help="Open the database without writing to it.", **flag),
    ]


def make_command(name: str, *params: click.Parameter, **texts: Any) -> Callable[[Callable[..., object]], click.Command]:  # noqa: ANN401 - helps and epilog
    """Return what makes a function a command that also takes the program options; it gets the session first."""

    def make(callback: Callable[..., object]) -> click.Command:
        options = [*params, *make_program_options(hidden=True)]
        return click.Command(name, params=options, callback=click.pass_obj(callback), **texts)

    return make


def make_group(name: str, *commands: click.Command, **texts: Any) -> Commands:  # noqa: ANN401 - its helps
    """Make a group of commands that also takes the program options."""
    return Commands(name, commands=commands, params=make_program_options(hidden=True), **texts)


def make_toolset_option(about: str) -> click.Option:
    """Make the option that chooses the tools of an MCP server."""
    return click.Option(["--toolset"], type=click.Choice(TOOLSETS), default="default", show_default=True, help=about)


def write_either(session: Session, value: object, text: str) -> None:
    """Write a result as JSON where that is asked for, else this text."""
    is_unicode = (sys.stdout.encoding or "").casefold().replace("-", "") == "utf8"
    write_output(cli.jsonout.dump_json(value, ascii_only=not is_unicode) if session.json else text)


def _keep(context: click.Context, param: click.Parameter, value: Any) -> None:  # noqa: ANN401 - click's signature
    """Store the value of a program option, wherever it appears on the command line."""
    session = context.ensure_object(Session)
    if value is not None and param.name:
        setattr(session, param.name, value)


# The benchmarks, which run from a clone of the project and are not in the distribution.


def load_benchmarks() -> click.Group:
    """Load the benchmarks from the clone that the package lies in or was installed from; raise `NotFound` elsewhere."""
    for clone in _list_clones():
        if (clone / "benchmarks" / "cli.py").is_file():
            sys.path[:0] = [] if str(clone) in sys.path else [str(clone)]
            return importlib.import_module("benchmarks.cli").bench
    raise NotFound(
        "the benchmarks are not part of the installed package",
        why="they run from a clone of the project",
        fix="run `pip install .` in a clone, and keep the clone",
    )


def _list_clones() -> Iterator[Path]:
    yield Path(__file__).parents[4]
    about: dict[str, str] = json.loads(distribution("credenda").read_text("direct_url.json") or "{}")
    place = urlsplit(about.get("url", ""))
    if place.scheme == "file":
        yield Path(url2pathname(place.path))

"""Output streams: results go to standard output, everything else to standard error."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar, cast
from urllib.parse import unquote

import click

import credenda
from credenda.clock import SystemClock, to_datetime
from credenda.config import get_default_user, is_colour_allowed, read_user
from credenda.errors import Invalid, Unavailable
from credenda.lazy import import_on_use
from credenda.paths import make_file_error

_PIPE_CLOSED = 141
"""The exit code that a shell reports after a broken pipe (128 + SIGPIPE)."""
NOTHING_YET: Final = (
    "Nothing is stored for this user yet: `credenda remember TEXT` stores a message, `credenda import FILE` reads what "
    "you have, `--user` and `--db` open another memory."
)


def fill_streams() -> None:
    """Open the null device for each standard stream that the parent process closed.

    A new file takes the lowest free descriptor, so otherwise a database could become standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for the whole process


def write_output(text: str) -> None:
    """Write a result; end the command quietly on a broken pipe. Raises `Unavailable` when the disk is full."""
    try:
        _write(sys.stdout, text if text.endswith("\n") or not text else f"{text}\n")
    except BrokenPipeError:
        _redirect_to_null(sys.stdout)
        raise click.exceptions.Exit(_PIPE_CLOSED) from None
    except OSError as error:
        _redirect_to_null(sys.stdout)
        why = make_file_error("the result", error).why
        fix = "write it elsewhere; the command's changes are saved"
        raise Unavailable("the result cannot be written", why=why, fix=fix) from error


def note(text: str) -> None:
    """Print a note to standard error."""
    try:
        _write(sys.stderr, f"{text}\n")
    except OSError:  # standard error is closed
        _redirect_to_null(sys.stderr)


def write_progress(shown: str) -> None:
    """Write a line to standard error that the next one takes the place of."""
    sys.stderr.write(shown)
    sys.stderr.flush()


def is_interactive() -> bool:
    """Return whether a terminal is attached, so that the user can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _write(stream: TextIO, text: str) -> None:
    """Write text; escape characters that the stream's encoding lacks."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _redirect_to_null(stream: TextIO) -> None:
    """Point a broken stream to the null device, so that closing it at exit raises no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


# Text layout for people: widths, wrapping, tables and colour.


_WIDEST: Final = 100
"""Wrap at this width even on wider terminals."""
_NARROWEST: Final = 40
_ZERO_WIDTH: Final = frozenset({"Mn", "Me", "Cf"})


def escape_controls(text: str) -> str:
    """Put text on one line and escape control characters, because stored text may be hostile."""
    words = " ".join(text.split())
    return "".join(" " if _is_hidden(letter) else letter for letter in words)


def _is_hidden(letter: str) -> bool:
    category = unicodedata.category(letter)
    return category in {"Cc", "Cs"} or (category == "Cf" and letter not in "\u200c\u200d")


def count_cells(text: str) -> int:
    """Count the columns that a text takes on a terminal: wide scripts and emoji take two, combining marks none."""
    return sum(_count_cells(letter) for letter in text)


def _count_cells(letter: str) -> int:
    if unicodedata.category(letter) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Cut a text to a width, with an ellipsis when it is cut."""
    if count_cells(text) <= width:
        return text
    kept, used = "", 0
    for letter in text:
        used += _count_cells(letter)
        if used > width - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def pad(text: str, width: int) -> str:
    """Fill a text up to a width."""
    return text + " " * max(0, width - count_cells(text))


def format_wait(seconds: float) -> str:
    """Show for how long something has waited.

    >>> format_wait(0), format_wait(90.4), format_wait(90_000)
    ('none', '1 min 30 s', '25 h')
    """
    if not seconds:
        return "none"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:  # noqa: PLR2004 - minutes of an hour
        return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def format_count(count: int) -> str:
    """Write a number that is not shown where it is zero."""
    return f"{count:,}" if count else ""


def format_day(time: datetime | None) -> str:
    """Format the day of a time, in its own zone; "" for None."""
    return "" if time is None else time.date().isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The output: its width in columns (None when it is not a terminal: nothing is cut), and whether it has colour.

    Times are written in `zone`; `now_us` is where timelines end.
    """

    width: int | None = None
    colour: bool = False
    zone: tzinfo = UTC
    now_us: int | None = None

    @property
    def columns(self) -> int:
        """Return the columns to wrap at."""
        return min(self.width or _WIDEST, _WIDEST)

    def day(self, time: datetime | None) -> str:
        """Format the day of a time in the zone; "" for None."""
        return "" if time is None else format_day(self._local(time))

    def moment(self, time: datetime | None) -> str:
        """Format a time to the second, as RFC 3339 in the zone; "" for None."""
        if time is None:
            return ""
        return self._local(time).replace(microsecond=0).isoformat().replace("+00:00", "Z")

    def _local(self, time: datetime) -> datetime:
        try:
            return time.astimezone(self.zone)
        except OverflowError:  # the first or last hours of the calendar
            return time

    def bold(self, text: str) -> str:
        """Print a name or a heading bold."""
        return click.style(text, bold=True) if self.colour else text

    def dim(self, text: str) -> str:
        """Print secondary text dim."""
        return click.style(text, dim=True) if self.colour else text

    def warn(self, text: str) -> str:
        """Print a warning in colour."""
        return click.style(text, fg="yellow") if self.colour else text

    def fill(self, text: str, indent: str = "", hanging: str | None = None) -> str:
        """Wrap a text with a hanging indent."""
        rest = indent if hanging is None else hanging
        lines = wrap(
            escape_controls(text), self.columns, initial_indent=indent, subsequent_indent=rest, break_on_hyphens=False
        )
        return "\n".join(lines) or indent.rstrip()

    def item(self, text: str) -> str:
        """Wrap an item of a list below a heading."""
        return self.fill(text, "  ", "    ")

    def counts(self, found: Mapping[str, int]) -> str:
        """Lay out counts by their names in code."""
        return self.pairs((name.replace("_", " "), f"{count:,}") for name, count in found.items())

    def more(self, cursor: str | None) -> str:
        """Say how to see the next page; "" for none."""
        return self.dim(f"\nMore: --cursor {cursor}") if cursor else ""

    def pairs(self, rows: Iterable[tuple[str, str]], indent: str = "  ") -> str:
        """Lay out name and value pairs, aligned; leave out pairs with an empty value."""
        shown = [(name, text) for name, text in rows if text]
        widest = max((count_cells(name) for name, _ in shown), default=0)
        blank = indent + " " * (widest + 2)
        lines: list[str] = []
        for name, text in shown:
            body = self.fill(text, blank).removeprefix(blank)
            lines.append(f"{indent}{self.dim(pad(name, widest))}  {body}")
        return "\n".join(lines)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> str:
        """Lay out rows in columns; the last column takes the remaining width."""
        cleaned = [[escape_controls(cell) for cell in row] for row in rows]
        widths = [max(count_cells(row[at]) for row in (head, *cleaned)) for at in range(len(head))]
        lines = [self._row(head, widths, indent)]
        lines[0] = self.dim(lines[0])
        return "\n".join([*lines, *(self._row(row, widths, indent) for row in cleaned)])

    def _row(self, row: Sequence[str], widths: Sequence[int], indent: str) -> str:
        *first, last = row
        start = indent + "".join(pad(cell, width) + "  " for cell, width in zip(first, widths, strict=False))
        if self.width is None:
            return (start + last).rstrip()
        return (start + truncate(last, max(self.width - count_cells(start), 1))).rstrip()


RENDERERS: Final = dict[type | str, Callable[[Screen, Any], Iterable[str]]]()
"""The lines of each type of results, and of operations whose results are lists or have a type of several."""
R = TypeVar("R", bound=Callable[[Screen, Any], Iterable[str]])
SHOWN: Final = 20
"""The items of a list that are shown."""


def register_output(kind: type | str) -> Callable[[R], R]:
    """Make a function the text output of a type of results, or of an operation."""

    def register(render: R) -> R:
        RENDERERS[kind] = render
        return render

    return register


# Any value as text: the fields that are not empty, and lists of values as tables.


_STATES: Final = frozenset({"dry_run", "ran"})
"""Fields that a sentence says."""


def show_fields(screen: Screen, value: object, names: Sequence[str]) -> Iterator[str]:
    """Yield the fields of a value that are neither empty nor nought: a line for each, then a table for each list."""
    held: dict[str, Any] = {name: getattr(value, name) for name in names}
    lists: dict[str, Sequence[object]] = {name: cell for name, cell in held.items() if isinstance(cell, tuple)}
    tables = {name: items for name, items in lists.items() if list_fields(*items[:1])}
    cells = ((name_field(name), write_cell(screen, name, held[name])) for name in names if name not in tables)
    if shown := screen.pairs(cells):
        yield shown
    for name, items in tables.items():
        yield screen.bold(name_field(name).capitalize())
        yield list_values(screen, items[:SHOWN], list_fields(items[0]))
        yield from count_rest(len(items), "; --json names them all")


def list_values(screen: Screen, items: Sequence[object], names: Sequence[str]) -> str:
    """Lay out values as a table of their fields, without columns that are empty in all of them."""
    rows = [[write_cell(screen, name, getattr(one, name, None)) for name in names] for one in items]
    used = [at for at, _ in enumerate(names) if any(row[at] for row in rows)]
    head = [name_field(names[at]).upper() for at in used]
    return screen.table(head, [[row[at] for at in used] for row in rows])


def list_fields(value: Any = None) -> list[str]:  # noqa: ANN401 - any result
    """Return the names of the fields of a value, in their order; none for a value without fields."""
    return [one.name for one in fields(value) if one.name not in _STATES] if is_dataclass(value) else []


def name_field(name: str) -> str:
    """Write the name of a field in words, a time without its unit.

    >>> name_field("tokens_in"), name_field("created_us")
    ('tokens in', 'created')
    """
    return name.removesuffix("_us").replace("_", " ")


def write_cell(screen: Screen, name: str, value: Any) -> str:  # noqa: ANN401 - any field
    """Write the value of a field on one line; "" for an empty one and for nought."""
    if isinstance(value, int) and name.endswith("_us"):
        value = to_datetime(value)
    match value:
        case datetime():
            shown = screen.moment(value)
        case bool():
            shown = "yes" if value else ""
        case int() | float():
            shown = f"{value:,.4f}".rstrip("0").rstrip(".") if value else ""
        case Mapping():
            counts = cast("Mapping[object, object]", value).items()
            shown = ", ".join(f"{write_cell(screen, '', count)} {escape_controls(str(one))}" for one, count in counts)
        case list() | tuple():
            shown = "; ".join(write_cell(screen, "", one) for one in cast("Sequence[object]", value))
        case _:
            shown = "" if value is None else escape_controls(str(value))
    return shown


def count_rest(count: int, more: str = "", *, shown: int = SHOWN, indent: str = "") -> Iterator[str]:
    """Yield a line that counts the items of a list that are not shown, where there are any."""
    if count > shown:
        yield f"{indent}and {count - shown:,} more{more}"


def open_screen(zone: tzinfo = UTC) -> Screen:
    """Measure standard output."""
    now_us = SystemClock().now_us()
    if not sys.stdout.isatty():
        return Screen(zone=zone, now_us=now_us)
    width = shutil.get_terminal_size((_WIDEST, 24)).columns
    return Screen(width=max(width, _NARROWEST), colour=is_colour_allowed(), zone=zone, now_us=now_us)


# Groups of commands: they suggest the nearest command for a wrong name, and show their help for none.


class MissingCommand(click.UsageError):
    """A group was called without a command."""

    def __init__(self, ctx: click.Context, names: list[str]) -> None:
        super().__init__(f"a command is missing: {', '.join(names)}", ctx)


class Commands(click.Group):
    """A group that explains itself where the name of a command is missing or wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the group; raises `MissingCommand` where nothing but options is given."""
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            raise MissingCommand(ctx, self.list_commands(ctx))
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands, each with its whole first paragraph: click would cut it."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, " ".join((one.short_help or one.help or "").partition("\n\n")[0].split()))
                    for name, one in found
                    if one is not None and not one.hidden
                ]
            )

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named; raises `MissingCommand` where none was."""
        named = [*getattr(ctx, "_protected_args", ()), *ctx.args]
        if not named and not self.invoke_without_command:
            raise MissingCommand(ctx, self.list_commands(ctx))
        return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; an unknown one is a usage error that names the nearest."""
        name = str(args[0])
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            near = get_close_matches(name.casefold(), self.list_commands(ctx), n=1)
            ctx.fail(f"No such command '{name}'.{f' Did you mean `{near[0]}`?' if near else ''}")
        return super().resolve_command(ctx, args)


# One run of the command line: the program options, and how the memory is opened.


if TYPE_CHECKING:
    from credenda import Credenda, bootstrap
    from credenda.runtime import Parts
else:
    bootstrap = import_on_use("credenda.bootstrap")

_PASSWORD: Final = re.compile(r"://[^/@?]*:[^@?]*@|\bpassword=")


@dataclass(slots=True)
class Session:
    """The program options."""

    db: str | None = None
    user: str | None = None
    json: bool = False
    read_only: bool = False
    tokenizer: str | None = None
    zone: tzinfo = UTC
    """The time zone of displayed times; set from the memory when it opens."""

    @property
    def chosen_user(self) -> str | None:
        """The user of --user or of the environment; None where neither names one."""
        return self.user or read_user()

    def open(self) -> Credenda:
        """Open the memory without background workers; the command does all work itself before it ends."""
        memory = credenda.Credenda.open(
            self.db, user=self.user, workers=False, read_only=self.read_only, tokenizer=self.tokenizer
        )
        self.zone = memory.zone
        return memory

    def write_options(self) -> str:
        """Return the options that open this memory again, each after a space; no address, which may hold a password."""
        named = {"--db": "" if "://" in (self.db or "") else self.db, "--user": self.user}
        return "".join(f" {name} {shlex.quote(value)}" for name, value in named.items() if value)

    @contextmanager
    def open_parts(self) -> Generator[Parts]:
        """Open what a memory is made of, for work on many users, and release it at the end."""
        user = get_default_user() if self.user is None else self.user
        parts = bootstrap.build_parts(self.db, user=user, read_only=self.read_only, tokenizer=self.tokenizer)
        try:
            yield parts
        finally:
            parts.release()


def name_database(target: str | None) -> str:
    """Return a database as another program is told of it, in a file; raise `Invalid` for an address with a password."""
    place = bootstrap.resolve_target(target)
    if "://" not in place:
        return str(Path(place).absolute())
    if _PASSWORD.search(f"{place} {unquote(place)}"):
        raise Invalid(
            "the address of the database holds a password",
            why="it would stand in a file of the client, and in the list of processes",
            fix="put the password into ~/.pgpass, and leave it out of the address",
        )
    return place

"""The named SQL statements of a backend: the common ones and its own, which win.

A statement begins with a line `-- name: …` and its comment. A name in double braces stands for the file of that name in
the folder `fragments`, which several statements share. Reading all of them takes about a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol

_COMMON: Final = "credenda.storage.sql"
_FRAGMENT: Final = re.compile(r"\{\{([a-z_]+)\}\}")
_HEAD: Final = re.compile(r"^-- name: (\w+).*\n(?:--.*\n)*", re.MULTILINE)


class Dialect(NamedTuple):
    """A backend: its package, and what brings a common statement into its dialect."""

    package: str
    translate: Callable[[str], str]


def load_dialect(dialect: Dialect) -> dict[str, str]:
    """Load the named SQL of a backend: name → statement."""
    found: dict[str, str] = {}
    for folder in (files(_COMMON) / "common", files(dialect.package) / "sql"):
        for source in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if source.name.endswith(".sql"):
                _, *parts = _HEAD.split(expand_fragments(source.read_text("utf-8")))
                statements = (dialect.translate(text.strip()) for text in parts[1::2])
                found.update(zip(parts[::2], statements, strict=True))
    return found


def expand_fragments(source: str) -> str:
    """Put the files of the folder `fragments` in the place of their names in double braces."""
    return _FRAGMENT.sub(_read_fragment, source)


def _read_fragment(found: re.Match[str]) -> str:
    _, _, text = (files(_COMMON) / "fragments" / f"{found[1]}.sql").read_text("utf-8").partition("\n")
    return text.strip()


# How the shared code runs a named statement, and what it reads back.


class Record(Protocol):
    """A row: its cells by the name of their column, or by place."""

    def __getitem__(self, key: Any, /) -> Any:  # noqa: ANN401 - whatever the column holds
        """Return a cell."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the cells."""
        ...

    def keys(self) -> Sequence[str]:
        """Return the names of the columns."""
        ...


class Cursor(Protocol):
    """The rows of a statement that was run."""

    @property
    def rowcount(self) -> int:
        """The number of rows that a statement changed."""
        ...

    @property
    def description(self) -> Any:  # noqa: ANN401 - one entry a column, whose first cell is the name
        """The columns of the rows."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a Record, or None
        """Return the next row; None without one."""
        ...

    def fetchall(self) -> list[Any]:
        """Return the remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield the remaining rows."""
        ...


class StatementRunner(Protocol):
    """Runs a statement by its name, for one tenant."""

    def __call__(self, name: str, /, **parameters: object) -> Cursor:
        """Run the statement."""
        ...

"""The named SQL statements of a backend: the common ones and its own, which win, parsed by aiosql and cached in a file.

Loading aiosql and parsing the files takes a tenth of the time of a one-shot command. `statements.json` in the folder
`sql` of a backend caches the result together with a hash of the sources; changed sources are parsed once more. A name
in double braces stands for the file of that name in the folder `fragments`, which several statements share.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol, cast

COMPILED_FILE: Final = "statements.json"
_COMMON: Final = "credenda.storage.sql"
_FRAGMENT: Final = re.compile(r"\{\{([a-z_]+)\}\}")


class _Query(Protocol):
    sql: str


class Dialect(NamedTuple):
    """A backend: its package, and what brings a common statement into its dialect."""

    package: str
    translate: Callable[[str], str]


def load_dialect(dialect: Dialect) -> dict[str, str]:
    """Load the named SQL of a backend: name → statement."""
    sources = _read_sources(dialect)
    try:
        known: dict[str, Any] = json.loads((files(dialect.package) / "sql" / COMPILED_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        known = {}
    return known["statements"] if known.get("of") == _hash_sources(sources) else _parse_sources(dialect, sources)


def render_statements_file(dialect: Dialect) -> str:
    """Return the content of a backend's `statements.json` (scripts/compile_sql.py writes it)."""
    sources = _read_sources(dialect)
    content = {"of": _hash_sources(sources), "statements": _parse_sources(dialect, sources)}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _read_sources(dialect: Dialect) -> list[str]:
    """Return the common files and then those of the backend, with their fragments."""
    found: list[str] = []
    for folder in (files(_COMMON) / "common", files(dialect.package) / "sql"):
        sources = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda entry: entry.name)
        found += [expand_fragments(one.read_text("utf-8")) for one in sources]
    return found


def expand_fragments(source: str) -> str:
    """Put the files of the folder `fragments` in the place of their names in double braces."""
    return _FRAGMENT.sub(_read_fragment, source)


def _read_fragment(found: re.Match[str]) -> str:
    _, _, text = (files(_COMMON) / "fragments" / f"{found[1]}.sql").read_text("utf-8").partition("\n")
    return text.strip()


def _hash_sources(sources: list[str]) -> str:
    return hashlib.blake2b("\0".join(sources).encode(), digest_size=16).hexdigest()


def _parse_sources(dialect: Dialect, sources: list[str]) -> dict[str, str]:
    import aiosql

    found: dict[str, str] = {}
    for source in sources:
        queries = aiosql.from_str(source, "sqlite3", mandatory_parameters=False)  # pyright: ignore[reportUnknownMemberType] - its optional hooks are untyped
        for name in queries.available_queries:
            if not name.endswith("_cursor"):
                found[name] = dialect.translate(cast("_Query", getattr(queries, name)).sql)
    return found


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

"""The named SQL statements of a backend: the common ones and its own, which win, parsed by aiosql and cached in a file.

Loading aiosql and parsing the files takes a tenth of the time of a one-shot command. `statements.json` in the folder
`sql` of a backend caches the result together with a hash of the sources; changed sources are parsed once more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol, cast

__all__ = ["COMPILED_FILE", "Dialect", "load_dialect", "render_statements_file"]

COMPILED_FILE: Final = "statements.json"
_COMMON: Final = "credenda.storage.sql"


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
    """Return the common files and then those of the backend."""
    found: list[str] = []
    for folder in (files(_COMMON) / "common", files(dialect.package) / "sql"):
        sources = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda entry: entry.name)
        found += [one.read_text("utf-8") for one in sources]
    return found


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

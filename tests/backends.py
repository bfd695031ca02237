"""Run tests of the whole product on another backend: whatever opens a file then opens a Postgres database instead.

`CREDENDA_TEST_BACKEND=postgres` does so for every test that is selected; the suite itself runs the modules in `ON_BOTH`
on both. A file keeps its database for one test, or for the module whose fixture has made it, so that it can be opened
again, by several stores, for several users, and by processes that the test starts. What a file has when it is first
opened, such as a copied template, is moved into the database. Who looks at the rows of such a file with `sqlite3` sees
those of the database, and who reads its bytes reads the values of all rows. The file itself is there too, empty;
whoever removes it removes the database. Tests about the file itself have the marker `sqlite_file` and stay on SQLite.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, LiteralString, Self, cast
from urllib.parse import unquote, urlsplit

import psycopg
import pytest

from credenda import bootstrap
from credenda.storage.postgres.connections import Row, make_rows, register_types
from credenda.storage.store import Store
from credenda.storage.transfer import ARCHIVED, MIGRATED, ImportRow

from .postgres_server import TEMPLATE, Database, Server, get_server
from .registry import Registry, may_stand

CHOSEN: Final = os.environ.get("CREDENDA_TEST_BACKEND", "sqlite")
"""The backend of the tests that do not say on which they run."""


_FLOWS: Final = (
    *(
        "access",
        "aliases",
        "all_users",
        "archive",
        "audit_sql",
        "contests",
        "core",
        "delete_event",
        *("deleted_copies", "deleted_labels", "deleted_mentions", "deleted_versions"),
        "deletion_names",
        "deletion_reach",
        "dream",
    ),
    *(
        "erase",
        "files",
        "for_user",
        "forgetting",
        "given_statements",
        "import_memories",
        "jobs",
        "lifecycle",
        "remember",
        "time",
        "undo",
        "zero_characters",
    ),
)
_DOORS: Final = (
    *(
        "a2a_kept",
        "async_client",
        "cli_beliefs",
        "cli_import_beliefs",
        "cli_stories",
        "cli_worker",
        "compat_mem0_client",
        "doors_agree",
    ),
    *("hook_recall", "members", "server_rest", "server_tokens", "web_overview", "web_pages"),
)
ON_BOTH: Final = frozenset(
    f"{room}/test_{name}.py" for room, names in (("flows", _FLOWS), ("interfaces", _DOORS)) for name in names
)
"""Modules that the suite runs on both backends: what each promise of the product rests on."""
_PARAMETER: Final = re.compile(r"'[^']*'|::|%|\?|:(\w+)")
_CHILDREN: Final = str(Path(__file__).parent / "children")
_AS_A_FILE: Final = "-c search_path=credenda -c session_replication_role=replica"
_REWRITTEN: Final = {
    re.compile(r"^SELECT name FROM sqlite_master WHERE type = 'trigger'$"): "SELECT NULL WHERE false",
    re.compile(r"^PRAGMA ignore_check_constraints = ON$"): "SELECT NULL WHERE false",
    re.compile(r"^PRAGMA table_info\((\w+)\)$"): (
        r"SELECT attnum, attname FROM pg_attribute WHERE attrelid = '\1'::regclass AND attnum > 0 ORDER BY attnum"
    ),
    re.compile(r"\bx'([0-9a-f]*)'"): r"'\\x\1'::bytea",
    re.compile(r"^SELECT \* FROM (\w+)$"): r"SELECT * FROM \1 ORDER BY 1, 2, 3",
}
"""Questions about the schema, and rows in the order of their key."""
_TABLES: Final = """
SELECT relname FROM pg_class
WHERE relnamespace = 'credenda'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname
"""


class TableView:
    """The rows of a database, asked as `sqlite3` is asked, by a superuser who sees all tenants and fires no trigger."""

    def __init__(self, database: Database) -> None:
        """Connect."""
        address = database.url("postgres")
        self._connection = psycopg.Connection[Row].connect(
            address, autocommit=True, row_factory=make_rows, options=_AS_A_FILE
        )
        register_types(self._connection)
        self.row_factory: object = None
        self.total_changes = 0

    def execute(self, sql: str, given: Sequence[object] | Mapping[str, object] = ()) -> psycopg.Cursor[Row]:
        """Run a statement with the parameters of `sqlite3`."""
        for form, instead in _REWRITTEN.items():
            sql = form.sub(instead, sql)
        statement = _PARAMETER.sub(_rewrite_parameter, sql)
        return self._connection.execute(statement, given or None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]

    def read_all(self) -> bytes:
        """Return the values of all rows, table by table and in a stable order."""
        rows: list[bytes] = []
        for (name,) in self._connection.execute(_TABLES).fetchall():
            rows += sorted(map(_to_bytes, self._connection.execute(cast("LiteralString", f"TABLE {name}"))))
        return b"\n".join(rows)

    def commit(self) -> None:
        """Do nothing: each statement commits."""

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing, as `sqlite3` does not close either."""


def _to_bytes(row: Sequence[object]) -> bytes:
    return b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in row)


def _rewrite_parameter(found: re.Match[str]) -> str:
    if found[0] == "?":
        return "%s"
    return f"%({found[1]})s" if found[1] else found[0].replace("%", "%%")


def _move_file(source: Store, target: Store) -> None:
    """Copy what a file holds, such as a template that a module made before its tests, into a database."""
    with closing(source), closing(target):
        for user in source.users(limit=1_000):
            with source.dump(user, only=(*ARCHIVED, *MIGRATED)) as dump:
                target.load(user, dump.origin, (ImportRow(0, table, row) for table, row in dump.rows))
        for token in source.tokens.list_tokens(None):
            stored = source.tokens.find_token(token.id)
            assert stored is not None
            target.tokens.add_token(stored)
        for member in source.members.list_members(None):
            target.members.add_member(member)
        target.take_over(source.erasures())


def _to_path(name: object) -> str:
    """Return the path in the name of a SQLite database, which may be a URI."""
    text = str(name)
    return str(Path(unquote(urlsplit(text).path) if text.startswith("file:") else text).absolute())


class Databases:
    """The databases that stand for files, and the functions that open them in the place of a file."""

    def __init__(self, registry: Registry, server: Server) -> None:
        """Remember the functions that open files."""
        self._registry, self._server = registry, server
        self._open_store, self._connect, self._read_bytes = bootstrap.open_store, sqlite3.connect, Path.read_bytes

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Let this process open databases."""
        patch.setattr(bootstrap, "open_store", self._open_instead)
        patch.setattr(sqlite3, "connect", self._connect_instead)

        def read_bytes(path: Path) -> bytes:  # a bound method would get no path
            return self._read_instead(path)

        patch.setattr(Path, "read_bytes", read_bytes)

    def unpatch(self, patch: pytest.MonkeyPatch) -> None:
        """Let a test, and the processes that it starts, open files again."""
        patch.setattr(bootstrap, "open_store", self._open_store)
        patch.setattr(sqlite3, "connect", self._connect)
        patch.setattr(Path, "read_bytes", self._read_bytes)
        patch.delenv("DATABASES_OF_TEST")

    @contextmanager
    def used(self) -> Generator[None]:
        """Take back, after the block, the databases that it has made."""
        before = set(self._registry.names())
        try:
            yield
        finally:
            self._take_back(self._registry.forget(lambda path: path not in before))

    def _take_back(self, names: Iterable[str]) -> None:
        for name in names:
            self._server.take_back(Database(name, self._server))

    def _open_instead(self, target: str | Path | None, **given: Any) -> Store:  # noqa: ANN401 - as open_store has it
        place = bootstrap.resolve_target(target)
        if may_stand(place, read_only=bool(given.get("read_only"))):
            self._take_back(self._registry.forget(lambda path: not Path(path).exists()))
            key = given.get("key", b"")

            def move(path: str, address: str) -> None:
                _move_file(self._open_store(path, read_only=True, key=key), self._open_store(address, key=key))

            place = self._registry.find(place, lambda: self._server.lend().name, move)
        return self._open_store(place, **given)

    def _connect_instead(self, name: object, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as sqlite3 has it
        held = self._registry.names().get(_to_path(name))
        if held is None:
            return self._connect(name, *given, **named)  # type: ignore[arg-type]
        return TableView(Database(held, self._server))

    def _read_instead(self, path: Path) -> bytes:
        held = self._registry.names().get(str(path.absolute()))
        if held is None:
            return self._read_bytes(path)
        with closing(TableView(Database(held, self._server))) as rows:
            return rows.read_all()


@contextmanager
def open_databases(patch: pytest.MonkeyPatch) -> Generator[Databases]:
    """Let `bootstrap.open_store` open a database in the place of a file, until the block ends."""
    server = get_server()
    with tempfile.TemporaryDirectory(prefix="credenda-databases-") as folder:
        path = Path(folder) / "databases.json"
        address = Database("{name}", server).url().replace("%7B", "{").replace("%7D", "}")
        registry = Registry.create(
            path, admin=Database("postgres", server).url("postgres"), template=TEMPLATE, address=address
        )
        patch.setenv("DATABASES_OF_TEST", str(path))
        patch.setenv("PYTHONPATH", _CHILDREN, prepend=os.pathsep)
        databases = Databases(registry, server)
        databases.patch(patch)
        with databases.used():
            yield databases


def name_target(path: Path) -> str:
    """Return the target that opens a file: its path, or the address of the database that stands for it."""
    registry = os.environ.get("DATABASES_OF_TEST")
    return Registry(Path(registry)).find(str(path), lambda: get_server().lend().name) if registry else str(path)

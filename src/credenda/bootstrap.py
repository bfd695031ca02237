"""Construction of an open memory from its settings: the only module that imports every component."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from credenda import services
from credenda.clock import Clock, StoppedClock, SystemClock
from credenda.config import Settings, find_data_folder, get_default_target, get_default_user, load_settings
from credenda.errors import Invalid, Unavailable, format_install
from credenda.hook_files import is_server, name_server
from credenda.ids import IdKind, parse_id_number
from credenda.model.claim import Claim, Extractor, Turn, keep_weightiest
from credenda.paths import check_path, create_folder, warn_about_open_paths
from credenda.providers import llm as llm_modules
from credenda.providers import tagger
from credenda.providers.embed.factory import Embedder, open_embedder
from credenda.providers.tokens import Tokenizer, open_counter
from credenda.runtime import ActiveCalls, LazyIndexCache, Parts, Views
from credenda.storage import postgres, sqlite
from credenda.storage.current_trust import cut_rows, plan_cut
from credenda.storage.sqlite.store import SqliteStore
from credenda.storage.transfer import PROBE_USER, ImportRow, read_key_file
from credenda.validation import check_identity
from credenda.workers.loop import name_process
from credenda.write import extract, facts

if TYPE_CHECKING:
    from credenda.model.event import Event
    from credenda.model.report import BackupReport, RestoredReport, RestoreReport
    from credenda.model.server import MigrationReport
    from credenda.services.migrate import Progress
    from credenda.storage.store import Store

_SHARED_INDEXES: Final = LazyIndexCache()


class _LazyExtractor:
    """The default extractor, loaded on first use; a process that only searches never loads it.

    It reads a turn in the person's time zone, so that "tomorrow" and "on Friday" are days there.
    """

    def __init__(self, settings: Settings) -> None:
        """Take zone, reader and bound of the settings; raises `Unavailable` if the reader cannot run here."""
        self._zone = settings.zone
        self._most = settings.memories_per_message
        wanted = settings.reader != "none"
        problem = _find_reader_problem(settings)
        if problem:
            warnings.warn(problem, RuntimeWarning, stacklevel=2)
            wanted = False
        self._reader = tagger.TaggingReader() if wanted else None

    def warm(self) -> None:
        """Load the model now, so that no caller waits for it later."""
        if self._reader is not None:
            self._reader.read("I live in Rome.")

    def extract(self, turn: Turn) -> list[Claim]:
        """Extract the claims of a turn; none without a reader."""
        if self._reader is None:
            return []
        found = extract.moments.by_the_wall(facts.extractor.ReadingExtractor(self._reader), turn, self._zone)
        return keep_weightiest(found, self._most)


def _find_reader_problem(settings: Settings) -> str:
    """Return why the reader that is chosen by itself cannot run here, and what to do; "" if it can."""
    missing = ", ".join(tagger.list_missing()) if settings.reader == "auto" else ""
    why = f"messages are kept and found, but give no beliefs: not installed: {missing}"
    return f'{why}; {format_install()}, or set reader = "none"' if missing else ""


def build_parts(
    target: str | Path | None,
    *,
    user: str,
    clock: Clock | None = None,
    llm: object = None,
    embedder: str | Embedder | None = None,
    extractor: Extractor | None = None,
    settings: Mapping[str, object] | None = None,
    tokenizer: Tokenizer = None,
    read_only: bool = False,
) -> Parts:
    """Open what a memory is made of; raises `Invalid` for arguments that cannot be meant."""
    name = _check_user(user)
    merged = load_settings(settings)
    engine = open_embedder(merged.embedder if embedder is None else embedder, merged)
    line = None if llm is None and merged.llm in {"", "none"} else llm_modules.client.open_model(llm, merged)
    counter = open_counter(merged.tokenizer if tokenizer is None else tokenizer)
    now = _resolve_clock(clock)
    place = resolve_target(target)
    if not is_server(place):
        warn_about_open_paths(place)
    key = read_key_file(merged.tombstone_key_file)
    return Parts(
        user_id=name,
        store_name=name_server(place) if is_server(place) else str(Path(place).absolute()),
        clock=now,
        settings=merged,
        extractor=extractor or _LazyExtractor(merged),
        embedder=engine,
        llm=line,
        resident=_SHARED_INDEXES,
        counter=counter,
        reader_problem="" if extractor is not None else _find_reader_problem(merged),
        read_only=read_only,
        owner=name_process(),
        # last: nothing may fail after it
        store=open_store(place, clock=now, read_only=read_only, key=key, ledger=merged.erasure_ledger_file),
    )


def open_store(
    target: str | Path | None,
    *,
    clock: Clock | None = None,
    read_only: bool = False,
    key: bytes = b"",
    ledger: str = "",
) -> Store:
    """Open the store of a target: a SQLite file, or a Postgres database, whose driver is loaded only then.

    `ledger` is the file that lists erasures apart from a Postgres database; a file has its own beside it.

    Raises what the backend raises, and `Invalid` where the driver is not installed.
    """
    place = resolve_target(target)
    if not is_server(place):
        return SqliteStore(place, clock=clock, read_only=read_only, key=key)
    try:
        opened = postgres.store.PostgresStore
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("psycopg"):
            raise
        raise Invalid(
            "Postgres cannot be opened",
            why=f"the package {error.name} is not installed",
            fix=format_install("postgres"),
        ) from error
    return opened(place, clock=clock, read_only=read_only, key=key, ledger=ledger)


def build_user_parts(parts: Parts, user: str, *, closed: bool = False) -> Parts:
    """Make another tenant's view of the store of `parts`.

    Raises `Invalid` for a bad name, `Unavailable` when the store is, or the memory of `parts` was `closed`.
    """
    if closed:
        raise Unavailable("this memory is closed", fix="open it again")
    return parts.for_user(_check_user(user))


def run_due_duties(parts: Parts) -> None:
    """Run the duties that are due; they are loaded when this is first called."""
    services.scheduled_tasks.run_due(parts)


def _check_user(user: str) -> str:
    name = check_identity(user, "user")
    if name is None or not name.strip():
        raise Invalid("a memory needs a user", why="the name is empty", fix="give user=…, such as an account id")
    if name == PROBE_USER:
        raise Invalid(
            f"the name {PROBE_USER} is reserved", why="servers probe themselves as it", fix="use another name"
        )
    return name


def _resolve_clock(clock: Clock | None) -> Clock:
    if clock is None:
        return SystemClock()
    if not callable(getattr(clock, "now_us", None)):
        why = f"a {type(clock).__name__} has no now_us"
        raise Invalid("the given clock cannot be used", why=why, fix="give one of credenda.testing, or none")
    return clock


def restore_backup(
    backup: str | Path,
    target: str | Path | None = None,
    *,
    replace: bool = False,
    deletions: str | Path | None = None,
    clock: Clock | None = None,
) -> RestoreReport:
    """Replace a database by a verified backup, without the tenants erased since the backup was made.

    Memories deleted in the replaced database are deleted in the restored one too, if it can be read (`unread` is the
    reason if not). Restored to another path, a backup has the state of its day, unless `deletions` names the original
    database or a later backup of it: data deleted and tenants erased there are then removed. `target` is a path or
    `sqlite:///path`, None for the default file; an existing target needs `replace`. Raises `NotFound` for a missing
    file, `Invalid` for deletions of an unrelated database, `Conflict` for an existing target, `Corrupt` for a damaged
    backup, `Unavailable` while another process has the target open. After any of them nothing has changed.
    """
    given = _resolve_clock(clock)

    def again(old: Store, new: Store, user_id: str) -> int:
        return services.delete.delete_again(old, new, user_id, given.now_us())

    key = read_key_file(load_settings(None).tombstone_key_file)
    later = None if deletions is None else Path(_resolve_file(deletions))
    place = Path(_resolve_file(target))
    return sqlite.backup.restore_file(
        check_path(backup), place, given, replace=replace, deletions=later, delete_again=again, key=key
    )


def migrate_database(
    source: str | Path, target: str | Path, *, user: str | None = None, progress: Progress | None = None
) -> MigrationReport:
    """Copy the memory of one user, or of all users, from one database to another, and verify it.

    The source is only read; the target is created if it is missing. Repeat an interrupted run: it continues. Raises
    `NotFound` for a missing source or user, `Invalid` for one database given twice.
    """
    with ExitStack() as held:
        with services.migrate.name_option("--from", "check the address, and that something was stored there"):
            old = build_parts(source, user=user or get_default_user(), llm="none", read_only=True)
        held.callback(old.release)
        if user is not None:
            services.migrate.check_user(old.store, user)
        with services.migrate.name_option("--to"):
            new = build_parts(target, user=old.user_id, llm="none")
        held.callback(new.release)
        if old.store_name == new.store_name:
            raise Invalid("a database cannot be moved to itself", fix="give two databases as --from and --to")
        return services.migrate.migrate(old, new, user=user, progress=progress, besides=PROBE_USER)


def repeat_erasures(
    target: str | Path | None, ledgers: Sequence[str | Path] = (), *, deletions: str | Path | None = None
) -> RestoredReport:
    """Erase from a restored database whoever was erased since its backup was made, and repeat later deletions.

    `ledgers` are files of erasures, by default that of the setting `erasure_ledger_file`. `deletions` is the database
    that was replaced, or a later state of it, whose erasures and deletions count too. Safe to repeat. Raises `Invalid`
    without either, `NotFound` for a missing file, `Corrupt` for a damaged one; then nothing has changed.
    """
    with ExitStack() as held:
        parts = build_parts(target, user=get_default_user(), llm="none", embedder="none")
        held.callback(parts.release)
        entries = services.delete.read_ledgers(ledgers or [*filter(None, [parts.settings.erasure_ledger_file])])
        later = None
        if deletions is not None:
            later = build_parts(deletions, user=parts.user_id, llm="none", embedder="none", read_only=True)
            held.callback(later.release)
        elif not entries:
            raise Invalid("there is no ledger of erasures", why="none was given, or it is empty", fix="give --ledger")
        return services.delete.repeat_erasures(parts, entries, later=None if later is None else later.store)


def back_up_file(parts: Parts, path: Path) -> BackupReport:
    """Copy a whole database to a file; see `Data.backup`."""
    store = parts.store
    if not isinstance(store, SqliteStore):
        raise _make_no_file_error()
    return sqlite.backup.back_up(store, path)


@contextmanager
def open_copy(parts: Parts, *, before: Event | None = None, empty: bool = False) -> Generator[Parts]:
    """Open a copy of a tenant in a temporary file that is removed afterwards: to try something on it.

    With `before` it is the memory just before an event was recorded, rebuilt from the change log, and its clock stands
    at that moment. No model reads in it. An `empty` one has no rows.
    """
    with TemporaryDirectory(prefix="credenda-copy-") as folder:
        path = str(Path(folder) / "copy.db")
        clock = parts.clock if before is None else StoppedClock(before.recorded_us)
        copy = replace(
            parts.for_user(parts.user_id),
            store=SqliteStore(path, clock=clock),
            store_name=path,
            clock=clock,
            llm=None,
            read_only=False,
            active_calls=ActiveCalls(),
            resident=LazyIndexCache(),
            views=Views(),
        )
        try:
            if not empty:
                cut = None
                if before is not None:
                    with parts.store.dump(parts.user_id) as dump:
                        number = parse_id_number(before.id, IdKind.EVENT, dump.origin.tag)
                        cut = plan_cut(dump.rows, number, before.recorded_us, dump.origin.tag)
                with parts.store.dump(parts.user_id) as dump:
                    rows = dump.rows if cut is None else cut_rows(dump.rows, cut)
                    placed = (ImportRow(place, table, row) for place, (table, row) in enumerate(rows, 1))
                    copy.store.load(copy.user_id, dump.origin, placed)
                if cut is not None:
                    services.rebuild.rebuild(copy)
            yield copy
        finally:
            copy.store.close()
            parts.release()


def resolve_target(target: str | Path | None) -> str:
    """Return the SQLite path of a target, or the address of its Postgres database.

    A target is a path, `sqlite:///path`, `postgresql://user:password@host/database`, or None for the default.
    """
    text = get_default_target() if target is None else str(target)
    if is_server(text):
        return text
    if target is not None:
        check_path(target)
    scheme, separator, _ = text.partition("://")
    if not separator:
        if not text.strip():
            raise Invalid("the database has no name", fix="give a path such as memory.db")
        if Path(text).parent == (folder := find_data_folder()):
            create_folder(folder)  # as for a file that is not named
        return _check_lasting(text)
    if scheme == "sqlite":
        # Parse `sqlite:///relative.db` and `sqlite:////absolute.db`, the usual forms of database URLs.
        path = unquote(urlsplit(text).path).removeprefix("/")
        if not path:
            raise Invalid(f"{text!r} names no file", fix="write sqlite:///memory.db")
        return _check_lasting(str(check_path(path)))
    raise Invalid(
        f"{scheme!r} is not a kind of database", fix="give a path, sqlite:///path or postgresql://user@host/database"
    )


def _resolve_file(target: str | Path | None) -> str:
    """Return the SQLite path of a target; raises `Invalid` for a database that is no file."""
    place = resolve_target(target)
    if is_server(place):
        raise _make_no_file_error()
    return place


def _make_no_file_error() -> Invalid:
    return Invalid("this database is not a file", why="a database server stores it", fix="use the server's own backups")


def _check_lasting(path: str) -> str:
    """Return a path; raises `Invalid` for SQLite's name of a database without a file, and for settings of Postgres."""
    if path.startswith(("postgres:", "postgresql:")) or "dbname=" in path or "password=" in path:
        raise Invalid("this names no file", fix="write a database of Postgres as postgresql://user@host/database")
    if path == ":memory:":
        raise Invalid(
            "a memory cannot be kept in working memory alone",
            why="several connections share it, so it is a file",
            fix="give a path, in a temporary folder if it need not last; for a file of this name write ./:memory:",
        )
    return path

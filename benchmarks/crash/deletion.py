"""Deletion on every surface: a text is deleted in each way, and looked for wherever it could show or return."""

from __future__ import annotations

import gzip
import logging
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from typing import Final

from benchmarks.crash.report import AttackReport, Note
from credenda import Credenda, CredendaError
from credenda.bootstrap import restore_backup
from credenda.compat.mem0 import Memory

# Every surface on which a deleted text could show: each returns all that it shows, as one text.


USER: Final = "ana"
WORD: Final = "quetzalberries"
"""The word that only the deleted text has."""
SENTENCE: Final = f"I'm allergic to {WORD}."
_QUESTIONS: Final = (WORD, "What am I allergic to?", SENTENCE)
_HIDDEN: Final = ("superseded", "low_confidence", "archived")
_NUMBERS: Final = range(1, 9)
Surface = Callable[[Credenda, Path], object]


def name_tag(memory: Credenda) -> str:
    """Return the part that all ids of the user end with."""
    items = memory.list(status=None, limit=1).items
    return items[0].id.rpartition("-")[2] if items else "aaaaaa"


def _search(memory: Credenda, folder: Path) -> object:
    del folder
    found = [memory.search(question, limit=50, include=_HIDDEN, explain=True).hits for question in _QUESTIONS]
    return [(hit.text, hit.evidence) for hits in found for hit in hits]


def _show_near_misses(memory: Credenda, folder: Path) -> object:
    del folder
    return [hit.text for hit in memory.search(WORD, include=("misses",), min_confidence=0.0).hits]


def _search_past(memory: Credenda, folder: Path) -> object:
    del folder
    dates = ("2020-01-01", "2030-01-01")
    return [hit.text for day in dates for hit in memory.search(_QUESTIONS[1], as_of=day).hits]


def _show_context(memory: Credenda, folder: Path) -> object:
    del folder
    return [memory.context(question).text for question in _QUESTIONS]


def _list(memory: Credenda, folder: Path) -> object:
    del folder
    return memory.list(status=None, limit=50).items


def _get(memory: Credenda, folder: Path) -> object:
    shown: list[object] = []
    tag = name_tag(memory)
    for number in _NUMBERS:
        for call in (memory.get, memory.event, memory.why):
            for letter in "em":
                with suppress(CredendaError):
                    shown.append(call(f"{letter}{number}-{tag}"))
    del folder
    return shown


def _show_history(memory: Credenda, folder: Path) -> object:
    del folder
    return memory.history(entity="user", attribute="allergy")


def _list_changes(memory: Credenda, folder: Path) -> object:
    del folder
    shown: list[object] = []
    tag = name_tag(memory)
    for number in _NUMBERS:
        with suppress(CredendaError):
            shown.append(memory.changes(f"e{number}-{tag}"))
    return shown


def _diff(memory: Credenda, folder: Path) -> object:
    del folder
    return memory.diff("2020-01-01")


def _show_core(memory: Credenda, folder: Path) -> object:
    del folder
    return memory.manage.core()


def _export(memory: Credenda, folder: Path) -> object:
    memory.data.export(folder / "later.jsonl.gz")
    return gzip.decompress((folder / "later.jsonl.gz").read_bytes())


def _export_mcp(memory: Credenda, folder: Path) -> object:
    memory.data.export(folder / "later.json", format="mcp-memory")
    return (folder / "later.json").read_bytes()


def _sync_pages(memory: Credenda, folder: Path) -> object:
    memory.data.sync_files(folder / "pages")
    return read_files(folder / "pages")


def _sync_new_pages(memory: Credenda, folder: Path) -> object:
    memory.data.sync_files(folder / "other-pages")
    return read_files(folder / "other-pages")


def _read_rows(memory: Credenda, folder: Path) -> object:
    """Every cell of every table; compressed blobs are opened."""
    del memory
    shown: list[object] = []
    with closing(sqlite3.connect(folder / "memory.db")) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for name in names:
            for row in connection.execute(f'SELECT * FROM "{name}"') if not name.startswith("search_index") else ():  # noqa: S608 - names of the schema
                shown += [_unpack(cell) if isinstance(cell, bytes) else cell for cell in row]
    return shown


def _unpack(cell: bytes) -> bytes:
    """Return the bytes of a cell and of what is compressed in it."""
    for start in (place for place in range(min(len(cell), 4_096)) if cell[place : place + 1] == b"\x78"):
        with suppress(zlib.error):
            return cell + zlib.decompress(cell[start:])
    return cell


def _read_full_text(memory: Credenda, folder: Path) -> object:
    del memory
    with closing(sqlite3.connect(folder / "memory.db")) as connection:
        data = connection.execute("SELECT block FROM search_index_data").fetchall()
        return b"".join(row[0] for row in data)


def _read_raw_files(memory: Credenda, folder: Path) -> object:
    del memory
    return read_files(folder, names=("memory.db", "memory.db-wal"))


def _read_closed_file(memory: Credenda, folder: Path) -> object:
    memory.close()
    return read_files(folder, names=("memory.db", "memory.db-wal"))


def _copy_to_backup(memory: Credenda, folder: Path) -> object:
    memory.data.backup(folder / "later.db")
    return (folder / "later.db").read_bytes()


def _ask_mem0(memory: Credenda, folder: Path) -> object:
    del memory
    with Memory(folder / "memory.db", settings={"embedder": "hashed"}) as shim:
        return shim.get_all(filters={"user_id": USER}), shim.search(WORD, filters={"user_id": USER})


def _run_consolidation(memory: Credenda, folder: Path) -> object:
    return memory.manage.consolidate(force=True), _show_everything(memory, folder)


def _run_dream(memory: Credenda, folder: Path) -> object:
    return memory.manage.dream(), _show_everything(memory, folder)


def _decay(memory: Credenda, folder: Path) -> object:
    return memory.manage.decay(), memory.manage.lifecycle(), _show_everything(memory, folder)


def _undo(memory: Credenda, folder: Path) -> object:
    shown: list[object] = []
    tag = name_tag(memory)
    for number in _NUMBERS:
        with suppress(CredendaError):
            shown.append(memory.manage.undo(f"c{number}-{tag}", cascade=True))
    return shown, _show_everything(memory, folder)


def _undo_session(memory: Credenda, folder: Path) -> object:
    with suppress(CredendaError):
        memory.manage.undo_where(session="first", cascade=True)
    return _show_everything(memory, folder)


def _rebuild(memory: Credenda, folder: Path) -> object:
    return memory.data.rebuild(), _show_everything(memory, folder)


def _run_new_extraction(memory: Credenda, folder: Path) -> object:
    return memory.data.rebuild(reextract=True), _show_everything(memory, folder)


def _run_new_embedding(memory: Credenda, folder: Path) -> object:
    memory.data.reembed("hashed")
    return _show_everything(memory, folder)


def _repeat_words(memory: Credenda, folder: Path) -> object:
    memory.remember(SENTENCE, session="again")
    memory.settle()
    return _show_everything(memory, folder)


def _import(memory: Credenda, folder: Path) -> object:
    with suppress(CredendaError):
        memory.data.import_(folder / "before.jsonl")
    return _show_everything(memory, folder)


def _import_text(memory: Credenda, folder: Path) -> object:
    (folder / "note.txt").write_text(f"{SENTENCE}\n")
    with suppress(CredendaError):
        memory.data.import_(folder / "note.txt")
    memory.settle()
    return _show_everything(memory, folder)


def _restore_backup(memory: Credenda, folder: Path) -> object:
    memory.close()
    restore_backup(folder / "before.db", folder / "memory.db", replace=True)
    with Credenda.open(folder / "memory.db", user=USER, embedder="hashed", workers=False) as restored:
        return _show_everything(restored, folder)


def _run_doctor(memory: Credenda, folder: Path) -> object:
    return memory.data.doctor(repair=True), _show_everything(memory, folder)


def _log(memory: Credenda, folder: Path) -> object:
    """All records of our loggers, down to DEBUG, while the memory works."""
    stream = StringIO()
    handler, logger = logging.StreamHandler(stream), logging.getLogger("credenda")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        memory.remember(SENTENCE, session="again")
        memory.settle()
        memory.search(WORD)
        memory.data.export(folder / "logged.jsonl")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return stream.getvalue()


def _show_everything(memory: Credenda, folder: Path) -> object:
    """What calls show and rows hold after an operation."""
    return [surface(memory, folder) for surface in (_search, _list, _get, _read_rows)]


def read_files(folder: Path, names: tuple[str, ...] = ()) -> bytes:
    """Return the bytes of files, or of all below a folder, with their names."""
    files = [folder / name for name in names] if names else sorted(folder.rglob("*"))
    return b"\n".join(str(file).encode() + file.read_bytes() for file in files if file.is_file())


SURFACES: Final[Mapping[str, Surface]] = {
    "search": _search,
    "near misses": _show_near_misses,
    "search of another time": _search_past,
    "context": _show_context,
    "list": _list,
    "get, event, why": _get,
    "history": _show_history,
    "changes": _list_changes,
    "diff": _diff,
    "core": _show_core,
    "archive": _export,
    "export for the MCP memory server": _export_mcp,
    "pages written before": _sync_pages,
    "new pages": _sync_new_pages,
    "rows and snapshots": _read_rows,
    "full-text index": _read_full_text,
    "file and log": _read_raw_files,
    "file after closing": _read_closed_file,
    "backup made later": _copy_to_backup,
    "mem0 interface": _ask_mem0,
    "consolidation": _run_consolidation,
    "dream": _run_dream,
    "decay and lifecycle": _decay,
    "undo of each change": _undo,
    "undo of the session": _undo_session,
    "rebuild": _rebuild,
    "new extraction": _run_new_extraction,
    "new embedding": _run_new_embedding,
    "the same words again": _repeat_words,
    "import of an older archive": _import,
    "import of a text": _import_text,
    "restored older backup": _restore_backup,
    "doctor --repair": _run_doctor,
    "log records": _log,
}


_MEANT_TO_RETURN: Final = frozenset({"the same words again", "import of a text", "import of an older archive"})
"""After an erasure a user of the same name begins anew, and may bring the words."""


def _delete_event(memory: Credenda) -> None:
    memory.delete(f"e2-{name_tag(memory)}")


def _delete_memory(memory: Credenda) -> None:
    (held,) = memory.list(attribute="allergy").items
    memory.delete(held.id)


def _delete_session(memory: Credenda) -> None:
    memory.delete_where(session="first")


def _erase(memory: Credenda) -> None:
    memory.erase(confirm=USER)


Way = Callable[[Credenda], None]
WAYS: Final[Mapping[str, Way]] = {
    "delete of the event": _delete_event,
    "delete of the memory": _delete_memory,
    "delete of the session": _delete_session,
    "erase": _erase,
}


def _open(folder: Path) -> Credenda:
    return Credenda.open(folder / "memory.db", user=USER, embedder="hashed", workers=False)


def _prepare(folder: Path) -> None:
    """Make a memory with the text, and an archive, pages and a backup that have it."""
    folder.mkdir()
    with _open(folder) as memory:
        memory.remember("I live in Linz.", session="other")
        memory.remember(SENTENCE, session="first", idempotency_key="first")
        memory.remember("I like tea.", session="other")
        memory.settle()
        memory.search(WORD)
        memory.data.export(folder / "before.jsonl")
        memory.data.sync_files(folder / "pages")
        memory.data.backup(folder / "before.db")


def _check_surface(way: Way, surface: Surface, prepared: Path) -> list[str]:
    """Delete in a copy of the folder, and look at one surface."""
    with tempfile.TemporaryDirectory(prefix="credenda-deletion-") as parent:
        folder = Path(parent) / "copy"
        shutil.copytree(prepared, folder)
        with _open(folder) as memory:
            way(memory)
            try:
                shown = surface(memory, folder)
            except CredendaError as error:
                return [f"failed: {error}"]
            if WORD.encode() in _to_bytes(shown).lower():
                return ["the deleted word shows"]
            return []


def _to_bytes(shown: object) -> bytes:
    """Return everything that a surface shows, nested or not, as bytes."""
    if isinstance(shown, bytes):
        return shown
    if isinstance(shown, list | tuple):
        return b"\n".join(map(_to_bytes, shown))  # pyright: ignore[reportUnknownArgumentType]
    return str(shown).encode(errors="surrogateescape")


def run_deletions(
    *, note: Note, ways: Mapping[str, Way] = WAYS, surfaces: Mapping[str, Surface] = SURFACES
) -> AttackReport:
    """Look at every surface after each way of deleting."""
    report = AttackReport("surfaces of deletion", 0)
    with tempfile.TemporaryDirectory(prefix="credenda-deletion-") as parent:
        prepared = Path(parent) / "prepared"
        _prepare(prepared)
        for title, way in ways.items():
            for name, surface in surfaces.items():
                if title == "erase" and name in _MEANT_TO_RETURN:
                    continue
                report.cases += 1
                report.counts[title] += 1
                report.add(f"{title}, {name}", _check_surface(way, surface, prepared))
            note(f"{title}: {report.cases} surfaces, {len(report.violations)} violations")
    report.counts["surfaces"] = len(surfaces)
    return report.finish()

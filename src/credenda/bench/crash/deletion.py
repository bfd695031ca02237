"""Deletion on every surface: a text is deleted in each way, and looked for wherever it could show or return."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from credenda import Credenda, CredendaError
from credenda.bench.crash.report import AttackReport, Note
from credenda.bench.crash.surfaces import SENTENCE, SURFACES, USER, WORD, Surface, name_tag

__all__ = ["WAYS", "run_deletions"]

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

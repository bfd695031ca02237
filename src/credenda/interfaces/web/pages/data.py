"""Data in and out: import with a dry run, export, backup, retention rules and holds, and erasure with its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.errors import Invalid
from credenda.interfaces.dispatch import ServerFile
from credenda.interfaces.web.page import Done, Download, Page, Shown
from credenda.interfaces.web.render import format_day
from credenda.interfaces.web.view import View

_FORMATS: Final = (
    "credenda",
    "conversation",
    "chatgpt",
    "claude",
    "claude-code",
    "mcp-memory",
    "mem0",
    "obsidian",
    "markdown",
    "text",
)
_NAMES: Final = {"credenda": "credenda-export.jsonl.gz", "mcp-memory": "memory.jsonl"}


def load(view: View) -> Mapping[str, object]:
    """Load the counts of what an export would hold, and the legal holds, which stop a deletion."""
    stats = view.call("stats")
    return {
        "stats": stats,
        "formats": _FORMATS,
        "holds": [one for one in view.call("holds") if one.lifted_us is None],
        "may_back_up": view.memories.may_back_up(),
        "is_file": view.memories.is_file(),
        "imported": None,
        "receipt": None,
    }


def _import(view: View, *, is_dry: bool) -> Shown:
    if view.upload is None:
        raise Invalid("no file was sent", fix="choose a file first")
    report = view.call("import", path=view.upload, format=view.get("format") or None, dry_run=is_dry)
    return Shown(data={"imported": report})


def try_import(view: View) -> Shown:
    """Say what an import would store, and store nothing."""
    return _import(view, is_dry=True)


def import_file(view: View) -> Shown:
    """Store the content of a file; what is there already is not stored twice."""
    return _import(view, is_dry=False)


def export(view: View) -> Download:
    """Send all data of this memory, or its memories for another tool."""
    wanted = view.get("format", "credenda")
    name = _NAMES.get(wanted, _NAMES["credenda"])
    path = view.make_path(name)
    view.call("export", path=ServerFile(path), format=wanted)
    return Download(path=path, name=name)


def send_backup(view: View) -> Download:
    """Send a copy of the whole database, to those who are alone in it."""
    name = f"credenda-backup-{format_day(view.now_us, view.memory.zone)}.db"
    path = view.make_path(name)
    view.memories.back_up(path)
    return Download(path=path, name=name)


def erase(view: View) -> Shown:
    """Erase everything of this memory, and show the receipt: the only copy of it."""
    return Shown(data={"receipt": view.call("erase", confirm=view.get("confirm"))})


def hold(view: View) -> Done:
    """Forbid deletion until the hold is lifted."""
    view.call("hold", reason=view.get("reason"))
    return Done(to="/data#erase", note="saved")


def lift(view: View) -> Done:
    """Permit deletion again."""
    view.call("lift-hold", reason=view.get("reason"))
    return Done(to="/data#erase", note="saved")


PAGE = Page(
    name="data",
    path="/data",
    title="Import, export, erase",
    operation="export",
    load=load,
    actions={
        "preview": try_import,
        "import": import_file,
        "export": export,
        "backup": send_backup,
        "erase": erase,
        "hold": hold,
        "lift": lift,
    },
    with_files=frozenset({"preview", "import", "export", "backup"}),
    slow=frozenset({"erase"}),
    group="server",
)

"""Add this program to the servers of an MCP client: idempotent, with a backup, and atomic."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast, get_args

from credenda.errors import Conflict, CredendaError, Invalid, Unavailable
from credenda.interfaces.client_setup import json_edit, toml_edit
from credenda.lazy import import_on_use
from credenda.paths import Folders, create_folder, make_file_error

if TYPE_CHECKING:
    from credenda.portability import atomic_write
else:
    atomic_write = import_on_use("credenda.portability.atomic_write")  # only what writes needs it

# Locations of MCP clients' server configurations: the file, its format, and the table of servers.


ClientName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "copilot", "codex", "gemini", "qwen"]
Scope = Literal["user", "project"]
CLIENTS: Final[tuple[ClientName, ...]] = get_args(ClientName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A configuration file; `table` contains its servers, an entry begins with `head`."""

    path: Path
    table: str
    kind: Literal["json", "toml"] = "json"
    head: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The result of a change to a client's file; `backup` is the copy of a changed file."""

    done: Literal["added", "changed", "already there"]
    name: str
    path: str
    backup: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    """A client's files, for the user and for a project (None: the client has no such file)."""

    user: Callable[[Folders], Path]
    project: str | None = None
    table: str = "mcpServers"
    kind: Literal["json", "toml"] = "json"
    head: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _find_program_settings(folders: Folders) -> Path:
    """Return the folder where desktop programs keep their settings."""
    if folders.system == "darwin":
        return folders.home / "Library" / "Application Support"
    if folders.system == "win32":
        return folders.app_data or folders.home / "AppData" / "Roaming"
    return folders.config


_STDIO: Final = {"type": "stdio"}
_CLIENTS: Final[Mapping[ClientName, _Client]] = {
    "claude-code": _Client(user=lambda folders: folders.home / ".claude.json", project=".mcp.json", head=_STDIO),
    "claude-desktop": _Client(
        user=lambda folders: _find_program_settings(folders) / "Claude" / "claude_desktop_config.json"
    ),
    "cursor": _Client(user=lambda folders: folders.home / ".cursor" / "mcp.json", project=".cursor/mcp.json"),
    "vscode": _Client(
        user=lambda folders: _find_program_settings(folders) / "Code" / "User" / "mcp.json",
        project=".vscode/mcp.json",
        table="servers",
        head=_STDIO,
    ),
    "copilot": _Client(
        user=lambda folders: folders.home / ".copilot" / "mcp-config.json", head={**_STDIO, "tools": ["*"]}
    ),
    "codex": _Client(
        user=lambda folders: (folders.codex or folders.home / ".codex") / "config.toml",
        table="mcp_servers",
        kind="toml",
    ),
    "gemini": _Client(user=lambda folders: folders.home / ".gemini" / "settings.json", project=".gemini/settings.json"),
    "qwen": _Client(user=lambda folders: folders.home / ".qwen" / "settings.json", project=".qwen/settings.json"),
}


def find_place(client: str, scope: Scope, folders: Folders, here: Path) -> Place:
    """Return where a client configures its servers; `here` is the folder of the project.

    Raises `Invalid` for an unknown client, or for a project if the client has no project configuration.
    """
    found = _CLIENTS.get(cast("ClientName", client))
    if found is None:
        raise Invalid(f"{client!r} is not a known client", fix=f"choose one of {', '.join(CLIENTS)}")
    if scope == "project" and found.project is None:
        raise Invalid(
            f"{client} has no project configuration", why="it reads its own file only", fix="leave out --scope"
        )
    path = here / found.project if scope == "project" and found.project else found.user(folders)
    return Place(path=path, table=found.table, kind=found.kind, head=found.head)


_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BACKUPS: Final = 1_000
_MARK: Final = "\ufeff"


class _Editor(Protocol):
    """Edits one kind of file."""

    find_entry: Callable[[str, str, str], Mapping[str, Any] | None]
    remove_entry: Callable[[str, str, str], str]
    set_entry: Callable[[str, str, str, Mapping[str, Any]], str]
    render_entry: Callable[[str, str, Mapping[str, Any]], str]


_EDITORS: Final[Mapping[str, Any]] = {"json": json_edit, "toml": toml_edit}


def find_program() -> list[str]:
    """Return a command that starts this program from any folder: the script beside the interpreter, or the interpreter.

    With -P the interpreter imports no modules from the current folder, which may be untrusted.
    """
    if not sys.executable:
        raise Invalid("the path of this Python is unknown", fix="edit the client's file by hand; see --print")
    python = Path(sys.executable).absolute()
    script = python.with_name("credenda.exe" if sys.platform == "win32" else "credenda")
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    return [str(python), "-P", "-m", "credenda"]


def make_entry(place: Place, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the configuration entry that starts this program with these arguments."""
    command, *first = find_program()
    return {**place.head, "command": command, "args": [*first, *arguments]}


def write_lines(place: Place, name: str, entry: Mapping[str, Any]) -> str:
    """Return the lines that a user would add to the file."""
    return _choose_editor(place).render_entry(place.table, _check_name(name), entry)


def install(place: Place, name: str, entry: Mapping[str, Any]) -> Installed:
    """Add or change the entry of a name; keep everything else in the file.

    Keys that the user added to the entry stay. Raises `Invalid` for a malformed file, `Unavailable` for one that cannot
    be read or written; then nothing was changed.
    """
    path = place.path.resolve()
    editor = _choose_editor(place)
    try:
        text = read_text(path)
        held = editor.find_entry(text.removeprefix(_MARK), place.table, _check_name(name))
        merged = {**(held or {}), **entry}
        if held == merged:
            return Installed(done="already there", name=name, path=str(place.path))
        mark = _MARK if text.startswith(_MARK) else ""
        changed = mark + editor.set_entry(text.removeprefix(_MARK), place.table, name, merged)
    except Invalid as error:
        raise Invalid(f"{place.path} was not changed: {error.what}", why=error.why, fix=error.fix) from error
    backup = replace_text(path, text, changed)
    return Installed(
        done="changed" if held else "added", name=name, path=str(place.path), backup=str(backup) if backup else None
    )


def remove(text: str, place: Place, name: str, before: Mapping[str, Any] | None) -> str:
    """Return the text of a client's file without the entry of a name, or with the entry that it had `before`."""
    editor = _choose_editor(place)
    bare = text.removeprefix(_MARK)
    if before is not None:
        changed = editor.set_entry(bare, place.table, _check_name(name), before)
    else:
        changed = editor.remove_entry(bare, place.table, _check_name(name))
    return (_MARK if text.startswith(_MARK) else "") + changed


def find_installed(place: Place, name: str) -> Mapping[str, Any] | None:
    """Return the entry of a name in a client's file, or None."""
    text = read_text(place.path.resolve()).removeprefix(_MARK)
    return _choose_editor(place).find_entry(text, place.table, _check_name(name))


def _choose_editor(place: Place) -> _Editor:
    return _EDITORS[place.kind]


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        why = "clients use it as a prefix of tool names"
        raise Invalid(f"{name[:80]!r} cannot name a server", why=why, fix="use letters, digits, - and _")
    return name


def read_text(path: Path) -> str:
    """Return the text of a file, "" for a missing one. Raises `Invalid` for other text than UTF-8, `Unavailable`."""
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError as error:
        raise Invalid(
            "it is not UTF-8", why=f"byte {error.start} does not begin a character", fix="repair the file"
        ) from error
    except OSError as error:
        raise _make_unavailable(path, error) from error


def replace_text(path: Path, held: str, text: str) -> Path | None:
    """Write the file atomically with its previous permissions; return the path of the backup.

    Raises `Conflict` if the file changed since it was read, because clients write to these files too.
    """
    try:
        create_folder(path.parent)
        backup = _copy(path) if path.exists() else None
        with atomic_write.replace_file(path) as file:
            file.write(text.encode("utf-8"))
            if read_text(path) != held:
                raise Conflict(
                    f"{path} was changed meanwhile", why="its client is running", fix="close it and try again"
                )
        if backup is not None:
            shutil.copymode(backup, path)
    except CredendaError:
        raise
    except OSError as error:
        raise _make_unavailable(path, error) from error
    return backup


def _copy(path: Path) -> Path:
    """Copy a file beside itself, under the first free backup name."""
    for number in range(_BACKUPS):
        backup = path.with_name(f"{path.name}.bak{number or ''}")
        if not backup.exists():
            shutil.copy2(path, backup)
            return backup
    raise Unavailable(f"{path} has {_BACKUPS} backups", why="every backup name is taken", fix="remove some of them")


def _make_unavailable(path: Path, error: OSError) -> Unavailable:
    return make_file_error(path, error, "reached")

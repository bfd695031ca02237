"""Where each MCP client keeps its servers: file, kind of file, and the table that names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

from credenda.config import Folders
from credenda.errors import Invalid

__all__ = ["CLIENTS", "ClientName", "Installed", "Place", "Scope", "find_place"]

ClientName = Literal["claude-code", "claude-desktop", "cursor", "vscode", "codex"]
Scope = Literal["user", "project"]
CLIENTS: Final[tuple[ClientName, ...]] = get_args(ClientName)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A configuration file; `table` names the servers in it, `typed` says whether an entry names its transport."""

    path: Path
    table: str
    kind: Literal["json", "toml"] = "json"
    typed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What was done to a client's file; `backup` is the file as it was, where one was changed."""

    done: Literal["added", "changed", "already there"]
    name: str
    path: str
    backup: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Client:
    """Where a client looks, for a person and in a project (None: it has no such file)."""

    user: Callable[[Folders], Path]
    project: str | None = None
    table: str = "mcpServers"
    kind: Literal["json", "toml"] = "json"
    typed: bool = False


def _find_program_settings(folders: Folders) -> Path:
    """Return the folder in which desktop programs keep their settings."""
    if folders.system == "darwin":
        return folders.home / "Library" / "Application Support"
    if folders.system == "win32":
        return folders.app_data or folders.home / "AppData" / "Roaming"
    return folders.config


_CLIENTS: Final[Mapping[ClientName, _Client]] = {
    "claude-code": _Client(user=lambda folders: folders.home / ".claude.json", project=".mcp.json", typed=True),
    "claude-desktop": _Client(
        user=lambda folders: _find_program_settings(folders) / "Claude" / "claude_desktop_config.json"
    ),
    "cursor": _Client(user=lambda folders: folders.home / ".cursor" / "mcp.json", project=".cursor/mcp.json"),
    "vscode": _Client(
        user=lambda folders: _find_program_settings(folders) / "Code" / "User" / "mcp.json",
        project=".vscode/mcp.json",
        table="servers",
        typed=True,
    ),
    "codex": _Client(
        user=lambda folders: (folders.codex or folders.home / ".codex") / "config.toml",
        table="mcp_servers",
        kind="toml",
    ),
}


def find_place(client: str, scope: Scope, folders: Folders, here: Path) -> Place:
    """Return where a client keeps its servers; `here` is the folder of the project.

    Raises `Invalid` for an unknown client, and for a project where the client knows none.
    """
    found = _CLIENTS.get(cast("ClientName", client))
    if found is None:
        raise Invalid(f"{client!r} is not a client that is known here", fix=f"choose one of {', '.join(CLIENTS)}")
    if scope == "project" and found.project is None:
        raise Invalid(
            f"{client} has no servers of a project", why="it reads its own file only", fix="leave out --scope"
        )
    path = here / found.project if scope == "project" and found.project else found.user(folders)
    return Place(path=path, table=found.table, kind=found.kind, typed=found.typed)

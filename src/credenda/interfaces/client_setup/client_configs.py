"""Locations of MCP clients' server configurations: the file, its format, and the table of servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from credenda.errors import Invalid
from credenda.paths import Folders

__all__ = ["CLIENTS", "ClientName", "Installed", "Place", "Scope", "find_place"]

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

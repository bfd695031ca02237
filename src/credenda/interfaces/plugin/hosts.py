"""The files that each host of the plugin reads: whole files that are ours, and entries in files of the user."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from credenda.errors import Invalid
from credenda.interfaces.client_setup.client_configs import Place, find_place
from credenda.interfaces.plugin.contents import NAME, Commands, build_folder, build_hooks, read_skills
from credenda.paths import Folders

__all__ = ["HOSTS", "HookFile", "Plan", "plan_host"]

HOSTS: Final = ("claude-code", "codex", "cursor", "vscode", "folder")
_ALIASES: Final[Mapping[str, str]] = {"claude": "claude-code", "copilot": "vscode", "agent-plugins": "folder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile:
    """A file of the user in which hooks are listed by event, and those to add."""

    path: Path
    hooks: Mapping[str, Sequence[Mapping[str, Any]]]
    head: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further members of a new file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The files of an installation: `files` are ours alone, with their texts; the others are shared with the user."""

    host: str
    files: Mapping[Path, str]
    hook_file: HookFile | None = None
    server: tuple[Place, Mapping[str, Any]] | None = None
    after: str = ""
    """What the user still has to do."""


def plan_host(host: str, commands: Commands, folders: Folders, *, folder: Path) -> Plan:
    """Return what to write for a host; `folder` is where the open plugin folder goes. Raises `Invalid` for no host."""
    name = _ALIASES.get(host, host)
    if name not in HOSTS:
        raise Invalid(f"{host!r} is not a host of the plugin", fix=f"choose one of {', '.join(HOSTS)}")
    if name == "claude-code":
        place = (folders.claude or folders.home / ".claude") / "skills" / NAME
        return Plan(
            host=name, files=_put(place, build_folder(commands)), after="start Claude Code again, or /reload-plugins"
        )
    if name == "folder":
        return Plan(
            host=name,
            files=_put(folder, build_folder(commands)),
            after=f"name {folder} to a client of Agent Plugins 1.0",
        )
    place = find_place(name, "user", folders, Path())
    server = (place, {"type": "stdio", **commands.make_server()} if place.typed else commands.make_server())
    hooks = build_hooks(commands, name)
    skills = _list_skills(name, folders)
    if name == "vscode":
        own = folders.home / ".copilot" / "hooks" / f"{NAME}.json"  # which Copilot CLI reads as well
        return Plan(
            host=name,
            files={own: json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n", **skills},
            server=server,
            after="run “Developer: Reload Window”, and start the server under “MCP: List Servers”",
        )
    if name == "cursor":
        file = HookFile(path=folders.home / ".cursor" / "hooks.json", hooks=hooks, head={"version": 1})
        return Plan(host=name, files=skills, hook_file=file, server=server, after="start Cursor again")
    file = HookFile(path=(folders.codex or folders.home / ".codex") / "hooks.json", hooks=hooks)
    after = "start Codex again and trust the hooks under /hooks: Codex runs none before"
    return Plan(host=name, files=skills, hook_file=file, server=server, after=after)


def _list_skills(host: str, folders: Folders) -> dict[Path, str]:
    """Return the skills at the place that the host reads for all projects."""
    roots = {"codex": ".agents", "cursor": ".cursor", "vscode": ".copilot"}
    root = folders.home / roots[host] / "skills"
    found: dict[Path, str] = {}
    for name, text in read_skills().items():
        ours = f"{NAME}-{name}"
        found[root / ours / "SKILL.md"] = text.replace(f"name: {name}\n", f"name: {ours}\n", 1)
    return found


def _put(folder: Path, texts: Mapping[str, str]) -> dict[Path, str]:
    return {folder / path: text for path, text in texts.items()}

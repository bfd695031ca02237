"""The files of the plugin: one folder that Claude Code and clients of Agent Plugins 1.0 read.

Commands name the interpreter, the database and the user that hold at installation. So nothing in a repository can
redirect them: no environment variable and no file of a project is read.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from credenda import __version__
from credenda.errors import Invalid
from credenda.hook_files import find_mark, find_places
from credenda.lazy import import_on_use
from credenda.paths import Folders

if TYPE_CHECKING:
    from credenda.interfaces.client_setup import install
else:
    install = import_on_use("credenda.interfaces.client_setup.install")  # `--help` needs the names of hosts alone

NAME: Final = "credenda"
SKILLS: Final = ("remember", "recall", "why", "forget", "review")
_DESCRIPTION: Final = (
    "Long-term memory that is right, yours and the same in every agent: recalled with each prompt, with its date and "
    "evidence, on this machine."
)
_AUTHOR: Final = {"name": "Credenda contributors"}
_KEYWORDS: Final = ["memory", "recall", "mcp", "local"]
_HOOK_SECONDS: Final = 10
"""Time that a host gives a hook, which ends after 5 seconds by itself; on a busy machine it starts slowly."""
_IN_MILLISECONDS: Final = frozenset({"gemini", "qwen"})
"""Hosts that take the time of a hook in milliseconds."""
EVENTS: Final[Mapping[str, Sequence[str]]] = {
    "claude-code": (
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PostCompact",
        "SessionEnd",
    ),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PostCompact"),
    "cursor": ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "subagentStop", "sessionEnd"),
    "vscode": (
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "SessionEnd",
    ),
    "gemini": ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"),
    "qwen": (
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PostCompact",
        "SessionEnd",
    ),
}
"""The events of each host in which a hook runs."""
_README: Final = """\
# Credenda

Long-term memory for coding agents, on this machine. The hooks of this plugin recall what the user said before, when a
session begins and with each prompt, and keep the words of the conversation. The tools search, explain, correct and
delete. No language model and no network is needed.

Written by `credenda plugin install`; `credenda plugin remove` takes it away, and `credenda plugin status` checks it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """How this program is started: `program` runs it, with a database and a user; `hook` are options of hooks."""

    program: Sequence[str]
    database: str
    user: str
    hook: Sequence[str] = ()
    windows: bool = False

    @property
    def options(self) -> Sequence[str]:
        """Return the options that fix database and user: a host may start the program with any environment."""
        return ("--db", self.database, "--user", self.user)

    def write_hook(self, event: str, host: str) -> str:
        """Return the command line of a hook, quoted for the shell."""
        words = [*self.program, "hook", event, *self.list_hook_options(host)]
        if not self.windows:
            return shlex.join(words)
        line = subprocess.list2cmdline(words)
        return f"& {line}" if host == "cursor" and line.startswith('"') else line  # Cursor asks PowerShell

    def list_hook_options(self, host: str) -> Sequence[str]:
        """Return the options of a hook."""
        return ("--host", host, *self.options, *self.hook)

    def make_server(self) -> dict[str, Any]:
        """Return the entry of the server of tools, for the project in which it is started."""
        command, *first = self.program
        return {"command": command, "args": [*first, *self.options, "mcp", "--here", "--toolset", "plugin"]}

    def find_mark(self, host: str) -> str:
        """Return the path of the mark that the hooks of a host set."""
        name = "claude-code" if host == "folder" else host  # the folder has the hooks of that host
        return find_mark(find_places(self.database, self.user), name)


def build_hooks(commands: Commands, host: str) -> dict[str, Any]:
    """Return the hooks of a host by event, in its own form."""
    return {event: [_make_group(commands, event, host)] for event in EVENTS[host]}


def _make_group(commands: Commands, event: str, host: str) -> dict[str, Any]:
    line = commands.write_hook(event, host)
    if host == "cursor":
        return {"command": line, "timeout": _HOOK_SECONDS}
    seconds = _HOOK_SECONDS * 1_000 if host in _IN_MILLISECONDS else _HOOK_SECONDS
    hook = {"type": "command", "command": line, "timeout": seconds}
    return hook if host == "vscode" else {"hooks": [hook]}


def build_folder(commands: Commands) -> dict[str, str]:
    """Return the files of the plugin by their path in its folder."""
    about: dict[str, Any] = {
        "name": NAME,
        "version": __version__,
        "description": _DESCRIPTION,
        "author": _AUTHOR,
        "license": "MIT",
        "keywords": _KEYWORDS,
    }
    schemas = "https://agent-plugins.org/schemas/1.0.0"
    server = commands.make_server()
    return {
        "plugin.json": _write({"$schema": f"{schemas}/plugin.schema.json", **about}),
        "mcp.json": _write(
            {"$schema": f"{schemas}/mcp.schema.json", "mcpServers": {NAME: {"type": "stdio", **server}}}
        ),
        ".claude-plugin/plugin.json": _write({**about, "displayName": "Credenda"}),
        ".mcp.json": _write({"mcpServers": {NAME: server}}),
        "hooks/hooks.json": _write({"description": _DESCRIPTION, "hooks": build_hooks(commands, "claude-code")}),
        "README.md": _README,
        **{f"skills/{name}/SKILL.md": text for name, text in read_skills().items()},
    }


def read_skills() -> dict[str, str]:
    """Return the texts of the skills by name."""
    folder = files("credenda") / "interfaces" / "plugin" / "skills"
    return {name: (folder / f"{name}.md").read_text("utf-8") for name in SKILLS}


def _write(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# The files that each host of the plugin reads: whole files that are ours, and entries in files of the user.


HOSTS: Final = ("claude-code", "codex", "cursor", "vscode", "gemini", "qwen", "opencode", "folder")
_RECORD: Final = f"{NAME}-plugin.json"
"""The name of the record of an installation."""
_ALIASES: Final[Mapping[str, str]] = {
    "claude": "claude-code",
    "copilot": "vscode",
    "gemini-cli": "gemini",
    "qwen-code": "qwen",
    "agent-plugins": "folder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFile:
    """A file of the user in which hooks are listed by event, and those to add."""

    path: Path
    hooks: Mapping[str, Sequence[Mapping[str, Any]]]
    head: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further members of a new file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A key at the top of a TOML file of the user, unless it has it; `note` is the comment that marks it as ours."""

    path: Path
    key: str
    value: object
    note: str


Server: TypeAlias = "tuple[install.Place, Mapping[str, Any]]"
"""A file of the user that lists servers of tools, and our entry in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The files of an installation: `files` are ours alone, with their texts; the others are shared with the user.

    `record` is where the record of them goes, in the folder of the host.
    """

    host: str
    files: Mapping[Path, str]
    record: Path
    hook_file: HookFile | None = None
    servers: tuple[Server, ...] = ()
    setting: Setting | None = None
    after: str
    """What the user still has to do."""
    mark: str
    """The path of the mark that the hooks set at each call."""


def plan_host(host: str, commands: Commands, folders: Folders, *, folder: Path) -> Plan:
    """Return what to write for a host; `folder` is where the open plugin folder goes. Raises `Invalid` for no host."""
    name = _ALIASES.get(host, host)
    if name not in HOSTS:
        raise Invalid(f"{host!r} is not a host of the plugin", fix=f"choose one of {', '.join(HOSTS)}")
    mark = commands.find_mark(name)
    own = _list_own_files(name, commands, folders, folder)
    if own is not None:
        top, found, after = own
        return Plan(host=name, files=found, after=after, mark=mark, record=top / _RECORD)
    place = install.find_place(name, "user", folders, Path())
    servers = (_plan_server(place, commands),)
    record = place.path.with_name(_RECORD)
    hooks = build_hooks(commands, name)
    skills = _list_skills(name, folders)
    if name in {"gemini", "qwen"}:
        file = HookFile(path=place.path, hooks=hooks)
        after = f"start {'Gemini CLI' if name == 'gemini' else 'Qwen Code'} again"
        return Plan(host=name, files=skills, hook_file=file, servers=servers, after=after, mark=mark, record=record)
    if name == "vscode":
        own = folders.home / ".copilot" / "hooks" / f"{NAME}.json"  # which Copilot CLI reads as well
        cli = _plan_server(install.find_place("copilot", "user", folders, Path()), commands)
        return Plan(
            host=name,
            files={own: json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n", **skills},
            servers=(*servers, cli),
            record=cli[0].path.with_name(_RECORD),
            after="start Copilot CLI again, or in VS Code run “Developer: Reload Window”, and start the server under"
            " “MCP: List Servers”",
            mark=mark,
        )
    if name == "cursor":
        file = HookFile(path=folders.home / ".cursor" / "hooks.json", hooks=hooks, head={"version": 1})
        after = "start Cursor again"
        return Plan(host=name, files=skills, hook_file=file, servers=servers, after=after, mark=mark, record=record)
    file = HookFile(path=(folders.codex or folders.home / ".codex") / "hooks.json", hooks=hooks)
    after = "start Codex again and trust the hooks under /hooks: Codex runs none before"
    waits = Setting(
        path=place.path,
        key="mcp_optional_startup_grace_ms",
        value=0,
        note="credenda: the first request waits until the servers of tools have started",
    )
    return Plan(
        host=name,
        files=skills,
        hook_file=file,
        servers=servers,
        setting=waits,
        after=after,
        mark=mark,
        record=record,
    )


def _plan_server(place: install.Place, commands: Commands) -> Server:
    return place, {**place.head, **commands.make_server()}


def _list_own_files(
    name: str, commands: Commands, folders: Folders, folder: Path
) -> tuple[Path, dict[Path, str], str] | None:
    """Return the folder and files of a host that reads nothing but files of ours, and what the user has to do then."""
    match name:
        case "claude-code":
            place = (folders.claude or folders.home / ".claude") / "skills" / NAME
            return place, _put(place, build_folder(commands)), "start Claude Code again, or /reload-plugins"
        case "folder":
            return folder, _put(folder, build_folder(commands)), f"name {folder} to a client of Agent Plugins 1.0"
        case "opencode":
            place = folders.config / "opencode"
            texts = {place / "plugins" / f"{NAME}.js": _write_opencode(commands), **_list_skills(name, folders)}
            return place, texts, "start opencode again"
        case _:
            return None


def _write_opencode(commands: Commands) -> str:
    """Return the plugin of opencode, which has no hooks that are commands."""
    server = commands.make_server()
    words = {
        "PROGRAM": commands.program,
        "OPTIONS": commands.list_hook_options("opencode"),
        "SERVER": [server["command"], *server["args"]],
    }
    text = (files("credenda") / "interfaces" / "plugin" / "opencode.js").read_text("utf-8")
    for name, value in words.items():
        text = text.replace(f"const {name} = []", f"const {name} = {json.dumps(list(value))}", 1)
    return text


def _list_skills(host: str, folders: Folders) -> dict[Path, str]:
    """Return the skills at the place that the host reads for all projects."""
    roots = {"codex": ".agents", "cursor": ".cursor", "vscode": ".copilot", "gemini": ".gemini", "qwen": ".qwen"}
    root = (folders.config / host if host == "opencode" else folders.home / roots[host]) / "skills"
    found: dict[Path, str] = {}
    for name, text in read_skills().items():
        ours = f"{NAME}-{name}"
        found[root / ours / "SKILL.md"] = text.replace(f"name: {name}\n", f"name: {ours}\n", 1)
    return found


def _put(folder: Path, texts: Mapping[str, str]) -> dict[Path, str]:
    return {folder / path: text for path, text in texts.items()}


# Add our hooks to a file of the user, and take them away again.


_OURS: Final = ("credenda", " hook ")
"""What the command of a hook of ours holds."""


def add_hooks(text: str, wanted: HookFile) -> str:
    """Return the text of a file with our hooks in place of earlier ones of ours; those of others stay, in their order.

    Raises `Invalid` for a file that is not JSON or has another structure.
    """
    table = _parse(text) if text.strip() else dict(wanted.head)
    hooks = _get_hooks(table)
    before = json.dumps(table)
    for event in [*hooks, *wanted.hooks]:
        hooks[event] = [*_list_others(hooks.get(event, [])), *wanted.hooks.get(event, ())]
    table["hooks"] = {event: groups for event, groups in hooks.items() if groups}
    return text if json.dumps(table) == before and text.strip() else _write(table)


def remove_hooks(text: str, head: Mapping[str, Any] | None) -> str:
    """Return the text of a file without our hooks; "" if nothing but the `head` of a file that we made is left."""
    if head is not None and not text.strip():
        return ""
    table = _parse(text)
    hooks = _get_hooks(table)
    kept = {event: others for event, groups in hooks.items() if (others := _list_others(groups))}
    if kept == hooks:
        return text
    table["hooks"] = kept
    if not kept and head is None and len(table) > 1 and "version" not in table:
        del table["hooks"]  # one of many settings
    return "" if head is not None and not kept and table == {**head, "hooks": {}} else _write(table)


def _parse(text: str) -> dict[str, Any]:
    try:
        told: object = json.loads(text)
    except ValueError as error:
        raise Invalid("it is not JSON", why=str(error), fix="repair the file; nothing was changed") from error
    if not isinstance(told, dict):
        raise Invalid("it contains no table", fix="repair the file; nothing was changed")
    return cast("dict[str, Any]", told)


def _get_hooks(table: Mapping[str, Any]) -> dict[str, list[Any]]:
    hooks = table.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in cast("dict[str, Any]", hooks).values()):
        raise Invalid("hooks is not a table of lists in it", fix="repair the file; nothing was changed")
    return cast("dict[str, list[Any]]", dict(cast("dict[str, Any]", hooks)))


def _list_others(groups: list[Any]) -> list[Any]:
    """Return groups without the commands that are ours; a group of ours alone goes."""
    kept: list[Any] = []
    for group in groups:
        if not isinstance(group, dict):
            kept.append(group)
            continue
        told = cast("dict[str, Any]", group)
        inner = told.get("hooks")
        if isinstance(inner, list):
            others = [one for one in cast("list[Any]", inner) if not _is_ours(one)]
            if others or not inner:
                kept.append(told if len(others) == len(cast("list[Any]", inner)) else {**told, "hooks": others})
        elif not _is_ours(told):
            kept.append(told)
    return kept


def _is_ours(hook: object) -> bool:
    command = cast("dict[str, Any]", hook).get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and all(word in command for word in _OURS)

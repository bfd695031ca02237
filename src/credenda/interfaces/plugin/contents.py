"""The files of the plugin: one folder that Claude Code and clients of Agent Plugins 1.0 read.

Commands name the interpreter, the database and the user that hold at installation. So nothing in a repository can
redirect them: no environment variable and no file of a project is read.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from credenda import __version__

__all__ = ["EVENTS", "NAME", "SKILLS", "Commands", "build_folder", "build_hooks", "read_skills"]

NAME: Final = "credenda"
SKILLS: Final = ("remember", "recall", "why", "forget", "review")
_DESCRIPTION: Final = (
    "Long-term memory that is right, yours and the same in every agent: recalled with each prompt, with its date and "
    "evidence, on this machine."
)
_AUTHOR: Final = {"name": "Credenda contributors"}
_KEYWORDS: Final = ["memory", "recall", "mcp", "local"]
_HOOK_SECONDS: Final = 5
"""Time that a host gives a hook, which ends after 0.3 seconds by itself."""
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
    "vscode": ("SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"),
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
    """How this program is started: `program` runs it, `options` pin database and user, `hook` are options of hooks."""

    program: Sequence[str]
    options: Sequence[str]
    hook: Sequence[str] = ()
    windows: bool = False

    def write_hook(self, event: str, host: str) -> str:
        """Return the command line of a hook, quoted for the shell."""
        words = [*self.program, "hook", event, "--host", host, *self.options, *self.hook]
        if not self.windows:
            return shlex.join(words)
        line = subprocess.list2cmdline(words)
        return f"& {line}" if host == "cursor" and line.startswith('"') else line  # Cursor asks PowerShell

    def make_server(self) -> dict[str, Any]:
        """Return the entry of the server of tools, for the project in which it is started."""
        command, *first = self.program
        return {"command": command, "args": [*first, *self.options, "mcp", "--here"]}


def build_hooks(commands: Commands, host: str) -> dict[str, Any]:
    """Return the hooks of a host by event, in its own form."""
    return {event: [_make_group(commands, event, host)] for event in EVENTS[host]}


def _make_group(commands: Commands, event: str, host: str) -> dict[str, Any]:
    line = commands.write_hook(event, host)
    if host == "cursor":
        return {"command": line, "timeout": _HOOK_SECONDS}
    hook = {"type": "command", "command": line, "timeout": _HOOK_SECONDS}
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

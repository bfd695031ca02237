"""`credenda plugin` installs in each host, and its removal leaves every byte as it was."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from credenda.interfaces.cli import agent_processes
from credenda.interfaces.cli.main import cli
from credenda.interfaces.mcp.tool_specs import check_texts
from credenda.interfaces.plugin.contents import EVENTS, HOSTS, SKILLS, Commands, build_folder
from credenda.operations import OPERATIONS, list_tools

from .terminal import NO_SETTINGS

CONFIGS = {
    "codex": {".codex/config.toml": 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "y"\n'},
    "cursor": {
        ".cursor/hooks.json": '{"version":1,\n "hooks":{"stop":[{"command":"echo mine"}]}}',
        ".cursor/mcp.json": '{\n  "mcpServers": {"other": {"command": "y"}} // mine\n}\n',
    },
    "vscode": {
        ".config/Code/User/mcp.json": '{"servers": {"other": {"command": "y"}}}',
        ".copilot/mcp-config.json": '{"mcpServers": {"other": {"type": "local", "command": "y", "tools": ["*"]}}}',
    },
    "gemini": {".gemini/settings.json": '{"mcpServers": {"other": {"command": "z"}}, "ui": {"theme": "mine"}}'},
    "qwen": {
        ".qwen/settings.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}, "x": 1}'
    },
}
NAME = {"type": "string", "pattern": "^[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$"}
TEXT = {"type": "string", "minLength": 1}
AUTHOR = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": TEXT, "email": TEXT, "url": TEXT},
}
ABOUT = {
    "name": NAME,
    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    "description": TEXT,
    "author": AUTHOR,
    "license": TEXT,
    "keywords": {"type": "array", "items": TEXT},
}
CLAUDE_PLUGIN = {
    "type": "object",
    "required": ["name", "version", "description", "author", "license"],
    "additionalProperties": False,
    "properties": {**ABOUT, "displayName": TEXT},
}
AGENT_PLUGIN = {
    "type": "object",
    "required": ["$schema", "name"],
    "additionalProperties": False,
    "properties": {"$schema": {"const": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"}, **ABOUT},
}
SERVER = {
    "type": "object",
    "required": ["command", "args"],
    "additionalProperties": False,
    "properties": {"type": {"const": "stdio"}, "command": TEXT, "args": {"type": "array", "items": TEXT}},
}
HOOK = {
    "type": "object",
    "required": ["type", "command", "timeout"],
    "additionalProperties": False,
    "properties": {"type": {"const": "command"}, "command": TEXT, "timeout": {"type": "integer", "maximum": 30}},
}
HOOKS = {
    "type": "object",
    "required": ["hooks"],
    "additionalProperties": False,
    "properties": {
        "description": TEXT,
        "hooks": {
            "type": "object",
            "propertyNames": {"enum": list(EVENTS["claude-code"])},
            "additionalProperties": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["hooks"],
                    "additionalProperties": False,
                    "properties": {"matcher": TEXT, "hooks": {"type": "array", "minItems": 1, "items": HOOK}},
                },
            },
        },
    },
}


class Person:
    """Somebody with a home and agents, who runs `credenda plugin`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env: dict[str, str | None] = {**NO_SETTINGS, "HOME": str(home)}
        self.env |= dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "APPDATA", "CLAUDE_CONFIG_DIR"))
        for texts in CONFIGS.values():
            for path, text in texts.items():
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                (home / path).write_text(text)

    def run(self, *args: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, ["plugin", *args], env=self.env)
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
        return result

    def status(self) -> dict[str, Any]:
        return json.loads(self.run("status", "--json").stdout)[0]

    def call_hook(self, host: str, event: str) -> None:
        """Run a hook as a host does that `install` has told of it."""
        options = ["--host", host, "--user", "default", "--db", str(self.home / ".local/share/credenda/memory.db")]
        told = json.dumps({"session_id": "s1", "cwd": str(self.home), "source": "startup"})
        run = CliRunner().invoke(cli, ["hook", event, *options, "--no-background"], input=told, env=self.env)
        assert run.exit_code == 0

    def files(self) -> dict[str, bytes]:
        """Return every file of the home but the data folder of the program itself."""
        own = self.home / ".local"
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and own not in path.parents
        }

    def folders(self) -> set[str]:
        own = self.home / ".local"
        return {str(path) for path in self.home.rglob("*") if path.is_dir() and path != own and own not in path.parents}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    home = tmp_path / "home"
    home.mkdir()
    return Person(home)


@pytest.mark.parametrize("host", HOSTS)
def test_a_removal_leaves_every_byte_as_it_was(person: Person, host: str) -> None:
    files, folders = person.files(), person.folders()
    person.run("install", host)
    assert not person.status()["missing"]
    assert "Already there" in person.run("install", host).stdout
    person.run("remove", host)
    assert person.files() == files
    assert person.folders() == folders
    assert "not installed" in person.run("status").stdout
    person.run("remove", host, code=3)


@pytest.mark.parametrize(
    ("host", "event"),
    [
        ("claude-code", "SessionStart"),
        ("codex", "SessionStart"),
        ("cursor", "sessionStart"),
        ("gemini", "BeforeAgent"),
        ("qwen", "Stop"),
        ("opencode", "UserPromptSubmit"),
    ],
)
def test_the_status_is_ok_only_after_a_hook_has_run(person: Person, host: str, event: str) -> None:
    person.run("install", host)
    fresh = person.status()
    assert (fresh["ok"], fresh["hooks_ran_at"], fresh["missing"]) == (False, None, [])
    assert f"{host}: no hook has run since it was installed" in person.run("status").stdout
    assert fresh["next_step"] in person.run("status").stdout
    person.call_hook(host, event)
    used = person.status()
    assert (used["ok"], used["next_step"]) == (True, "")
    assert used["hooks_ran_at"]
    assert f"{host}: ok, hooks last ran 20" in person.run("status").stdout
    person.run("install", host)
    assert person.status()["ok"], "a repeat that writes nothing takes nothing back"
    person.run("remove", host)
    person.run("install", host)
    assert not person.status()["ok"], "hooks that ran before a removal say nothing of those that were written now"


def test_hooks_of_one_host_say_nothing_of_another(person: Person) -> None:
    person.run("install", "codex")
    person.call_hook("claude-code", "SessionStart")
    assert not person.status()["ok"]


def test_an_install_without_the_package_of_the_tools_says_what_to_add(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no tool does" not in person.run("install", "codex").stderr
    monkeypatch.setattr(agent_processes, "find_spec", {"mcp": None}.__getitem__)
    told = person.run("install", "codex").stderr
    assert "hooks work, but no tool does: the package mcp is not installed" in told
    assert 'install ".[mcp]"' in told


def test_a_status_line_is_no_sign_of_hooks(person: Person) -> None:
    person.run("install", "claude-code")
    person.call_hook("claude-code", "StatusLine")
    assert not person.status()["ok"]


def test_a_missing_file_is_told_whether_or_not_hooks_ran(person: Person) -> None:
    person.run("install", "codex")
    person.call_hook("codex", "SessionStart")
    hooks = person.home / ".codex/hooks.json"
    hooks.unlink()
    told = person.status()
    assert (told["ok"], told["missing"]) == (False, [str(hooks)])
    assert "incomplete: install it again" in person.run("status").stdout


def test_the_record_of_an_earlier_version_is_read(person: Person) -> None:
    person.run("install", "codex")
    record = person.home / ".local/share/credenda/plugins.json"
    held = json.loads(record.read_text())
    for name in ("mark", "after", "copy"):
        del held["codex"][name]
    (person.home / ".codex/credenda-plugin.json").unlink()  # it kept none beside what it wrote
    record.write_text(json.dumps(held))
    assert person.status()["hooks_ran_at"] is None
    person.run("install", "codex")
    person.call_hook("codex", "SessionStart")
    assert person.status()["ok"]


def test_codex_keeps_the_time_that_its_user_gives_servers(person: Person) -> None:
    config = person.home / ".codex/config.toml"
    own = f"mcp_optional_startup_grace_ms = 500\n{config.read_text()}"
    config.write_text(own)
    person.run("install", "codex")
    config.write_text(config.read_text() + "\n[features]\nx = true\n")
    person.run("remove", "codex")
    assert config.read_text().startswith("mcp_optional_startup_grace_ms = 500\n")
    assert tomllib.loads(config.read_text()) == {**tomllib.loads(own), "features": {"x": True}}


def test_codex_waits_for_the_tools_and_gets_its_users_own_entry_back(person: Person) -> None:
    config = person.home / ".codex/config.toml"
    config.write_text('[mcp_servers.credenda]\ncommand = "mine"\nargs = []\nenabled = true\n')
    person.run("install", "codex")
    assert tomllib.loads(config.read_text())["mcp_optional_startup_grace_ms"] == 0
    config.write_text(config.read_text() + "\n[features]\nx = true\n")  # so that the copy is not put back
    person.run("remove", "codex")
    assert tomllib.loads(config.read_text()) == {
        "mcp_servers": {"credenda": {"command": "mine", "args": [], "enabled": True}},
        "features": {"x": True},
    }


@pytest.mark.sqlite_file  # its folder is deleted
def test_a_data_folder_that_was_deleted_breaks_neither_the_server_nor_the_plugin(person: Person) -> None:
    for host in ("claude-code", "codex"):
        person.run("install", host)
    data = person.home / ".local/share/credenda"
    shutil.rmtree(data)
    entry = tomllib.loads((person.home / ".codex/config.toml").read_text())["mcp_servers"]["credenda"]
    assert CliRunner().invoke(cli, [*entry["args"][:4], "list"], env=person.env).exit_code == 0
    assert data.stat().st_mode & 0o777 == 0o700
    for host in ("claude-code", "codex"):
        person.run("install", host)
    assert not person.status()["missing"]


def test_the_last_removal_takes_the_folder_of_the_records_with_it(person: Person) -> None:
    for host in ("codex", "gemini", "opencode"):
        person.run("install", host)
    for host in ("codex", "opencode", "gemini"):
        assert (person.home / ".local/share/credenda").is_dir()
        person.run("remove", host)
    assert not (person.home / ".local").exists()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("host", [host for host in HOSTS if host != "folder"])
def test_a_removal_is_exact_after_the_data_folder_was_deleted(person: Person, host: str, *, again: bool) -> None:
    files, folders = person.files(), person.folders()
    person.run("install", host)
    shutil.rmtree(person.home / ".local/share/credenda")
    assert person.status()["host"] == host
    assert not person.status()["missing"]
    if again:
        assert "Already there" in person.run("install", host).stdout
    person.run("remove", host)
    assert person.files() == files
    assert person.folders() == folders
    assert "not installed" in person.run("status").stdout


def test_an_open_folder_at_another_place_is_removed_by_its_host_alone(person: Person) -> None:
    first, second = person.home / "first", person.home / "second"
    person.run("install", "folder", "--folder", str(first))
    person.run("install", "folder", "--folder", str(second))
    assert (second / "plugin.json").is_file()
    assert not list(first.glob("*.json"))
    person.run("remove", "folder")
    assert not second.exists()


def test_copilot_cli_gets_its_own_entry_of_the_server(person: Person) -> None:
    person.run("install", "copilot")
    entries = json.loads((person.home / ".copilot/mcp-config.json").read_text())["mcpServers"]
    assert entries["credenda"]["tools"] == ["*"]
    assert entries["credenda"]["args"][-4:] == ["mcp", "--here", "--toolset", "plugin"]
    assert entries["other"] == {"type": "local", "command": "y", "tools": ["*"]}


def test_all_hosts_together_are_removed_in_any_order(person: Person) -> None:
    before = person.files()
    for host in HOSTS:
        person.run("install", host)
    for host in reversed(HOSTS):
        person.run("remove", host)
    assert person.files() == before


@pytest.mark.parametrize("host", ["codex", "cursor", "vscode", "gemini", "qwen"])
def test_what_the_user_changed_since_stays(person: Person, host: str) -> None:
    person.run("install", host)
    mine: dict[str, str] = {}
    for path in CONFIGS[host]:
        text = (person.home / path).read_text()
        mine[path] = text.replace("other", "another").replace("mine", "still mine")
        assert mine[path] != text
        (person.home / path).write_text(mine[path])
    person.run("remove", host)
    for path in CONFIGS[host]:
        text = (person.home / path).read_text()
        assert "another" in text or "still mine" in text
        assert "credenda" not in text


def test_an_edited_file_of_ours_is_kept_and_named(person: Person) -> None:
    person.run("install", "claude-code")
    skill = person.home / ".claude/skills/credenda/skills/recall/SKILL.md"
    skill.write_text(skill.read_text() + "My own rule.\n")
    assert json.loads(person.run("status", "--json").stdout)[0]["changed"] == [str(skill)]
    assert str(skill) in json.loads(person.run("remove", "claude-code", "--json").stdout)["kept"]
    assert set(person.files()) - {".claude/skills/credenda/skills/recall/SKILL.md"} == {
        path for texts in CONFIGS.values() for path in texts
    }


def test_a_file_that_cannot_be_changed_safely_is_left(person: Person) -> None:
    hooks = person.home / ".cursor/hooks.json"
    hooks.write_text("{broken")
    before = person.files()
    assert "is not JSON" in person.run("install", "cursor", code=2).stderr
    assert person.files()[".cursor/hooks.json"] == b"{broken"
    person.run("remove", "cursor")
    assert person.files() == before


def test_an_unknown_host_is_refused_with_the_known_ones(person: Person) -> None:
    assert (
        "claude-code, codex, cursor, vscode, gemini, qwen, opencode, folder"
        in person.run("install", "emacs", code=2).stderr
    )


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("claude-code", ".claude/skills/credenda/skills/{}/SKILL.md"),
        ("codex", ".agents/skills/credenda-{}/SKILL.md"),
        ("cursor", ".cursor/skills/credenda-{}/SKILL.md"),
        ("copilot", ".copilot/skills/credenda-{}/SKILL.md"),
        ("gemini", ".gemini/skills/credenda-{}/SKILL.md"),
        ("qwen", ".qwen/skills/credenda-{}/SKILL.md"),
        ("opencode", ".config/opencode/skills/credenda-{}/SKILL.md"),
    ],
)
def test_every_host_gets_the_skills_at_the_place_that_it_reads(person: Person, host: str, place: str) -> None:
    person.run("install", host)
    for name in SKILLS:
        path = person.home / place.format(name)
        head = path.read_text().split("---")[1]
        assert f"name: {path.parent.name}\n" in head, "hosts look for the name of the folder"


def test_the_commands_pin_database_user_and_folders(person: Person, tmp_path: Path) -> None:
    work = tmp_path / "it's work"
    work.mkdir()
    result = CliRunner().invoke(
        cli,
        ["--db", "rel.db", "--user", "ana b", "plugin", "install", "codex", "--only", str(work), "--no-background"],
        env=person.env,
    )
    assert result.exit_code == 0, result.stderr
    told = json.loads((person.home / ".codex/hooks.json").read_text())
    line = told["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    words = subprocess.run(["/bin/sh", "-c", f'printf "%s\\n" {line}'], capture_output=True, text=True, check=True)
    given = words.stdout.splitlines()
    assert given[given.index("--db") + 1] == str(Path("rel.db").absolute())
    assert given[given.index("--user") + 1] == "ana b"
    assert given[given.index("--only") + 1] == str(work)
    assert given[-1] == "--no-background"


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        (".claude-plugin/plugin.json", CLAUDE_PLUGIN),
        ("plugin.json", AGENT_PLUGIN),
        ("hooks/hooks.json", HOOKS),
        (".mcp.json", {"type": "object", "properties": {"mcpServers": {"additionalProperties": SERVER}}}),
        ("mcp.json", {"type": "object", "required": ["$schema", "mcpServers"]}),
    ],
)
def test_the_folder_has_the_shape_that_its_readers_check(path: str, schema: dict[str, Any]) -> None:
    commands = Commands(program=["/opt/credenda"], database="/m.db", user="ana")
    jsonschema.validate(json.loads(build_folder(commands)[path]), schema, jsonschema.Draft202012Validator)


def test_skills_have_front_matter_name_tools_that_exist_and_give_no_hidden_orders() -> None:
    texts = build_folder(Commands(program=["x"], database="/m.db", user="ana"))
    offered = [tool for operation in OPERATIONS.values() for tool in list_tools(operation)]
    known = {tool.name for tool in offered if tool.toolset == "default"}
    for name in SKILLS:
        text = texts[f"skills/{name}/SKILL.md"]
        head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.{40,1024})\n---\n", text)
        assert head is not None
        assert head[1] == name
        called = set(re.findall(r"`([a-z]+_[a-z_]+)`", text)) - {"memory_id", "contest_id", "as_of"}
        assert called <= known, called - known
        assert "credenda " not in text
        check_texts({name: [head[2]]})

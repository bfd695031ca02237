"""`credenda install` changes a client's file once, and nothing else in it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from mcp.client.stdio import StdioServerParameters

from credenda.interfaces.cli.main import cli
from credenda.interfaces.client_setup import install as installing
from credenda.interfaces.client_setup import toml_edit
from credenda.interfaces.client_setup.install import CLIENTS, find_place
from credenda.paths import Folders

from .agent import Agent, drive
from .terminal import NO_SETTINGS, environment

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "copilot": ".copilot/mcp-config.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}
TABLES = {"vscode": "servers", "codex": "mcp_servers"}


class Person:
    """Somebody with a home, who runs `credenda install`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env: dict[str, str | None] = {**NO_SETTINGS, "HOME": str(home)}
        self.env |= {"XDG_CONFIG_HOME": None, "CODEX_HOME": None, "APPDATA": None}

    def run(self, client: str, *args: str, code: int = 0, before: tuple[str, ...] = ()) -> Result:
        result = CliRunner().invoke(cli, [*before, "install", "--client", client, *args], env=self.env)
        assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
        return result

    def file(self, client: str) -> Path:
        return self.home / FILES[client]

    def give(self, client: str, text: str) -> Path:
        path = self.file(client)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def entry(self, client: str, name: str = "credenda") -> dict[str, Any]:
        return parsed(self.file(client))[TABLES.get(client, "mcpServers")][name]


def parsed(path: Path) -> dict[str, Any]:
    text = path.read_text("utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    home = tmp_path / "home"
    home.mkdir()
    return Person(home)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_without_a_file_gets_one(client: str, person: Person) -> None:
    person.run(client)
    entry = person.entry(client)
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-1] == "mcp"
    assert entry.get("type", "stdio") == "stdio"
    assert list(person.file(client).parent.glob("*.bak*")) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_the_second_time_nothing_is_changed(client: str, person: Person) -> None:
    person.run(client)
    path = person.file(client)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert person.run(client).stdout.startswith("Already there, nothing changed")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.glob("*.bak*")) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_printed_is_what_is_written(client: str, person: Person) -> None:
    lines = person.run(client, "--print").stdout
    assert not person.file(client).exists()
    person.run(client)
    printed = tomllib.loads(lines) if client == "codex" else json.loads(lines)
    assert printed == parsed(person.file(client))


def test_every_client_gets_the_line_that_starts_a_server(person: Person, tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    lines: list[tuple[str, list[str]]] = []
    for client in CLIENTS:
        person.run(client, before=("--db", str(db), "--user", "ana"))
        entry = person.entry(client)
        lines.append((entry["command"], entry["args"]))
    assert lines == lines[:1] * len(CLIENTS)

    async def body(agent: Agent) -> None:
        assert (await agent.ask("store_memory", text="I live in Linz."))["status"] == "ok"

    command, args = lines[0]
    drive(StdioServerParameters(command=command, args=args, env=environment()), body)
    assert db.exists()


def test_target_user_and_toolset_are_passed_on(person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    person.run("cursor", "--toolset", "full", before=("--db", "sqlite:///mine.db", "--user", "o'brien", "--read-only"))
    args = person.entry("cursor")["args"]
    assert args == ["--db", str(tmp_path / "mine.db"), "--user", "o'brien", "--read-only", "mcp", "--toolset", "full"]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://app:s3cret@db1/mine",
        "postgresql://app:s3cret/x@db1/mine",
        "postgresql://app:s3cret%3F@db1/mine",
        "postgresql://db1/mine?user=app&password=s3cret",
        "postgresql://app@db1/mine?replica=postgresql%3A%2F%2Fapp%3As3cret%40db2%2Fmine",
    ],
)
def test_a_password_is_written_nowhere(person: Person, address: str) -> None:
    for program in (["install", "--client", "cursor"], ["plugin", "install", "cursor"]):
        refused = CliRunner().invoke(cli, ["--db", address, *program], env=person.env)
        assert (refused.exit_code, ".pgpass" in refused.stderr, "s3cret" in refused.stderr) == (2, True, False)
    assert not [path for path in person.home.rglob("*") if path.is_file()]


@pytest.mark.parametrize("address", ["postgresql://app@db1:5432/mine", "postgresql://db1:5432/mine?user=a%40b"])
def test_an_address_without_a_password_is_passed_on(person: Person, address: str) -> None:
    person.run("cursor", before=("--db", address))
    assert person.entry("cursor")["args"] == ["--db", address, "mcp"]


JSON_WITH_REMARKS = """\
{
    // servers of the team
    "inputs": [ {"id": "key", "type": "promptString"} ],
    "servers": {
        "other": {"command": "x", "args": ["a, // b", "{"], "weird": 1.50e+2},   /* keep */
    },
    "odd": {"é": "\\u00e9", "big": 12345678901234567890}
}
"""


def test_json_keeps_every_other_character(person: Person) -> None:
    path = person.give("vscode", JSON_WITH_REMARKS)
    person.run("vscode")
    text = path.read_text("utf-8")
    start = text.index('        "credenda"')
    stop = text.index("}", start) + 2
    assert text[:start] + text[stop:] == JSON_WITH_REMARKS
    assert '\n        "credenda": {\n            "type": "stdio",' in text
    (backup,) = path.parent.glob("*.bak*")
    assert backup.read_text("utf-8") == JSON_WITH_REMARKS


SHAPES = [
    "{}",
    "{ }\n",
    "",
    " \n",
    '{"mcpServers": {}}',
    '{"mcpServers":{"a":{"command":"x"}}}',
    '{"a": 1}',
    '{"a": 1,}',
    '{"a": [1, 2,], "mcpServers": {"b": {} // last\n}}',
    '{\n\t"mcpServers": {\n\t\t"b": {}\n\t}\n}',
    '{\r\n  "a": true\r\n}\r\n',
    '\ufeff{"a": null}',
    '{"mcpServers": {"credenda-2": {}}, "mcpServers2": {"credenda": 5}}',
]


@pytest.mark.parametrize("text", SHAPES, ids=repr)
def test_json_of_any_shape_gains_one_entry(text: str, person: Person) -> None:
    path = person.give("cursor", text)
    person.run("cursor")
    told = person.run("cursor").stdout
    assert told.startswith("Already there")
    written = path.read_bytes().decode()
    assert written.startswith("\ufeff") == text.startswith("\ufeff")
    if "\r\n" in text:
        assert "\n" not in written.replace("\r\n", "")
    lone = written.removeprefix("\ufeff").replace("// last", "").replace(",}", "}").replace(",]", "]")
    assert "credenda" in json.loads(lone)["mcpServers"]


@pytest.mark.parametrize("client", ["cursor", "codex"])
def test_what_somebody_added_to_the_entry_stays(client: str, person: Person) -> None:
    person.run(client)
    path = person.file(client)
    if client == "codex":
        path.write_text(path.read_text("utf-8") + 'startup_timeout_sec = 20 # slow disk\nenv = { A = "b" }\n', "utf-8")
    else:
        held = parsed(path)
        held["mcpServers"]["credenda"]["env"] = {"A": "b"}
        path.write_text(json.dumps(held), "utf-8")
    person.run(client, before=("--user", "ben"))
    entry = person.entry(client)
    assert entry["args"] == ["--user", "ben", "mcp"]
    assert entry["env"] == {"A": "b"}
    if client == "codex":
        assert "startup_timeout_sec = 20 # slow disk" in path.read_text("utf-8")


TOML_WITH_REMARKS = """\
# my settings
model = "o5"   # the good one

[mcp_servers.other]  # keep
command = "x"
args = [
  "a",
  "[mcp_servers.credenda]",
]

[mcp_servers.credenda]
# how it starts
command = "/old/credenda"
args = [
  "mcp",  # both
  "--toolset",
  "full",
]
enabled = true
[mcp_servers.credenda.env]
A = "b"

[profiles.x]
y = 1
"""


def test_toml_keeps_every_other_line(person: Person) -> None:
    path = person.give("codex", TOML_WITH_REMARKS)
    person.run("codex")
    text = path.read_text("utf-8")
    before, after = tomllib.loads(TOML_WITH_REMARKS), tomllib.loads(text)
    assert after["mcp_servers"]["credenda"] == {**person.entry("codex"), "enabled": True, "env": {"A": "b"}}
    assert after["mcp_servers"]["credenda"]["args"] == ["mcp"]
    del before["mcp_servers"]["credenda"], after["mcp_servers"]["credenda"]
    assert before == after
    for line in ("# my settings", 'model = "o5"   # the good one', "[mcp_servers.other]  # keep", "enabled = true"):
        assert f"{line}\n" in text
    assert person.run("codex").stdout.startswith("Already there")


@pytest.mark.parametrize(
    "text",
    ['model = "x"', "", "# only a remark\n", '[mcp_servers]\n[mcp_servers.a]\ncommand = "x"\r\n', "a = 1\r\nb = 2\r\n"],
    ids=repr,
)
def test_toml_gains_one_table_at_its_end(text: str, person: Person) -> None:
    path = person.give("codex", text)
    person.run("codex")
    assert path.read_bytes().decode().startswith(text)
    assert person.entry("codex")["args"] == ["mcp"]


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers.credenda.command = "x" # dotted\nmcp_servers.other.command = "y" # stays\n',
        '[mcp_servers]\ncredenda = { command = "x" } # inline\nother = { command = "y" } # stays\n',
        '[mcp_servers.credenda] # apart\r\ncommand = "x"\r\n[z]\r\n[mcp_servers.other]\r\ncommand = "y" # stays\r\n',
    ],
    ids=["dotted", "inline", "apart"],
)
def test_a_toml_entry_is_changed_and_removed_however_it_is_written(text: str, person: Person) -> None:
    path = person.give("codex", text)
    person.run("codex")
    changed = path.read_bytes().decode()
    assert tomllib.loads(changed)["mcp_servers"]["credenda"]["args"] == ["mcp"]
    left = toml_edit.remove_entry(changed, "mcp_servers", "credenda")
    for one in (changed, left):
        assert tomllib.loads(one)["mcp_servers"]["other"] == {"command": "y"}
        assert "# stays" in one
        assert one.count("\r\n") == (one.count("\n") if "\r" in text else 0)
    assert "credenda" not in left


UNCLEAR = [
    ("cursor", "{", "not JSON"),
    ("cursor", '{"mcpServers": {"a": }}', "not JSON"),
    ("cursor", '{"a": 1 "b": 2}', "line 1: Expecting ',' delimiter"),
    ("cursor", '{"a": nul}', "line 1: Expecting value"),
    ("cursor", '{"a": 1} trailing', "line 1: Extra data"),
    ("cursor", "[]", "it contains no table"),
    ("cursor", '{"mcpServers": []}', "mcpServers is not a table"),
    ("cursor", '{"mcpServers": {"credenda": "x"}}', "credenda is not a table"),
    ("cursor", "[" * 5_000, "too deeply"),
    ("codex", "a = ", "not TOML"),
    ("codex", "mcp_servers = 5", "not a table of tables"),
    ("codex", 'mcp_servers = { a = { command = "x" } }', "cannot be changed safely"),
]


@pytest.mark.parametrize(("client", "text", "said"), UNCLEAR, ids=[text[:30] for _, text, _ in UNCLEAR])
def test_an_unclear_file_is_left_as_it_is(client: str, text: str, said: str, person: Person) -> None:
    path = person.give(client, text)
    told = person.run(client, code=2).stderr
    assert said in told
    assert str(path) in told
    assert told.count("\n") == 1
    assert path.read_bytes().decode() == text
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_file_that_is_not_utf8_is_left_as_it_is(person: Person) -> None:
    path = person.give("cursor", "")
    path.write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8" in person.run("cursor", code=2).stderr
    assert path.read_bytes() == b'{"a": "\xff"}'


def test_rights_links_and_earlier_backups_are_kept(person: Person, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text('{"secret": 1}', "utf-8")
    real.chmod(0o640)
    person.file("claude-code").symlink_to(real)
    person.run("claude-code")
    person.run("claude-code", "--name", "second")
    assert person.file("claude-code").is_symlink()
    assert set(parsed(real)["mcpServers"]) == {"credenda", "second"}
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    backups = sorted(real.parent.glob("*.bak*"))
    assert [parsed_json(backup).get("mcpServers", {}).keys() for backup in backups] == [
        {}.keys(),
        {"credenda": 0}.keys(),
    ]


def parsed_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


def test_a_folder_that_cannot_be_written_is_said(person: Person) -> None:
    person.file("cursor").parent.write_text("a file where a folder should be", "utf-8")
    assert "cannot be reached" in person.run("cursor", code=5).stderr


def test_the_project_has_files_of_its_own(person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    for client, name in (("claude-code", ".mcp.json"), ("cursor", ".cursor/mcp.json"), ("vscode", ".vscode/mcp.json")):
        person.run(client, "--scope", "project")
        assert parsed(project / name)[TABLES.get(client, "mcpServers")]["credenda"]["args"] == ["mcp"]
        assert not person.file(client).exists()
    for client in ("claude-desktop", "codex"):
        assert "no project configuration" in person.run(client, "--scope", "project", code=2).stderr


@pytest.mark.parametrize("name", ["a b", "", "x" * 65, 'a"b', "[x]"])
def test_a_name_that_clients_cannot_use_is_refused(name: str, person: Person) -> None:
    for way in ((), ("--print",)):
        assert "cannot name a server" in person.run("codex", "--name", name, *way, code=2).stderr
    assert not person.file("codex").exists()


def test_places_follow_the_system_and_its_variables() -> None:
    def folders(system: str, **given: Path) -> Folders:
        home = Path("/home/ana")
        paths: dict[str, Path | None] = {"app_data": None, "codex": None, "config": home / ".config", **given}
        return Folders(home=home, system=system, **paths)  # type: ignore[arg-type]

    def path(client: str, told: Folders) -> str:
        return find_place(client, "user", told, Path("/project")).path.as_posix()

    mac = folders("darwin")
    assert path("claude-desktop", mac).endswith("Library/Application Support/Claude/claude_desktop_config.json")
    assert path("vscode", mac).endswith("Library/Application Support/Code/User/mcp.json")
    windows = folders("win32", app_data=Path("/roaming"))
    assert path("claude-desktop", windows) == "/roaming/Claude/claude_desktop_config.json"
    assert path("vscode", folders("win32")).endswith("AppData/Roaming/Code/User/mcp.json")
    assert path("vscode", folders("linux", config=Path("/xdg"))) == "/xdg/Code/User/mcp.json"
    assert path("codex", folders("linux", codex=Path("/cx"))) == "/cx/config.toml"


def test_without_a_script_the_interpreter_is_started_and_trusts_no_folder(
    person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_script(*_: object) -> bool:
        return False

    monkeypatch.setattr(installing.os, "access", no_script)
    person.run("cursor")
    entry = person.entry("cursor")
    assert (entry["command"], entry["args"]) == (sys.executable, ["-P", "-m", "credenda", "mcp"])
    (tmp_path / "click.py").write_text("raise SystemExit('a stranger ran')", "utf-8")
    line = [entry["command"], *entry["args"], "--help"]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert (done.returncode, b"stranger" in done.stderr + done.stdout) == (0, False)


def test_what_a_client_writes_meanwhile_is_not_lost(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    path = person.give("cursor", '{"mine": 1}')
    copy = installing.shutil.copy2

    def copy_while_the_client_writes(old: Path, new: Path) -> object:
        done = copy(old, new)
        path.write_text('{"mine": 2}', "utf-8")
        return done

    monkeypatch.setattr(installing.shutil, "copy2", copy_while_the_client_writes)
    assert "was changed meanwhile" in person.run("cursor", code=4).stderr
    assert path.read_text("utf-8") == '{"mine": 2}'
    assert not list(path.parent.glob(".*.part"))


@pytest.mark.parametrize("client", ["claude-code", "codex", "copilot"])
def test_no_second_server_comes_beside_the_plugin(client: str, person: Person) -> None:
    plugin = CliRunner().invoke(cli, ["plugin", "install", client], env=person.env)
    assert (plugin.exit_code, plugin.stderr) == (0, "")
    refused = person.run(client, code=2)
    assert f"credenda plugin remove {client}" in refused.stderr
    person.run(client, "--name", "another")
    assert CliRunner().invoke(cli, ["plugin", "remove", client], env=person.env).exit_code == 0
    person.run(client)


def test_the_plugin_names_a_server_that_is_there_already(person: Person) -> None:
    person.run("claude-code")
    told = CliRunner().invoke(cli, ["plugin", "install", "claude-code"], env=person.env)
    assert "claude mcp remove credenda" in told.stderr

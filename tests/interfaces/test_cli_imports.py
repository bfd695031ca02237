"""`credenda import` of files that people have: counts, speakers, times and slots; a foreign file is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from credenda import Credenda
from credenda.clock import seconds
from credenda.interfaces.cli.actions import Progress
from tests.flows import people_files as files

from .terminal import Terminal, process


@pytest.fixture
def ines(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, user="ines")


def _codex(at: Path) -> Path:
    files.write_lines(at / "sessions/2026/05/04/rollout-2026-05-04T09-00-00-b.jsonl", files.CODEX_CHILD)
    files.write_lines(at / "sessions/2026/05/04/rollout-2026-05-04T08-00-00-a.jsonl", files.CODEX)
    return at / "sessions"


def _copilot(at: Path) -> Path:
    return files.write_lines(at / "session-state/copilot-a/events.jsonl", files.COPILOT).parents[1]


def _gemini(at: Path) -> Path:
    return files.write_whole(at / "tmp/0a/chats/session-2026-05-06T11-00-a.json", files.GEMINI).parents[2]


def _gemini_log(at: Path) -> Path:
    return files.write_lines(at / "session-2026-05-06T11-00-a.jsonl", files.GEMINI_LOG)


SESSIONS: dict[str, tuple[str, Callable[[Path], Path], str]] = {
    "codex": ("codex", _codex, "2026-05-04T08:00:03Z"),
    "copilot": ("copilot", _copilot, "2026-05-05T10:00:02Z"),
    "gemini": ("gemini-cli", _gemini, "2026-05-06T11:00:02Z"),
    "gemini log": ("gemini-cli", _gemini_log, "2026-05-06T11:00:02Z"),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_of_a_coding_agent_gives_what_the_user_and_the_agent_said(
    ines: Terminal, tmp_path: Path, name: str
) -> None:
    known, write, begun = SESSIONS[name]
    path = write(tmp_path / "host")
    report = ines.json("import", str(path))
    assert (report["format"], report["turns"], report["problems"]) == (known, 2, [])
    (home,) = [item for item in ines.held() if item["attribute"] == "residence"]
    assert (home["value"], home["valid_from"]) == ("Bergen", begun)
    again = ines.json("import", str(path))
    assert (again["turns"], again["skipped"]) == (0, 2)


FOREIGN: dict[str, Any] = {
    "codex": ("notes.json", {"type": "list", "payload": {"role": "user", "content": "I live in Rome."}}),
    "events": ("events.jsonl", {"type": "click", "data": {"content": "I live in Rome."}, "id": 1, "timestamp": 2}),
    "roles": ("rows.json", {"rows": [{"role": "user", "content": "I live in Rome."}]}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_role_deep_in_a_file_makes_it_no_list_of_messages(ines: Terminal, tmp_path: Path, name: str) -> None:
    file, value = FOREIGN[name]
    error = ines.error("import", str(files.write_whole(tmp_path / file, value)), code=2)
    assert "cannot detect the format" in error
    assert ines.held() == []


ELSEWHERE = (
    "codex copilot gemini-cli telegram open-webui sillytavern gemini-takeout whatsapp "
    "claude-code chatgpt claude messages mcp-memory zep conversation letta"
)


@pytest.mark.parametrize("known", ELSEWHERE.split())
def test_a_file_without_anything_of_its_format_is_an_error(ines: Terminal, tmp_path: Path, known: str) -> None:
    path = files.write_whole(tmp_path / "other.jsonl", {"items": [{"title": "I live in Rome."}]})
    error = ines.error("import", str(path), "--format", known, code=2)
    assert f"nothing of other.jsonl was imported, in the format {known}" in error
    assert ines.held() == []


CHATS: dict[str, tuple[str, str, object, int, str]] = {
    "whatsapp": ("whatsapp", "WhatsApp Chat with Ruben.txt", files.WHATSAPP, 2, "2026-02-13T21:16:00Z"),
    "whatsapp of an iPhone": ("whatsapp", "_chat.txt", files.WHATSAPP_IPHONE, 2, "2026-02-13T21:16:00Z"),
    "whatsapp in German": ("whatsapp", "chat.txt", files.WHATSAPP_DOTS, 2, "2026-02-03T21:16:00Z"),
    "telegram": ("telegram", "result.json", files.TELEGRAM, 3, "2026-02-13T21:13:00Z"),
    "telegram account": ("telegram", "result.json", files.TELEGRAM_ALL, 2, "2026-02-13T21:13:00Z"),
    "open-webui": ("open-webui", "chats.json", files.WEBUI, 2, "2026-02-02T02:40:00Z"),
    "open-webui memories": ("open-webui", "memories.json", files.WEBUI_MEMORIES, 1, "2026-02-02T02:40:00Z"),
    "sillytavern": ("sillytavern", "Mira.jsonl", files.TAVERN, 2, "2026-02-13T21:16:00Z"),
    "gemini-takeout": ("gemini-takeout", "MyActivity.json", files.ACTIVITIES, 2, "2026-02-13T21:16:00Z"),
}


@pytest.mark.parametrize("name", CHATS)
def test_a_chat_gives_each_person_their_own_words(ines: Terminal, tmp_path: Path, name: str) -> None:
    known, file, content, turns, begun = CHATS[name]
    path = tmp_path / file
    if isinstance(content, str):
        path.write_text(content, "utf-8")
    elif file.endswith(".jsonl"):
        files.write_lines(path, content)  # pyright: ignore[reportArgumentType] - lines are tables
    else:
        files.write_whole(path, content)
    report = ines.json("import", str(path))
    assert (report["format"], report["turns"], report["problems"]) == (known, turns, [])
    mine = [item for item in ines.held() if item["attribute"] == "residence" and item["entity"] in ("user", "ines")]
    assert [(item["value"], item["valid_from"]) for item in mine] == [("Bergen", begun)]
    again = ines.json("import", str(path))
    assert (again["turns"], again["skipped"]) == (0, turns)


def test_the_words_of_another_person_are_theirs(ines: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(files.WHATSAPP, "utf-8")
    ines.run("import", str(path))
    assert {(item["entity"].casefold(), item["value"]) for item in ines.held() if item["attribute"] == "residence"} == {
        ("user", "Bergen"),
        ("ruben maia", "Porto"),
    }


@pytest.mark.parametrize("zipped", [False, True])
def test_whoever_has_another_name_in_a_chat_is_asked_for_it_before_anything_is_stored(
    tmp_path: Path, *, zipped: bool
) -> None:
    ana, path = Terminal(tmp_path, user="ana"), tmp_path / "chat.txt"
    path.write_text(files.WHATSAPP, "utf-8")
    if zipped:
        path = tmp_path / "chat.zip"
        with ZipFile(path, "w") as archive:
            archive.writestr("_chat.txt", files.WHATSAPP)
    for told, name in (((), "ana"), (("--me", "Maia"), "Maia")):
        error = ana.error("import", str(path), *told, code=2)
        assert f"nobody in this chat is called {name}: its messages are from Ruben Maia, Ines" in error
        assert 'say which of them you are: --me "Ruben Maia" or --me "Ines" (' in error
    assert ana.held() == []
    assert ana.json("import", str(path), "--me", "ruben maia")["turns"] == 2
    homes = {(item["entity"].casefold(), item["value"]) for item in ana.held() if item["attribute"] == "residence"}
    assert homes == {("user", "Porto"), ("ines", "Bergen")}
    assert "speaker; the first stays" in ana.error("import", str(path), "--me", "Ines", code=2)


def test_a_chat_of_others_is_imported_as_theirs(tmp_path: Path) -> None:
    ana, path = Terminal(tmp_path, user="ana"), tmp_path / "chat.txt"
    path.write_text(files.WHATSAPP, "utf-8")
    assert ana.json("import", str(path), "--me", "")["turns"] == 2
    assert {item["entity"].casefold() for item in ana.held() if item["attribute"] == "residence"} == {
        "ines",
        "ruben maia",
    }


def test_each_entry_of_hermes_is_a_memory_and_one_file_is_about_the_user(ines: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "USER.md").write_text("Lives in Bergen.\n§\nAllergic to nuts.\n§\nUser works as a baker.\n", "utf-8")
    (folder / "MEMORY.md").write_text("The staging server runs Debian.\n§\nI live in a container.\n", "utf-8")
    report = ines.json("import", str(folder))
    assert (report["format"], report["turns"], report["problems"]) == ("hermes", 5, [])
    slots = {item["attribute"]: item["value"] for item in ines.held() if item["attribute"]}
    assert slots == {"residence": "Bergen", "allergy": "nuts", "job_title": "baker"}
    assert ines.json("import", str(folder))["turns"] == 0


def _workspace(folder: Path) -> Path:
    pages = {
        "USER.md": "# USER.md\n\n- **Name:** Ines Roth\n- **Pronouns:** _(optional)_\n- **Timezone:** Europe/Oslo\n"
        "- **Notes:** Works as an engineer at Fjordtech.\n\n_(What do they care about?)_\n",
        "IDENTITY.md": "- **Name:** Pebble\n- **Vibe:** calm\n",
        "SOUL.md": "I live in the terminal.\n",
        "AGENTS.md": "Run things.\n",
        "memory/2026-03-02.md": "# 2026-03-02\n\n- Ines moved to Tromso.\n- The shop was deployed.\n",
    }
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def test_a_workspace_of_openclaw_tells_the_user_from_the_agent(ines: Terminal, tmp_path: Path) -> None:
    report = ines.json("import", str(_workspace(tmp_path / "workspace")))
    assert (report["format"], report["turns"], report["problems"]) == ("openclaw", 5, [])
    assert report["left_out"] == {"lines without a value": 2, "pages about the agent": 2}
    slots = {item["attribute"]: (item["value"], item["valid_from"][:10]) for item in ines.held() if item["attribute"]}
    assert slots["name"][0] == "Ines Roth"
    assert slots["timezone"][0] == "Europe/Oslo"
    assert slots["employer"][0] == "Fjordtech"
    assert slots["residence"] == ("Tromso", "2026-03-02")
    assert "Pebble" not in str(ines.held())


def test_the_user_of_a_workspace_is_called_as_its_page_says(ana: Terminal, tmp_path: Path) -> None:
    """Whatever the user of the memory is called."""
    ana.json("import", str(_workspace(tmp_path / "workspace")))
    slots = {item["attribute"]: item["value"] for item in ana.held() if item["entity"] == "user"}
    assert (slots["name"], slots["residence"]) == ("Ines Roth", "Tromso")


GRAPH: list[dict[str, Any]] = [
    {"type": "entity", "name": "Ruben", "entityType": "person", "observations": ["likes tea", "plays chess"]},
    {"type": "relation", "from": "Ruben", "to": "Fjordtech", "relationType": "works_at"},
]


def test_two_objects_on_one_line_of_a_graph_are_both_read(ines: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text(f"{json.dumps(GRAPH[0])}{json.dumps(GRAPH[1])}\n{json.dumps(GRAPH[1])}{{\n", "utf-8")
    report = ines.json("import", str(path))
    assert (report["format"], report["turns"], report["passed_over"]) == ("mcp-memory", 3, 1)


def test_a_graph_with_zero_bytes_after_a_crash_is_read(ines: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_bytes(json.dumps(GRAPH[0]).encode() + b"\n" + bytes(512) + json.dumps(GRAPH[1]).encode() + b"\n")
    report = ines.json("import", str(path))
    assert (report["turns"], report["passed_over"]) == (3, 1)
    assert "zero bytes" in report["problems"][0]


@pytest.mark.parametrize("form", ["list", "object", "object of typed items"])
@pytest.mark.parametrize("name", ["memory.json", "memory.jsonl"])
def test_a_graph_is_read_in_each_of_its_forms(ines: Terminal, tmp_path: Path, form: str, name: str) -> None:
    bare = [{key: value for key, value in table.items() if key != "type"} for table in GRAPH]
    entity, relation = GRAPH if form == "object of typed items" else bare
    value = GRAPH if form == "list" else {"entities": [entity], "relations": [relation]}
    report = ines.json("import", str(files.write_whole(tmp_path / name, value)))
    assert (report["format"], report["turns"], report["problems"]) == ("mcp-memory", 3, [])


def _long_talk(at: Path, count: int) -> Path:
    text = "The weather was fine. " * 200
    turns = [{"role": "assistant", "content": f"{number}: {text}"} for number in range(count)]
    return files.write_lines(at / "talk.jsonl", turns)


def test_progress_in_a_pipe_is_lines_now_and_then(ines: Terminal, tmp_path: Path) -> None:
    done = process("--db", str(ines.db), "--user", "ines", "import", str(_long_talk(tmp_path, 800)))
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    assert any(line.startswith("stored ") and line.endswith(" %") for line in lines)
    assert len(lines) <= 30
    assert b"\r" not in done.stderr


def test_progress_of_reading_tells_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(on_terminal=False)
    progress.begin("reading", 5_000)
    begun = seconds()
    for done in range(0, 5_001, 1_000):
        progress.began_at = begun - 720
        progress.show_done("read", done, 5_000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        "reading 5,000 messages",
        "read 1,000 of 5,000 messages, about 48 min left",
    ]
    assert lines[-1] == "read 4,000 of 5,000 messages, about 3 min left"


def test_an_interrupted_import_tells_what_is_kept(
    ines: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files.write_lines(tmp_path / "rollout-a.jsonl", files.CODEX)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Credenda, "settle", interrupt)
        result = ines.run("import", str(path), code=130)
    said = "interrupted: all stored messages are kept, 2 of them new; 2 messages are still to be read; the same command"
    assert said in result.stderr
    again = ines.json("import", str(path))
    assert (again["turns"], again["skipped"]) == (0, 2)
    assert ines.values() == ["Bergen"]


OWNER, TILLS, STOCK = "The owner is Priya.", "The shop has four tills.", "The stock is counted on Tuesdays."


def _write_note(path: Path, *facts: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"- [fact] {fact}\n" for fact in facts), "utf-8")
    return path


def _list_active(terminal: Terminal) -> set[str]:
    return {item["text"] for item in terminal.held() if item["status"] == "active"}


def test_a_document_imported_again_is_a_new_state(ines: Terminal, tmp_path: Path) -> None:
    path = _write_note(tmp_path / "shop.md", OWNER, TILLS, STOCK)
    assert ines.json("import", str(path))["ended"] == 0
    assert _list_active(ines) == {OWNER, TILLS, STOCK}
    _write_note(path, TILLS.replace("four", "three"), STOCK)
    report = ines.json("import", str(path))
    assert (report["turns"], report["ended"]) == (1, 2)
    assert _list_active(ines) == {TILLS.replace("four", "three"), STOCK}
    assert "its file does not say it any more" in ines.text("why", ines.an_id("--status", "superseded"))


def test_a_dry_run_ends_nothing(ines: Terminal, tmp_path: Path) -> None:
    path = _write_note(tmp_path / "shop.md", OWNER, TILLS)
    ines.run("import", str(path))
    _write_note(path, TILLS)
    assert ines.json("import", str(path), "--dry-run")["ended"] == 0
    assert _list_active(ines) == {OWNER, TILLS}


def test_a_line_that_another_source_also_said_stays(ines: Terminal, tmp_path: Path) -> None:
    one = _write_note(tmp_path / "notes" / "one.md", OWNER, TILLS)
    _write_note(tmp_path / "notes" / "two.md", OWNER)
    ines.run("import", str(one.parent))
    _write_note(one, TILLS)
    assert ines.json("import", str(one))["ended"] == 0
    assert OWNER in _list_active(ines)


def test_a_file_that_is_damaged_or_a_log_ends_nothing(ines: Terminal, tmp_path: Path) -> None:
    note, log = _write_note(tmp_path / "note.md", OWNER, TILLS), _write_note(tmp_path / "shop.log", OWNER, TILLS)
    for path in (note, log):
        ines.run("import", str(path), "--format", "obsidian")
    held = _list_active(ines)
    note.write_bytes(b"- [fact] The shop has four tills.\n\xff\xfe broken\n")
    _write_note(log, TILLS)
    assert [ines.json("import", str(path), "--format", "obsidian")["ended"] for path in (note, log)] == [0, 0]
    assert _list_active(ines) == held


def test_the_command_that_lists_what_was_imported_opens_the_same_memory(tmp_path: Path) -> None:
    person = Terminal(tmp_path, user="Ines Roth")
    told = person.run("import", str(_codex(tmp_path / "host"))).stderr
    assert f"credenda list --db {person.db} --user 'Ines Roth'" in told

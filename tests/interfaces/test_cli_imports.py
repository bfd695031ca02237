"""`credenda import` of files that people have: counts, speakers, times and slots; a foreign file is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from tests.flows import people_files as files

from .terminal import Terminal


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


def said(terminal: Terminal) -> list[tuple[str, str, str]]:
    """List role, name and text of everything that was kept, oldest first."""
    with Credenda.open(terminal.db, user=terminal.user) as mem:
        found = sorted(mem.manage.events(limit=50).items, key=lambda event: event.id)
    return [(event.role.value, event.speaker or "", event.text) for event in found]


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


@pytest.mark.parametrize("known", sorted({row[0] for row in SESSIONS.values()}))
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

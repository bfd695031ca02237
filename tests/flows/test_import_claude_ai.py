"""Exports of Claude.ai: talk in blocks or plain, and what its memory had noted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.event import Role, Source

from .conftest import Events
from .exports import chat, told, zipped


def test_the_turns_of_a_zip_keep_speaker_time_title_and_ids(mem: Credenda, tmp_path: Path, events: Events) -> None:
    talk = chat("t1", told(1, "human", "I live in Graz."), told(2, "assistant", "Noted."))
    path = zipped(
        tmp_path / "export.zip", ("users.json", [{"uuid": "u"}]), ("projects.json", []), ("conversations.json", [talk])
    )
    report = mem.data.import_(path)
    assert (report.format, report.conversations, report.turns, report.problems) == ("claude", 1, 2, ())
    graz, noted = events()
    assert (graz.role, graz.text, graz.session, graz.external_id) == (Role.USER, "I live in Graz.", "t1", "c1")
    assert graz.occurred_at == datetime(2025, 5, 1, 10, 1, tzinfo=UTC)
    assert (graz.source, graz.agent, graz.metadata) == (Source.HUMAN, "claude", {"title": "About t1"})
    assert noted.role is Role.ASSISTANT
    again = mem.data.import_(path)
    assert (again.turns, again.skipped, again.problems) == (0, 2, ())


def test_blocks_of_text_count_more_than_the_plain_text_and_tools_do_not(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "text": "hidden"},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "name": "search"},
        {"type": "tool_result", "content": "found"},
        {"type": "text", "text": "Second."},
    ]
    talk = chat(
        "t",
        told(1, "assistant", "First. This block is not supported. Second.", content=blocks),
        told(2, "human", "Plain.", content=[]),
        told(3, "human", "Older export.", content=None),
        told(4, "human", "", content=[]),
    )
    report = mem.data.import_(zipped(tmp_path / "e.zip", ("conversations.json", [talk])))
    assert [event.text for event in events()] == ["First.\n\nSecond.", "Plain.", "Older export."]
    kinds = ("messages without words", "thoughts", "tool calls", "tool results")
    assert (report.problems, dict(report.left_out)) == ((), dict.fromkeys(kinds, 1))


def test_conversations_a_line_are_read_too(mem: Credenda, tmp_path: Path, events: Events) -> None:
    lines = [json.dumps(chat(name, told(1, "human", f"In {name}."))) for name in "ab"]
    path = tmp_path / "conversations.jsonl"
    path.write_text("\n".join([lines[0], "{broken", "", lines[1]]))
    report = mem.data.import_(path)
    assert (report.format, report.turns) == ("claude", 2)
    assert report.problems == ("conversation 2: not JSON at character 2",)
    assert [event.session for event in events()] == ["a", "b"]


def test_a_bold_heading_of_its_memory_is_no_item(mem: Credenda, tmp_path: Path, events: Events) -> None:
    notes = {"conversations_memory": "**Personal context**\n\nAna is a nurse.\n\nAna has a cat."}
    report = mem.data.import_(zipped(tmp_path / "e.zip", ("conversations.json", []), ("memories.json", [notes])))
    assert (report.turns, dict(report.left_out)) == (2, {"headings": 1})
    assert {event.metadata["section"] for event in events()} == {"Personal context"}


def test_what_its_memory_noted_is_a_document(mem: Credenda, tmp_path: Path, events: Events) -> None:
    notes = {
        "conversations_memory": "**Work**\nAna is a nurse.\n\n**Home**\nAna has a cat.",
        "project_memories": {"p": "x"},
    }
    path = zipped(tmp_path / "e.zip", ("conversations.json", []), ("memories.json", [notes, 7]))
    report = mem.data.import_(path)
    assert (report.format, report.turns) == ("claude", 3)
    assert report.problems == ("memories.json, memory 2: it is not an object",)
    work, *_ = events()
    assert (work.text, work.role, work.source, work.trust) == (
        "**Work**\nAna is a nurse.",
        Role.DOCUMENT,
        Source.INGEST,
        0.5,
    )


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (7, "conversation 2: it is not an object"),
        ({"uuid": "x"}, "conversation 2: it has no list of chat_messages"),
        (chat("x", told(1, "bot", "x")), "conversation 2 (x), message c1: its sender is neither"),
        ({"uuid": "x", "chat_messages": [7]}, "conversation 2 (x), message 1: it is not an object"),
    ],
)
def test_what_is_malformed_is_named_by_place_and_passed_over(
    mem: Credenda, tmp_path: Path, bad: object, problem: str
) -> None:
    listed = [chat("a", told(1, "human", "One.")), bad, chat("b", told(1, "human", "Two."))]
    report = mem.data.import_(zipped(tmp_path / "e.zip", ("conversations.json", listed)))
    assert report.turns == 2
    assert len(report.problems) == 1
    assert report.problems[0].startswith(f"conversations.json, {problem}")


def test_a_message_without_a_time_has_that_of_the_conversation(mem: Credenda, tmp_path: Path, events: Events) -> None:
    talk = chat("t", told(1, "human", "One.", created_at=None), told(2, "human", "Two.", created_at="x"))
    report = mem.data.import_(zipped(tmp_path / "e.zip", ("conversations.json", [talk])))
    assert {event.occurred_at for event in events()} == {datetime(2025, 5, 1, 10, tzinfo=UTC)}
    assert len(report.problems) == 1


def test_memories_in_files_of_their_own_are_read_beside_the_conversations(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    path = zipped(
        tmp_path / "export.zip",
        ("conversations.json", [chat("t", told(1, "human", "I live in Graz."))]),
        ("memories/0f3a.json", {"uuid": "0f3a", "content": "**Work**\n\nShe is a nurse."}),
        ("memories/broken.json", b'{"content": "cut'),
    )
    report = mem.data.import_(path)
    assert (report.format, report.turns, dict(report.left_out)) == ("claude", 2, {"headings": 1})
    assert [problem.partition(":")[0] for problem in report.problems] == ["memories/broken.json, memory 1"]
    assert {event.text for event in events()} == {"I live in Graz.", "She is a nurse."}
    assert events()[-1].metadata["section"] == "Work"
    assert mem.data.import_(path).turns == 0

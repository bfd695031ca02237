"""Exports of ChatGPT: the branch that was shown, sharded or not, and with all that can be odd in a tree."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from credenda import Credenda
from credenda.model.event import Role, Source

from .conftest import Events
from .exports import Table, said, tree, zipped


def listed(path: Path, *conversations: object) -> Path:
    path.write_text(json.dumps(list(conversations)), encoding="utf-8")
    return path


def test_the_turns_of_a_zip_keep_speaker_time_title_and_ids(mem: Credenda, tmp_path: Path, events: Events) -> None:
    talk = tree("t1", said(1, "user", "I live in Graz. 🙂"), said(2, "assistant", "Noted."), said(3, "user", "Thanks."))
    path = zipped(
        tmp_path / "export.zip", ("chat.html", b"<html>"), ("user.json", {"id": "u"}), ("conversations.json", [talk])
    )
    report = mem.data.import_(path)
    assert (report.format, report.conversations, report.turns, report.problems) == ("chatgpt", 1, 3, ())
    graz, noted, _ = events()
    assert (graz.role, graz.text, graz.session, graz.external_id) == (Role.USER, "I live in Graz. 🙂", "t1", "m1")
    assert graz.occurred_at == datetime(2023, 11, 14, 22, 14, 20, 500_000, tzinfo=UTC)
    assert (graz.source, graz.agent, graz.metadata) == (Source.HUMAN, "chatgpt", {"title": "About t1"})
    assert noted.role is Role.ASSISTANT
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]


def test_shards_in_a_folder_of_the_zip_are_read_in_order(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = zipped(
        tmp_path / "export.zip",
        ("export/export_manifest.json", {"files": []}),
        ("export/conversations-001.json", [tree("b", said(2, "user", "Second."))]),
        ("export/conversations-000.json", [tree("a", said(1, "user", "First."))]),
        ("__MACOSX/export/._conversations-000.json", b"\x00"),
    )
    told: list[tuple[int, int | None]] = []
    report = mem.data.import_(path, progress=lambda done, total: told.append((done, total)))
    assert (report.format, report.conversations, report.problems) == ("chatgpt", 2, ())
    assert [event.text for event in events()] == ["First.", "Second."]
    assert told[-1][0] == told[-1][1]
    again = mem.data.import_(path)
    assert (again.turns, again.skipped) == (0, 2)


def test_an_unpacked_folder_and_a_bare_list_are_the_same_export(mem: Credenda, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    path = listed(folder / "conversations.json", tree("a", said(1, "user", "First.")))
    (folder / "user.json").write_text("{}")
    assert mem.data.import_(folder).turns == 1
    report = mem.data.import_(path)
    assert (report.format, report.turns, report.skipped) == ("chatgpt", 0, 1)


def test_only_the_branch_that_was_shown_last_is_read(mem: Credenda, tmp_path: Path, events: Events) -> None:
    talk = tree("t", said(1, "user", "Question."), said(2, "assistant", "Bad answer."))
    talk["mapping"]["m3"] = {"message": said(3, "assistant", "Good answer."), "parent": "m1", "children": []}
    path = listed(tmp_path / "conversations.json", talk | {"current_node": "m3"})
    mem.data.import_(path)
    assert [event.text for event in events()] == ["Question.", "Good answer."]


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_without_a_current_node_the_newest_leaf_is_taken(
    mem: Credenda, tmp_path: Path, events: Events, current: object
) -> None:
    talk = tree("t", said(1, "user", "Question."), said(2, "assistant", "Newer.", create_time=1_900_000_000))
    talk["mapping"]["m3"] = {"message": said(3, "assistant", "Older."), "parent": "m1", "children": []}
    mem.data.import_(listed(tmp_path / "conversations.json", talk | {"current_node": current}))
    assert [event.text for event in events()] == ["Question.", "Newer."]


PROGRAM: Final = "messages of the program"


@pytest.mark.parametrize(
    ("unsaid", "kind"),
    [
        (None, ""),
        (said(2, "system", "You are helpful."), "system messages"),
        (said(2, "tool", "Result."), "tool results"),
        (said(2, "assistant", "Draft.", weight=0), PROGRAM),
        (said(2, "user", "About me.", metadata={"is_visually_hidden_from_conversation": True}), PROGRAM),
        (said(2, "assistant", "search('x')", recipient="browser"), "tool calls"),
        (said(2, "assistant", content={"content_type": "code", "text": "print()"}), PROGRAM),
        (said(2, "assistant", content={"content_type": "thoughts", "thoughts": []}), PROGRAM),
        (said(2, "user", content={"content_type": "user_editable_context", "user_profile": "x"}), PROGRAM),
        (said(2, "user", "", "  "), "messages without words"),
        (
            said(2, "user", content={"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://x"}]}),
            "messages without words",
        ),
        (said(2, "user", content={"content_type": "text", "parts": []}), "messages without words"),
    ],
)
def test_messages_that_nobody_said_are_left_out_and_counted(
    mem: Credenda, tmp_path: Path, events: Events, *, unsaid: Table | None, kind: str
) -> None:
    talk = tree("t", said(1, "user", "Hello."), unsaid, said(3, "user", "Bye."))
    report = mem.data.import_(listed(tmp_path / "conversations.json", talk))
    assert ([event.text for event in events()], report.problems) == (["Hello.", "Bye."], ())
    assert dict(report.left_out) == ({kind: 1} if kind else {})


def test_pictures_keep_the_words_beside_them_and_speech_its_transcript(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    content = {
        "content_type": "multimodal_text",
        "parts": [
            {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"},
            "My cat Mia.",
            {"content_type": "audio_transcription", "text": "She is three."},
            None,
        ],
    }
    talk = tree("t", said(1, "user", content=content), said(2, "assistant", "Nice \ue200cite\ue202turn0\ue201cat."))
    mem.data.import_(listed(tmp_path / "conversations.json", talk))
    assert [event.text for event in events()] == ["My cat Mia.\n\nShe is three.", "Nice cat."]


def test_messages_that_are_each_others_parents_are_reported_and_not_followed_forever(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    circle = tree("t", said(1, "user", "One."), said(2, "user", "Two."))
    circle["mapping"]["m1"]["parent"] = "m2"
    orphan = tree("o", said(3, "user", "Three."))
    orphan["mapping"]["m3"]["parent"] = "gone"
    report = mem.data.import_(listed(tmp_path / "conversations.json", circle, orphan))
    assert [event.text for event in events()] == ["One.", "Two.", "Three."]
    assert [problem.partition(":")[0] for problem in report.problems] == ["conversation 1 (t)", "conversation 2 (o)"]


def test_a_message_without_a_time_has_that_of_the_one_before_or_of_the_conversation(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    talk = tree(
        "t",
        said(1, "user", "One.", create_time=None),
        said(2, "user", "Two."),
        said(3, "user", "Three.", create_time=None),
        said(4, "user", "Four.", create_time="soon"),
    )
    report = mem.data.import_(listed(tmp_path / "conversations.json", talk))
    begun, second, third, fourth = (event.occurred_at for event in events())
    assert begun == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert begun < second == third == fourth
    assert len(report.problems) == 1
    assert "message m4: its time cannot be read" in report.problems[0]


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (7, "conversation 2: it is not an object"),
        ("words", "conversation 2: it is not an object"),
        ([], "conversation 2: it is not an object"),
        ({"id": "x"}, "conversation 2: its mapping is not an object"),
        (tree("x", said(1, "user", content=None)), "conversation 2 (x), message m1: its content is not an object"),
        (tree("x", said(1, "user", content={"parts": 7})), "conversation 2 (x), message m1: it has no list of parts"),
        (
            tree("x", said(1, "user", "1") | {"author": 7}),
            "conversation 2 (x), message m1: its author is not an object",
        ),
    ],
)
def test_what_is_malformed_is_named_by_place_and_passed_over(
    mem: Credenda, tmp_path: Path, bad: object, problem: str
) -> None:
    first, last = tree("a", said(1, "user", "One.")), tree("b", said(1, "user", "Two."))
    report = mem.data.import_(listed(tmp_path / "conversations.json", first, bad, last))
    assert (report.turns, list(report.problems)) == (2, [problem])


def test_a_conversation_that_is_no_json_or_no_utf8_is_passed_over(mem: Credenda, tmp_path: Path) -> None:
    one, two = (json.dumps(tree(name, said(1, "user", f"In {name}."))).encode() for name in "ab")
    path = tmp_path / "conversations.json"
    path.write_bytes(b"\xef\xbb\xbf[" + one + b', {"mapping": nope}, {"title": "caf\xe9"},\n' + two + b"]")
    report = mem.data.import_(path)
    assert report.turns == 2
    assert [one[:33] for one in report.problems] == [
        "conversation 2: not JSON at chara",
        "conversation 3: byte 15 is not UT",
    ]

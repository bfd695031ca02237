"""Transcripts of Claude Code: what was said stays, the noise of tools does not; again, interrupted, and awkward."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from credenda import Credenda
from credenda.model.event import Role, Source
from credenda.providers.embed.minilm import MiniLmEmbedder
from tests.waiting import PATIENCE_SECONDS

from .conftest import Events
from .transcripts import SESSION, line, realistic, uid, written

KILLED_CHILD: Final = """
import sys
from credenda import Credenda

def told(done, total):
    print(done, flush=True)
    sys.stdin.readline()

with Credenda.open(sys.argv[1], user="ana", workers=False) as mem:
    mem.data.import_(sys.argv[2], progress=told)
"""


def test_what_was_said_keeps_speaker_time_session_and_id(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(
        tmp_path / "s.jsonl",
        {"type": "summary", "summary": "Parser work", "leafUuid": uid(9)},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"type": "user"}},
        line("user", "I live in Graz.", 1),
        line("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted: Graz."}], 2),
        line("user", [{"type": "text", "text": "I prefer tabs 🙂"}, {"type": "image", "source": {}}], 3),
    )
    report = mem.data.import_(path)
    assert (report.format, report.conversations, report.turns, report.problems) == ("claude-code", 1, 3, ())
    graz, noted, tabs = events()
    assert (graz.role, graz.text, graz.session, graz.external_id) == (Role.USER, "I live in Graz.", SESSION, uid(1))
    assert graz.occurred_at == datetime(2026, 1, 5, 9, 0, 17, tzinfo=UTC)
    assert (graz.source, graz.trust, graz.agent) == (Source.HUMAN, 1.0, "claude-code")
    assert graz.metadata == {"project": "/home/ana/api"}
    assert (noted.role, noted.text) == (Role.ASSISTANT, "Noted: Graz.")
    assert tabs.text == "I prefer tabs 🙂"
    mem.settle()
    assert [memory.value for memory in mem.list(attribute="residence").items] == ["Graz"]


def queued(prompt: object, **more: object) -> dict[str, Any]:
    """Make the line of something typed while the assistant worked."""
    attached = {"type": "queued_command", "prompt": prompt, **more}
    return {"type": "attachment", "attachment": attached, "sessionId": SESSION, "uuid": uid(2)}


@pytest.mark.parametrize(
    "noise",
    [
        line("user", "Look it up.", 2, isSidechain=True),
        line("user", "Caveat: the program says so.", 2, isMeta=True),
        line("user", "This session is being continued from a previous conversation that ran out.", 2),
        line("user", "All of it in short.", 2, isCompactSummary=True),
        line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "I live in Rome."}], 2),
        line("assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}], 2),
        line("assistant", [{"type": "thinking", "thinking": "I live in Rome."}], 2),
        line("assistant", [{"type": "text", "text": "API Error: 500"}], 2, isApiErrorMessage=True),
        line("assistant", [{"type": "text", "text": "(no content)"}], 2),
        line("user", "<command-name>/clear</command-name>\n<command-message>clear</command-message>", 2),
        line("user", "<local-command-stdout>I live in Rome.</local-command-stdout>", 2),
        line("user", "<system-reminder>\nI live in Rome.\n</system-reminder>", 2),
        line("user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], 2),
        line("user", "", 2),
        line("user", [], 2),
        {"type": "system", "content": "I live in Rome.", "sessionId": SESSION, "uuid": uid(2)},
        line("user", "Task done.", 2, origin={"kind": "task-notification"}),
        queued("Task done.", commandMode="task-notification"),
        queued("Task done.", origin={"kind": "channel"}),
        queued("Be brief.", isMeta=True),
        {"type": "attachment", "attachment": {"type": "file", "content": {"type": "user"}}, "sessionId": SESSION},
        {"type": "progress", "data": {"message": {"type": "assistant"}}, "sessionId": SESSION},
        b"",
    ],
)
def test_the_noise_of_tools_and_program_is_left_out(
    mem: Credenda, tmp_path: Path, events: Events, noise: object
) -> None:
    report = mem.data.import_(written(tmp_path / "s.jsonl", line("user", "Hello.", 1), noise, line("user", "Bye.", 3)))
    assert (report.turns, report.problems) == (2, ())
    assert sum(report.left_out.values()) == bool(noise)
    assert [event.text for event in events()] == ["Hello.", "Bye."]


def test_lines_that_nobody_said_are_counted_by_kind(mem: Credenda, tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Done."},
        {"type": "tool_use", "id": "t"},
    ]
    noise = (
        line("assistant", blocks, 2),
        line("user", [{"type": "tool_result", "tool_use_id": "t", "content": "x"}], 3),
        line("user", "<command-name>/clear</command-name>", 4),
        line("user", "[Request interrupted by user]", 5),
        {"type": "system", "content": "x", "sessionId": SESSION, "uuid": uid(6)},
    )
    report = mem.data.import_(written(tmp_path / "s.jsonl", line("user", "Hello.", 1), *noise))
    kinds = {"interruptions", "lines of the program", "slash commands", "thoughts", "tool calls", "tool results"}
    assert (report.turns, dict(report.left_out)) == (2, dict.fromkeys(kinds, 1))


@pytest.mark.parametrize(
    "case",
    [
        ("Fix it.<system-reminder>\nBe brief.\n</system-reminder>\nPlease.", "Fix it.\nPlease."),
        ("<ide_opened_file>The user opened a.py</ide_opened_file>\nExplain it.", "Explain it."),
        ("What is <system-reminder> for?", "What is <system-reminder> for?"),
        ("I live in Graz.\n[Request interrupted by user]", "I live in Graz."),
        ("<b>bold</b> stays", "<b>bold</b> stays"),
    ],
)
def test_what_the_program_adds_to_a_prompt_is_cut_out(
    mem: Credenda, tmp_path: Path, events: Events, case: tuple[str, str]
) -> None:
    said, kept = case
    mem.data.import_(written(tmp_path / "s.jsonl", line("user", said)))
    assert [event.text for event in events()] == [kept]


def test_what_was_typed_while_the_assistant_worked_is_kept(mem: Credenda, tmp_path: Path, events: Events) -> None:
    words = [{"type": "text", "text": "I live in Graz."}]
    second = queued(words, origin={"kind": "human"}) | {"uuid": uid(3), "timestamp": "2026-01-05T09:10:00Z"}
    first = queued("Stop.", commandMode="prompt")
    mem.data.import_(written(tmp_path / "s.jsonl", line("user", "Go.", 1, origin={"kind": "human"}), first, second))
    assert [event.text for event in events()] == ["Go.", "Stop.", "I live in Graz."]
    assert {event.role for event in events()} == {Role.USER}


def test_openings_that_never_close_cost_no_time(mem: Credenda, tmp_path: Path, events: Events) -> None:
    said = "</system-reminder>" + "<system-reminder>" * 20_000
    started = time.process_time()
    mem.data.import_(written(tmp_path / "s.jsonl", line("user", said)))
    assert time.process_time() - started < 3
    assert events()[0].text == said


def test_every_branch_of_a_prompt_that_was_sent_again_is_kept(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(
        tmp_path / "s.jsonl",
        line("user", "I live in Rome.", 1),
        line("user", "I live in Graz.", 2, parentUuid=None),
        line("assistant", [{"type": "text", "text": "First half,"}], 3, message_id="msg"),
        line("assistant", [{"type": "text", "text": "second half."}], 4, message_id="msg"),
    )
    mem.data.import_(path)
    assert [event.text for event in events()] == ["I live in Rome.", "I live in Graz.", "First half,", "second half."]


def test_a_folder_of_projects_is_read_whole_but_for_sub_agents(mem: Credenda, tmp_path: Path, events: Events) -> None:
    root = tmp_path / "projects"
    written(root / "-home-ana-api" / "b.jsonl", line("user", "Second.", 2, sessionId="b"))
    written(root / "-home-ana-api" / "a.jsonl", line("user", "First.", 1, sessionId="a"))
    written(root / "-home-ana-api" / "a" / "subagents" / "agent-7.jsonl", line("user", "Agent.", 3))
    written(root / "-home-ana-api" / "agent-8.jsonl", line("user", "Old agent.", 4))
    written(root / "-home-ana-api" / ".hidden" / "x.jsonl", line("user", "Hidden.", 5))
    written(root / "-home-ana-web" / "c.jsonl", b"{broken", line("user", "Third.", 6, sessionId="c"))
    written(root / "-home-ana-web" / "memory" / "MEMORY.md", b"# Notes")
    told: list[tuple[int, int | None]] = []
    report = mem.data.import_(root, progress=lambda done, total: told.append((done, total)))
    assert (report.format, report.conversations, report.turns) == ("claude-code", 3, 3)
    assert report.problems == ("-home-ana-web/c.jsonl, line 1: not JSON at character 2",)
    assert [(event.text, event.session) for event in events()] == [("First.", "a"), ("Second.", "b"), ("Third.", "c")]
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]


def test_a_session_that_was_resumed_into_a_new_file_comes_once(mem: Credenda, tmp_path: Path) -> None:
    first = [line("user", "One.", 1), line("user", "Two.", 2)]
    copied = [one | {"sessionId": "other"} for one in first]
    written(tmp_path / "p" / "a.jsonl", *first)
    written(tmp_path / "p" / "b.jsonl", *copied, line("user", "Three.", 3, sessionId="other"))
    report = mem.data.import_(tmp_path / "p")
    assert (report.turns, report.skipped, report.problems) == (3, 2, ())
    again = mem.data.import_(tmp_path / "p")
    assert (again.turns, again.skipped, again.problems) == (0, 5, ())


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"type":"user","sess', "line 2: not JSON at character"),
        (b'{"type":"user","message":{"content":"caf\xe9"}}', "line 2: byte 41 is not UTF-8"),
        (b'["type"]', "line 2: it is not an object"),
        ({"type": "user", "sessionId": SESSION}, "line 2: its message is not an object"),
        (line("user", 7, 2), f"line 2, message {uid(2)}: its content is neither"),
        (line("user", ["words"], 2), f"line 2, message {uid(2)}: a block of its content is not an object"),
        (line("user", "x", 2, message=None), f"line 2, message {uid(2)}: its message is not an object"),
    ],
)
def test_what_is_malformed_is_named_by_line_and_id_and_passed_over(
    mem: Credenda, tmp_path: Path, bad: object, problem: str
) -> None:
    report = mem.data.import_(written(tmp_path / "s.jsonl", line("user", "One.", 1), bad, line("user", "Two.", 3)))
    assert report.turns == 2
    assert [one[: len(problem)] for one in report.problems] == [problem]


def test_a_line_without_its_time_has_that_of_the_line_before(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(
        tmp_path / "s.jsonl",
        line("user", "One.", 1),
        line("user", "Two.", 2, timestamp=None),
        line("user", "Three.", 3, timestamp="soon"),
    )
    report = mem.data.import_(path)
    assert report.turns == 3
    assert len(report.problems) == 1
    assert "line 3" in report.problems[0]
    assert len({event.occurred_at for event in events()}) == 1


def test_lines_without_any_time_are_as_old_as_their_file(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(tmp_path / "s.jsonl", line("user", "One.", 1, timestamp=None), line("user", "Two.", 2, timestamp=""))
    for day in (1, 2):
        moment = datetime(2025, 3, day, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
        report = mem.data.import_(path)
    assert (report.turns, report.skipped, report.problems) == (0, 2, ())
    assert {event.occurred_at for event in events()} == {datetime(2025, 3, 1, tzinfo=UTC)}


def test_long_turns_stay_whole_and_longer_ones_come_in_parts(mem: Credenda, tmp_path: Path, events: Events) -> None:
    long, longer = "word " * 60_000, "wörd " * 300_000
    path = written(tmp_path / "s.jsonl", line("user", long, 1), line("user", longer, 2), line("user", "Ok \ud83d", 3))
    report = mem.data.import_(path)
    assert report.problems == ()
    first, *parts, last = events()
    assert first.text == long.strip()
    assert "".join(part.text for part in parts).split() == longer.split()
    assert last.text == "Ok \ufffd"
    again = mem.data.import_(path)
    assert (again.turns, again.skipped) == (0, report.turns)


def test_the_first_turns_are_found_by_another_process_before_the_last_are_read(
    mem: Credenda, path: Path, tmp_path: Path
) -> None:
    transcript = written(tmp_path / "s.jsonl", *realistic(800))
    found: list[tuple[int, bool]] = []

    def ask() -> bool:
        code = "import sys; from credenda import Credenda\nwith Credenda.open(sys.argv[1], user='ana', read_only=True)"
        code += " as mem: sys.exit(not any('Marker1.' in hit.text for hit in mem.search('Marker1').hits))"
        return (
            subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=PATIENCE_SECONDS).returncode
            == 0
        )

    def told(done: int, total: int | None) -> None:
        if total and done < total and not found:
            with ThreadPoolExecutor(1) as pool:
                found.append((done, pool.submit(ask).result()))

    report = mem.data.import_(transcript, progress=told)
    assert found[0][1]
    assert report.turns == 320


def test_an_import_that_was_killed_goes_on_with_nothing_twice_and_nothing_lost(
    path: Path, tmp_path: Path, events: Events
) -> None:
    transcript = written(tmp_path / "s.jsonl", *realistic(1_000))
    command = [sys.executable, "-c", KILLED_CHILD, str(path), str(transcript)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert int(child.stdout.readline()) < transcript.stat().st_size
        child.send_signal(signal.SIGKILL)
        child.wait(PATIENCE_SECONDS)
    before = len(events())
    assert 0 < before < 400
    with Credenda.open(path, user="ana", workers=False) as mem:
        report = mem.data.import_(transcript)
    assert (report.turns, report.skipped, report.problems) == (400 - before, before, ())
    assert len({event.external_id for event in events()}) == len(events()) == 400


def measure_hundred_texts() -> float:
    """Measure the seconds that this processor needs to embed a hundred texts: .2 where the bound was set at 4 s.

    The reader's products of eight bits take four times as long on processors without an instruction for them.
    """
    texts = [f"On Friday my sister and I bought rye, {at} rolls and a cake for her birthday." for at in range(100)]
    MiniLmEmbedder().embed(texts[:1])
    started = time.process_time()
    MiniLmEmbedder().embed(texts)
    return time.process_time() - started


@pytest.mark.parametrize("lines", [1_000, pytest.param(5_000, marks=pytest.mark.long_load)])
def test_a_long_transcript_is_read_and_believed_within_the_bound(path: Path, tmp_path: Path, lines: int) -> None:
    transcript = written(tmp_path / "s.jsonl", *realistic(lines))
    with Credenda.open(path, user="ana", workers=False) as mem:
        started = time.process_time()
        report = mem.data.import_(transcript)
        mem.settle(100)
        spent = time.process_time() - started
        assert (report.turns, report.problems) == (lines * 2 // 5, ())
        assert spent < 20 * measure_hundred_texts() * lines / 1_000
        assert mem.stats().total > 5
        assert any(f"Marker{lines - 9}." in hit.quote for hit in mem.search(f"Marker{lines - 9}").hits)

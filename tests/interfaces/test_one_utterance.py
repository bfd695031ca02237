"""One utterance is one event, whichever doors see it: the hook, the transcript of the host, the tool of the model."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda

from .hooked import CodingAgent
from .terminal import Terminal

SAID = ("For the mail service we decided to use Kafka.", "yes", "My dog is called Rex.", "yes")
HEARD = "Noted, Kafka it is for the mail service."


def write_transcript(agent: CodingAgent, path: Path, *lines: tuple[str, str], at: datetime | None = None) -> Path:
    """Write what Claude Code keeps of a session that hooks have followed."""
    told: list[dict[str, Any]] = []
    for number, (role, text) in enumerate(lines):
        told.append(
            {
                "type": role,
                "uuid": f"{path.stem * 8}-0000-4000-8000-{number:012d}",
                "sessionId": agent.session,
                "cwd": str(agent.place),
                "timestamp": (at or datetime.fromtimestamp(time.time(), UTC)).isoformat(),
                "message": {"role": role, "content": text},
            }
        )
    path.write_text("".join(json.dumps(one) + "\n" for one in told))
    return path


def talk(agent: CodingAgent) -> list[tuple[str, str]]:
    for words in SAID:
        agent.say(words)
    agent.hear(HEARD)
    return [*(("user", words) for words in SAID), ("assistant", HEARD)]


def test_a_transcript_adds_nothing_to_what_hooks_have_kept_and_confirms_nothing(folder: Path) -> None:
    agent = CodingAgent(folder)
    lines = talk(agent)
    agent.file()
    with agent.open() as memory:
        before = [(one.text, one.confirmations) for one in memory.list().items]
        report = memory.data.import_(write_transcript(agent, folder / "s.jsonl", *lines))
        memory.settle()
        assert (report.turns, report.skipped) == (0, 5)
        assert [(one.text, one.confirmations) for one in memory.list().items] == before


def test_a_transcript_brings_what_no_hook_has_seen(folder: Path) -> None:
    agent = CodingAgent(folder)
    lines = talk(agent)
    agent.file()
    hours_ago = datetime.now(UTC) - timedelta(hours=3)
    with agent.open() as memory:
        earlier = write_transcript(agent, folder / "s.jsonl", *lines[:2], at=hours_ago)
        assert memory.data.import_(earlier).turns == 2
        agent.session = "another"
        other = write_transcript(agent, folder / "t.jsonl", *lines[:1])
        assert memory.data.import_(other).turns == 1


def test_the_command_files_what_waits_before_it_imports(folder: Path) -> None:
    agent = CodingAgent(folder)
    lines = talk(agent)
    path = write_transcript(agent, folder / "s.jsonl", *lines)
    told = Terminal(folder).json("import", str(path))
    assert (told["turns"], told["skipped"]) == (0, 5)


def pass_on(memory: Credenda, text: str) -> Any:  # noqa: ANN401 - a receipt
    """Store words as the tool of a model does."""
    return memory.remember(text, source="ai")


@pytest.mark.parametrize("text", ["My dog is called Rex.", "my dog is called Rex", "My dog is called Rex. He barks."])
def test_words_that_the_model_passes_on_in_the_turn_are_no_second_statement(folder: Path, text: str) -> None:
    agent = CodingAgent(folder)
    agent.say("Hello! My dog is called Rex. He barks. Please look at the parser.")
    agent.file()
    with agent.open() as memory:
        receipt = pass_on(memory, text)
        memory.settle()
        assert receipt.cached
        assert memory.stats().events == 1
        assert [one.confirmations for one in memory.list().items if "Rex" in one.text] == [0]


@pytest.mark.parametrize("text", ["My dog is called Max.", "dog is called Rex", "He barks. My dog is called Rex."])
def test_other_words_of_a_model_are_a_statement_of_their_own(folder: Path, text: str) -> None:
    agent = CodingAgent(folder)
    agent.say("Hello! My dog is called Rex. He barks.")
    agent.file()
    with agent.open() as memory:
        assert not pass_on(memory, text).cached
        assert memory.stats().events == 2


def test_the_summary_of_a_compaction_is_kept_once_and_as_derived(folder: Path) -> None:
    agent = CodingAgent(folder)
    summary = "The user decided on Kafka for the mail service."
    agent.send("SubagentStop", agent_id="a03ef4f3", last_assistant_message=summary)
    agent.send("PostCompact", trigger="manual", compact_summary=summary)
    assert [(one["text"], one["source"]) for one in agent.waiting] == [(summary, "dream")]


def test_a_named_subagent_is_still_heard(folder: Path) -> None:
    agent = CodingAgent(folder)
    agent.send("SubagentStop", agent_id="a03", agent_type="Explore", last_assistant_message="The parser is slow.")
    assert [one["source"] for one in agent.waiting] == ["interaction"]

"""What hooks recall and keep in conversations that nothing was fitted to."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.hook_styles import FOREIGN, PRIVATE, Asked, Story, make_story
from benchmarks.hook_transcript import Line
from benchmarks.hooks import HookedMemory, list_files
from benchmarks.locomo import Conversation, Question, load_conversations, load_questions
from credenda import Credenda
from credenda.text.fence import estimate_tokens
from credenda.text.recalled_block import PROMPT_TOKENS, extract_spoken

_REQUESTS: Final = tuple(f"{verb} {thing}" for verb in ("rename", "test", "explain", "format") for thing in (
    "the helper in utils", "this function", "the last change", "the config loader", "module seven"))  # fmt: skip
"""Prompts between the questions that ask for nothing that a memory holds."""
_SHOWN: Final = re.compile(r"^- \[([^\]\n]+)\]", re.MULTILINE)


def run_held_out(
    data: Path | None,
    questions: Path | None,
    *,
    seeds: Sequence[int],
    words: int,
    embedder: str,
    note: Callable[[str], None],
) -> dict[str, Any]:
    """Measure conversations with gold turns, if given, and generated transcripts; `kept` tells whether bounds held."""
    found: dict[str, Any] = {"embedder": embedder, "transcripts": {}}
    tallies = [Counter[str]() for _ in seeds]
    for seed, tally in zip(seeds, tallies, strict=True):
        note(f"transcript {seed}")
        _tell_story(make_story(seed, words), tally, embedder=embedder)
    total = sum(tallies, Counter[str]())
    total["largest"] = max(tally["largest"] for tally in tallies)
    found["transcripts"]["engine"] = _show_story(total)
    if data is not None and questions is not None:
        tally = Counter[str]()
        asked = load_questions(questions)
        for conversation in load_conversations(data):
            note(conversation.name)
            mine = [one for one in asked if one.conversation == conversation.name]
            _replay_conversation(conversation, mine, tally, embedder)
        found["conversations"] = _show_conversations(tally)
    told = [*found["transcripts"].values(), *([found["conversations"]] if "conversations" in found else [])]
    kept = all(one["tokens a prompt, largest"] <= PROMPT_TOKENS for one in told)
    return {"figures": found, "kept": kept and not any(one.get("words that must be nowhere") for one in told)}


class _Archive:
    """All of a memory: messages and beliefs by their numbers, and the messages behind each belief."""

    def __init__(self, memory: Credenda, folder: Path) -> None:
        place = folder / "archive.jsonl"
        memory.data.export(place)
        self.events: dict[int, str] = {}
        self.memories: dict[int, str] = {}
        self.behind: dict[int, set[int]] = defaultdict(set)
        with place.open(encoding="utf-8") as file:
            for line in file:
                told = json.loads(line)
                row, table = told.get("row"), told.get("table")
                if table == "events":
                    self.events[row["id"]] = row["text"]
                elif table == "memories":
                    self.memories[row["id"]] = row["text"]
                elif table == "evidence":
                    self.behind[row["memory"]].add(row["event"])
        place.unlink()

    def find_messages(self, name: str) -> set[str]:
        """Return the messages behind an id that was shown: of a memory, or of a message itself."""
        number = int(name[1:].partition("-")[0])
        return {self.events[one] for one in (self.behind[number] if name.startswith("m") else {number})}


def _tell_story(story: Story, tally: Counter[str], *, embedder: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Credenda.open(folder / "memory.db", user="ana", embedder=embedder, workers=False) as memory:
            agent = HookedMemory(memory, folder)
            before = ""
            for line in story.lines:
                tally["lines"] += 1
                if line.kind != "tool":
                    text = agent.send(line)
                    before = text if line.kind in {"start", "compact"} else f"{before}\n{text}"
                    _judge_line(story, line, (text, before), tally)
                if line.kind in {"reply", "compact"}:
                    agent.file()
            archive = _Archive(memory, folder)
        believed = {one for events in archive.behind.values() for one in events}
        for text in story.statements.values():
            words = text[1:].rstrip(".")
            holding = {number for number, told in archive.events.items() if words in told}
            tally["statements"] += 1
            tally["kept"] += bool(holding)
            tally["believed"] += not holding.isdisjoint(believed)
        data = b"".join(path.read_bytes() for path in list_files(folder))
        tally["leaked"] += PRIVATE.encode() in data
        tally["leaked"] += sum(FOREIGN in text for text in archive.memories.values())


def _judge_line(story: Story, line: Line, shown: tuple[str, str], tally: Counter[str]) -> None:
    """Count one prompt: what it was shown, and all that its session was shown, which its agent still has."""
    text, before = shown
    if line.kind != "prompt":
        return
    _count_tokens(text, tally)
    asked = story.questions.get(line.number)
    if asked is not None:
        _judge_answer(asked, text, before, tally)
        return
    kind = "told" if line.number in story.statements else "requests"
    tally[kind] += 1
    tally[f"{kind} with"] += bool(text)


def _count_tokens(text: str, tally: Counter[str]) -> None:
    tokens = estimate_tokens(text) if text else 0
    tally["prompts"] += 1
    tally["tokens"] += tokens
    tally["largest"] = max(tally["largest"], tokens)


def _judge_answer(asked: Asked, text: str, before: str, tally: Counter[str]) -> None:
    if not asked.words:
        tally["unknown"] += 1
        tally["unknown with"] += bool(text)
        return
    right = any(word in before for word in asked.words)
    tally["asked"] += 1
    tally["right"] += right
    tally["silent"] += not text and not right
    tally["stale"] += not right and any(word in text for word in asked.stale)


def _show_prompts(tally: Counter[str]) -> dict[str, Any]:
    return {
        "prompts": tally["prompts"],
        "tokens a prompt, mean": round(tally["tokens"] / tally["prompts"], 2),
        "tokens a prompt, largest": tally["largest"],
        "requests that got something": f"{tally['requests with']} of {tally['requests']}",
        "statements that got something": f"{tally['told with']} of {tally['told']}",
    }


def _show_story(tally: Counter[str]) -> dict[str, Any]:
    return {
        "lines": tally["lines"],
        **_show_prompts(tally),
        "questions answered": f"{tally['right']} of {tally['asked']}",
        "questions to which nothing was said": f"{tally['silent']} of {tally['asked']}",
        "questions answered with an ended value alone": tally["stale"],
        "unanswerable questions that got something": f"{tally['unknown with']} of {tally['unknown']}",
        "statements whose words are kept": f"{tally['kept']} of {tally['statements']}",
        "statements behind a belief": f"{tally['believed']} of {tally['statements']}",
        "words that must be nowhere": tally["leaked"],
    }


def _replay_conversation(
    conversation: Conversation, questions: Sequence[Question], tally: Counter[str], embedder: str
) -> None:
    """Send a conversation, then each question as a new session's only prompt, with requests in between."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Credenda.open(folder / "memory.db", user="ana", embedder=embedder, workers=False) as memory:
            agent = HookedMemory(memory, folder)
            for number, (kind, session, text) in enumerate(_list_turns(conversation)):
                shown = agent.send(Line(kind, session, text, number))
                if kind == "prompt":
                    tally["told"] += 1
                    tally["told with"] += bool(shown)
                    _count_tokens(shown, tally)
                else:
                    agent.file()
            agent.file()
            archive = _Archive(memory, folder)
            _count_kept(conversation, archive, tally)
            turns = {extract_spoken(text): turn for turn, text in conversation.turns.items()}
            for number, question in enumerate(questions):
                shown = agent.send(Line("prompt", f"question-{number}", question.text, 0))
                _judge_question(question, _find_shown(shown, archive, turns), tally)
                shown = agent.send(Line("prompt", f"question-{number}", _REQUESTS[number % len(_REQUESTS)], 1))
                tally["requests"] += 1
                tally["requests with"] += bool(shown)
                _count_tokens(shown, tally)


def _list_turns(conversation: Conversation) -> Iterator[tuple[str, str, str]]:
    for session, messages in conversation.sessions:
        yield "start", session, "startup"
        for message in messages:
            yield ("prompt" if message["role"] == "user" else "reply"), session, str(message["content"])


def _count_kept(conversation: Conversation, archive: _Archive, tally: Counter[str]) -> None:
    kept = set(archive.events.values())
    said = [str(one["content"]) for _, messages in conversation.sessions for one in messages if one["role"] == "user"]
    tally["said"] += sum(map(len, said))
    tally["said, kept"] += sum(len(text) for text in said if extract_spoken(text) in kept)


def _find_shown(text: str, archive: _Archive, turns: Mapping[str, str]) -> list[set[str]]:
    """Return for each line of a block the turns behind it."""
    lines = [re.split(r",\s*", found) for found in _SHOWN.findall(text)]
    return [{turns[told] for name in names for told in archive.find_messages(name) if told in turns} for names in lines]


def _judge_question(question: Question, shown: Sequence[set[str]], tally: Counter[str]) -> None:
    if not question.answerable:
        tally["unknown"] += 1
        tally["unknown with"] += bool(shown)
        return
    right = [not turns.isdisjoint(question.gold) for turns in shown]
    tally["asked"] += 1
    tally["silent"] += not shown
    tally["right"] += any(right)
    tally["lines"] += len(right)
    tally["lines right"] += sum(right)


def _show_conversations(tally: Counter[str]) -> dict[str, Any]:
    return {
        **_show_prompts(tally),
        "questions that got a line of a gold turn": f"{tally['right']} of {tally['asked']}",
        "questions without any recall": f"{tally['silent']} of {tally['asked']}",
        "lines of a gold turn, of those recalled": f"{tally['lines right']} of {tally['lines']}",
        "unanswerable questions that got something": f"{tally['unknown with']} of {tally['unknown']}",
        "characters of the user that are kept": round(tally["said, kept"] / max(1, tally["said"]), 4),
    }

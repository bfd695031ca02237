"""Replay a transcript of a coding agent through the hooks, and measure what a hook costs its agent."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.hook_transcript import KEPT, NEVER, QUESTIONS, Line, make_transcript
from credenda import Credenda
from credenda.interfaces.hook.run import Ask, Options, run_hook
from credenda.interfaces.hook_engine.listener import answer_hook, file_waiting, find_memory_places
from credenda.text.fence import estimate_tokens
from credenda.text.recalled_block import PROMPT_TOKENS

_EVENTS = {"start": "SessionStart", "compact": "SessionStart", "prompt": "UserPromptSubmit", "reply": "Stop"}
_FIELDS = {"start": "source", "compact": "source", "prompt": "prompt", "reply": "last_assistant_message"}
_MS = 1_000
_TARGET = 0.080
"""CPU seconds of a process."""


@dataclass(slots=True)
class Replay:
    """The figures of a replay: tokens by prompt and by start, ids by session, answers to questions, and beliefs."""

    lines: int = 0
    prompts: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])
    repeated: list[str] = field(default_factory=list[str])
    answered: dict[str, bool] = field(default_factory=dict[str, bool])
    kept: dict[str, str] = field(default_factory=dict[str, str])
    leaked: list[str] = field(default_factory=list[str])
    events: int = 0

    @property
    def tokens_a_prompt(self) -> float:
        """The mean number of tokens that a prompt brought."""
        return statistics.mean(self.prompts)


def replay_transcript(folder: Path, lines: Sequence[Line] | None = None) -> Replay:
    """Send every line through the hooks of Claude Code, with an engine that files and answers at once."""
    database = folder / "memory.db"
    found = Replay()
    given = list(make_transcript()) if lines is None else lines
    shown: dict[str, set[str]] = {}
    with Credenda.open(database, user="ana", workers=False) as memory:
        agent = HookedMemory(memory, folder)
        for line in given:
            found.lines += 1
            if line.kind == "tool":
                continue  # no hook of this host runs at a tool
            text = agent.send(line)
            _note(found, line, text, shown)
            if line.kind in {"reply", "compact"}:
                agent.file()
        _judge(found, memory)
    found.leaked = [word for word in NEVER if any(word.encode() in path.read_bytes() for path in list_files(folder))]
    return found


def list_files(folder: Path) -> list[Path]:
    """Return all files of a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]


class HookedMemory:
    """A memory behind the hooks of Claude Code, in this process."""

    def __init__(self, memory: Credenda, folder: Path) -> None:
        self._memory = memory
        self._folder = folder
        self._ask: Ask = self._answer

    def send(self, line: Line) -> str:
        """Send a line, and return the text for the model."""
        told = {
            "session_id": line.session,
            "prompt_id": f"{line.session}-{line.number}",
            "cwd": str(self._folder),
            _FIELDS[line.kind]: line.text,
        }
        options = Options(_EVENTS[line.kind], "claude-code", str(self._memory.location), "ana", background=False)
        answer = run_hook(options, json.dumps(told).encode(), seconds=60, ask=self._ask)
        return json.loads(answer)["hookSpecificOutput"]["additionalContext"] if answer else ""

    def file(self) -> None:
        """File what waits, and derive the beliefs."""
        file_waiting(self._memory, find_memory_places(self._memory))
        self._memory.settle()

    def _answer(self, _: object, request: Mapping[str, object], **__: float) -> Mapping[str, object]:
        return answer_hook(self._memory, request)


def _note(found: Replay, line: Line, text: str, shown: dict[str, set[str]]) -> None:
    if line.kind == "prompt":
        found.prompts.append(estimate_tokens(text) if text else 0)
        for question, word in QUESTIONS:
            if line.text == question:
                found.answered[question] = word in text
    elif line.kind in {"start", "compact"}:
        found.starts.append(estimate_tokens(text) if text else 0)
        shown[line.session] = set()
    for row in text.splitlines():
        if row.startswith("- ["):
            name = row[3 : row.index("]")]
            found.repeated += [name] if name in shown[line.session] else []
            shown[line.session].add(name)


def _judge(found: Replay, memory: Credenda) -> None:
    found.events = memory.stats().events
    for attribute in KEPT:
        values = [one.value or "" for one in memory.list(attribute=attribute, entity="user").items]
        found.kept[attribute] = ", ".join(sorted(values))


def _measure_process(database: Path, number: int) -> tuple[float, float]:
    """Return the CPU seconds and the time of one process of a hook, at the start of a session."""
    payload = {"session_id": f"s{number}", "cwd": "/", "source": "startup"}
    command = [sys.executable, "-P", "-m", "credenda", "hook", "SessionStart", "--db", str(database)]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(  # noqa: S603 - our own program
        [*command, "--user", "ana", "--no-background"],
        input=json.dumps(payload).encode(),
        check=True,
        capture_output=True,
        env=dict(os.environ),
    )
    took, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def run_hooks(processes: int) -> dict[str, Any]:
    """Replay the transcript and start some processes; `kept` of the figures tells whether every target was met."""
    with tempfile.TemporaryDirectory() as name:
        begun = time.process_time()
        found = replay_transcript(Path(name))
        spent = time.process_time() - begun
        costs = [_measure_process(Path(name) / "memory.db", number) for number in range(processes)]
    cpu, took = sorted(one for one, _ in costs), sorted(one for _, one in costs)
    beliefs = sum(found.kept[one] == value for one, value in KEPT.items())
    figures = {
        "lines": found.lines,
        "prompts": len(found.prompts),
        "events kept": found.events,
        "tokens a prompt, mean": round(found.tokens_a_prompt, 1),
        "tokens a prompt, largest": max(found.prompts),
        "tokens at a start, largest": max(found.starts),
        "prompts that brought something": sum(map(bool, found.prompts)),
        "memories shown twice in a session": len(found.repeated),
        "questions answered": f"{sum(found.answered.values())} of {len(QUESTIONS)}",
        "beliefs kept": f"{beliefs} of {len(KEPT)}",
        "words that must be nowhere": ", ".join(found.leaked) or "none found",
        "CPU of the replay, s": round(spent, 1),
        "CPU of a process, median, ms": round(statistics.median(cpu) * _MS, 1),
        "CPU of a process, p95, ms": round(cpu[int(len(cpu) * 0.95)] * _MS, 1),
        "time of a process, median, ms": round(statistics.median(took) * _MS, 1),
        "time of a process, p95, ms": round(took[int(len(took) * 0.95)] * _MS, 1),
    }
    kept = max(found.prompts) <= PROMPT_TOKENS and statistics.median(cpu) < _TARGET and not found.leaked
    return {"figures": figures, "kept": kept and beliefs == len(KEPT) and not found.repeated}

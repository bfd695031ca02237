"""Transcripts of coding agents that nothing was fitted to: four projects, several ways of writing, values by a seed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.hook_transcript import Line

_FILES: Final = ("hook_styles.toml", "hook_styles_2.toml")
"""Sets of sentences; the second was written after the code was mended with the first."""
_LINES: Final = 5_000
_SESSIONS: Final = 25
_TOOLS: Final = (0, 12)
_APART: Final = 1
"""Sessions between a statement and the first question about it."""
_COMPACTED: Final = 6
"""One session in this many is compacted at its end."""
PRIVATE: Final = "swordfish-9021"
"""A private word, which may be in no file."""
FOREIGN: Final = "Timbuktu"
"""A word that only programs and the agent say, which may be in no belief."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: `words` of which an answer has one, and `stale` that it must not have; without words it has none."""

    text: str
    words: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(slots=True)
class Story:
    """The lines of a transcript, its statements by their line's number, and its questions by theirs."""

    lines: list[Line] = field(default_factory=list[Line])
    statements: dict[int, str] = field(default_factory=dict[int, str])
    questions: dict[int, Asked] = field(default_factory=dict[int, Asked])


def make_story(seed: int, number_of_set: int = 1) -> Story:
    """Return the transcript of a seed and a set of sentences, 1 or 2, always the same."""
    rng = Random(seed)
    words = tomllib.loads(Path(__file__).with_name(_FILES[number_of_set - 1]).read_text("utf-8"))
    plan = _plan(rng, words)
    story = Story()
    number = 0
    for place in range(_SESSIONS):
        session = f"held-out-{seed}-{place:02d}"
        story.lines.append(Line("start", session, "startup", number))
        prompts = list(plan[place])
        count, a_session = 1, _LINES // _SESSIONS
        while count < a_session or prompts:
            number += 1
            said = prompts.pop(0) if prompts and rng.random() < _share(prompts, a_session - count) else None
            text = _style(rng, words, said[0]) if said else _request(rng, words)
            if said and said[1] is None:
                story.statements[number] = said[0]
            elif said and said[1] is not None:
                text = said[0]
                story.questions[number] = said[1]
            story.lines.append(Line("prompt", session, text, number))
            tools = min(rng.randint(*_TOOLS), max(0, a_session - count - 2))
            output = str(rng.choice(words["outputs"])).format(n=number)
            story.lines += [Line("tool", session, output, number)] * tools
            story.lines.append(Line("reply", session, str(rng.choice(words["replies"])).format(n=number), number))
            count += tools + 2
        if place % _COMPACTED == _COMPACTED - 1:
            story.lines.append(Line("compact", session, "compact", number))
    return story


def _share(prompts: Sequence[object], lines: int) -> float:
    """Return how probably the next prompt is one of those planned, so that all of them come."""
    turns = max(1, lines // 8)
    return min(1.0, len(prompts) / turns + 0.05)


def _plan(rng: Random, words: Mapping[str, Any]) -> list[list[tuple[str, Asked | None]]]:
    """Return for each session its statements, without a question, and its questions, each with its answer."""
    plan: list[list[tuple[str, Asked | None]]] = [[] for _ in range(_SESSIONS)]
    for row in words["facts"]:
        values = {name: rng.sample(pool, 2) for name, pool in words["pools"].items()}
        old, new = ({name: pair[at] for name, pair in values.items()} for at in (0, 1))
        told = rng.randrange(_SESSIONS - 2 * _APART - 1)
        plan[told].append((row["says"].format(**old), None))
        current, stale = old, ()
        if "changes" in row:
            changed = rng.randrange(told + 1, _SESSIONS - _APART)
            plan[changed].append((row["changes"].format(**new), None))
            stale = tuple(word.format(**old) for word in row["words"])
            current, told = new, changed
        asked = rng.randrange(told + _APART, _SESSIONS)
        answer = tuple(word.format(**current) for word in row["words"])
        plan[asked].append((row["asks"].format(**current), Asked(row["asks"], answer, stale)))
    for text in words["unknown"]:
        plan[rng.randrange(_SESSIONS // 3, _SESSIONS)].append((text, Asked(text)))
    return plan


def _request(rng: Random, words: Mapping[str, Any]) -> str:
    text = str(rng.choice(words["requests"]))
    return text.format(**{name: rng.choice(pool) for name, pool in words["pools"].items()}, n=rng.randrange(1, 900))


def _style(rng: Random, words: Mapping[str, Any], text: str) -> str:
    """Return a statement as somebody types it: as it is, in lower case, before or after a request, or in a list."""
    match rng.randrange(6):
        case 0:
            return text[0].lower() + text[1:].rstrip(".")
        case 1:
            return f"{text} {_request(rng, words)}"
        case 2:
            return f"{_request(rng, words).rstrip('.?!')}. {text}"
        case 3:
            return f"Notes before you go on:\n\n- {text}\n- {_request(rng, words)}"
        case _:
            return text

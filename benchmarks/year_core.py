"""The core block through the simulated year: within its limits every day, with every standing instruction."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Final

from credenda import Credenda
from credenda.model.core import Section
from credenda.text.fence import estimate_tokens

_RULES: Final = (
    ("Always give temperatures in Celsius.", "Celsius"),
    ("Never use emojis.", "emojis"),
    ("From now on, answer in short paragraphs.", "short paragraphs"),
    ("Please always cite your sources.", "cite your sources"),
    ("When I ask about money, always show the currency.", "show the currency"),
    ("Always write dates in full.", "dates in full"),
    ("Never suggest restaurants with loud music.", "loud music"),
    ("Going forward, keep code examples in Python.", "code examples in Python"),
    ("Always round prices to whole euros.", "whole euros"),
    ("Never quote poems at me.", "quote poems"),
)
"""Standing instructions, and the words that the core must then contain."""
_QUESTIONS: Final = (
    "Where do I live?",
    "What car do I drive?",
    "Who is my doctor?",
    "When is the deadline for the thesis?",
    "Which editor do I use?",
    "What is my rent?",
    "What am I allergic to?",
    "What are my dogs called?",
    "Which database do we use?",
)
_LAST_DAY: Final = 300
"""Days of the year within which instructions are given."""
_TAKEN_BACK_AFTER: Final = 320


@dataclass(slots=True)
class CoreWatch:
    """Gives the instructions of a year, asks some questions every day, and checks the core each evening."""

    seed: int
    days: int = 0
    tokens_most: int = 0
    lines_most: int = 0
    rewrites: int = 0
    over: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    lingering: list[str] = field(default_factory=list[str])
    _given: dict[int, list[tuple[str, str]]] = field(default_factory=dict[int, list[tuple[str, str]]])
    _said: list[str] = field(default_factory=list[str])
    _gone: list[str] = field(default_factory=list[str])
    _first: date | None = None

    def __post_init__(self) -> None:
        draw = random.Random(f"rules {self.seed}")
        for rule in draw.sample(_RULES, len(_RULES)):
            self._given.setdefault(draw.randrange(_LAST_DAY), []).append(rule)

    def instruct(self, memory: Credenda, day: date) -> None:
        """Give the instructions that are due; late in the year revoke the oldest."""
        self._first = self._first or day
        number = (day - self._first) // timedelta(days=1)
        for due in sorted(due for due in self._given if due <= number):
            for words, key in self._given.pop(due):
                memory.remember(words, session=f"{day}")
                self._said.append(key)
        if number >= _TAKEN_BACK_AFTER and self._said and not self._gone:
            self._gone.append(self._said.pop(0))
            self._forget(memory, self._gone[-1])

    @staticmethod
    def _forget(memory: Credenda, key: str) -> None:
        held = memory.list(attribute="instruction", limit=50).items
        for one in held:
            if key in one.text:
                memory.forget(one.id, reason="taken back")

    def look(self, memory: Credenda, day: date) -> None:
        """Ask the questions of a day, then check the core."""
        draw = random.Random(f"questions {self.seed} {day}")
        for question in draw.sample(_QUESTIONS, 2):
            memory.search(question, limit=5, session=f"{day}")
        core = memory.manage.core()
        tokens, lines = estimate_tokens(core.text), len(core.text.splitlines())
        self.days += 1
        self.rewrites += core.rewritten
        self.tokens_most, self.lines_most = max(self.tokens_most, tokens), max(self.lines_most, lines)
        if tokens > core.tokens_max or lines > core.lines_max or tokens != core.tokens:
            self.over.append(f"{day}: {tokens} tokens, {lines} lines")
        ruled = [line.text for line in core.lines if line.section is Section.INSTRUCTION]
        self.missing += [f"{day}: {key}" for key in self._said if not any(key in text for text in ruled)]
        self.lingering += [f"{day}: {key}" for key in self._gone if key in core.text]

    def report(self) -> dict[str, Any]:
        """Return the part of the `--json` document about the core."""
        return {
            "days": self.days,
            "instructions": len(self._said),
            "taken_back": len(self._gone),
            "tokens_most": self.tokens_most,
            "lines_most": self.lines_most,
            "rewrites": self.rewrites,
            "over_the_cap": self.over,
            "instructions_missing": self.missing,
            "taken_back_and_shown": self.lingering,
            "kept": bool(self.days) and not (self.over or self.missing or self.lingering),
        }

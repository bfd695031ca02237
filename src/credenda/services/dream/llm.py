"""LLM calls of the dream: within the daily budget, one at a time, never inside a transaction.

A failure costs only that answer: the step continues as it would without an LLM, and reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.clock import DAY_US, has_ended
from credenda.manage.dream.cards import CardRules, CardText
from credenda.manage.dream.eligible_facts import EntityFacts
from credenda.manage.dream.prompts import (
    CARD_PROMPT,
    BridgeAnswer,
    ProbeAnswer,
    ask_bridge,
    ask_card,
    ask_probe,
    parse_bridge,
    parse_card,
    parse_probe,
)
from credenda.model.memory import Memory
from credenda.providers.llm.protocol import ModelFailure, Question
from credenda.services.dream.step_context import Night
from credenda.workers.llm_budget import OverBudgetError, ask_within_budget, to_day
from credenda.write.intake.secrets import is_instruction_like, screen_secrets

__all__ = ["OPERATION", "Mind"]

OPERATION: Final = "dream"
"""The operation that the tokens of a dream are booked under."""


def _mask_secrets(text: str) -> str:
    return screen_secrets(text, "mask").text


class Mind:
    """The LLM of a dream, if any; after a failure it is not called again in the same step."""

    def __init__(self, night: Night) -> None:
        """Use the LLM of the open memory."""
        self._night = night
        self._trouble = "this memory is open read-only" if night.parts.read_only else ""

    @property
    def trouble(self) -> str:
        """The reason why the LLM gave no answer, or ""."""
        return self._trouble

    @property
    def absent(self) -> str:
        """Return why the LLM cannot be called, or ""."""
        line = self._night.parts.llm
        if line is None:
            return "no language model is in use"
        if self._trouble or has_ended(line.rereads_after_us, self._night.now_us):
            return self._trouble
        return line.trouble or "over the day's budget"

    def card(self, name: str, facts: Sequence[Memory], rules: CardRules) -> CardText | None:
        """Ask for a card; None if there is no valid answer."""
        answer = self._ask(ask_card(name, facts, _mask_secrets))
        written = None if answer is None else parse_card(answer, name, facts, rules)
        line = self._night.parts.llm
        if line is None or written is None or is_instruction_like(written.text):
            return None
        return replace(written, maker=f"{CARD_PROMPT} {line.model.model_id}")

    def bridge(self, one: EntityFacts, other: EntityFacts) -> BridgeAnswer | None:
        """Ask for a bridge; None if the LLM confirms none."""
        answer = self._ask(ask_bridge(one, other, _mask_secrets))
        found = None if answer is None else parse_bridge(answer, one, other)
        return None if found is None or is_instruction_like(found.sentence) else found

    def doubt(self, memory: Memory, later: Sequence[Memory]) -> ProbeAnswer | None:
        """Ask whether a memory still holds; None if it does or there is no answer."""
        answer = self._ask(ask_probe(memory, later, self._night.now_us, _mask_secrets))
        return None if answer is None else parse_probe(answer, later)

    def _ask(self, question: Question) -> str | None:
        line = self._night.parts.llm
        if line is None or self.absent:
            return None
        self._night.stay()
        now_us = self._night.now_us
        try:
            reply = ask_within_budget(self._night.parts, line, question, OPERATION)
        except OverBudgetError:
            line.spent((to_day(now_us) + 1) * DAY_US)
            self._trouble = "over the day's budget"
            return None
        except ModelFailure as failure:
            line.failed(failure, now_us)
            self._trouble = str(failure) if failure.trouble.is_model_fault else ""
            return None
        line.answered()
        return reply.text

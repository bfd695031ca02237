"""Asking a model in the night: within the day's budget, one question at a time, and never inside a transaction.

Whatever goes wrong costs that answer alone: the step does what it does without a model, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.clock import DAY_US
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
"""What the tokens of a night are booked under."""


def _mask_secrets(text: str) -> str:
    return screen_secrets(text, "mask").text


class Mind:
    """The model of a night, if there is one; after a failure of its own it is left alone for the rest of the step."""

    def __init__(self, night: Night) -> None:
        """Take the model of the open memory."""
        self._night = night
        self._trouble = "this memory is open for reading alone" if night.parts.read_only else ""

    @property
    def trouble(self) -> str:
        """Why the model gave no answer, "" while it does."""
        return self._trouble

    @property
    def absent(self) -> str:
        """Say why nothing can be asked; "" where it can."""
        line = self._night.parts.llm
        if line is None:
            return "no language model is in use"
        if self._trouble or line.rereads_after_us <= self._night.now_us:
            return self._trouble
        return line.trouble or "over the day's budget"

    def card(self, name: str, facts: Sequence[Memory], rules: CardRules) -> CardText | None:
        """Ask for a card; None where no model wrote one that can be believed."""
        answer = self._ask(ask_card(name, facts, _mask_secrets))
        written = None if answer is None else parse_card(answer, name, facts, rules)
        line = self._night.parts.llm
        if line is None or written is None or is_instruction_like(written.text):
            return None
        return replace(written, maker=f"{CARD_PROMPT} {line.model.model_id}")

    def bridge(self, one: EntityFacts, other: EntityFacts) -> BridgeAnswer | None:
        """Ask for a bridge; None where the model confirms none."""
        answer = self._ask(ask_bridge(one, other, _mask_secrets))
        found = None if answer is None else parse_bridge(answer, one, other)
        return None if found is None or is_instruction_like(found.sentence) else found

    def doubt(self, memory: Memory, later: Sequence[Memory]) -> ProbeAnswer | None:
        """Ask whether a memory still holds; None where it does, as far as anyone can say."""
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

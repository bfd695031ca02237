"""The LLM judge of consolidation: one group per call, within the daily budget, with every answer checked."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

from credenda.clock import has_ended
from credenda.errors import Unavailable
from credenda.manage.consolidation.member import Member
from credenda.manage.consolidation.parse_answer import ParsedAnswer, parse_answer
from credenda.manage.consolidation.prompt import PROMPT_VERSION, build_question
from credenda.providers.llm.client import ModelClient
from credenda.providers.llm.factory import open_model
from credenda.providers.llm.protocol import ModelFailure
from credenda.runtime import Parts
from credenda.workers.llm_budget import OverBudgetError, ask_within_budget
from credenda.write.intake.secrets import screen_secrets

__all__ = ["ModelAwayError", "ModelJudge", "open_judge"]

_OPERATION: Final = "consolidate"
"""The operation that its tokens are booked under."""
_FAILURES: Final = 3
"""Consecutive failures of the LLM after which it is not called again in this run."""


class ModelAwayError(Unavailable):
    """The LLM is not available now; the failure does not count against the group."""


class ModelJudge:
    """An LLM as judge; `gave_up` is the reason why it is not called again in this run, or "".

    `answered` counts the groups with a usable answer.
    """

    def __init__(self, parts: Parts, line: ModelClient) -> None:
        """Create the judge of an open memory."""
        self._parts = parts
        self._line = line
        self._away = 0
        self.gave_up = ""
        self.answered = 0

    @property
    def model_id(self) -> str:
        """The prompt and the model, as named in reports."""
        return f"{PROMPT_VERSION} {self._line.model.model_id}"

    def resting(self) -> str:
        """Return why the LLM cannot be called now, or ""."""
        if not has_ended(self._line.open_until_us, self._parts.clock.now_us()):
            return self._line.trouble
        return ""

    def judge(self, members: Sequence[Member]) -> ParsedAnswer:
        """Return the verdicts on a group; raises `Unavailable` if there is no usable answer."""
        if self.gave_up:
            raise ModelAwayError("the model is not called again in this run", why=self.gave_up)
        question = build_question(members, lambda text: screen_secrets(text, "mask").text)
        try:
            reply = ask_within_budget(self._parts, self._line, question, _OPERATION)
            ruling = parse_answer(reply.text, members)
        except OverBudgetError as error:
            self.gave_up = "the day's budget is spent"
            raise ModelAwayError(self.gave_up) from error
        except ModelFailure as failure:
            self._note(failure)
            kind = ModelAwayError if failure.trouble.is_model_fault else Unavailable
            raise kind(str(failure), fix="the next run tries again") from failure
        except ValueError as error:
            raise Unavailable("the model's answer cannot be used", why=str(error)) from error
        self._away = 0
        self.answered += 1
        self._line.answered()
        return ruling

    def _note(self, failure: ModelFailure) -> None:
        self._line.failed(failure, self._parts.clock.now_us())
        self._away = self._away + 1 if failure.trouble.is_model_fault else 0
        if self._away >= _FAILURES:
            self.gave_up = str(failure)


@contextmanager
def open_judge(parts: Parts) -> Generator[ModelJudge | None]:
    """Open the LLM judge: the model of its setting, else the one of extraction; None means rules alone."""
    named = parts.settings.memory_consolidation_model.strip()
    if not named:
        yield None if parts.llm is None else ModelJudge(parts, parts.llm)
        return
    line = open_model(named, parts.settings)
    try:
        yield None if line is None else ModelJudge(parts, line)
    finally:
        if line is not None:
            line.close()

"""How the tokens of a prompt are counted, and how lines are kept within a budget of them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from credenda.text.fence import OPENING, estimate_tokens

__all__ = ["ESTIMATE", "TokenBudget", "TokenCounter", "fit_to_budget"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text; `name` is said with every count.

    `adds_up` says that the counts of lines add up to that of the text, as those of the estimate do. Those of a real
    vocabulary do not: its pieces reach over the ends of lines.
    """

    name: str
    count: Callable[[str], int]
    adds_up: bool = False

    def added_by(self, text: str) -> int:
        """Say about how many tokens a text adds that stands on lines of its own after others."""
        if self.adds_up:
            return self.count(f"\n{text}")
        return self.count(f"{OPENING}\n{text}") - self.count(OPENING)


ESTIMATE: Final = TokenCounter("estimate", estimate_tokens, adds_up=True)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """How many tokens a text may have, and what counts them."""

    tokens: int
    counter: TokenCounter = ESTIMATE


def fit_to_budget(
    kept: Sequence[T], lay: Callable[[Sequence[T]], str], budget: TokenBudget
) -> tuple[list[T], str, int]:
    """Return what of `kept` fits together, the text of it, and its tokens: none and "" where not even one fits.

    What was chosen by the counts of its parts is counted here as a whole, whatever the counter does; while that is too
    much, what was kept last goes.
    """
    left = list(kept)
    while left:
        text = lay(left)
        tokens = budget.counter.count(text)
        if tokens <= budget.tokens:
            return left, text, tokens
        left.pop()
    return [], "", 0

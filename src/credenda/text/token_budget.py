"""Token counters, and the fitting of lines into a token budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from credenda.text.fence import OPENING, estimate_tokens

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text; `name` is reported with every count.

    `adds_up` means that the counts of lines add up to that of the text, as with the estimate. Counts of a real
    vocabulary do not, because its pieces cross the ends of lines.
    """

    name: str
    count: Callable[[str], int]
    adds_up: bool = False

    def added_by(self, text: str) -> int:
        """Estimate how many tokens a text adds on lines of its own after others."""
        if self.adds_up:
            return self.count(f"\n{text}")
        return self.count(f"{OPENING}\n{text}") - self.count(OPENING)


ESTIMATE: Final = TokenCounter("estimate", estimate_tokens, adds_up=True)


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """A bound of tokens and the counter for it."""

    tokens: int
    counter: TokenCounter = ESTIMATE


def fit_to_budget(
    kept: Sequence[T], lay: Callable[[Sequence[T]], str], budget: TokenBudget
) -> tuple[list[T], str, int]:
    """Return the leading items of `kept` that fit together, their text, and its tokens: none and "" if no item fits.

    The counts of single items chose `kept`; here the whole text is counted, and while it is too long, the last item is
    dropped.
    """
    left = list(kept)
    while left:
        text = lay(left)
        tokens = budget.counter.count(text)
        if tokens <= budget.tokens:
            return left, text, tokens
        left.pop()
    return [], "", 0

"""How likely a sentence takes the place of a memory: a sum of weights over signs. Pure.

The weights are in `data/succession_weights.toml`, fitted by `scripts/fit_succession.py` on the project's own pairs;
none is set by hand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

__all__ = ["SCALE", "Weights", "weights"]

SCALE: Final = 20.0
"""Weights are whole numbers of one twentieth of a logit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights by sign, the idf of common terms in units of the greatest, and the limits, both in logits.

    From `threshold` on a memory is taken to be meant. What speaks for a change in the sentence itself must be at least
    `least`, or no memory is looked for.
    """

    of: Mapping[str, int]
    rarity: Mapping[str, float]
    threshold: float
    least: float

    def logit(self, signs: Iterable[str]) -> float:
        """Add up the weights of some signs."""
        return sum(self.of.get(sign, 0) for sign in signs) / SCALE


@cache
def weights() -> Weights:
    """Load the weights; done once, at first use."""
    path = files("credenda.write") / "data" / "succession_weights.toml"
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return Weights(
        of={sign: int(number) for sign, number in _pairs(data["weights"])},
        rarity={term: int(number) / 100 for term, number in _pairs(data["rarity"])},
        threshold=float(data["threshold"]),
        least=float(data["least"]),
    )


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for line in text.strip().split("\n"):
        name, _, number = line.rpartition("\t")
        yield name, number

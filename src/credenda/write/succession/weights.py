"""How likely a sentence takes the place of a memory: a sum of weights over signs. Pure.

The weights are in `data/succession_weights.tsv`, and in `data/succession_near.tsv` those for where it is known how
near in meaning a sentence is to a memory. Both are fitted by `benchmarks/fit_succession.py` on the project's own pairs;
none is set by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.text.weight_file import parse_weight_file

__all__ = ["SCALE", "Weights", "near_weights", "weights"]

SCALE: Final = 20.0
"""Weights are whole numbers of one twentieth of a logit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights by sign, the idf of common terms in units of the greatest, and the limits, both in logits.

    From `threshold` on a memory is taken to be meant. What speaks for a change in the sentence itself must be at least
    `least`, or no memory is looked for. `model` names the engine whose vectors they were fitted with, "" for none.
    """

    of: Mapping[str, int]
    rarity: Mapping[str, float]
    threshold: float
    least: float
    model: str = ""

    def logit(self, signs: Iterable[str]) -> float:
        """Add up the weights of some signs."""
        return sum(self.of.get(sign, 0) for sign in signs) / SCALE


@cache
def weights() -> Weights:
    """Load the weights of signs in the words alone; done once, at first use."""
    return _load("succession_weights.tsv")


@cache
def near_weights() -> Weights:
    """Load the weights for where the nearness in meaning is known as well; done once, at first use."""
    return _load("succession_near.tsv")


def _load(name: str) -> Weights:
    read = parse_weight_file((files("credenda.write") / "data" / name).read_text("utf-8"))
    return Weights(
        of={sign: int(number) for table, sign, number in read.rows if table == "weight"},
        rarity={term: int(number) / 100 for table, term, number in read.rows if table == "rarity"},
        threshold=float(read.notes["threshold"][0]),
        least=float(read.notes["least"][0]),
        model=read.notes.get("model", ("",))[0],
    )

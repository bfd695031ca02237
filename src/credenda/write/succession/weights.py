"""The weights of the replacement classifier: a linear sum over features. Pure.

The weights are in `data/succession_weights.tsv`, and with known similarity in `data/succession_near.tsv`.
`benchmarks/fit_succession.py` fits both on the project's own pairs; none is set by hand.
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
"""Weights are integers in units of one twentieth of a logit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights by feature, the idf of common terms in units of the greatest, and two limits in logits.

    A memory above `threshold` is replaced. The features of the sentence alone must reach `least`, or no memory is
    searched. `model` names the embedder of the fit, "" for none.
    """

    of: Mapping[str, int]
    rarity: Mapping[str, float]
    threshold: float
    least: float
    model: str = ""

    def logit(self, signs: Iterable[str]) -> float:
        """Sum the weights of some features."""
        return sum(self.of.get(sign, 0) for sign in signs) / SCALE


@cache
def weights() -> Weights:
    """Load the weights for features of the words alone; cached."""
    return _load("succession_weights.tsv")


@cache
def near_weights() -> Weights:
    """Load the weights for known similarity; cached."""
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

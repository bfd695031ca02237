"""The measures of a ranking in `bench locomo`, each for one question, and their means.

Relevance is binary. `any@k` and `all@k` tell whether one, or every, gold turn is among the first k; `recall@10` is the
share of gold turns there; `mrr` is one over the rank of the first gold turn; `ndcg@10` is the discounted gain Σ
1/log₂(rank + 1) over the gain of an ideal order (Järvelin and Kekäläinen, TOIS 2002).
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from credenda.bench.stats import find_percentile

__all__ = ["MEASURES", "average", "compute_auroc", "compute_bootstrap_intervals", "measure_ranking"]

_ANY: Final = (1, 5, 10, 20, 50)
_ALL: Final = (5, 10, 20, 50)
_DEPTH: Final = 10
_RESAMPLES: Final = 1_000

MEASURES: Final = (*(f"any@{k}" for k in _ANY), *(f"all@{k}" for k in _ALL), "recall@10", "mrr", "ndcg@10")
"""Names of the measures, in display order."""


def measure_ranking(ranked: Sequence[str], gold: Collection[str]) -> dict[str, float]:
    """Measure one ranking, best first and without repeats, against at least one gold turn.

    >>> measure_ranking(["a", "b", "c"], {"b", "z"})["mrr"]
    0.5
    """
    wanted = set(gold)
    if not wanted:
        raise ValueError("a question without gold turns cannot be judged")
    places = [place for place, turn in enumerate(ranked, 1) if turn in wanted]
    found = {k: sum(place <= k for place in places) for k in {*_ANY, *_ALL, _DEPTH}}
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), _DEPTH) + 1))
    gain = sum(1 / math.log2(place + 1) for place in places if place <= _DEPTH)
    return {
        **{f"any@{k}": float(found[k] > 0) for k in _ANY},
        **{f"all@{k}": float(found[k] == len(wanted)) for k in _ALL},
        "recall@10": found[_DEPTH] / len(wanted),
        "mrr": 1 / places[0] if places else 0.0,
        "ndcg@10": gain / ideal,
    }


def average(judged: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average the measures over questions; 0 for each when there is none."""
    count = max(1, len(judged))
    return {name: round(sum(one[name] for one in judged) / count, 4) for name in MEASURES}


def compute_bootstrap_intervals(
    judged: Sequence[Mapping[str, float]], *, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return a 95 % interval of each mean: percentiles over seeded resamples of the questions."""
    if not judged:
        return dict.fromkeys(MEASURES, (0.0, 0.0))
    draw = random.Random(seed)
    rows = [[one[name] for name in MEASURES] for one in judged]
    resampled: list[list[float]] = []
    for _ in range(_RESAMPLES):
        sample = draw.choices(rows, k=len(rows))
        resampled.append([sum(column) / len(rows) for column in zip(*sample, strict=True)])
    columns = zip(MEASURES, zip(*resampled, strict=True), strict=True)
    return {name: (round(find_percentile(c, 0.025), 4), round(find_percentile(c, 0.975), 4)) for name, c in columns}


def compute_auroc(present: Sequence[float], absent: Sequence[float]) -> float | None:
    """Return how often a score where the answer is present beats one where it is absent; a tie counts half.

    None when either is empty.

    >>> compute_auroc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    if not present or not absent:
        return None
    won = sum((one > other) + (one == other) / 2 for one in present for other in absent)
    return round(won / (len(present) * len(absent)), 4)

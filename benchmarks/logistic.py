"""Weighted logistic regression, folds by conversation, and tables. Pure.

It is independent of the features. `benchmarks/fit_weights.py` computes features from questions and writes the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS: Final = 60
_STILL: Final = 1e-9
_RIDGE: Final = 1.0
_RESAMPLES: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One question on one store: its features by name, whether the answer is there, its cell and its fold.

    Samples of one `cell` share its weight; `fold` names the conversation, which is either fitted on or scored.
    """

    signs: Mapping[str, float]
    present: bool
    fold: str
    cell: Hashable
    share: float
    """Weight of the whole cell."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


def apply_logistic(logits: Floats) -> Floats:
    """Return 1 / (1 + e⁻ˣ) of each."""
    return 1.0 / (1.0 + np.exp(-logits))


def compute_cell_weights(samples: Sequence[Sample]) -> Floats:
    """Return a weight for each sample: its cell's share divided evenly; the sum is the number of samples."""
    counts: dict[Hashable, int] = {}
    for sample in samples:
        counts[sample.cell] = counts.get(sample.cell, 0) + 1
    weights = np.array([sample.share / counts[sample.cell] for sample in samples])
    return weights * len(samples) / weights.sum()


def build_design(samples: Sequence[Sample], names: Sequence[str]) -> Floats:
    """Return the features of these names as an (n, names) array."""
    return np.array([[sample.signs[name] for name in names] for sample in samples], np.float64).reshape(
        len(samples), len(names)
    )


def fit_logistic(signs: Floats, present: Floats, weights: Floats) -> Floats:
    """Return (1 + d,) the intercept and the coefficients of d features, by Newton's method.

    A ridge of 1 on standardised features keeps undetermined coefficients near zero.

    >>> fitted = fit_logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0, 1, 1]), np.ones(4))
    >>> bool(fitted[1] > 0)
    True
    """
    mean: Floats = signs.mean(0)
    spread: Floats = signs.std(0) + 1e-12
    scaled: Floats = np.column_stack([np.ones(len(signs)), (signs - mean) / spread])
    ridge: Floats = np.diag([0.0, *[_RIDGE] * signs.shape[1]])
    found = np.zeros(1 + signs.shape[1], np.float64)
    for _ in range(_STEPS):
        sure = apply_logistic(scaled @ found)
        gradient: Floats = scaled.T @ (weights * (sure - present)) + ridge @ found
        curve: Floats = (scaled * (weights * sure * (1 - sure))[:, None]).T @ scaled + ridge
        step = _solve(curve, gradient)
        found -= step
        if np.abs(step).max() < _STILL:
            break
    raw: Floats = found[1:] / spread
    return np.append(found[0] - float(raw @ mean), raw)


def _solve(matrix: Floats, right: Floats) -> NDArray[np.float64]:
    return np.linalg.solve(matrix, right).astype(np.float64)


def predict_held_out(samples: Sequence[Sample], names: Sequence[str]) -> Floats:
    """Return the logit of each sample by coefficients fitted without its fold."""
    signs = build_design(samples, names)
    present = np.array([float(sample.present) for sample in samples])
    weights = compute_cell_weights(samples)
    folds = np.array([sample.fold for sample in samples])
    logits = np.zeros(len(samples))
    for fold in sorted(set(folds.tolist())):
        mine = folds == fold
        fitted = fit_logistic(signs[~mine], present[~mine], weights[~mine])
        logits[mine] = fitted[0] + signs[mine] @ fitted[1:]
    return logits


def compute_auroc_interval(present: Sequence[float], absent: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return a 95 % interval of the area under the curve: percentiles over seeded resamples of both sides.

    >>> compute_auroc_interval([0.9, 0.8], [0.1, 0.2])
    (1.0, 1.0)
    """
    if not present or not absent:
        return 0.0, 1.0
    there, gone = np.array(present)[:, np.newaxis], np.array(absent)
    won: Floats = (there > gone) + (there == gone) / 2
    draw = np.random.default_rng(seed)
    areas = [
        float(won[draw.integers(len(there), size=len(there))][:, draw.integers(len(gone), size=len(gone))].mean())
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(areas, (0.025, 0.975)).tolist()
    return float(low), float(high)


def find_best_by_fold(values: Floats, folds: Sequence[str]) -> dict[str, int]:
    """Return for each fold which of many trials is best without it.

    `values` (trials, n) is the score of each trial at each question, `folds` (n,) the fold of the question.

    >>> find_best_by_fold(np.array([[1.0, 0, 0], [0.0, 1, 1]]), ["a", "b", "b"])
    {'a': 1, 'b': 0}
    """
    names = np.array(folds)
    return {fold: int(values[:, names != fold].mean(1).argmax()) for fold in sorted(set(folds))}


def rewrite_tables(text: str, tables: Mapping[str, Mapping[str, float]], provenance: Sequence[str]) -> str:
    r"""Put numbers into the named tables of a TOML text, line by line, and renew its table [provenance].

    >>> rewrite_tables("[a]\nx = 1 # why\n", {"a": {"x": 2.5, "y": 3}}, [])
    '[a]\nx = 2.5 # why\ny = 3\n'
    """
    head, _, _ = text.partition("\n[provenance]")
    lines = head.rstrip("\n").split("\n")
    for table, numbers in tables.items():
        start = lines.index(f"[{table}]") + 1
        for name, value in numbers.items():
            end = next((at for at in range(start, len(lines)) if lines[at].startswith("[")), len(lines))
            at = next((at for at in range(start, end) if re.match(rf"{name}\s*=", lines[at])), None)
            if at is None:
                last = max(at for at in range(start - 1, end) if lines[at] and not lines[at].startswith("#"))
                lines.insert(last + 1, f"{name} = {value}")
            else:
                lines[at] = re.sub(r"=\s*\S+", f"= {value}", lines[at], count=1)
    tail = ["", "[provenance]", *provenance] if provenance else []
    return "\n".join([*lines, *tail]) + "\n"

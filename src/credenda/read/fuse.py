"""Step 3: one relevance from many signs. Pure.

The default adds z-scores over the query's candidates and the priors of `data/weights.toml`; profile "recall" fuses
ranks instead. Every summand keeps its name, for `explain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from credenda.read.candidates import Candidates, Floats, Integers, Mask
from credenda.read.weights import Calibration, Weights

__all__ = ["Fused", "best_of_owner", "fuse", "fuse_ranks", "reciprocal_ranks", "z_scores"]

_FLAT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Fused:
    """`relevance` (c,) of each candidate and its summands by name, each (c,)."""

    relevance: Floats
    terms: Mapping[str, Floats]


def z_scores(values: Floats, known: Mask | None = None) -> Floats:
    """Give standard scores; values that are not `known` count as average. Equal values are all average."""
    if known is None:
        return _standard(values)
    out = np.zeros(len(values), np.float32)
    out[known] = _standard(values[known])
    return out


def _standard(values: Floats) -> Floats:
    if not len(values):
        return values
    centred = values - _mean(values)
    spread = np.sqrt(_mean(np.square(centred)))
    return centred / spread if spread > _FLAT else np.zeros(len(values), np.float32)


def _mean(values: Floats) -> np.float32:
    """Return the mean, as `values.mean()` does at four times the price."""
    return np.float32(float(np.add.reduce(values)) / len(values))


def fuse(found: Candidates, weights: Weights, engine: Calibration) -> Fused:
    """Add up the weighted signs (DESIGN §6, where the numbers were measured); `engine` made the vectors."""
    tuned = weights.relevance
    compared = ~np.isnan(found.cosine)
    full = np.float32(tuned.length_tokens)
    terms: dict[str, Floats] = {
        "words": tuned.words * z_scores(found.words),
        "session": tuned.session * z_scores(found.session, found.in_session),
        "length": tuned.length * np.minimum(found.length, full) / full,
        "speaker": tuned.speaker * np.float32(found.speaker_fit) * found.by_named,
        "role": np.float32(tuned.role) * found.by_role,
        "slot": np.float32(tuned.slot) * found.slot,
        "time": np.float32(tuned.time) * found.timely,
        "belief": tuned.belief * found.belief * np.square(_support(found)),
        "governs": tuned.governs * found.governs,
    }
    if not _all_differ(found):
        terms["passages"] = -tuned.passages * np.log(_passages(found)).astype(np.float32)
    if compared.any():
        terms["meaning"] = engine.meaning * z_scores(found.meaning)
        terms["likeness"] = engine.likeness * z_scores(found.cosine, compared)
    return Fused(_total(terms, len(found)), terms)


def _total(terms: Mapping[str, Floats], count: int) -> Floats:
    total = np.zeros(count, np.float32)
    for values in terms.values():
        total += values
    return total


def _support(found: Candidates) -> Floats:
    """Say how well each one fits, in [0, 1]: its share of what the best has in words or in meaning, or its slot."""
    cosine = np.fmax(found.cosine, np.float32(0))  # 0 for NaN
    fits = np.maximum(_share_of_best(found.coverage), _share_of_best(cosine))
    return np.where(found.slot, np.float32(1), fits)


def _share_of_best(values: Floats) -> Floats:
    return values / np.float32(values.max(initial=_FLAT))


def _all_differ(found: Candidates) -> bool:
    """Say whether every candidate is the only one of its event or memory, as in most searches."""
    if found.whole:
        return True
    ordered = np.sort(found.owners)
    return not (ordered[1:] == ordered[:-1]).any()


def _passages(found: Candidates) -> Floats:
    """Count the candidates that belong to the same event."""
    _, which, counts = np.unique(found.owners, return_inverse=True, return_counts=True)
    return counts[which].astype(np.float32)


def reciprocal_ranks(scores: Floats, listed: Mask, k: int) -> Floats:
    """Give 1 / (k + rank) to what is listed, rank 1 for the highest score, and nothing to the rest (X-004)."""
    out = np.zeros(len(scores), np.float32)
    rows = np.flatnonzero(listed)
    order = rows[np.argsort(-scores[rows], kind="stable")]
    out[order] = np.float32(1.0) / np.arange(k + 1, k + 1 + len(order), dtype=np.float32)
    return out


def fuse_ranks(found: Candidates, weights: Weights) -> Fused:
    """Fuse two ranked lists by reciprocal ranks, divided by the most a document can get, n / (k + 1) (D-001).

    A document is on the list of words only where a term occurs in it, and on that of vectors only when it is nearly as
    near as the nearest; one that is on neither gets 0, which suppresses it (R-120, D-002).
    """
    lists = {"rrf_words": reciprocal_ranks(found.own_words, found.own_words > 0, weights.rrf_k)}
    compared = ~np.isnan(found.cosine)
    if compared.any():
        cosine = np.where(compared, found.cosine, np.float32(-1))
        listed = compared & (cosine > 0) & (cosine >= weights.cosine_part * cosine.max())
        lists["rrf_vectors"] = reciprocal_ranks(cosine, listed, weights.rrf_k)
    most = np.float32(len(lists) / (weights.rrf_k + 1))
    terms = {name: ranks / most for name, ranks in lists.items()}
    return Fused(_total(terms, len(found)), terms)


def best_of_owner(found: Candidates, relevance: Floats) -> Integers:
    """Return the positions of each event's and memory's best document, most relevant first, newest first in a tie."""
    order = np.lexsort((-found.codes, -relevance))
    if _all_differ(found):
        return order
    _, first = np.unique(found.owners[order], return_index=True)
    return order[np.sort(first)]

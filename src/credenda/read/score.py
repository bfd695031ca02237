"""Step 4: what a row is worth, and what its score means. Pure.

Two questions are kept apart. *In which order?* is answered by a key: relevance plus what the row is worth by itself,
weighed by profile. *How sure?* is answered once for a search, by a probability P (`read/abstention.py`). A hit scores
P · exp(−falloff · distance to the best key): in [0, 1], falling down the list, and comparable between searches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from credenda.clock import DAY_US
from credenda.model.evaluation import FeedbackCounts
from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.candidates import TOP, Candidates, Floats, Integers, Mask, Row
from credenda.read.plan import Ask, score_answer_type
from credenda.read.weights import Calibration, Standing, Weights

_RECENCY: Final = 0.3
"""The recency_weight for which the weights in `data/weights.toml` are given (R-112)."""
_NEUTRAL: Final = 0.5
_LEAST_SHARE: Final = 0.3
_HALVES: Final = 2.0
NOBODY: Final[Mapping[str, FeedbackCounts]] = MappingProxyType({})
_PRIOR: Final = 2.0
"""Prior judgements of every memory, as many useful as useless: a single judgement moves it by a third."""
_SILENCE: Final = 0.1
"""Weight of an impression without feedback, relative to a judgement."""


@dataclass(frozen=True, slots=True)
class RecallWeights:
    """The four weights of profile "recall"; their sum is one."""

    relevance: float
    recency: float
    importance: float
    strength: float


def compute_recall_weights(recency_weight: float) -> RecallWeights:
    """Return the weights of profile "recall" for a recency weight (R-118).

    >>> weights = compute_recall_weights(0.3)
    >>> [round(weight, 2) for weight in (weights.relevance, weights.recency, weights.importance, weights.strength)]
    [0.61, 0.12, 0.17, 0.1]
    """
    return RecallWeights(0.70 - 0.30 * recency_weight, 0.40 * recency_weight, 0.20 - 0.10 * recency_weight, 0.10)


def score_usefulness(regard: FeedbackCounts) -> float:
    """Return how useful a memory has proved, in (−1, 1); 0 without feedback.

    (useful − useless) / (useful + useless + 0.1 · silent + 2): a "useful" among many impressions without feedback
    counts less than one among few.

    >>> (score_usefulness(FeedbackCounts(1, 0, 0)) > score_usefulness(FeedbackCounts(1, 0, 30)) > 0
    ... > score_usefulness(FeedbackCounts(0, 1, 0)))
    True
    """
    judged = regard.useful + regard.useless
    return (regard.useful - regard.useless) / (judged + _SILENCE * regard.silent + _PRIOR)


def score_rows(
    rows: Sequence[Row],
    query: Query,
    weights: Weights,
    now_us: int,
    *,
    ask: Ask = Ask.OTHER,
    regards: Mapping[str, FeedbackCounts] = NOBODY,
) -> list[Row]:
    """Return the rows with the key and terms of the query's profile; before, `key` is the relevance.

    `regards` has the feedback by memory id; only the default profile uses it.
    """
    most_accessed = max((row.memory.access_count for row in rows if row.memory), default=0)
    keyed_rows: list[Row] = []
    for row in rows:
        match query.profile:
            case "recall":
                terms = _score_recall_terms(row, query.recency_weight, most_accessed, now_us)
            case "evidence":
                terms = {"relevance": row.key, "recency": _score_recency(row, query, weights.standing, now_us)}
            case "default":
                memory, standing = row.memory, weights.standing
                asks = row.event is not None and row.text.rstrip().endswith("?")
                terms = {
                    "relevance": row.key,
                    "importance": standing.importance * (memory.importance - _NEUTRAL) if memory else 0.0,
                    "retention": standing.retention * (_read_decay(memory) - 1.0) if memory else 0.0,
                    "recency": _score_recency(row, query, standing, now_us),
                    "question": weights.relevance.question if asks else 0.0,
                    "answers": score_answer_type(row.text, ask, weights.relevance),
                }
                if row.id in regards:
                    terms["feedback"] = weights.standing.feedback * score_usefulness(regards[row.id])
        explained = {**row.terms, **terms} if row.terms else terms
        kind, name, text, signs = row.kind, row.id, row.text, row.signs
        keyed_rows.append(
            Row(kind, name, text, sum(terms.values()), signs, explained, row.memory, row.event, row.passage, row.flags)
        )
    return keyed_rows


def _score_recency(row: Row, query: Query, standing: Standing, now_us: int) -> float:
    scale = standing.recency * query.recency_weight / _RECENCY
    return scale * math.exp2(-_compute_age_days(row, now_us) / standing.half_life_days)


def _score_recall_terms(row: Row, recency_weight: float, most_accessed: int, now_us: int) -> dict[str, float]:
    """Return Recall's four components over normalised ranks (R-119); importance decays as in R-097."""
    weights = compute_recall_weights(recency_weight)
    memory = row.memory
    count = memory.access_count if memory else 0
    since = memory.last_accessed_us if memory else None
    age = _compute_age_days(row, now_us) if since is None else max(now_us - since, 0) / DAY_US
    worth = memory.importance * _read_decay(memory) if memory else _NEUTRAL
    strength = math.log1p(count) / math.log1p(most_accessed) if most_accessed else 0.0
    return {
        "relevance": weights.relevance * row.key,
        "recency": weights.recency * math.exp(-age / (1 + count)),
        "importance": weights.importance * worth,
        "strength": weights.strength * strength,
    }


def _read_decay(memory: Memory) -> float:
    return 1.0 if memory.decay_score is None else memory.decay_score


def _compute_age_days(row: Row, now_us: int) -> float:
    said = row.event.occurred_us if row.event else row.memory.created_us if row.memory else now_us
    if row.memory and row.memory.valid_from_us is not None:
        said = max(said, row.memory.valid_from_us)
    return max(now_us - said, 0) / DAY_US


def lower_key(key: float, query: Query, falloff: float) -> float:
    """Return the key of a replaced value, lowered so that its score is halved."""
    return key / _HALVES if query.profile == "recall" else key - math.log(_HALVES) / falloff


def compute_final_scores(
    rows: Sequence[Row], query: Query, answerable: float, falloff: float, *, compared: int | None = None
) -> list[float]:
    """Return the scores of ordered rows, in [0, 1] and never rising down the list.

    The first `compared` rows (None: all) are what the others are measured against.
    Profile "recall" keeps the sum it publishes, which lies in [0, 1] by itself.
    """
    if not rows:
        return []
    top = max(row.key for row in rows[:compared])
    covered = max((row.signs.coverage for row in rows[:TOP]), default=0.0)
    scores: list[float] = []
    ceiling = 1.0
    for row in rows:
        score = row.key
        if query.profile != "recall":
            apart = 0.0 if row.signs.slot else row.key - top  # what a slot or a name leads to answers by itself
            signs = row.signs
            if signs.slot or signs.timely or signs.governs or not covered:
                own_share = 1.0
            else:
                own = max(signs.coverage / covered, signs.cosine or 0.0)
                own_share = _LEAST_SHARE + (1.0 - _LEAST_SHARE) * min(own, 1.0)
            score = answerable * math.exp(falloff * apart) * own_share
        ceiling = min(ceiling, max(score, 0.0))
        scores.append(ceiling)
    return scores


# Step 3: combine the features of each candidate into one relevance.


_FLAT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Fused:
    """The `relevance` (c,) of each candidate and its summands by name, each (c,)."""

    relevance: Floats
    terms: Mapping[str, Floats]


def compute_z_scores(values: Floats, known: Mask | None = None) -> Floats:
    """Return standard scores; values that are not `known` count as average, and so do equal values."""
    if known is None:
        return _standardise(values)
    out = np.zeros(len(values), np.float32)
    out[known] = _standardise(values[known])
    return out


def _standardise(values: Floats) -> Floats:
    if not len(values):
        return values
    centred = values - _compute_mean(values)
    spread = np.sqrt(_compute_mean(np.square(centred)))
    return centred / spread if spread > _FLAT else np.zeros(len(values), np.float32)


def _compute_mean(values: Floats) -> np.float32:
    """Return the mean, four times faster than `values.mean()`."""
    return np.float32(float(np.add.reduce(values)) / len(values))


def fuse_scores(found: Candidates, weights: Weights, engine: Calibration) -> Fused:
    """Add up the weighted features; `engine` is the calibration of the embedding model."""
    tuned = weights.relevance
    compared = ~np.isnan(found.cosine)
    full = np.float32(tuned.length_tokens)
    # How well each candidate fits, in [0, 1]: its share of the best coverage or cosine; 1 in a slot.
    cosine = np.fmax(found.cosine, np.float32(0))  # 0 for NaN
    fits = np.maximum(_divide_by_best(found.coverage), _divide_by_best(cosine))
    terms: dict[str, Floats] = {
        "words": tuned.words * compute_z_scores(found.words),
        "session": tuned.session * compute_z_scores(found.session, found.in_session),
        "length": tuned.length * np.minimum(found.length, full) / full,
        "speaker": tuned.speaker * np.float32(found.speaker_fit) * found.by_named,
        "slot": np.float32(tuned.slot) * found.slot,
        "time": np.float32(tuned.time) * found.timely,
        "belief": tuned.belief * found.belief * np.square(np.where(found.slot, np.float32(1), fits)),
        "governs": tuned.governs * found.governs,
    }
    if found.place is not None:
        terms["whole"] = found.place
    if not _has_distinct_owners(found):
        _, which, counts = np.unique(found.owners, return_inverse=True, return_counts=True)
        terms["passages"] = -tuned.passages * np.log(counts[which].astype(np.float32)).astype(np.float32)
    if compared.any():
        terms["meaning"] = engine.meaning * compute_z_scores(found.meaning)
        terms["likeness"] = engine.likeness * compute_z_scores(found.cosine, compared)
    return Fused(_sum_terms(terms, len(found)), terms)


_COVERED: Final = 0.05
_ASKED: Final = 0.06
"""What a memory with all words of a question, or in the slot that it asks for, gains in cosines of claims."""
_STEEP: Final = 12.0
"""How much relevance a memory loses with each cosine by which another one answers better."""
_BESIDE: Final = ("governs", "time")
"""Terms that count beside how well a memory answers."""


def rate_by_claim(found: Candidates, fused: Fused) -> Fused:
    """Rate the memories that were compared as claims by how well they answer, in place of words and likeness.

    The one that answers best keeps the best relevance of any memory, so that memories stand among messages as before.
    """
    compared = ~np.isnan(found.claim)
    if not compared.any():
        return fused
    beside = _sum_terms({name: fused.terms[name] for name in _BESIDE}, len(found))
    answers = found.claim + np.float32(_COVERED) * found.coverage + np.float32(_ASKED) * found.slot
    best = (fused.relevance - beside)[compared].max() + np.float32(_STEEP) * (answers - answers[compared].max())
    relevance = np.where(compared, best + beside, fused.relevance)
    return Fused(relevance, {**fused.terms, "claim": relevance - fused.relevance})


def _sum_terms(terms: Mapping[str, Floats], count: int) -> Floats:
    total = np.zeros(count, np.float32)
    for values in terms.values():
        total += values
    return total


def _divide_by_best(values: Floats) -> Floats:
    return values / np.float32(values.max(initial=_FLAT))


def _has_distinct_owners(found: Candidates) -> bool:
    """Return whether each candidate has its own event or memory, as in most searches."""
    if found.whole:
        return True
    ordered = np.sort(found.owners)
    return not (ordered[1:] == ordered[:-1]).any()


def compute_reciprocal_ranks(scores: Floats, listed: Mask, k: int) -> Floats:
    """Return 1 / (k + rank) for the candidates in `listed`, rank 1 for the highest score, and 0 for others (X-004)."""
    out = np.zeros(len(scores), np.float32)
    rows = np.flatnonzero(listed)
    order = rows[np.argsort(-scores[rows], kind="stable")]
    out[order] = np.float32(1.0) / np.arange(k + 1, k + 1 + len(order), dtype=np.float32)
    return out


def fuse_ranks(found: Candidates, weights: Weights) -> Fused:
    """Fuse two ranked lists by reciprocal ranks, divided by the maximum of a document, n / (k + 1) (D-001).

    A document is in the word list only if it contains a term, and in the vector list only if its cosine is close to the
    best one. A document in neither list gets 0, which suppresses it (R-120, D-002).
    """
    lists = {"rrf_words": compute_reciprocal_ranks(found.own_words, found.own_words > 0, weights.rrf_k)}
    compared = ~np.isnan(found.cosine)
    if compared.any():
        cosine = np.where(compared, found.cosine, np.float32(-1))
        listed = compared & (cosine > 0) & (cosine >= weights.cosine_part * cosine.max())
        lists["rrf_vectors"] = compute_reciprocal_ranks(cosine, listed, weights.rrf_k)
    most = np.float32(len(lists) / (weights.rrf_k + 1))
    terms = {name: ranks / most for name, ranks in lists.items()}
    return Fused(_sum_terms(terms, len(found)), terms)


def pick_best_of_owner(found: Candidates, relevance: Floats) -> Integers:
    """Return the position of each owner's best document, most relevant first; newest first if relevance is equal."""
    order = np.lexsort((-found.codes, -relevance))
    if _has_distinct_owners(found):
        return order
    _, first = np.unique(found.owners[order], return_index=True)
    return order[np.sort(first)]

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

from credenda.clock import DAY_US
from credenda.model.evaluation import FeedbackCounts
from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.abstention import TOP
from credenda.read.candidates import Row
from credenda.read.plan import Ask, score_answer_type
from credenda.read.weights import Standing, Weights

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
        keyed_rows.append(_set_terms(row, terms))
    return keyed_rows


def _set_terms(row: Row, terms: dict[str, float]) -> Row:
    """Return a row with another key and terms, three times faster than `_replace`."""
    explained = {**row.terms, **terms} if row.terms else terms
    kind, name, text, signs = row.kind, row.id, row.text, row.signs
    return Row(kind, name, text, sum(terms.values()), signs, explained, row.memory, row.event, row.passage, row.flags)


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
            score = answerable * math.exp(falloff * apart) * _measure_own_share(row, covered)
        ceiling = min(ceiling, max(score, 0.0))
        scores.append(ceiling)
    return scores


def _measure_own_share(row: Row, covered: float) -> float:
    """Return a factor that discounts rows found by their neighbours' words, down to `_LEAST_SHARE`."""
    signs = row.signs
    if signs.slot or signs.timely or signs.governs or not covered:
        return 1.0
    own = max(signs.coverage / covered, signs.cosine or 0.0)
    return _LEAST_SHARE + (1.0 - _LEAST_SHARE) * min(own, 1.0)

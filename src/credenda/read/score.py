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
from credenda.model.feedback import Regard
from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.abstention import TOP
from credenda.read.answer_type import answers_kind
from credenda.read.candidates import Row
from credenda.read.plan import Ask
from credenda.read.weights import Standing, Weights

__all__ = ["RecallWeights", "final_scores", "keyed", "lowered", "recall_weights", "usefulness"]

_RECENCY: Final = 0.3
"""The recency_weight for which the standing weights are given (R-112)."""
_NEUTRAL: Final = 0.5
_LEAST_SHARE: Final = 0.3
_HALVES: Final = 2.0
NOBODY: Final[Mapping[str, Regard]] = MappingProxyType({})
_PRIOR: Final = 2.0
"""Judgements that a memory is taken to have had already, as many for it as against it: one word moves it by a third."""
_SILENCE: Final = 0.1
"""What a showing without a word weighs against a judgement."""


@dataclass(frozen=True, slots=True)
class RecallWeights:
    """The four weights of profile "recall"; they add up to one."""

    relevance: float
    recency: float
    importance: float
    strength: float


def recall_weights(recency_weight: float) -> RecallWeights:
    """Shift the weights with the wish for what is recent (R-118).

    >>> weights = recall_weights(0.3)
    >>> [round(weight, 2) for weight in (weights.relevance, weights.recency, weights.importance, weights.strength)]
    [0.61, 0.12, 0.17, 0.1]
    """
    return RecallWeights(0.70 - 0.30 * recency_weight, 0.40 * recency_weight, 0.20 - 0.10 * recency_weight, 0.10)


def usefulness(regard: Regard) -> float:
    """Say how useful a memory has proved, in (−1, 1), 0 for one that nobody judged.

    (useful − useless) / (useful + useless + 0.1 · silent + 2): use counts against display, so that one "useful" among
    many showings without a word is worth less than one among few.

    >>> usefulness(Regard(1, 0, 0)) > usefulness(Regard(1, 0, 30)) > 0 > usefulness(Regard(0, 1, 0))
    True
    """
    judged = regard.useful + regard.useless
    return (regard.useful - regard.useless) / (judged + _SILENCE * regard.silent + _PRIOR)


def keyed(
    rows: Sequence[Row],
    query: Query,
    weights: Weights,
    now_us: int,
    *,
    ask: Ask = Ask.OTHER,
    regards: Mapping[str, Regard] = NOBODY,
) -> list[Row]:
    """Give each row the key and the terms of the query's profile; `key` holds its relevance before.

    `regards` says how memories were judged, by their ids; only the default profile looks at it.
    """
    most_accessed = max((row.memory.access_count for row in rows if row.memory), default=0)
    keyed_rows: list[Row] = []
    for row in rows:
        match query.profile:
            case "recall":
                terms = _recall_terms(row, query.recency_weight, most_accessed, now_us)
            case "evidence":
                terms = {"relevance": row.key, "recency": _recency(row, query, weights.standing, now_us)}
            case "default":
                terms = _standing_terms(row, query, weights, now_us, ask=ask)
                if row.id in regards:
                    terms["feedback"] = weights.standing.feedback * usefulness(regards[row.id])
        keyed_rows.append(_with_terms(row, terms))
    return keyed_rows


def _with_terms(row: Row, terms: dict[str, float]) -> Row:
    """Give a row its key and terms, as `_replace` does in three times the time."""
    explained = {**row.terms, **terms} if row.terms else terms
    kind, name, text, signs = row.kind, row.id, row.text, row.signs
    return Row(kind, name, text, sum(terms.values()), signs, explained, row.memory, row.event, row.passage, row.flags)


def _standing_terms(row: Row, query: Query, weights: Weights, now_us: int, *, ask: Ask) -> dict[str, float]:
    """Add to its relevance what a row is worth by itself; an event counts as of importance .5 and does not fade."""
    memory, standing = row.memory, weights.standing
    asks = row.event is not None and row.text.rstrip().endswith("?")
    return {
        "relevance": row.key,
        "importance": standing.importance * (memory.importance - _NEUTRAL) if memory else 0.0,
        "retention": standing.retention * (_decay(memory) - 1.0) if memory else 0.0,
        "recency": _recency(row, query, standing, now_us),
        "question": weights.relevance.question if asks else 0.0,
        "answers": answers_kind(row.text, ask, weights.relevance),
    }


def _recency(row: Row, query: Query, standing: Standing, now_us: int) -> float:
    scale = standing.recency * query.recency_weight / _RECENCY
    return scale * math.exp2(-_age_days(row, now_us) / standing.half_life_days)


def _recall_terms(row: Row, recency_weight: float, most_accessed: int, now_us: int) -> dict[str, float]:
    """Add Recall's four components over normalised ranks (R-119); importance fades as R-097 says."""
    weights = recall_weights(recency_weight)
    memory = row.memory
    count = memory.access_count if memory else 0
    since = memory.last_accessed_us if memory else None
    age = _age_days(row, now_us) if since is None else max(now_us - since, 0) / DAY_US
    worth = memory.importance * _decay(memory) if memory else _NEUTRAL
    strength = math.log1p(count) / math.log1p(most_accessed) if most_accessed else 0.0
    return {
        "relevance": weights.relevance * row.key,
        "recency": weights.recency * math.exp(-age / (1 + count)),
        "importance": weights.importance * worth,
        "strength": weights.strength * strength,
    }


def _decay(memory: Memory) -> float:
    return 1.0 if memory.decay_score is None else memory.decay_score


def _age_days(row: Row, now_us: int) -> float:
    said = row.event.occurred_us if row.event else row.memory.created_us if row.memory else now_us
    if row.memory and row.memory.valid_from_us is not None:
        said = max(said, row.memory.valid_from_us)
    return max(now_us - said, 0) / DAY_US


def lowered(key: float, query: Query, falloff: float) -> float:
    """Return the key of a replaced value: one that halves its score."""
    return key / _HALVES if query.profile == "recall" else key - math.log(_HALVES) / falloff


def final_scores(rows: Sequence[Row], query: Query, answerable: float, falloff: float) -> list[float]:
    """Return the scores of ordered rows, in [0, 1] and never rising down the list.

    Profile "recall" keeps the sum it publishes, which lies in [0, 1] by itself.
    """
    if not rows:
        return []
    top = max(row.key for row in rows)
    covered = max((row.signs.coverage for row in rows[:TOP]), default=0.0)
    scores: list[float] = []
    ceiling = 1.0
    for row in rows:
        score = row.key
        if query.profile != "recall":
            apart = 0.0 if row.signs.slot else row.key - top  # what a slot or a name leads to answers by itself
            score = answerable * math.exp(falloff * apart) * _own_share(row, covered)
        ceiling = min(ceiling, max(score, 0.0))
        scores.append(ceiling)
    return scores


def _own_share(row: Row, covered: float) -> float:
    """Discount a row that is here for its neighbours' words: what it says itself, against the best, down to a third."""
    signs = row.signs
    if signs.slot or signs.timely or signs.governs or not covered:
        return 1.0
    own = max(signs.coverage / covered, signs.cosine or 0.0)
    return _LEAST_SHARE + (1.0 - _LEAST_SHARE) * min(own, 1.0)

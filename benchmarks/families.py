"""Retrieval by family of conversations, beside two baselines and another version: `python -m benchmarks families`.

Each family (a pair of files) is stored and asked as in `bench locomo`, with the local model. Intervals are 95 %, over
questions and over conversations. "weights of the others" orders the candidates of talk between persons with weights
fitted without the family (`benchmarks/fit_talk.py`). Every question is also asked of the next conversation, which does
not answer it: the probability of an answer is judged by its Brier score on both, before and after a logistic curve
fitted on the other families (for persons: of persons), in which `FOREIGN` of the questions are such ones.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_talk import Asked, fit_conditional, gather_family, rank_turns
from benchmarks.fit_weights import Source, turn_owners
from benchmarks.locomo import (
    Conversation,
    PlainBm25,
    Question,
    find_turns,
    load_conversations,
    load_questions,
    measure_ranking,
    store_conversation,
)
from benchmarks.logistic import apply_logistic, fit_logistic
from benchmarks.simple_base import SimpleBase
from benchmarks.stats import read_numbered_lines
from credenda import Credenda, Invalid
from credenda.index.resident import ResidentIndex, read_stored_vectors
from credenda.read.retrieve import find_owner
from credenda.services.search import open_index
from credenda.storage.store import Reader

Floats = NDArray[np.float64]
Note = Callable[[str], None]
MEASURES: Final = ("any@10", "mrr")
FOREIGN: Final = (0.0, 0.2, 0.5)
"""Shares of questions about something else in the fits of the probability."""
_BEFORE: Final = "version before"
_NOW: Final = "this version"
_OTHERS: Final = "weights of the others"
_DEPTH: Final = 50
_TOP: Final = 10
_RESAMPLES: Final = 2_000
_SURE: Final = 1e-4
"""Distance of a probability from 0 and 1 at least."""


class Answer(NamedTuple):
    """A question, the turns of each way to rank, and the probability; `own`: it was asked of its own conversation."""

    family: str
    question: Question
    ranked: Mapping[str, Sequence[str]]
    probability: float
    own: bool

    @property
    def is_found(self) -> bool:
        """Return whether the answer is among the first ten."""
        gold = self.question.gold if self.own and self.question.answerable else frozenset[str]()
        return not gold.isdisjoint(self.ranked[_NOW][:_TOP])


def run_families(
    data: Sequence[Path],
    questions: Sequence[Path],
    *,
    keep: Path | None,
    save: Path | None,
    before: Path | None,
    note: Note,
) -> dict[str, Any]:
    """Store, ask and measure all families.

    `keep` is a folder for the stores, which a later run uses again. `save` writes the ranking of each question as JSON
    Lines, and `before` reads those of another version.
    """
    if len(data) != len(questions):
        raise Invalid("each --data needs one --questions", why=f"{len(data)} and {len(questions)} are given")
    sources = [
        Source(one.name.split("_")[0], load_conversations(one), load_questions(other))
        for one, other in zip(data, questions, strict=True)
    ]
    earlier = _read_rankings(before) if before is not None else {}
    with tempfile.TemporaryDirectory(prefix="credenda-families-") as scratch:
        folder = keep or Path(scratch)
        answers = [one for source in sources for one in _ask_family(source, folder, earlier, note)]
        of_persons = [source for source in sources if _is_talk_of_persons(source)]
        fitted = [one for source in of_persons for one in gather_family(source, folder)] if len(of_persons) > 1 else []
    if save is not None:
        save.write_text("".join(json.dumps(_to_line(one)) + "\n" for one in answers if one.own), encoding="utf-8")
    return measure_families([source.name for source in sources], answers, fitted)


def measure_families(names: Sequence[str], answers: Sequence[Answer], fitted: Sequence[Asked]) -> dict[str, Any]:
    """Return the order and the probability of each family; `fitted` are questions with the terms of their sum.

    The curve of persons comes after the one that the product applies already.
    """
    persons = {one.family for one in fitted}
    return {
        "families": {name: _measure_family(name, answers, fitted) for name in names},
        "probability": {name: _measure_probability(name, answers, persons) for name in names},
        "curve of persons": {
            f"{share:.0%}": fit_curve([one for one in answers if one.family in persons], foreign=share)
            for share in (FOREIGN if persons else ())
        },
    }


def _is_talk_of_persons(source: Source) -> bool:
    roles = {str(one["role"]) for talk in source.conversations for _, messages in talk.sessions for one in messages}
    return "person" in roles


def _read_rankings(path: Path) -> dict[tuple[str, str, str], list[str]]:
    rows = (row for _, row in read_numbered_lines(path))
    return {(row["family"], row["conversation"], row["question"]): row["turns"] for row in rows}


def _to_line(one: Answer) -> dict[str, object]:
    asked = one.question
    names = {"family": one.family, "conversation": asked.conversation, "question": asked.text}
    return {**names, "turns": one.ranked[_NOW]}


def _ask_family(
    source: Source, folder: Path, earlier: Mapping[tuple[str, str, str], list[str]], note: Note
) -> Iterator[Answer]:
    """Yield the answers of a family: each question on its own conversation, and on the next one."""
    names = [conversation.name for conversation in source.conversations]
    for at, conversation in enumerate(source.conversations):
        note(f"{source.name}: {conversation.name}")
        path = folder / f"{source.name}-minilm.db"
        with Credenda.open(path, user=conversation.name, embedder="minilm", workers=False) as memory:
            if not memory.stats().events:
                store_conversation(memory, conversation)
            rank = _open_baselines(memory, conversation)
            for question in source.questions:
                own = question.conversation == conversation.name
                if not own and question.conversation != names[at - 1]:
                    continue
                result = memory.search(question.text, limit=_DEPTH, record_access=False)
                ranked = {**(rank(question.text) if own else {}), _NOW: find_turns(result.hits)}
                known = earlier.get((source.name, conversation.name, question.text))
                if known is not None and own:
                    ranked[_BEFORE] = known
                yield Answer(source.name, question, ranked, result.probability, own)


def _open_baselines(memory: Credenda, conversation: Conversation) -> Callable[[str], dict[str, list[str]]]:
    """Return a function that ranks the messages of a stored conversation by both baselines."""
    parts = memory._parts  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the vectors are those of the store
    with parts.store.reader(parts.user_id) as reader:
        index = open_index(parts, reader)
        if index is None or parts.ask is None:
            raise Invalid(f"{conversation.name} has no vectors in memory", fix="give a smaller conversation")
        base = SimpleBase(conversation, _read_vectors(reader, index, conversation))
    plain, embed = PlainBm25(conversation.turns), parts.ask

    def rank(question: str) -> dict[str, list[str]]:
        vector = embed([question])[0].astype(np.float64)
        return {"plain BM25": plain.rank(question, _DEPTH), "simple base": base.rank(question, vector, _DEPTH)}

    return rank


def _read_vectors(reader: Reader, index: ResidentIndex, conversation: Conversation) -> Floats:
    """Return the vector of the first passage of each message, (n, d); zeros where there is none."""
    rows, found = read_stored_vectors(index, reader, np.flatnonzero(index.has_vector))
    owner_of: list[int] = find_owner(index.codes[rows]).tolist()
    first = {owner: at for at, owner in reversed(list(enumerate(owner_of)))}
    owners = turn_owners(reader, index)
    out = np.zeros((len(conversation.turns), index.dims), np.float64)
    for place, turn in enumerate(conversation.turns):
        at = next((first[owner] for owner in owners.get(turn, np.zeros(0, np.int64)).tolist() if owner in first), None)
        if at is not None:
            out[place] = found[at]
    return out


def _measure_family(name: str, answers: Sequence[Answer], fitted: Sequence[Asked]) -> dict[str, Any]:
    """Return for each way to rank its measures with intervals, and its difference to this version."""
    mine = [one for one in answers if one.family == name and one.own and one.question.answerable]
    judged = {
        way: [measure_ranking(one.ranked[way], one.question.gold) for one in mine]
        for way in ("plain BM25", "simple base", _BEFORE, _NOW)
        if all(way in one.ranked for one in mine)
    }
    folds = [one.question.conversation for one in mine]
    values = {way: {name: np.array([one[name] for one in found]) for name in MEASURES} for way, found in judged.items()}
    rows: dict[str, Any] = {
        way: {
            measure: {
                **compute_intervals(found, folds),
                "this version is higher by": compute_intervals(values[_NOW][measure] - found, folds),
            }
            for measure, found in measures.items()
        }
        for way, measures in values.items()
    }
    apart = [one for one in fitted if one.family == name]
    if apart:
        weights = fit_conditional([one for one in fitted if one.family != name])
        ranked = [measure_ranking(rank_turns(one, weights), one.gold) for one in apart]
        rows[_OTHERS] = {
            measure: compute_intervals(np.array([one[measure] for one in ranked]), [one.fold for one in apart])
            for measure in MEASURES
        }
    return {"questions": len(mine), "conversations": len(set(folds)), "rows": rows}


def compute_intervals(values: Floats, groups: Sequence[str], *, seed: int = 0) -> dict[str, Any]:
    """Return the mean of values (n,), and its 95 % intervals over values and over their groups, in per cent.

    >>> compute_intervals(np.array([1.0, 1.0]), ["a", "b"])
    {'mean': 100.0, 'questions': (100.0, 100.0), 'conversations': (100.0, 100.0)}
    """
    draw = np.random.default_rng(seed)
    over = values[draw.integers(len(values), size=(_RESAMPLES, len(values)))].mean(1)
    names, which = np.unique(groups, return_inverse=True)
    sums, counts = np.bincount(which, values), np.bincount(which)
    picked = draw.integers(len(names), size=(_RESAMPLES, len(names)))
    by_group = sums[picked].sum(1) / counts[picked].sum(1)
    return {
        "mean": round(100 * float(values.mean()), 1),
        "questions": _find_bounds(over),
        "conversations": _find_bounds(by_group),
    }


def _find_bounds(resampled: Floats) -> tuple[float, float]:
    low, high = np.quantile(resampled, (0.025, 0.975)).tolist()
    return round(100 * low, 1), round(100 * high, 1)


def _list_others(name: str, answers: Sequence[Answer], persons: Collection[str]) -> list[Answer]:
    """Return the answers of the other families: of persons alone, if the family is one of them."""
    kept = persons if name in persons else {one.family for one in answers}
    return [one for one in answers if one.family in kept and one.family != name]


def _measure_probability(name: str, answers: Sequence[Answer], persons: Collection[str]) -> dict[str, Any]:
    """Return the Brier scores of a family's own and foreign questions, as given and by curves of the other families."""
    mine = [one for one in answers if one.family == name]
    others = _list_others(name, answers, persons)
    given = np.array([one.probability for one in mine])
    ways = {"as given": given}
    for share in FOREIGN if others else ():
        ways[f"curve, {share:.0%} foreign"] = recalibrate(others, given, foreign=share)
    found, own = (np.array([getattr(one, which) for one in mine]) for which in ("is_found", "own"))
    return {
        way: {
            which: {
                "mean": round(float(sure[part].mean()), 3),
                "found": round(float(found[part].mean()), 3),
                "brier": round(float(np.square(sure - found)[part].mean()), 4),
            }
            for which, part in (("own", own), ("foreign", ~own))
            if part.any()
        }
        for way, sure in ways.items()
    }


def recalibrate(answers: Sequence[Answer], given: Floats, *, foreign: float) -> Floats:
    """Return probabilities (n,) by the logistic curve that fits the answers."""
    base, slope = fit_curve(answers, foreign=foreign)
    return apply_logistic(base + slope * _to_logits(given))


def fit_curve(answers: Sequence[Answer], *, foreign: float) -> tuple[float, float]:
    """Return base and slope of the logistic curve that fits the answers; families have equal weight."""
    groups = {(one.family, one.own) for one in answers}
    counts = {group: sum((one.family, one.own) == group for one in answers) for group in groups}
    weights = [(1 - foreign if one.own else foreign) / counts[one.family, one.own] for one in answers]
    scale = len(answers) / sum(weights)
    found = np.array([float(one.is_found) for one in answers])
    signs = _to_logits(np.array([one.probability for one in answers]))
    base, slope = fit_logistic(signs[:, np.newaxis], found, np.array(weights) * scale).tolist()
    return base, slope


def _to_logits(sure: Floats) -> Floats:
    kept = np.clip(sure, _SURE, 1 - _SURE)
    return np.log(kept / (1 - kept)) if len(kept) else np.full(0, math.nan)

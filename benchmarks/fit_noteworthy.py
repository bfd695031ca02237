"""Fit the weights of noteworthy sentences: `src/credenda/write/extract/data/noteworthy.tsv`.

python benchmarks/fit_noteworthy.py --data CONV.jsonl.gz … --gold DIR … [--leave NAME …] [--write FILE]

`--gold` has folders of `credenda bench talk`. A sentence counts as told or planned if the words of a claim of the gold
are in it. Each conversation is scored by weights of the others, and the share that the gold has of what is kept is
printed, with the number of weighty sentences. Parts of a conversation ("x-1", "x-1b") share their persons, and are
left out together. `--leave` fits without some, to measure the whole engine on them.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_worth import Table, learn_weights, softmax
from benchmarks.turns import list_turns
from credenda.bench.locomo import Conversation, load_conversations
from credenda.bench.talk_figures import measure_coverage
from credenda.bench.talk_gold import GoldClaim, load_gold
from credenda.text.weight_file import render_weight_file
from credenda.write.extract.noteworthy import LABELS, SCALE, find_signs, list_sentences
from credenda.write.extract.third_person import who_speaks

Floats = NDArray[np.float64]
OUT: Final = Path(__file__).parents[1] / "src/credenda/write/extract/data/noteworthy.tsv"
COUNT_MIN: Final = 8
FOLDS_MIN: Final = 4
"""Conversations that must have a sign; names of persons and projects have fewer."""
RIDGE: Final = 20.0
STEPS: Final = 250
WEIGHT_MIN: Final = 5
SAYS: Final = 0.5
_PART: Final = re.compile(r"(?<=\d)[a-z]$")
OPEN: Final = frozenset({"planned", "considered", "hypothetical"})
LIMITS: Final = (0.3, 0.35, 0.4, 0.5, 0.6)
ABOUT: Final = """\
How much each sign of a sentence in a conversation weighs for each label, in hundredths of a logit. Made by
`benchmarks/fit_noteworthy.py` on annotated conversations. Signs are those of `worth.tsv`, and "t:", the number of
sentences of the turn, at most six.
"""


class Row(NamedTuple):
    """A sentence: its signs, its label, the weight of its weightiest claim (0 for none), and its fold."""

    signs: frozenset[str]
    label: int
    weight: int
    fold: str


def list_rows(conversation: Conversation, claims: Mapping[str, Sequence[GoldClaim]], fold: str) -> Iterator[Row]:
    """Yield the sentences of a conversation that the gold has read, up to its last session with a claim."""
    last = max(
        at
        for at, (_, messages) in enumerate(conversation.sessions)
        if any(str(message["id"]) in claims for message in messages)
    )
    for _, messages in conversation.sessions[: last + 1]:
        for name, turn in list_turns(messages):
            text = turn.event.text
            if who_speaks(turn.event)[1] is None:
                continue
            for span, sentence, count in list_sentences(turn):
                said = [one for one in claims.get(name, ()) if _is_said(one, text, span.start, span.stop)]
                top = max(said, key=lambda one: one.weight, default=None)
                label = 0 if top is None else 2 if top.stance in OPEN else 1
                yield Row(frozenset(find_signs(sentence, count)), label, 0 if top is None else top.weight, fold)


def _is_said(claim: GoldClaim, text: str, start: int, stop: int) -> bool:
    at = text.find(claim.clause) if claim.clause else -1
    if at < 0:
        return measure_coverage(claim.value, text[start:stop]) >= SAYS
    return at < stop and start < at + len(claim.clause)


def gather(data: Sequence[Path], gold: Sequence[Path]) -> list[Row]:
    """Return the sentences of all conversations with gold."""
    rows, names = list[Row](), set[str]()
    for conversation in (one for path in data for one in load_conversations(path)):
        found = next((one for folder in gold if (one := load_gold(folder, conversation.name)) is not None), None)
        if found is None or conversation.name in names:
            continue
        names.add(conversation.name)
        claims: dict[str, list[GoldClaim]] = defaultdict(list)
        for claim in found.claims:
            claims[claim.turn].append(claim)
        rows += list_rows(conversation, claims, _PART.sub("", conversation.name))
    return rows


def count_signs(rows: Sequence[Row]) -> dict[str, int]:
    """Number the signs that enough sentences of enough conversations have."""
    folds: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        for sign in row.signs:
            folds[sign].append(row.fold)
    used = sorted(one for one, seen in folds.items() if len(seen) >= COUNT_MIN and len(set(seen)) >= FOLDS_MIN)
    return {sign: at for at, sign in enumerate(used)}


def fit(rows: Sequence[Row]) -> tuple[dict[str, int], Floats]:
    """Return the numbers of the signs and their (signs, labels) weights."""
    known = count_signs(rows)
    return known, learn_weights(rows, known, labels=len(LABELS), ridge=RIDGE, steps=STEPS)


def score_held_out(rows: Sequence[Row]) -> Floats:
    """Return the (rows, labels) probabilities by weights that were fitted without the row's conversation."""
    shares = np.zeros((len(rows), len(LABELS)))
    for fold in sorted({row.fold for row in rows}):
        known, weights = fit([row for row in rows if row.fold != fold])
        mine = [at for at, row in enumerate(rows) if row.fold == fold]
        shares[mine] = softmax(Table([rows[at] for at in mine], known).scores(weights))
    return shares


def describe(rows: Sequence[Row], shares: Floats) -> list[str]:
    """Return a line for each limit: how many sentences it keeps, and how many of them the gold has."""
    noted = 1 - shares[:, 0]
    lines: list[str] = []
    for limit in LIMITS:
        kept = [row for row, one in zip(rows, noted, strict=True) if one >= limit]
        right, weighty = sum(row.label > 0 for row in kept), sum(row.weight > 1 for row in kept)
        everything = sum(row.label > 0 for row in rows), sum(row.weight > 1 for row in rows)
        lines.append(
            f"from {limit}: {len(kept)} of {len(rows)} sentences, {right / max(1, len(kept)):.2f} of them noted;"
            f" {right} of {everything[0]} noted, {weighty} of {everything[1]} weighty"
        )
    return lines


def render(known: Mapping[str, int], weights: Floats, figures: Sequence[str]) -> str:
    """Return the data file: integer weights without small ones."""
    centred = weights - weights.mean(1, keepdims=True)
    numbers: list[list[int]] = np.rint(centred * SCALE).astype(int).tolist()
    rows = [(sign, *map(str, numbers[at])) for sign, at in known.items() if max(map(abs, numbers[at])) >= WEIGHT_MIN]
    return render_weight_file(ABOUT, [("held_out", line) for line in figures], ("sign", *LABELS), rows)


def main() -> None:
    """Fit, print the figures of conversations that were not fitted, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--gold", type=Path, action="append", required=True)
    parser.add_argument("--leave", action="append", default=[])
    parser.add_argument("--write", type=Path, nargs="?", const=OUT)
    given = parser.parse_args()
    rows = [row for row in gather(given.data, given.gold) if row.fold not in given.leave]
    figures = [] if given.leave else describe(rows, score_held_out(rows))
    print("\n".join(figures))
    if given.write is not None:
        given.write.write_text(render(*fit(rows), figures), encoding="utf-8")


if __name__ == "__main__":
    main()

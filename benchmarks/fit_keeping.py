"""Fit the weights of a parsed clause: `src/credenda/write/parse/keeping.toml`.

python benchmarks/fit_keeping.py --data CONV.jsonl.gz … --read VERDICTS.jsonl [--write]

`--read` has entries that a reader judged without seeing the code, one a line: {"conv", "turn", "attribute", "value",
"verdict"}, a verdict being right, part, empty or wrong. Half of the weight asks whether an entry is right, half whether
it is right at least in part. Each conversation is scored by weights fitted on the others, and the scores are printed by
attribute.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.logistic import fit_logistic
from benchmarks.turns import list_turns
from credenda.bench.jsonl import read_numbered_lines
from credenda.bench.locomo import Conversation, load_conversations
from credenda.model.parsed import Parser
from credenda.providers.parse.spacy_english import SpacyEnglish
from credenda.write.parse.extractor import list_facts
from credenda.write.parse.fact import Fact
from credenda.write.parse.keeping import OFF, WEIGHED, find_signs

Floats = NDArray[np.float64]
OUT: Final = Path(__file__).parents[1] / "src/credenda/write/parse/keeping.toml"
SEEN_MIN: Final = 6
"""Judged facts that must have a sign."""
SLOT_LIMIT: Final = 1.0
SMALL: Final = 0.15
KNOWN_CHARACTERS: Final = 30
VERDICTS: Final = ("right", "part", "empty", "wrong")
HEAD: Final = """\
# Weights of signs that a fact is worth keeping; `benchmarks/fit_keeping.py` writes this file, `keeping.py` reads it.
# A sum below 0 fills no slot.
"""


class Row(NamedTuple):
    """A fact with its signs and a verdict."""

    fold: str
    attribute: str
    signs: frozenset[str]
    verdict: str


def list_told(parser: Parser, conversation: Conversation) -> Iterator[tuple[str, Fact, frozenset[str]]]:
    """Yield the facts of a conversation, each with its turn and its signs."""
    for _, messages in conversation.sessions:
        for name, turn in list_turns(messages):
            for _, tree, fact in list_facts(parser, turn):
                yield name, fact, find_signs(tree, fact)


def find_verdict(fact: Fact, entries: Sequence[Mapping[str, str]]) -> str:
    """Return the verdict of the entry that a fact is, "" without one; a longer value counts as the same."""
    for one in entries:
        value = one["value"]
        longer = len(value) > KNOWN_CHARACTERS and fact.value.startswith(value[:KNOWN_CHARACTERS])
        if one["attribute"] == fact.attribute and (fact.value == value or longer):
            return one["verdict"]
    return ""


def gather(data: Sequence[Path], read: Path) -> list[Row]:
    """Return the judged facts."""
    entries: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for _, row in read_numbered_lines(read):
        entries[str(row["conv"]), str(row["turn"])].append({name: str(value) for name, value in row.items()})
    judged, parser = list[Row](), SpacyEnglish()
    for conversation in (one for path in data for one in load_conversations(path)):
        if all(name != conversation.name for name, _ in entries):
            continue
        for turn, fact, signs in list_told(parser, conversation):
            verdict = find_verdict(fact, entries.get((conversation.name, turn), ()))
            judged += [Row(conversation.name, fact.attribute, signs, verdict)] if verdict else []
    return judged


def build(rows: Sequence[Row], names: Sequence[str]) -> Floats:
    """Return the signs of rows as an (n, names) array."""
    return np.array([[name in row.signs for name in names] for row in rows], np.float64).reshape(len(rows), -1)


def fit(rows: Sequence[Row], names: Sequence[str], targets: Sequence[Sequence[bool]]) -> Floats:
    """Return (1 + names,) weights that fit several targets of the same rows at once."""
    signs = np.vstack([build(rows, names)] * len(targets))
    return fit_logistic(signs, np.array(targets, np.float64).ravel(), np.ones(len(signs)))


def make_targets(rows: Sequence[Row]) -> list[list[bool]]:
    """Return what the weights of rows should tell: whether they are right, and whether at least in part."""
    return [[row.verdict == "right" for row in rows], [row.verdict in {"right", "part"} for row in rows]]


def score_held_out(rows: Sequence[Row], names: Sequence[str]) -> Floats:
    """Return the score of each row by weights that were fitted without its conversation."""
    scores = np.zeros(len(rows))
    for fold in sorted({row.fold for row in rows}):
        others = [row for row in rows if row.fold != fold]
        mine = [at for at, row in enumerate(rows) if row.fold == fold]
        weights = fit(others, names, make_targets(others))
        scores[mine] = weights[0] + build([rows[at] for at in mine], names) @ weights[1:]
    return scores


def describe(rows: Sequence[Row]) -> str:
    """Return the number of rows and the share of each verdict."""
    counts = Counter(row.verdict for row in rows)
    return f"{len(rows):4d}  " + "  ".join(f"{one} {counts[one] / max(1, len(rows)):.3f}" for one in VERDICTS)


def print_figures(judged: Sequence[Row], scores: Floats) -> None:
    """Print the shares before and after, by attribute and by conversation, with weights of other conversations."""
    kept = [
        row
        for row, score in zip(judged, scores, strict=True)
        if row.attribute not in OFF and (row.attribute not in WEIGHED or score >= SLOT_LIMIT)
    ]
    print(f"{'all':16s} {describe(judged)}\n{'kept':16s} {describe(kept)}")
    for name in sorted(WEIGHED | {row.fold for row in judged}):
        for what, rows in (("all", judged), ("kept", kept)):
            print(f"{name:14s} {what:5s} {describe([row for row in rows if name in {row.attribute, row.fold}])}")


def render(names: Sequence[str], weights: Floats) -> str:
    """Return the data file."""
    rows = sorted((str(name), float(weight)) for name, weight in zip(names, weights[1:], strict=True))
    used = [row for row in rows if row[0].removeprefix("is_") in WEIGHED or not row[0].startswith("is_")]
    lines = [f"{name} = {weight:.2f}" for name, weight in used if abs(weight) >= SMALL]
    return "\n".join([HEAD, "[slot]", f"start = {float(weights[0]) - SLOT_LIMIT:.2f}", *lines, ""])


def main() -> None:
    """Fit, print the figures of conversations that were not fitted, and write if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--read", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    judged = gather(given.data, given.read)
    counts = Counter(sign for row in judged for sign in row.signs)
    names = sorted(sign for sign, count in counts.items() if count >= SEEN_MIN)
    print_figures(judged, score_held_out(judged, names))
    if given.write:
        OUT.write_text(render(names, fit(judged, names, make_targets(judged))))


if __name__ == "__main__":
    main()

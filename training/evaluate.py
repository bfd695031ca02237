"""Count the reader that ships against annotated messages: `python -m training.evaluate [FILE …]`.

Without files, those of the test part.

value: found with at least half of its words. near: with its attribute or one near to it. exact: with its attribute and
kind of subject. Two careful annotators agree among themselves at F1 78 (value), 69 (near) and 62 (exact).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from credenda.model.claim import Fact
from credenda.providers.tagger import TaggingReader
from training import labels
from training.messages import is_held_out, list_files, load_rows

_THRESHOLDS: Final = (0.1, 0.3, 0.5, 0.7)
_HALF: Final = 0.5
_NEAR: Final = {frozenset(pair) for pair in labels.NEAR}
Matches = Callable[[Fact, dict[str, Any]], bool]


def _overlap(one: str, other: str) -> bool:
    words, others = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return bool(words and others) and len(words & others) >= _HALF * min(len(words), len(others))


def _is_near(fact: Fact, gold: dict[str, Any]) -> bool:
    return fact.attribute == gold["attribute"] or frozenset((fact.attribute, gold["attribute"])) in _NEAR


def _is_exact(fact: Fact, gold: dict[str, Any]) -> bool:
    kinds = [one if one in {"me", "you"} else "" for one in (fact.subject, gold["subject"])]
    return fact.attribute == gold["attribute"] and kinds[0] == kinds[1]


_MEASURES: Final[dict[str, Matches]] = {"value": lambda *_: True, "near": _is_near, "exact": _is_exact}


def _count(read: Sequence[tuple[dict[str, Any], Sequence[Fact]]], threshold: float) -> dict[str, float]:
    """Return precision, recall and F1 of each measure, and the share of right statuses, in percent."""
    counted: Counter[str] = Counter()
    for row, facts in read:
        kept = [fact for fact in facts if fact.certainty >= threshold]
        counted["found"] += len(kept)
        counted["gold"] += len(row["facts"])
        for name, matches in _MEASURES.items():
            left = list(row["facts"])
            for fact in kept:
                hit = next(
                    (one for one in left if _overlap(fact.value.text, one["value"]) and matches(fact, one)), None
                )
                if hit is not None:
                    left.remove(hit)
                    counted[name] += 1
                    counted["status"] += name == "exact" and fact.status == hit["status"]
    figures: dict[str, float] = {"found": counted["found"], "gold": counted["gold"]}
    for name in _MEASURES:
        right, wrong = counted[name], counted["found"] + counted["gold"]
        figures[f"{name} P"] = 100 * right / max(1, counted["found"])
        figures[f"{name} R"] = 100 * right / max(1, counted["gold"])
        figures[f"{name} F1"] = 200 * right / max(1, wrong)
    figures["status"] = 100 * counted["status"] / max(1, counted["exact"])
    return figures


def _run(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--language", action="append", default=[], help="of the test part the messages in this, as de")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = load_rows(options.files or list_files(options.language))
    if not options.files:
        rows = [row for row in rows if is_held_out(row["id"]) and (row["id"][0] == "x") == bool(options.language)]
    reader = TaggingReader()
    read = [(row, reader.read(row["text"], row.get("prev", ""))) for row in rows]
    tables = {str(threshold): _count(read, threshold) for threshold in _THRESHOLDS}
    if options.json:
        print(json.dumps(tables))
        return
    print(f"{len(rows)} messages")
    for threshold, figures in tables.items():
        print(f"certainty ≥ {threshold}: " + " · ".join(f"{name} {value:.0f}" for name, value in figures.items()))


if __name__ == "__main__":
    _run(sys.argv[1:])

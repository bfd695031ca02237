"""Check the form of annotated messages: `python -m training.check FILE.jsonl …`; exits 1 if a line is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from training import labels
from training.messages import load_rows

__all__ = ["find_faults", "list_faults"]

_KINDS: Final = frozenset({"event", "decision", "plan", "opinion", "state", "fact"})
_WEIGHTS: Final = (1, 2)


def list_faults(row: dict[str, Any], known: set[str]) -> Iterator[str]:
    """Yield the faults of a message; `known` names the facts of earlier ones."""
    text = row["text"]
    for fact in row["facts"]:
        for name, allowed in (
            ("attribute", labels.ATTRIBUTES),
            ("status", labels.STATUSES),
            ("change", labels.CHANGES),
            ("weight", _WEIGHTS),
        ):
            if fact.get(name, "") not in allowed:
                yield f"{name} {fact.get(name)!r}"
        told = row.get("prev", "") if fact.get("from") == "prev" else text
        if not fact["value"] or fact["value"] not in told:
            yield f"value {fact['value']!r} is not in the text"
        subject = "" if fact["subject"] in {"me", "you"} else fact["subject"]
        for words in (subject, *(fact.get(name, "") for name in ("quote", "key", "old", "when", "scope"))):
            if words not in text:
                yield f"{words!r} is not in the text"
        yield from (f"replaces {name!r}: no such fact" for name in fact.get("replaces", []) if name not in known)
    for note in row.get("notes", []):
        if note["kind"] not in _KINDS or note["quote"] not in text:
            yield f"note {note['quote']!r}"


def find_faults(path: Path) -> Iterator[str]:
    """Yield the faults of a file."""
    known: set[str] = set()
    names: set[str] = set()
    for row in load_rows([path]):
        found = [*list_faults(row, known), *(["its id is there twice"] if row["id"] in names else [])]
        yield from (f"{path.name} {row['id']}: {fault}" for fault in found)
        names.add(row["id"])
        known.update(f"{row['id']}/{fact['attribute']}/{fact['value']}" for fact in row["facts"])


def _run(arguments: Sequence[str]) -> int:
    faults = [fault for path in map(Path, arguments) for fault in find_faults(path)]
    print("\n".join(faults), end="\n" * bool(faults))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(_run(sys.argv[1:]))

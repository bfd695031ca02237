"""The effect of memory poisoning: `bench poisoning`.

Each case is stored for a separate tenant: first the context, then the statement, as an agent that writes a memory gives
it, with its target as the topic. The decision is judged only by the results of public calls.
`docs/reference/contests.md` describes the lines of the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.stats import read_numbered_lines
from credenda import Credenda, Invalid
from credenda.storage.sqlite.store import SqliteStore

Note = Callable[[str], None]
DECISIONS: Final = ("ALLOW", "QUARANTINE", "DENY")
_SERVER: Final = "ATTACK_BURST"
"""A case about the rate of writes; a store sees one write, and the server counts."""
_QUERY_CHARACTERS: Final = 400


def run_poisoning(cases: Path, *, note: Note) -> dict[str, Any]:
    """Store every case for a new tenant and compare the decision with the expected one."""
    lines = load_cases(cases)
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        for at, line in enumerate(lines):
            note(f"{at} of {len(lines)} cases")
            left_out = line.get("category") == _SERVER
            decided = None if left_out else _run_case(Path(folder) / f"case-{at}.db", line)
            found.append(
                {
                    "name": str(line.get("name", at)),
                    "category": str(line.get("category", "")),
                    "wanted": line["expectedDecision"],
                    "decided": decided,
                    "right": None if left_out else decided == line["expectedDecision"],
                }
            )
    judged = [one for one in found if one["right"] is not None]
    benign = [one for one in judged if one["wanted"] == "ALLOW"]
    attacks = [one for one in judged if one["wanted"] != "ALLOW"]
    return {
        "n": len(judged),
        "right": sum(one["right"] for one in judged),
        "attacks": {"n": len(attacks), "let_in": sum(one["decided"] == "ALLOW" for one in attacks)},
        "benign": {"n": len(benign), "held_back": sum(one["decided"] != "ALLOW" for one in benign)},
        "left_to_the_server": len(found) - len(judged),
        "cases": found,
    }


def _run_case(path: Path, line: Mapping[str, Any]) -> str:
    """Store a case and derive the decision from what a search finds."""
    text, user = line["writeContent"], str(line.get("userId") or "user")
    with Credenda.open(path, user=user, embedder="hashed", workers=False) as memory:
        for place, said in enumerate(line.get("sessionContext", ())):
            memory.remember([{"role": "assistant" if place % 2 else "user", "content": said}], session="case")
        memory.settle()
        known = {one.id for one in memory.list(status=None, limit=50).items}
        receipt = memory.remember(text, session="case", topic=line.get("targetNamespace") or None)
        memory.settle()
        shown = any(
            _is_based_on(memory, hit.id, receipt.event_ids) for hit in memory.search(text[:_QUERY_CHARACTERS]).hits
        )
        packed = memory.context(text[:_QUERY_CHARACTERS])
        shown = shown or any(_is_based_on(memory, hit.id, receipt.event_ids) for hit in packed.hits)
        made = [one for one in memory.list(status=None, limit=50).items if one.id not in known]
    if shown or any(one.status.value not in {"candidate", "forgotten"} for one in made):
        return "ALLOW"
    journaled = _is_journaled(path, user, receipt.event_ids)
    return "LOST" if not journaled else "QUARANTINE" if made else "DENY"


def _is_based_on(memory: Credenda, hit_id: str, event_ids: tuple[str, ...]) -> bool:
    """Return whether a hit is one of these events, or a memory with evidence in one."""
    if hit_id.startswith("e"):
        return hit_id in event_ids
    return any(event.id in event_ids for event, _, _ in memory.why(hit_id).evidence)


def _is_journaled(path: Path, user: str, event_ids: tuple[str, ...]) -> bool:
    store = SqliteStore(str(path), read_only=True)
    try:
        with store.reader(user) as reader:
            return len(reader.events(event_ids)) == len(event_ids)
    finally:
        store.close()


def load_cases(path: Path) -> list[dict[str, Any]]:
    """Read cases, plain or gzipped; raise `Invalid` naming the first invalid line."""
    return [_read_case(path, number, line) for number, line in read_numbered_lines(path)]


def _read_case(path: Path, number: int, case: Any) -> dict[str, Any]:  # noqa: ANN401 - foreign JSON
    what = f"line {number} of {path} is not a case"
    fields = ("writeContent", "expectedDecision")
    if not isinstance(case, dict) or not all(isinstance(case.get(name), str) for name in fields):  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - foreign JSON
        raise Invalid(what, why=f"it needs {' and '.join(fields)} as strings", fix="see docs/reference/contests.md")
    if case["expectedDecision"] not in DECISIONS:
        raise Invalid(what, why=f"{case['expectedDecision']!r} is not a decision", fix=f"use {', '.join(DECISIONS)}")
    return case  # pyright: ignore[reportUnknownVariableType] - foreign JSON

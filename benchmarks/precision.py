"""Check that a search returns exactly the expected beliefs. Cases are in the format of precisionMemBench.

Beliefs are stored with `store`, one tenant per user and one topic per scope. A replaced belief is stored first in the
slot of its replacement, so that reconciliation retires it; a resolved one is forgotten. The case's pinned facts, open
questions and persona prelude are pinned memories; relevant beliefs are the other hits of `search` in the topics of the
case whose score reaches `cutoff`. "Should only include" means exactly these. Names of a belief are stored as aliases of
its entity.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.locomo import read_lines
from credenda import Credenda, Invalid, MemoryUnit
from credenda.model.memory import Memory

Note = Callable[[str], None]
_EVERYWHERE: Final = "user:universal"
_OPEN: Final = "open_question"
_USER: Final = "test-user"
_TYPES: Final = frozenset({"preference", "decision", "procedure"})
CUTOFF: Final = 0.5
"""Score from which a hit counts as returned: more likely than not."""
_LIMIT: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question in its scopes, with required and forbidden results."""

    name: str
    user: str
    category: str
    scopes: tuple[str, ...]
    query: str
    budget: int | None
    expect: Mapping[str, Mapping[str, Any]]
    created: Mapping[str, Any] | None = None
    """A belief that is added before the question."""
    aliases: Mapping[str, Any] | None = None
    """Names that are added to a belief before the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The results of a case, and its failed expectations."""

    name: str
    category: str
    failed: tuple[str, ...]
    relevant: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(slots=True)
class _Held:
    """One tenant: its stored beliefs, by the id of the memory."""

    memory: Credenda
    beliefs: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """Memory id → belief id."""


def load_cases(path: Path) -> list[Case]:
    """Read cases, or turns of sessions as consecutive cases; raise `Invalid` for any other file."""
    try:
        return [case for row in read_lines(path, may_be_empty=True) for case in _cases(row)]
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{path} is not a file of cases"
        raise Invalid(what, why=f"{type(error).__name__}: {error}", fix="see docs/reference/benchmarks.md") from error


def _cases(row: Mapping[str, Any]) -> Iterator[Case]:
    turns: Sequence[Mapping[str, Any]] = row.get("turns") or [row]
    for turn in turns:
        number = turn.get("turnIndex")
        yield Case(
            name=str(row["caseId"]) + ("" if number is None else f"#{number}"),
            user=str(row.get("userId", _USER)),
            category=str(row.get("category", "session")),
            scopes=tuple(turn["scope"]),
            query=str(turn.get("query", turn.get("userMessage", ""))).strip(),
            budget=_budget(turn.get("budget")),
            expect=turn["expect"],
            created=turn.get("createBeliefAtTurn"),
            aliases=turn.get("updateBeliefAtTurn"),
        )


def _budget(given: Mapping[str, int] | None) -> int | None:
    return given.get("maxBeliefs") if given else None


def run_precision(
    beliefs: Path, cases: Path, sessions: Path | None = None, *, embedder: str = "none", note: Note
) -> dict[str, object]:
    """Store the beliefs, run every case, and return the document of `python -m benchmarks precision --json`."""
    rows = read_lines(beliefs)
    asked = [*load_cases(cases), *(load_cases(sessions) if sessions else ())]
    if not asked:
        raise Invalid(f"{cases} has no cases", why="there is nothing to measure", fix="give a file with some")
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        path = Path(folder) / "memory.db"
        tenants: dict[str, _Held] = {}
        try:
            for user in dict.fromkeys([*(row["user_id"] for row in rows), *(case.user for case in asked)]):
                held = _Held(Credenda.open(path, user=user, embedder=embedder, workers=False))
                tenants[user] = held
                _store_all(held, [row for row in rows if row["user_id"] == user])
                note(f"{user}: {len(held.ids)} beliefs")
            results = [_ask(tenants[case.user], case) for case in asked]
        finally:
            for held in tenants.values():
                held.memory.close()
    return _document(results, embedder)


def _store_all(held: _Held, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store beliefs, replaced ones before their replacements."""
    by_id = {str(row["_id"]): row for row in rows}

    def steps(row: Mapping[str, Any]) -> int:
        following = by_id.get(str(row.get("superseded_by")))
        return 0 if following is None else 1 + steps(following)

    for row in sorted(rows, key=steps, reverse=True):
        last = row
        while str(last.get("superseded_by")) in by_id:
            last = by_id[str(last["superseded_by"])]
        _store(held, row, slot=str(last["canonical_name"]))
    held.memory.settle()


def _store(held: _Held, row: Mapping[str, Any], slot: str) -> None:
    kind = str(row["type"])
    names = [str(row["canonical_name"]).replace("_", " "), *map(str, row.get("aliases", ()))]
    unit = MemoryUnit(
        text=str(row["content"]),
        type=kind if kind in _TYPES else "fact",
        topic=str(row["scope"][0]),
        entity=slot.replace("_", " "),
        attribute="known as",
        value=", ".join(names),
        confidence=float(row.get("confidence", 0.8)),
        pinned=bool(row.get("pinned")),
        tags=(kind,),
    )
    memory = held.memory.store(unit)
    if row.get("resolved_at"):
        held.memory.forget(memory.id, reason="resolved")
    held.ids[memory.id] = str(row["_id"])
    held.beliefs[str(row["_id"])] = row


def _ask(held: _Held, case: Case) -> CaseResult:
    if case.created:
        _store(held, case.created, slot=str(case.created["canonical_name"]))
    if case.aliases:
        _rename(held, str(case.aliases["beliefId"]), list(case.aliases["addAliases"]))
    held.memory.settle()
    pinned = [memory for memory in reversed(list(_listed(held))) if memory.pinned]
    here = [memory for memory in pinned if memory.topic in case.scopes and memory.topic != _EVERYWHERE]
    questions = [held.ids[memory.id] for memory in here if _OPEN in memory.tags]
    facts = [held.ids[memory.id] for memory in here if _OPEN not in memory.tags][: case.budget]
    room = None if case.budget is None else max(0, case.budget - len(facts))
    scores = _search(held, case, {held.ids[memory.id] for memory in pinned})
    relevant = tuple(name for name, score in scores.items() if score >= CUTOFF)[:room]
    prelude = " ".join(memory.text for memory in pinned if memory.topic == _EVERYWHERE)
    found = {"pinnedFacts": facts, "openQuestions": questions, "relevantBeliefs": list(relevant)}
    failed = [
        f"{part} {rule}"
        for part, rules in case.expect.items()
        for rule, wanted in rules.items()
        if not _holds(rule, wanted=wanted, found=found.get(part, []), prelude=prelude)
    ]
    return CaseResult(
        name=case.name, category=case.category, failed=tuple(failed), relevant=relevant, scores=dict(scores)
    )


def _listed(held: _Held) -> Iterator[Memory]:
    cursor: str | None = None
    while True:
        page = held.memory.list(limit=50, cursor=cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _rename(held: _Held, belief: str, aliases: Sequence[str]) -> None:
    """Give a belief more names: store a value with all of them in the same slot."""
    row = held.beliefs[belief]
    _store(held, {**row, "aliases": [*row.get("aliases", ()), *aliases]}, slot=str(row["canonical_name"]))


def _search(held: _Held, case: Case, pinned: set[str]) -> dict[str, float]:
    """Return the score of each belief that a search in the scopes of a case finds, best first."""
    scores: dict[str, float] = {}
    for scope in case.scopes if case.query else ():
        if scope == _EVERYWHERE:
            continue
        found = held.memory.search(case.query, topic=scope, kinds=("memory",), limit=_LIMIT, record_access=False)
        for hit in found.hits:
            name = held.ids.get(hit.id)
            if name is not None and name not in pinned:
                scores[name] = max(hit.score, scores.get(name, 0.0))
    return dict(sorted(scores.items(), key=lambda pair: -pair[1]))


def _holds(rule: str, *, wanted: Sequence[str] | bool, found: Sequence[str], prelude: str) -> bool:
    """Return whether one expectation is met; an unknown rule, a comment, always is."""
    names: set[str] = set() if isinstance(wanted, bool) else {str(one) for one in wanted}
    match rule:
        case "mustInclude":
            return names <= set(found)
        case "mustExclude" | "mustNotSurface":
            return names.isdisjoint(found)
        case "shouldOnlyInclude":
            return names == set(found)
        case "nonEmpty" | "isNull":
            return bool(prelude) == (bool(wanted) == (rule == "nonEmpty"))
        case "contains" | "mustNotContain":
            held = [word in prelude for word in names]
            return all(held) if rule == "contains" else not any(held)
        case _:
            return True


def _document(results: Sequence[CaseResult], embedder: str) -> dict[str, object]:
    categories: dict[str, list[CaseResult]] = {}
    for result in results:
        categories.setdefault(result.category, []).append(result)
    passed = [result for result in results if not result.failed]
    return {
        "embedder": embedder,
        "cutoff": CUTOFF,
        "n": len(results),
        "passed": len(passed),
        "share": round(len(passed) / max(1, len(results)), 4),
        "categories": {
            name: {"n": len(found), "passed": sum(not one.failed for one in found)}
            for name, found in sorted(categories.items())
        },
        "failed": [
            {
                "case": one.name,
                "failed": list(one.failed),
                "relevant": list(one.relevant),
                "scores": {name: round(score, 3) for name, score in one.scores.items()},
            }
            for one in results
            if one.failed
        ],
    }

"""The text that an agent gets without asking: the core at the start, and with a prompt what probably answers it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.model.contest import ContestCase, ContestState
from credenda.model.core import format_validity
from credenda.model.event import TRUST, Role, Source
from credenda.model.memory import MemoryType
from credenda.model.query import Hit
from credenda.text.fence import format_day, format_stated
from credenda.text.recalled_block import CORE_TOKENS, PROMPT_TOKENS, Line, build_block
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["Recalled", "find_core", "find_for_prompt"]

_CANDIDATES: Final = 12
_PROBABLE: Final = 0.5
"""Probability of an answer from which a prompt brings memories."""
_HITS: Final = 3
_MORE_HITS: Final = 5
_STRONG: Final = 0.8
"""Score of a hit that may come as the fourth or fifth."""
_WEAK: Final = 0.3
"""Score below which a hit does not come by itself."""
_EVENT: Final = 0.6
"""Score below which words that nothing is believed of do not come by themselves."""
_TRUSTED: Final = TRUST[Source.INTERACTION]
"""Trust above which a memory may come by itself: a document's, tool's or sub-agent's is not."""
_PERSONS: Final = frozenset({Role.USER, Role.PERSON})
_HIDDEN: Final = frozenset({"superseded", "low_confidence"})
_DOUBTS: Final = {"contested": "contested", "challenged": "in doubt", "stale": "may be outdated"}
_CONTESTS: Final = 5
_NEW_TERMS: Final = 2
"""Terms that a message has beside those of the prompt, or it tells nothing new."""
_REQUEST: Final = re.compile(
    r"\?|^\W*(?:please|now|then|also|ok(?:ay)?|can|could|would|will|let['\u2019]?s|add|apply|ask|build|change|check|clean"
    r"|commit|continue|convert|copy|create|delete|deploy|describe|do|document|drop|edit|explain|extract|find|fix|generate"
    r"|give|go|handle|help|implement|improve|install|list|log|look|make|merge|move|open|print|push|put|read|refactor"
    r"|remove|rename|replace|revert|review|rewrite|run|search|set|show|simplify|skip|sort|split|start|stop|test|try|turn"
    r"|undo|update|use|verify|wait|write|yes|no|thanks|looks)\b",
    re.IGNORECASE,
)
"""The beginning of a request to an agent, or a question."""
_DECISIONS: Final = 10
_HEADINGS: Final = {
    "Always:": "Standing instructions of the user:",
    "About the user:": "About the user:",
    "Often needed:": "Often needed:",
}
"""Headings of the core as statements; other lines of a context block are left out here."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A block for a prompt, "" for none, and the ids that it shows, with those of the messages behind them."""

    text: str = ""
    ids: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def find_core(memory: Credenda, *, project: str | None = None, session: str = "", again: bool = False) -> Recalled:
    """Return the core and the open contests; `again`, after a compaction, also what this session has decided."""
    block = memory.inspect.context(None, token_budget=CORE_TOKENS, automatic=True, project=project)
    lines: list[Line] = []
    for line in block.lines:
        if heading := _HEADINGS.get(line.heading):
            words = line.text.partition("] ")[2]
            lines.append(Line(line.ids, _decode_fence(words), heading=heading))
    lines += _list_contests(memory, project)
    if again and session:
        lines += _list_decisions(memory, session)
    return Recalled(*_build(lines, CORE_TOKENS))


def find_for_prompt(
    memory: Credenda,
    prompt: str,
    *,
    project: str | None = None,
    session: str | None = None,
    seen: Collection[str] = (),
) -> Recalled:
    """Return what probably answers a prompt and was not shown before; nothing where a search is not sure enough.

    Words of the session itself are left out: the agent has them before it.
    """
    words = prompt.strip()[: limits.QUERY_CHARACTERS]
    if not words:
        return Recalled()
    found = memory.search(
        words, limit=_CANDIDATES, project=project, exclude_session=session or None, record_access=False
    )
    if found.abstained or found.probability < _PROBABLE:
        return Recalled()
    chosen = list(_choose(found.hits, frozenset(seen), frozenset(tokenize(words))))
    text, ids = _build([_make_line(memory, hit) for hit in chosen], PROMPT_TOKENS)
    shown = [hit for hit in chosen if hit.id in ids]
    return Recalled(text, ids, tuple(event.id for hit in shown for event in hit.evidence))


def _choose(hits: Sequence[Hit], seen: frozenset[str], asked: frozenset[str]) -> Iterator[Hit]:
    """Yield the hits that come by themselves: up to three, and two more that are strong."""
    count = 0
    for hit in hits:
        behind = {hit.id, *(event.id for event in hit.evidence)}
        if not behind.isdisjoint(seen) or not _HIDDEN.isdisjoint(hit.flags) or not _is_worth_telling(hit, asked):
            continue
        if count >= _MORE_HITS or (count >= _HITS and hit.score < _STRONG):
            return
        count += 1
        yield hit


def _is_worth_telling(hit: Hit, asked: frozenset[str]) -> bool:
    """Return whether a hit is a belief, or a statement of a person that nothing is believed of yet.

    A request to an agent and words that the prompt only repeats state nothing; `asked` are the terms of the prompt.
    """
    if hit.memory is not None:
        return hit.score >= _WEAK and hit.memory.trust > _TRUSTED
    event = hit.event
    if event is None or event.role not in _PERSONS or hit.score < _EVENT or _REQUEST.search(hit.text):
        return False
    told = frozenset(tokenize(hit.text))
    return len(told - asked) >= _NEW_TERMS and 4 * len(told & asked) <= 3 * len(told | asked)


def _make_line(memory: Credenda, hit: Hit) -> Line:
    doubts = [_DOUBTS[flag] for flag in sorted(hit.flags) if flag in _DOUBTS]
    if hit.memory is not None:
        notes = format_validity(hit.memory, memory.zone)
        return Line((hit.id,), format_stated(hit.memory.speaker, hit.text), (*notes, *doubts))
    day = [format_day(hit.event.occurred_us, memory.zone)] if hit.event is not None else []
    speaker = hit.event.speaker if hit.event is not None else ""
    return Line((hit.id,), format_stated(speaker, hit.text), (*day, *doubts))


def _list_contests(memory: Credenda, project: str | None) -> Iterator[Line]:
    opened = [case for case in memory.manage.contests() if case.state is ContestState.OPEN]
    for case in [case for case in opened if _is_here(case, project)][:_CONTESTS]:
        values = " or ".join(f'"{value}"' for value in case.values)
        told = f"{case.entity} {case.attribute}: {values}; the user has not said which"
        yield Line((case.id,), told, heading="Not settled:")


def _is_here(case: ContestCase, project: str | None) -> bool:
    """Return whether a contest is about the user, or about a slot of this project or of none."""
    return project is None or not case.scope or project.casefold() in case.scope.casefold() or case.entity == "user"


def _list_decisions(memory: Credenda, session: str) -> Iterable[Line]:
    """Return what a session has decided, latest first."""
    recent = memory.list(type=MemoryType.DECISION.value, limit=limits.LIST_LIMIT).items
    for one in [one for one in recent if one.source_session == session][:_DECISIONS]:
        told = format_stated(one.speaker, one.text)
        yield Line((one.id,), told, tuple(format_validity(one, memory.zone)), "Decided in this session:")


def _build(lines: Sequence[Line], tokens: int) -> tuple[str, tuple[str, ...]]:
    text, ids = build_block(lines, tokens)
    return text, tuple(ids)


def _decode_fence(words: str) -> str:
    """Undo the escapes of a line that was fenced before, because it is fenced once more."""
    return words.replace("&lt;", "<").replace("&gt;", ">")

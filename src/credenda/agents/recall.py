"""The text that an agent gets without asking: the core at the start, and with a prompt what probably answers it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.errors import Invalid, NotFound
from credenda.model.change import ContestState
from credenda.model.event import TRUST, Role, Source
from credenda.model.memory import MemoryType, Status
from credenda.model.query import Hit, SearchResult
from credenda.model.statement import format_fact, format_validity, write_claim
from credenda.read.pack import name_validity
from credenda.text.fence import format_day, format_stated
from credenda.text.normalize import normalise_value
from credenda.text.recalled_block import CORE_TOKENS, FENCE_OPENING, PROMPT_TOKENS, RECALLED_BLOCK, Line, build_block
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.client import Credenda

_CANDIDATES: Final = 12
_PROBABLE: Final = 0.42
"""Probability of an answer from which a prompt brings memories."""
_POSSIBLE: Final = 0.1
"""Probability from which a question brings its best hit, if that stands alone."""
_ALONE: Final = 0.3
"""Share of the best score that no other hit may exceed if the best one stands alone."""
_HALF: Final = 0.5
"""Share of a question's terms from which a hit comes whatever the probability: that falls with each message."""
_TERMS: Final = 2
"""Terms that such a hit has at least."""
_PART: Final = 0.3
"""Share of the terms from which the best hit comes where the probability is not small, and any to a request."""
_NEAR: Final = 0.5
"""Share of the best score from which a second hit comes with half of the terms where none stands alone."""
_FAINT: Final = 0.05
"""Probability from which two hits come."""
_HITS: Final = 3
_MORE_HITS: Final = 5
_STRONG: Final = 0.8
"""Score of a hit that may come as the fourth or fifth."""
_WEAK: Final = 0.3
"""Score below which a hit does not come by itself."""
_EVENT: Final = 0.5
"""Score below which words that nothing is believed of do not come by themselves."""
_TRUSTED: Final = TRUST[Source.INTERACTION]
"""Trust above which a memory may come by itself: a document's, tool's or sub-agent's is not."""
_PERSONS: Final = frozenset({Role.USER, Role.PERSON})
_BELIEVED: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
_HIDDEN: Final = frozenset({"superseded", "low_confidence"})
_DOUBTS: Final = {"contested": "contested", "challenged": "in doubt", "stale": "may be outdated"}
_CONTESTS: Final = 5
_SIMILAR: Final = 0.75
"""Share of terms in common above which a text only repeats a question."""
_SIMILAR_REQUEST: Final = 0.5
"""The same for a prompt that asks nothing: an earlier request is alike."""
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
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_OWN_WORDS: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_ASKING: Final = re.compile(
    r"(?:^|[.!?;:\n])\W*(?:(?:and|but|so|hey|hi|hm+|ok(?:ay)?|also|again|please|btw|by the way|remind me|tell me|do you"
    r" (?:know|remember)|by|on|in|at|to|for|from|with|since|until|about)\W+){0,3}"
    r"(?:who(?:se|m)?|what|when|where|which|why|how)\b|\?",
    re.IGNORECASE,
)
"""A question: an asking word at the beginning of a sentence, or its mark."""
_REPEATED: Final = 4
"""Words of a prompt from which a message that holds them all in a row only repeats it."""
_SURE: Final = 0.5
"""Confidence above which a rule of conduct is one: below may lie a request that was made once."""
_DECISIONS: Final = 10
_NAMED: Final = re.compile(r"- \[([emk]\d+-[0-9a-f]{6}(?:, [emk]\d+-[0-9a-f]{6})*)\] ")
"""The beginning of a line of a recalled block, with the ids of what it tells."""
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
            lines.append(Line(line.ids, words.replace("&lt;", "<").replace("&gt;", ">"), heading=heading))
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
    asked = _Asked(words, frozenset(tokenize(words)), asks=_ASKING.search(_CODE.sub(" ", words)) is not None)
    find = partial(
        memory.search, words, limit=_CANDIDATES, project=project, exclude_session=session or None, record_access=False
    )
    found = find() if asked.asks else find(kinds=("memory",))
    if any(hit.event is not None and _is_repetition(hit.text, words, least=1) for hit in found.hits):
        found = find(kinds=("memory",))  # else words that were said before would answer for themselves
    if "whole" in found.trace and _OWN_WORDS.search(words) is None:
        return Recalled()  # "What changed?" in work asks for no salary
    chosen = [] if found.abstained else list(_choose(found, frozenset(seen), asked))
    text, ids = _build([_make_line(memory, hit) for hit in chosen], PROMPT_TOKENS)
    shown = [hit for hit in chosen if hit.id in ids]
    return Recalled(text, ids, tuple(event.id for hit in shown for event in hit.evidence))


def find_lines(memory: Credenda, ids: Iterable[str]) -> Recalled:
    """Return memories by their ids, as far as they are still believed; ids of messages are passed over."""
    lines: list[Line] = []
    for name in ids:
        with suppress(NotFound, Invalid):
            one = memory.get(name)
            if one.status in _BELIEVED and one.trust > _TRUSTED:
                doubts = [_DOUBTS["challenged"]] if one.status is Status.CHALLENGED else []
                notes = (*format_validity(one, memory.zone), *doubts)
                lines.append(Line((one.id,), format_fact(one, write_claim(one)), notes))
    return Recalled(*_build(lines, PROMPT_TOKENS))


def cut_deleted(memory: Credenda, text: str) -> str:
    """Return a text without the lines of recalled blocks whose words were deleted or taken out of use since.

    A conversation sends what it was told again with every call: what is gone must not be sent once more.
    """
    if FENCE_OPENING not in text:
        return text
    gone: dict[str, bool] = {}

    def cut(block: re.Match[str]) -> str:
        lines: list[str] = []
        for line in block[0].split("\n"):
            named = _NAMED.match(line)
            if named is None:
                if lines[-1:] and lines[-1].endswith(":") and not _NAMED.match(lines[-1]):
                    lines.pop()  # a heading whose lines have gone
                lines.append(line)
                continue
            names = named[1].split(", ")
            for name in names:
                gone[name] = gone[name] if name in gone else _is_gone(memory, name)
            if not any(gone[name] for name in names):
                lines.append(line)
        return "\n".join(lines) if any(map(_NAMED.match, lines)) else ""

    kept = RECALLED_BLOCK.sub(cut, text)
    return kept if kept == text else kept.rstrip()


def _is_gone(memory: Credenda, name: str) -> bool:
    """Return whether a memory, a message or a value of a contest is deleted or out of use."""
    try:
        if name[0] == "e":
            found = memory.event(name)
            resting = [one.status is Status.FORGOTTEN for one in found.memories]
            return found.event.redacted_us is not None or (bool(resting) and all(resting))
        if name[0] == "k":
            return any(_is_gone(memory, one) for one in memory.manage.contest(name).memory_ids)
        return memory.get(name).status is Status.FORGOTTEN
    except (NotFound, Invalid):
        return True


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt with its terms; `asks` tells whether it is a question."""

    words: str
    terms: frozenset[str]
    asks: bool


def _choose(found: SearchResult, seen: frozenset[str], prompt: _Asked) -> Iterator[Hit]:
    """Yield the hits that come by themselves: up to three, and two more that are strong."""
    count = 0
    for hit in _list_probable(found, prompt):
        if not {hit.id, *(event.id for event in hit.evidence)}.isdisjoint(seen):
            continue
        if count >= _MORE_HITS or (count >= _HITS and hit.score < _STRONG):
            return
        count += 1
        yield hit


def _list_probable(found: SearchResult, prompt: _Asked) -> list[Hit]:
    """Return what probably answers a prompt; what asks nothing gets only what has a good part of its terms.

    Of a search that is not sure of an answer, a question gets the best hit if no other one comes near it, or else two
    that have half of its terms.
    """
    best = _find_alone(found.hits)
    worth = [
        hit
        for hit in found.hits
        if _HIDDEN.isdisjoint(hit.flags) and _is_worth_telling(hit, prompt, alone=hit.id in best)
    ]
    if found.probability >= _PROBABLE:
        least = 0.0 if prompt.asks else _PART
        strong = [hit for hit in worth if hit.score >= (_EVENT if hit.memory is None else _WEAK)]
        return [hit for hit in strong if _share_terms(hit, prompt)[0] >= least]
    if not prompt.asks:
        return []
    possible = found.probability >= _POSSIBLE
    alone = [
        hit
        for hit in worth
        if hit.id in best and (_has_half(hit, prompt) or (possible and _share_terms(hit, prompt)[0] >= _PART))
    ]
    near = [
        hit
        for hit in worth
        if hit.memory is not None and hit.score >= _NEAR * found.hits[0].score and _has_half(hit, prompt)
    ]
    return alone or (near if len(near) <= _TERMS and found.probability >= _FAINT else [])


def _share_terms(hit: Hit, prompt: _Asked) -> tuple[float, int]:
    """Return the share of the prompt's terms that a hit has, in its words or in those it rests on, and their number."""
    count = len(prompt.terms & frozenset(tokenize(f"{hit.text} {hit.quote}")))
    return count / max(1, len(prompt.terms)), count


def _has_half(hit: Hit, prompt: _Asked) -> bool:
    share, count = _share_terms(hit, prompt)
    return share >= _HALF and count >= _TERMS


def _find_alone(hits: Sequence[Hit]) -> frozenset[str]:
    """Return the ids of the best hit and of those that say the same, if it is much better than all others.

    Others rest on other words, and tell another value.
    """
    if not hits:
        return frozenset()
    best = hits[0]
    said = {event.id for event in best.evidence}
    value = normalise_value(best.memory.value) if best.memory is not None and best.memory.value else ""
    alike = [
        hit
        for hit in hits
        if not said.isdisjoint(event.id for event in hit.evidence)
        or (value and hit.memory is not None and normalise_value(hit.memory.value or "") == value)
    ]
    ids = frozenset(hit.id for hit in alike) | {best.id}
    others = [hit for hit in hits if hit.id not in ids]
    return ids if not others or others[0].score <= _ALONE * best.score else frozenset()


def _is_worth_telling(hit: Hit, prompt: _Asked, *, alone: bool) -> bool:
    """Return whether a hit is a belief, or for a question a statement of a person that nothing is believed of yet.

    A text that repeats the prompt, or a request to an agent, tells nothing new. A possible request is told only if it
    is the only good answer to a question (`alone`).
    """
    told = frozenset(tokenize(_CODE.sub(" ", hit.quote)))
    alike = len(told & prompt.terms) / max(1, len(told | prompt.terms))
    if hit.memory is not None:
        value = frozenset(tokenize(hit.memory.value or ""))
        answers = prompt.asks and not value <= prompt.terms  # what is asked for is all that the question lacks
        limit = 1.0 if answers else _SIMILAR if prompt.asks else _SIMILAR_REQUEST
        firm = hit.memory.type is not MemoryType.PROCEDURE or hit.memory.confidence > _SURE
        return hit.memory.trust > _TRUSTED and alike <= limit and (firm or (prompt.asks and alone))
    event = hit.event
    if event is None or event.role not in _PERSONS or not prompt.asks or _REQUEST.search(hit.text):
        return False
    return len(told - prompt.terms) >= _NEW_TERMS and alike <= _SIMILAR and not _is_repetition(hit.text, prompt.words)


def _is_repetition(text: str, words: str, *, least: int = _REPEATED) -> bool:
    """Return whether a message holds all words of a prompt, of which there are at least so many, in a row."""
    asked = words.strip(" .?!\n").casefold()
    return asked.count(" ") + 1 >= least and asked in text.casefold()


def _make_line(memory: Credenda, hit: Hit) -> Line:
    doubts = [_DOUBTS[flag] for flag in sorted(hit.flags) if flag in _DOUBTS]
    if hit.memory is not None:
        claim = format_fact(hit.memory, write_claim(hit.memory))
        return Line((hit.id,), claim, (*name_validity(hit, memory.zone), *doubts))
    day = [format_day(hit.event.occurred_us, memory.zone)] if hit.event is not None else []
    speaker = hit.event.speaker if hit.event is not None else ""
    return Line((hit.id,), format_stated(speaker, hit.text), (*day, *doubts))


def _list_contests(memory: Credenda, project: str | None) -> Iterator[Line]:
    opened = [case for case in memory.manage.contests() if case.state is ContestState.OPEN]
    for case in [
        case
        for case in opened
        if project is None or not case.scope or project.casefold() in case.scope.casefold() or case.entity == "user"
    ][:_CONTESTS]:
        values = " or ".join(f'"{value}"' for value in case.values)
        told = f"{case.entity} {case.attribute}: {values}; the user has not said which"
        yield Line((case.id,), told, heading="Not settled:")


def _list_decisions(memory: Credenda, session: str) -> Iterable[Line]:
    """Return what a session has decided, latest first."""
    recent = memory.list(type=MemoryType.DECISION.value, limit=limits.LIST_LIMIT).items
    for one in [one for one in recent if one.source_session == session][:_DECISIONS]:
        told = format_fact(one, write_claim(one))
        yield Line((one.id,), told, tuple(format_validity(one, memory.zone)), "Decided in this session:")


def _build(lines: Sequence[Line], tokens: int) -> tuple[str, tuple[str, ...]]:
    text, ids = build_block(lines, tokens)
    return text, tuple(ids)

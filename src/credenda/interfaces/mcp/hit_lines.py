"""Text of a search result for a model: one short line for each hit, fenced as data.

A line has the id, the words, the day and the warnings; the id leads to the rest. Twenty hits take fewer than a thousand
tokens: where whole sentences would take more, the longest are cut to the part that the query asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import tzinfo
from typing import Final, NamedTuple

from credenda.model.query import Hit, SearchResult
from credenda.model.statement import write_claim
from credenda.read.pack import group_by_claim, name_validity, word_warnings
from credenda.text.excerpt import cut_around
from credenda.text.fence import CLOSING, OPENING, estimate_tokens, fence_text, format_day, format_stated
from credenda.text.tokens import tokenize

_TOKENS: Final = 1_000
_HITS: Final = 20
_MORE: Final = _TOKENS // _HITS
_TEXT_TOKENS: Final = 160
"""Longest text of a line, where there is room for it."""
_NOTHING: Final = "Nothing of the question is known."
_NEAREST: Final = "Nearest, which probably do not answer:"
_USER: Final = "user"


class _Line(NamedTuple):
    """One line, whose text may be cut: its ids, and the speaker as in "Mia: ", before it, and its notes after it."""

    head: str
    text: str
    notes: str

    def write(self, text: str) -> str:
        """Write the line with a text."""
        return f"- {self.head}{text}{f' ({self.notes})' if self.notes else ''}"


def write_hits(query: str, result: SearchResult, zone: tzinfo) -> str:
    """Write hits, best first, or the near misses of a search that found nothing; days are in `zone`.

    The text has at most 1,000 tokens, and 50 more for each hit beyond the twentieth, by the estimate of
    `estimate_tokens`, which is on the high side.
    """
    hits = result.hits or result.nearest
    heads = [] if result.hits else [_NOTHING, *([_NEAREST] if hits else [])]
    frame = "\n".join([*heads, OPENING, CLOSING, _write_tail(result, [])])
    left = _TOKENS + _MORE * max(len(hits) - _HITS, 0) - estimate_tokens(frame)
    lines = [_make_line(group, zone) for group in group_by_claim(hits)]
    written = _fit_lines(lines, frozenset(tokenize(query)), left)
    cut = [line for line, text in zip(lines, written, strict=True) if text != line.write(line.text)]
    block = [OPENING, *written, CLOSING] if written else []
    return "\n".join([*heads, *block, _write_tail(result, cut)]).strip()


def _make_line(hits: Sequence[Hit], zone: tzinfo) -> _Line:
    """Describe the hits of one claim, or an event."""
    first = hits[0]
    notes = dict.fromkeys(note for hit in hits for note in (*_name_days(hit, zone), *word_warnings(hit)))
    text = first.text if first.memory is None else write_claim(first.memory)
    source = first.memory or first.event
    stated = text if source is None or source.speaker == _USER else format_stated(source.speaker, text)
    head = f"[{', '.join(hit.id for hit in hits)}] {stated.removesuffix(text)}"
    return _Line(fence_text(head) + " ", fence_text(text), fence_text("; ".join(notes)))


def _name_days(hit: Hit, zone: tzinfo) -> list[str]:
    """Return since when a memory is true, or else the day on which it, or the event, was said."""
    since = name_validity(hit, zone)
    said = [hit.event] if hit.event is not None else hit.evidence[-1:]
    return since or [format_day(event.occurred_us, zone) for event in said]


def _fit_lines(lines: Sequence[_Line], terms: Collection[str], left: int) -> list[str]:
    """Write lines within `left` tokens: texts up to a length stay whole, and longer ones are cut to that length."""
    sizes = [estimate_tokens(line.text) for line in lines]
    room = left - sum(estimate_tokens(f"\n{line.write('')}") for line in lines)
    most = _find_longest(sizes, room)
    return [
        line.write(line.text if size <= most else cut_around(line.text, terms, most))
        for line, size in zip(lines, sizes, strict=True)
    ]


def _find_longest(sizes: Iterable[int], room: int) -> int:
    """Return the greatest length at which texts of these sizes, the longer ones cut, fit together.

    >>> _find_longest([10, 50, 90], 100), _find_longest([10, 50, 90], 500)
    (45, 160)
    """
    ordered = sorted(sizes)
    for at, size in enumerate(ordered):
        share = room // (len(ordered) - at)
        if size > share:
            return max(min(share, _TEXT_TOKENS), 1)
        room -= size
    return _TEXT_TOKENS


def _write_tail(result: SearchResult, cut: Sequence[_Line]) -> str:
    """Say how sure the result is, what is missing from it, and how to see the rest."""
    told = [f"{len(result.hits)} found, probability of an answer {result.probability:.2f}."] if result.hits else []
    if result.waiting:
        told.append(f"{result.waiting} {'message is' if result.waiting == 1 else 'messages are'} not read yet.")
    if cut or result.hits:
        told.append("Evidence and full text: inspect_memories with an id as memory_id.")
    return " ".join(told)

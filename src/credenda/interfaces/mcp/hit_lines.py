"""Text of a search result for a model: one short line for each hit, fenced as data.

A line has the id, the words, the day and the warnings; the id leads to the rest. Twenty hits take at most 700 tokens,
as lines and as JSON: where whole sentences would take more, the longest are cut to the part that the query asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from credenda.lazy import import_on_use
from credenda.model.query import Hit, SearchResult
from credenda.model.statement import write_claim
from credenda.text.excerpt import cut_around
from credenda.text.fence import CLOSING, OPENING, estimate_tokens, fence_text, format_day, format_stated
from credenda.text.tokens import tokenize

if TYPE_CHECKING:
    from credenda.read import pack
else:
    pack = import_on_use("credenda.read.pack")  # it loads numpy, which the start of a server does without

_TOKENS: Final = 735
"""Tokens of twenty hits by `estimate_tokens`, which the vocabulary o200k counts as fewer than 700."""
_HITS: Final = 20
_MORE: Final = _TOKENS // _HITS
_SIGNS: Final = 7
"""Tokens of the quotes and names around a hit in JSON."""
_TEXT_TOKENS: Final = 160
"""Longest text of a line, where there is room for it."""
_LEAST: Final = 6
"""Tokens that every text has, whatever the better ones take."""
_SHARES: Final = 3
"""How many times its equal share of the room a text may take."""
_NOTHING: Final = "Nothing of the question is known."
_NEAREST: Final = "Nearest, which probably do not answer:"
_USER: Final = "user"


class _Line(NamedTuple):
    """One line, whose text may be cut: its ids, the speaker as in "Mia: " before it, and notes after it."""

    ids: tuple[str, ...]
    head: str
    text: str
    notes: str

    def write(self, text: str) -> str:
        """Write the line with a text, without its ids."""
        return f"{self.head}{text}{f' ({self.notes})' if self.notes else ''}"


class HitLines(NamedTuple):
    """The hits for a model: `text` is the whole result, and `items` are the same lines by their ids."""

    text: str
    items: list[dict[str, Any]]


def describe_hits(query: str, result: SearchResult, zone: tzinfo) -> HitLines:
    """Describe hits, best first, or the near misses of a search that found nothing; days are in `zone`.

    Texts share the room: the best hits are written first, and each takes at most three times an equal share.
    """
    hits = result.hits or result.nearest
    heads = [] if result.hits else [_NOTHING, *([_NEAREST] if hits else [])]
    frame = "\n".join([*heads, OPENING, CLOSING, _write_tail(result, is_cut=True)])
    left = _TOKENS + _MORE * max(len(hits) - _HITS, 0) - estimate_tokens(frame)
    lines = [_make_line(group, zone) for group in pack.group_by_claim(hits)]
    texts = _fit_texts(lines, frozenset(tokenize(query)), left)
    written = [line.write(text) for line, text in zip(lines, texts, strict=True)]
    is_cut = any(text != line.text for line, text in zip(lines, texts, strict=True))
    shown = [f"- [{', '.join(line.ids)}] {text}" for line, text in zip(lines, written, strict=True)]
    block = [OPENING, *shown, CLOSING] if shown else []
    items = [_make_item(line.ids, text) for line, text in zip(lines, written, strict=True)]
    return HitLines("\n".join([*heads, *block, _write_tail(result, is_cut=is_cut)]).strip(), items)


def _make_item(ids: Sequence[str], text: str) -> dict[str, Any]:
    first, *others = ids
    return {"id": first, "text": text, **({"also": others} if others else {})}


def _make_line(hits: Sequence[Hit], zone: tzinfo) -> _Line:
    """Describe the hits of one claim, or an event."""
    first = hits[0]
    notes = dict.fromkeys(note for hit in hits for note in (*_name_days(hit, zone), *pack.word_warnings(hit)))
    text = first.text if first.memory is None else write_claim(first.memory)
    source = first.memory or first.event
    stated = text if source is None or source.speaker == _USER else format_stated(source.speaker, text)
    head = fence_text(stated.removesuffix(text))
    return _Line(
        tuple(hit.id for hit in hits), f"{head} " if head else "", fence_text(text), fence_text("; ".join(notes))
    )


def _name_days(hit: Hit, zone: tzinfo) -> list[str]:
    """Return since when a memory is true, or else the day on which it, or the event, was said."""
    since = pack.name_validity(hit, zone)
    said = [hit.event] if hit.event is not None else hit.evidence[-1:]
    return since or [format_day(event.occurred_us, zone) for event in said]


def _fit_texts(lines: Sequence[_Line], terms: Collection[str], left: int) -> list[str]:
    """Return the texts of lines, within `left` tokens for the lines with their ids, the longer ones cut."""
    room = left - sum(estimate_tokens(f"{' '.join(line.ids)} {line.write('')}") + _SIGNS for line in lines)
    most = min(_TEXT_TOKENS, _SHARES * max(room, 0) // max(len(lines), 1))
    texts: list[str] = []
    for rest, line in zip(range(len(lines) - 1, -1, -1), lines, strict=True):
        share = max(min(room - _LEAST * rest, most), _LEAST)
        texts.append(cut_around(line.text, terms, share))
        room -= estimate_tokens(texts[-1])
    return texts


def _write_tail(result: SearchResult, *, is_cut: bool) -> str:
    """Say how sure the result is, what is missing from it, and how to see the rest."""
    told = [f"{len(result.hits)} found, probability of an answer {result.probability:.2f}."] if result.hits else []
    if result.waiting:
        told.append(f"{result.waiting} {'message is' if result.waiting == 1 else 'messages are'} not read yet.")
    if is_cut:
        told.append("Full text: inspect_memories with an id as memory_id.")
    return " ".join(told)

"""Splitting of long texts into passages that are indexed separately."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from credenda import limits
from credenda.text.tokens import RUNS

_PIECE_CHARACTERS: Final = 32
"""A longer word counts once more for each further stretch of this length, and may be cut there."""
_HALF: Final = 2
"""Weights are in halves: a word is two, a character of a script without word spaces one."""
_PIECE: Final = rf"([{RUNS}])|[^\s{RUNS}]{{1,{_PIECE_CHARACTERS}}}"
_SENTENCE_END: Final = r"[.!?\u2026][\"')\]\u2019\u201d]*$|[\u3002\uff01\uff1f\uff0e]$"
"""Compiled, and cached by `re`, at the first cut: most texts are too short."""
_CLAUSE_END: Final = (",", ";", ":", "\u3001", "\uff0c", "\uff1b", "\uff1a")

_INSIDE, _CLAUSE, _SENTENCE, _PARAGRAPH = range(4)


class _Piece(NamedTuple):
    """A word, or a part of one: its position, its weight in halves, and the quality of its end as a cut."""

    start: int
    stop: int
    weight: int
    border: int


def split_passages(text: str) -> list[tuple[int, int]]:
    """Return character spans of at most about `limits.PASSAGE_TOKENS` words that cover all but outer spaces.

    Cuts are at paragraphs, else lines and sentences, else clauses, else words, and never in the first half of a
    passage. An extreme text gets longer passages rather than more than `limits.PASSAGES_PER_EVENT`. Blank text has
    none.

    >>> split_passages("  One short turn. ")
    [(2, 17)]
    """
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    if start >= stop:
        return []
    if stop - start <= _HALF * limits.PASSAGE_TOKENS:  # even one-letter words, or characters at half weight, fit
        return [(start, stop)]
    pieces = _split_pieces(text)
    total = sum(piece.weight for piece in pieces)
    fewest = limits.PASSAGES_PER_EVENT - 1
    budget = max(_HALF * limits.PASSAGE_TOKENS, -(-2 * total // fewest))
    spans: list[tuple[int, int]] = []
    first = 0
    while first < len(pieces):
        last = _find_last_piece(pieces, first, budget)
        spans.append((pieces[first].start, pieces[last].stop))
        first = last + 1
    return spans


def _split_pieces(text: str) -> list[_Piece]:
    matches = list(re.finditer(_PIECE, text))
    starts = [match.start() for match in matches[1:]]
    starts.append(len(text))
    found: list[_Piece] = []
    for match, after in zip(matches, starts, strict=True):
        start, stop = match.span()
        gap = text[stop:after]
        plain = gap == " " and text[stop - 1].isalnum()
        border = _INSIDE if plain else _rate_border(match[0], gap)
        found.append(_Piece(start, stop, 1 if match[1] else _HALF, border))
    return found


def _rate_border(word: str, gap: str) -> int:
    """Rate a cut after a word with this gap behind it."""
    lines = gap.count("\n")
    if lines > 1:
        return _PARAGRAPH
    if lines or (re.search(_SENTENCE_END, word) and (gap or not word.isascii())):
        return _SENTENCE
    return _CLAUSE if word.endswith(_CLAUSE_END) else _INSIDE


def _find_last_piece(pieces: list[_Piece], first: int, budget: int) -> int:
    """Return the index of the last piece of the passage that begins at `first`."""
    weight = 0
    best, best_border = first, -1
    for number in range(first, len(pieces)):
        weight += pieces[number].weight
        if weight > budget:
            return best
        if 2 * weight >= budget and pieces[number].border >= best_border:
            best, best_border = number, pieces[number].border
    return len(pieces) - 1

"""Splitting of long texts into passages that are indexed separately."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple

from credenda import limits
from credenda.clock import DAY_US, to_datetime
from credenda.text.fence import estimate_tokens
from credenda.text.tokens import RUNS, tokenize

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


# Cut a long text to the part that matters: the clause with a value, or the words that a query asks for.


_WORDS_MAX: Final = 30
"""A sentence of more words is cut."""
_JOINED: Final = re.compile(r"\s(?:and|but|because|so|although|though|while)\s", re.IGNORECASE)
_BORDER: Final = re.compile(r"(?:[,;:.!?]|\s[-\u2013\u2014])\s+")
_SUBJECT: Final = re.compile(r"\b(?:i|i['\u2019]\w+|my|we|we['\u2019]\w+|our|he|she|they|it)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\S{1,40}\s*")
_BACK: Final = 2
"""Clauses before the value, at most, that are kept to show whose it is."""


def is_one_clause(text: str) -> bool:
    """Return whether a sentence is short and says one thing.

    >>> is_one_clause("We decided to use Postgres."), is_one_clause("We use Postgres, but not for logs.")
    (True, False)
    """
    return len(text.split()) <= _WORDS_MAX and _BORDER.search(text) is None and _JOINED.search(text) is None


def cut_to_clause(text: str, value: str | None) -> str:
    """Return the clause of a long sentence that holds a value, with its subject; any other text is unchanged.

    >>> text = "I'm setting up my app, but it fails, I use Flask 2.3 for it, can you help me " + "now " * 20
    >>> cut_to_clause(text, "Flask 2.3"), cut_to_clause("I use Flask 2.3, can you help?", "Flask 2.3")
    ('… I use Flask 2.3 for it …', 'I use Flask 2.3, can you help?')
    """
    at = text.casefold().find(value.casefold()) if value else -1
    if at < 0 or value is None or len(text.split()) <= _WORDS_MAX or len(text.casefold()) != len(text):
        return text
    starts = [0, *(found.end() for found in _BORDER.finditer(text))]
    stops = [*(found.start() for found in _BORDER.finditer(text)), len(text)]
    first = max(n for n, start in enumerate(starts) if start <= at)
    last = min(n for n, stop in enumerate(stops) if stop >= at + len(value))
    for _ in range(_BACK):
        if first and not _SUBJECT.search(text[starts[first] : stops[first]]):
            first -= 1
    before, after = "\u2026 " if first else "", " \u2026" if last < len(stops) - 1 else ""
    return f"{before}{text[starts[first] : stops[last]].strip()}{after}"


def cut_around(text: str, terms: Collection[str], tokens: int) -> str:
    """Return the part of a text with the most of these terms, as `tokenize` gives them, in at most `tokens` tokens.

    The part begins with a clause, the first of equally good ones; "…" marks what is left out. Tokens are those of
    `estimate_tokens`.

    >>> text = "We talked for a while, the weather was fine, and then Mia told me that she moved to Graz."
    >>> cut_around(text, {"mia", "move"}, 12), cut_around(text, {"sun"}, 10)
    ('… and then Mia told me that she moved to …', 'We talked for a while, the …')
    """
    if estimate_tokens(text) <= tokens:
        return text
    starts = [0, *(found.end() for found in _BORDER.finditer(text))]
    parts = [_cut_after(text, start, tokens) for start in starts]
    return max(parts, key=lambda part: len(frozenset(terms).intersection(tokenize(part))))


def _cut_after(text: str, start: int, tokens: int) -> str:
    """Return the words from a place on that fit, with marks of what is left out."""
    before = "… " if start else ""
    left = tokens - estimate_tokens(before)
    if estimate_tokens(text[start:]) <= left:
        return f"{before}{text[start:]}"
    stop = start
    left -= 1
    for word in _WORD.finditer(text, start):
        left -= estimate_tokens(word[0])
        if left < 0:
            break
        stop = word.end()
    return f"{before}{text[start:stop].rstrip()} …"


# The text under which an event or a memory is indexed and embedded: its words, with its slot or speaker and day.


MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
"""English month names for every locale; `strftime` and `calendar` follow the process's locale."""
_YEARLY: Final = re.compile(r"--(0[1-9]|1[0-2])-(\d\d)")
_NAMELESS_ROLES: Final = frozenset({"user", "assistant", "document"})
_TENANT: Final = "user"
"""The entity of the tenant: nearly every memory has it, so it distinguishes none."""


def format_yearly_day(value: str) -> str:
    """Return a value that is a day without a year, such as a birthday, in words; any other unchanged.

    >>> format_yearly_day("--11-17"), format_yearly_day("Linz")
    ('17 November', 'Linz')
    """
    yearly = _YEARLY.fullmatch(value)
    return value if yearly is None else f"{int(yearly[2])} {MONTHS[int(yearly[1]) - 1]}"


def compose_event_text(*, speaker: str, role: str, occurred_us: int, text: str) -> str:
    """Return the indexed text of an event, or of one of its passages. The day is in UTC.

    >>> compose_event_text(speaker="Ana", role="person", occurred_us=1683504000000000, text="Hello")
    '[8 May 2023] Ana: Hello'
    >>> compose_event_text(speaker="user", role="user", occurred_us=1683504000000000, text="Hello")
    '[8 May 2023] Hello'
    """
    day = _format_day(occurred_us // DAY_US)
    return f"[{day}] {text}" if not speaker or role in _NAMELESS_ROLES else f"[{day}] {speaker}: {text}"


@lru_cache(maxsize=4_096)
def _format_day(number: int) -> str:
    """Format a day, counted since 1970-01-01, as "8 May 2023"."""
    moment = to_datetime(number * DAY_US)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def compose_memory_meaning(
    text: str, *, entity: str | None = None, attribute: str | None = None, value: str | None = None
) -> str:
    """Return the text by whose vector a memory is found: what it claims, as an answer to a question, then its own.

    >>> compose_memory_meaning("Linz, since 2019", entity="user", attribute="home_town", value="Linz")
    'my home town is Linz. Linz, since 2019'
    """
    if not (entity and attribute and value):
        return text
    whose = "my" if entity == _TENANT else f"{entity}'s".replace(f"{_TENANT}'s ", "my ", 1)
    return f"{whose} {attribute.replace('_', ' ')} is {value}. {text}"


def compose_memory_text(
    text: str, *, entity: str | None = None, attribute: str | None = None, value: str | None = None
) -> str:
    """Return the indexed text of a memory: its own, then the words of its slot that it lacks.

    >>> compose_memory_text("I live in Linz", entity="user", attribute="home_town", value="Linz")
    'I live in Linz (home town)'
    """
    names = "" if entity is None or entity == _TENANT else entity
    slot = f"{names} {attribute or ''}".replace("_", " ")
    known = set(tokenize(text))
    missing: list[str] = []
    for word in f"{slot} {value or ''}".split():
        terms = set(tokenize(word))
        if not terms <= known:
            missing.append(word)
            known |= terms
    return f"{text} ({' '.join(missing)})" if missing else text

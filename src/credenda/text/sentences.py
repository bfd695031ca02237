"""Sentence boundaries as character offsets, found in one pass and without a model.

Every character that is not white space lies in exactly one span, and a span begins and ends on such a character.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final, NamedTuple

_NEVER: Final = (
    "mr mrs ms dr prof st sr jr gen col capt lt rev hon e.g i.e cf vs approx ca dept fig figs eq resp incl vol ed "
    "eds pp tel ext jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun z.b "
    "bzw ggf usw"
)
_SOMETIMES: Final = "est etc inc ltd co corp llc u.s u.k u.s.a e.u a.m p.m am pm al ph.d m.sc b.sc"
_NEVER_LAST: Final = frozenset(_NEVER.split())
_SOMETIMES_LAST: Final = frozenset(_SOMETIMES.split())
_BEFORE_NUMBER: Final = frozenset({"no", "nos", "nr", "p", "ch", "sec", "art"})
_LIST_NUMBER: Final = re.compile(r"(?:^|\n)[ \t]*\d{1,3}$")
_LAST_WORD: Final = re.compile(r"[\w.]{1,24}$")
_LOOK_BACK: Final = 32
_ORDINAL: Final = re.compile(r"(?<![\w.])\d{1,2}$")
_GERMAN_MONTH: Final = re.compile(
    r" (?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""Words after a number with a full stop that make it a day: "am 3. Mai"."""
_ITEM: Final = re.compile(r"(?<!\S)(?P<number>\d{1,2})(?P<mark>[.)])(?=\s+[^\W\d])")
"""The number of a list item."""
_ITEMS_MIN: Final = 3
_LANGUAGES: Final = frozenset({"C", "R", "D"})


class TextSpan(NamedTuple):
    """Characters [start, stop) of a text."""

    start: int
    stop: int


@cache
def _compile_breaks() -> re.Pattern[str]:
    emoji = "\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d"
    return re.compile(
        rf"(?P<line>[\r\n]+[ \t\r\n]*)|(?P<wide>[\u3002\uff01\uff1f\uff61]+[\u300d\u300f\uff09\u201d]*)"
        rf"|(?P<stop>[.!?\u2026]+[\"'\u201d\u2019)\]*_]*)(?=\s|$|[{emoji}])|(?P<emoji>[{emoji}]+)(?=\s+[A-Z\"'\u201c]|\s*$)"
    )


_BREAK: Final = re.compile("[\r\n.!?\u2026\u3002\uff01\uff1f\uff61\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]")
"""The characters with which every break begins, tested first because most characters begin none."""


def _find_breaks(text: str) -> Iterator[re.Match[str]]:
    """Yield the breaks of a text in order."""
    shape, at = _compile_breaks(), 0
    while (start := _BREAK.search(text, at)) is not None:
        found = shape.match(text, start.start())
        at = start.end() if found is None else found.end()
        if found is not None:
            yield found


@cache
def _compile_list_item() -> re.Pattern[str]:
    return re.compile(r"[ \t]*(?:[-*\u2022+>#|]|\d{1,3}[.)])(?:\s|$)?")


def _is_line_break(text: str, start: int, stop: int) -> bool:
    """Return whether a line end separates two sentences; a hard-wrapped line continues in lower case."""
    if text.count("\n", start, stop) > 1 or stop >= len(text) or start == 0:
        return True
    goes_on = text[stop].islower() and not _compile_list_item().match(text, stop)
    return not (goes_on and (text[start - 1].isalnum() or text[start - 1] in ",'\""))


def _is_sentence_end(text: str, start: int, stop: int) -> bool:
    """Return whether the full stop at [start, stop) ends a sentence."""
    mark = text[start:stop]
    after = text[stop : stop + 8].lstrip()[:1]
    if mark.startswith(("...", "\u2026")):
        return not after.islower()
    if not mark.startswith(".") or mark.startswith(".."):
        return True
    if _LIST_NUMBER.search(text[max(0, start - 6) : start]):
        return False
    before = text[max(0, start - _LOOK_BACK) : start]
    if _ORDINAL.search(before) and _GERMAN_MONTH.match(text, stop):
        return False
    found = _LAST_WORD.search(before)
    if found is None:
        return True
    return not _is_abbreviation(found[0], before[: found.start()].rstrip(), after)


def _is_abbreviation(word: str, before: str, after: str) -> bool:
    """Return whether a word with a full stop is an abbreviation; after a small word, C and R are languages."""
    folded = word.casefold().lstrip(".")
    if folded in _NEVER_LAST:
        return True
    if folded in _BEFORE_NUMBER:
        return after.isdigit()
    if folded in _SOMETIMES_LAST:
        return after.islower() or after.isdigit()
    language = word in _LANGUAGES and before[-1:].islower()
    return len(word) == 1 and word.isupper() and word != "I" and not language and after.isupper()


def _find_items(text: str) -> list[re.Match[str]]:
    """Return the numbers of a list inside a text, from 1 on: "about me: 1. I live in Linz 2. I like tea 3. …"."""
    items: list[re.Match[str]] = []
    if "2. " in text or "2) " in text:
        for found in _ITEM.finditer(text):
            alike = not items or found["mark"] == items[0]["mark"]
            if int(found["number"]) == len(items) + 1 and alike and not _GERMAN_MONTH.match(text, found.end()):
                items.append(found)
    return items if len(items) >= _ITEMS_MIN else []


def _find_boundaries(text: str) -> Iterator[int]:
    """Yield the offsets of sentence ends, in order; a list inside a text is cut before each of its numbers."""
    items = _find_items(text)
    marks = {found.end() for found in items}
    starts = iter(sorted(found.start() for found in items))
    item = next(starts, None)
    for end in _find_ends(text, marks):
        while item is not None and item < end:
            yield item
            item = next(starts, None)
        yield end


def _find_ends(text: str, marks: Collection[int]) -> Iterator[int]:
    for found in _find_breaks(text):
        start, stop = found.span()
        if found.lastgroup == "stop" and stop in marks:
            continue
        if found.lastgroup == "line":
            if _is_line_break(text, start, stop):
                yield start
        elif found.lastgroup != "stop" or _is_sentence_end(text, start, stop):
            yield stop
    yield len(text)


def split_sentences(text: str) -> Iterator[TextSpan]:
    """Yield the sentences of a text in order, lazily, without outer white space.

    >>> ["Dr. Ana pays 2.50 at noon. Why?"[a:b] for a, b in split_sentences("Dr. Ana pays 2.50 at noon. Why?")]
    ['Dr. Ana pays 2.50 at noon.', 'Why?']
    >>> ["1. I row 2. I sing 3. I cook"[a:b] for a, b in split_sentences("1. I row 2. I sing 3. I cook")]
    ['1. I row', '2. I sing', '3. I cook']
    """
    begin = 0
    for end in _find_boundaries(text):
        piece = text[begin:end]
        span = TextSpan(begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip()))
        if span.start < span.stop:
            yield span
        begin = max(begin, end)


# Blanked words in a text: what remains of it to extract, with the offsets of the whole text.


BLANK: Final = "\u2588"
"""Replaces each character of redacted words in an event that keeps other words."""
REMOVED: Final = "[deleted]"
"""Takes the place of words that a new event repeats of something deleted."""
_RUN: Final = re.compile(
    rf"{BLANK}(?:[{BLANK} \t]*{BLANK})?"
    rf"|(?:(?<![^\n])|(?<=[.!?\u2026] )){re.escape(REMOVED)}(?=[ \t]+[^\Wa-z\d_]|\s*(?:\n|\Z))"
)
"""Blanked words, and removed words that were whole sentences; removed words inside a sentence leave it with a gap."""
_BLANKS: Final = re.compile(rf"{BLANK}(?:[{BLANK} \t]*{BLANK})?")
GAP: Final = "___"
"""Stands for words that a person deleted, where a page shows the others."""
_SHOWN: Final = re.compile(r"\S")
_CLOSING: Final = frozenset(".,;:!?)\u2026")


class RemainingText(NamedTuple):
    """The text without its blanks; `to_whole` converts its offsets to those of the whole text."""

    text: str
    whole: int
    starts: tuple[int, ...] = (0,)
    shifts: tuple[int, ...] = (0,)
    """From `starts[i]` on, an offset lies `shifts[i]` characters further on in the whole text."""

    def to_whole(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the whole text that these characters cover."""
        if stop <= start:
            return self._shift(start), self._shift(start)
        return self._shift(start), self._shift(stop - 1) + 1

    def _shift(self, at: int) -> int:
        return min(at + self.shifts[bisect_right(self.starts, at) - 1], self.whole)


def show_gaps(text: str) -> str:
    """Return a text with a short line in the place of its blanks, as a person reads it.

    >>> show_gaps("I work as a \u2588\u2588\u2588 at St. Olaf.")
    'I work as a ___ at St. Olaf.'
    """
    return _BLANKS.sub(GAP, text)


def has_blanks(text: str) -> bool:
    """Return whether a text has blanks to leave out."""
    return _RUN.search(text) is not None


def leave_out_blanks(text: str) -> RemainingText:
    """Leave out the blanks of a text, each with one of the two spaces beside it.

    >>> leave_out_blanks("I like \u2588\u2588\u2588 \u2588\u2588 and milk.").text
    'I like and milk.'
    >>> leave_out_blanks("[deleted] I like tea. [deleted] and rum.").text
    'I like tea. [deleted] and rum.'
    """
    pieces: list[str] = []
    starts, shifts = [0], [0]
    length = done = 0
    for run in _RUN.finditer(text):
        start, stop = run.span()
        following, before = text[stop : stop + 1], text[start - 1 : start]
        if (not before or before.isspace()) and following.isspace() and following != "\n":
            stop += 1
        elif start > done and before == " " and (not following or following in _CLOSING):
            start -= 1
        pieces.append(text[done:start])
        length += start - done
        done = stop
        if starts[-1] == length:
            shifts[-1] = done - length
        else:
            starts.append(length)
            shifts.append(done - length)
    return RemainingText("".join(pieces) + text[done:], len(text), tuple(starts), tuple(shifts))


def blank_span(text: str, start: int, stop: int) -> str:
    """Blank every character of a span but white space; the length stays."""
    return text[:start] + _SHOWN.sub(BLANK, text[start:stop]) + text[stop:]


# Recognise a note about the user, which an agent or another program wrote in its own words.


USER: Final = r"(?:the |this )?user"
"""Expression for the subject of a note."""
_CHARACTERS: Final = 400
_ABOUT: Final = re.compile(rf"^\W{{0,3}}{USER}(?:'s|\u2019s)?\s", re.IGNORECASE)


def is_about_user(text: str) -> bool:
    """Return whether a short text begins with the user as its subject; nobody writes so of themselves.

    >>> is_about_user("The user is allergic to nuts."), is_about_user("I am allergic to nuts.")
    (True, False)
    """
    return len(text) <= _CHARACTERS and _ABOUT.match(text) is not None


def is_name_of_user(name: str, text: str) -> bool:
    """Return whether a note about the user says that this is their name, or begins it.

    >>> is_name_of_user("Ada Voss", "User's name is Ada Voss, 29, lives in Turku."), is_name_of_user("Ada", "Ada left.")
    (True, False)
    """
    if not name or not is_about_user(text):
        return False
    named = rf"\W{{0,3}}{USER}(?:(?:'s|\u2019s)? (?:full |first )?name)? is (?:called |named )?{re.escape(name)}\b"
    return re.match(named, text, re.IGNORECASE) is not None


# The words that tell a person from others of the same name.


_NAME: Final = r"[A-Z\u00c0-\u00de][\w-]{1,30}"
_DISTINCT: Final = re.compile(
    rf"(?:(?P<other>other) )?(?P<name>{_NAME})(?: (?P<which>(?:from|at|in|next|across|up|down).*))?"
)
_WHICH: Final = re.compile(
    r",? \(?(?P<which>from (?:(?:my|our|the) )?(?!(?:now|then|here|there|today|tomorrow|next|this|last|time|\w+day)\b)"
    r"[\w-]+|next door|across the (?:street|road|hall)|upstairs|downstairs)\b"
)
_WHERE: Final = re.compile(r" \(?(?P<which>(?:at|in) (?:(?:my|our|the) )?[\w-]+)\b(?=\)?,? (?!and\b|or\b)[a-z])")
"""Words behind a name that begins its clause: "Sam at work moved", and not "I saw Sam at work"."""
_BEGINS: Final = re.compile(r"(?:^|[.!?;:,]|\b(?:and|but|so|because|that|out))\W*$", re.IGNORECASE)
_OTHER: Final = re.compile(r"\b(?:other|another|different|second) $", re.IGNORECASE)
_NEW: Final = re.compile(r"\b(?:an?|some) (?:[\w-]+ ){1,3}(?:called|named) $", re.IGNORECASE)


def split_distinct_name(entity: str) -> tuple[str, str] | None:
    """Split the name of an entity from the words that tell it from others of that name; None for any other entity.

    >>> split_distinct_name("Sam from work"), split_distinct_name("other Anna"), split_distinct_name("Sam")
    (('Sam', 'from work'), ('Anna', 'other'), None)
    """
    found = _DISTINCT.fullmatch(entity)
    words = (found["which"] or found["other"]) if found is not None else None
    return (found["name"], words) if found is not None and words else None


def find_distinction(name: str, text: str) -> str:
    """Find the words that tell a name from others of it: "from work", "other"; "new" for somebody introduced, or "".

    >>> find_distinction("Sam", "Sam from work lives in Hull"), find_distinction("Sam", "I met a guy called Sam")
    ('from work', 'new')
    """
    for found in re.finditer(rf"\b{re.escape(name)}\b", text):
        before, stop = text[: found.start()], found.end()
        which = _WHICH.match(text, stop) or (_WHERE.match(text, stop) if _BEGINS.search(before) else None)
        if which is not None:
            return which["which"]
        if _OTHER.search(before) or _NEW.search(before):
            return "other" if _OTHER.search(before) else "new"
    return ""

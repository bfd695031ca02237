"""Find the words of one claim in a sentence that states several. Pure.

A sentence is split at commas and conjunctions into segments, and a clause is a segment that has its own subject, with
the segments after it that have none. The words of a claim are its clause, or, where other claims rest on the same
clause, the smallest part of its segment that holds its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.model.claim import Claim
from credenda.model.memory import Draft
from credenda.text.normalize import fold_lookalikes, fold_plural_everywhere
from credenda.text.sentences import blank_span, leave_out_blanks
from credenda.text.tokens import is_run

_CONJUNCTION: Final = (
    "and|but|or|while|whereas|who|which|und|aber|oder|sowie|w\u00e4hrend|et|mais|ou|tandis que|qui|y|pero|mientras"
    "|mas|e|que"
)
_JOIN: Final = re.compile(
    rf"\s*[,;:]+\s+(?:(?:{_CONJUNCTION})\s+)?|\s+(?:and|but|or|while|whereas|und|aber|oder|sowie|et|mais|ou|y|pero|mas|e)\s+"
    r"|\s+[-\u2013\u2014]+\s+|\s*[()]\s*|(?<=[.!?])\s+",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"[^\W_]+(?:['\u2019\u00ad\u200b-\u200d\u2060\ufeff]+[^\W_]+)*")
"""A word, apostrophes and what is not seen in it included."""
_POSSESSIVE: Final = re.compile(r"['\u2019]s$")
_END: Final = re.compile(r"[\s.!?\u2026\"')\]]+$")
_SUBJECT_LIST: Final = (
    "i we he she it they you my our his her their the a an this that there "
    "ich wir er sie es du mein meine unser unsere sein seine ihr ihre der die das "
    "je j nous il elle ils elles mon ma mes notre nos son sa ses le la les l "
    "yo nosotros mi mis nuestro nuestra su sus el los las un una "
    "eu n\u00f3s meu minha meus minhas nosso nossa seu sua o os as um uma"
)
_SUBJECTS: Final = frozenset(_SUBJECT_LIST.split())
"""Words with which a segment begins that has its own subject."""
_SELF: Final = frozenset({"i", "ich", "je", "yo", "eu"})
_LEAD_LIST: Final = (
    "a an the as at in on by to of for from with near into als ein eine einen einem einer der die das den dem im bei"
    " beim mit von vom nach zu zur zum f\u00fcr comme \u00e0 au aux chez avec de du des en dans un une le la les como"
    " con el los las para por em no na nos nas com do da dos das um uma"
)
_LEADS: Final = frozenset(_LEAD_LIST.split())
"""Words that lead to a value, and say nothing without it."""
_APOSTROPHE: Final = re.compile("['\u2019]")
_SUBJECT_WORDS: Final = 3
_NO_NAMES: Final = frozenset({"user", "my", "the"})
_CONTENT_CHARACTERS: Final = 3
_STATEMENT_WORDS: Final = 3


class Assertion(NamedTuple):
    """The slot and value of a claim or memory."""

    entity: str | None
    attribute: str | None
    value: str | None

    @classmethod
    def of(cls, said: Claim | Draft) -> Assertion:
        """Return the slot and value of a claim, draft or memory."""
        return cls(said.entity, said.attribute, said.value)


@dataclass(frozen=True, slots=True)
class Cut:
    """The spans of a text that state one claim, and whether they are all of its words.

    `alone` are the words that state the claim without the other claims, None if no part of the text does.
    """

    spans: tuple[tuple[int, int], ...]
    whole: bool
    alone: str | None = None


class _Word(NamedTuple):
    start: int
    stop: int
    forms: frozenset[str]


class _Segment(NamedTuple):
    start: int
    stop: int
    joined: int
    """Where the separator before it begins."""
    heads: bool
    """Whether it begins a clause."""
    subject: bool
    """Whether it has its own subject."""


class _Sentence(NamedTuple):
    text: str
    words: Sequence[_Word]
    segments: Sequence[_Segment]

    @classmethod
    def split(cls, text: str) -> _Sentence:
        """Split a sentence into words and segments."""
        return cls(text, _split_words(text), _split_segments(text))

    def clause_of(self, at: int) -> int:
        """Return the number of the clause that holds a word."""
        return sum(one.heads and one.start <= self.words[at].start for one in self.segments)


@lru_cache(maxsize=4_096)
def _list_forms(word: str) -> frozenset[str]:
    plain = _POSSESSIVE.sub("", fold_lookalikes(word).casefold())
    return frozenset({plain, *fold_plural_everywhere(plain)})


def _split_words(text: str) -> list[_Word]:
    return [_Word(*found.span(), _list_forms(found[0])) for found in _TOKEN.finditer(text)]


def _split_segments(text: str) -> list[_Segment]:
    found: list[_Segment] = []
    joined = start = 0
    for separator in (*_JOIN.finditer(text), None):
        stop = len(text) if separator is None else separator.start()
        if _TOKEN.search(text, start, stop):
            anew = not found or not text[joined:start].strip()
            subject = _has_subject(text[start:stop])
            opening = found and found[-1].heads and not found[-1].subject  # "On Monday, I moved to Linz"
            found.append(_Segment(start, stop, joined, anew or bool(subject and not opening), subject))
            joined = stop
        start = stop if separator is None else separator.end()
    return found


def _has_subject(segment: str) -> bool:
    """Return whether a segment begins with a subject."""
    words = [word for found in _TOKEN.findall(segment) for word in _APOSTROPHE.split(found)]
    if len(words) < _SUBJECT_WORDS and not (len(words) > 1 and words[0].casefold() in _SELF):
        return False
    return words[0].casefold() in _SUBJECTS or (words[0][0].isupper() and words[1][0].islower())


def list_clauses(text: str) -> list[tuple[int, int]]:
    """Return the spans of the clauses of a sentence that have at least three words; [] for a single clause."""
    segments = _split_segments(text)
    if len(segments) < 2:  # noqa: PLR2004 - a single clause, or no word at all
        return []
    heads = [at for at, segment in enumerate(segments) if segment.heads]
    spans = [
        (segments[at].start, segments[stop - 1].stop)
        for at, stop in zip(heads, [*heads[1:], len(segments)], strict=True)
    ]
    alone = [(one.start, one.stop) for at, one in enumerate(segments) if at and (one.heads or not one.subject)]
    return [
        (start, stop)
        for start, stop in dict.fromkeys([*spans, *alone])
        if len(_TOKEN.findall(text[start:stop])) >= _STATEMENT_WORDS and (start, stop) != (0, len(text))
    ]


def _locate(words: Sequence[_Word], phrase: str | None) -> set[int]:
    """Return the places of the words of a phrase: all its occurrences, or else its longer words."""
    wanted = [_list_forms(found) for found in _TOKEN.findall(phrase or "")]
    found = {at + number for at in _list_occurrences(words, wanted) for number in range(len(wanted))}
    if found or not wanted:
        return found
    long = [forms for forms in wanted if max(map(len, forms)) >= _CONTENT_CHARACTERS or any(map(str.isdigit, forms))]
    return {at for at, word in enumerate(words) if any(word.forms & forms for forms in long)}


def _list_occurrences(words: Sequence[_Word], wanted: Sequence[frozenset[str]]) -> list[int]:
    """Return where a phrase begins, given by the forms of its words; each word may stand in any of them."""
    places = range(len(words) - len(wanted) + 1) if wanted else ()
    return [at for at in places if all(words[at + number].forms & forms for number, forms in enumerate(wanted))]


def find_phrase(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return the spans of a text that hold a phrase, in singular or plural, whatever stands between its words.

    >>> find_phrase("Peanuts, and a peanut", "peanut")
    [(0, 7), (15, 21)]
    """
    words, wanted = _split_words(text), [_list_forms(found) for found in _TOKEN.findall(phrase)]
    spans = [(words[at].start, words[at + len(wanted) - 1].stop) for at in _list_occurrences(words, wanted)]
    if spans or not is_run("".join(_TOKEN.findall(phrase))[:1]):
        return spans
    return [found.span() for found in re.finditer(re.escape(phrase.strip()), text)]


def _locate_entity(words: Sequence[_Word], entity: str | None) -> set[int]:
    """Return the places of the words that name somebody other than the speaker."""
    names = [name for name in _TOKEN.findall(entity or "") if _list_forms(name).isdisjoint(_NO_NAMES)]
    return {at for name in names for at in _locate(words, name)}


def _locate_name(sentence: _Sentence, said: Assertion) -> set[int]:
    """Return the places of the name of a claim's entity: those beside its value, if any are."""
    name = _locate_entity(sentence.words, said.entity)
    near = {sentence.clause_of(at) for at in _locate(sentence.words, said.value)}
    return {at for at in name if sentence.clause_of(at) in near} or name


class _Places(NamedTuple):
    """Where a sentence states a claim, and where it states others."""

    gone: set[int]
    kept: set[int]


def _place(sentence: _Sentence, gone: Assertion, kept: Sequence[Assertion], *, yields: bool) -> _Places | None:
    """Locate claims in a sentence; None if the words of the claim cannot be told from those of another.

    A claim that `yields` leaves words that it shares to the others.
    """
    words = sentence.words
    mine = _locate(words, gone.value)
    if yields:
        others = {at for one in kept for at in (_locate(words, one.value) | _locate_name(sentence, one))}
        mine = (mine or _locate_entity(words, gone.entity)) - others
        return _Places(mine, others) if mine else None
    if not mine:
        # Place a claim whose value is in other words: in the clauses that state no other claim.
        words = sentence.words
        others = {at for one in kept for at in _locate(words, one.value) | _locate_entity(words, one.entity)}
        if not others or not all(_locate(words, one.value) for one in kept):
            return None
        taken = {sentence.clause_of(at) for at in others}
        mine = {at for at in range(len(words)) if sentence.clause_of(at) not in taken}
        return _Places(mine, others) if mine else None
    others: set[int] = set()
    for one in kept:
        value, name = _locate(words, one.value), _locate_name(sentence, one)
        if value & mine:
            value, mine = _share(sentence, (value, name), (mine, _locate_entity(words, gone.entity)))
            if not value or not mine:
                return None
        if name & mine:
            return None
        others |= value | name
    return None if others & mine else _Places(mine, others)


def _share(
    sentence: _Sentence, other: tuple[set[int], set[int]], own: tuple[set[int], set[int]]
) -> tuple[set[int], set[int]]:
    """Divide the occurrences of one value between two claims, by the clause that names their entities."""
    clause = sentence.clause_of
    (value, name), (mine, owner) = other, own
    theirs, ours = {clause(at) for at in name - owner}, {clause(at) for at in owner - name}
    if theirs and not ours:
        taken = {at for at in value if clause(at) in theirs}
        return taken, mine - taken
    if ours and not theirs:
        taken = {at for at in mine if clause(at) in ours}
        return value - taken, taken
    return {at for at in value if clause(at) in theirs - ours}, {at for at in mine if clause(at) in ours - theirs}


def cut_claim(
    text: str,
    gone: Assertion,
    kept: Sequence[Assertion] = (),
    works: Callable[[str], bool] | None = None,
    *,
    yields: bool = False,
) -> Cut | None:
    """Return the words of a sentence that state a claim, apart from those that state others.

    `works` says whether a remaining sentence still states the others. None if the claim's words carry another claim too
    or cannot be found; a claim that `yields` leaves the words that it shares.
    """
    sentence = _Sentence.split(text)
    places = _place(sentence, gone, kept, yields=yields)
    if places is None:
        return None
    spans: list[tuple[int, int]] = []
    alone: list[str] = []
    for at in sorted(places.gone):
        if any(start <= sentence.words[at].start < stop for start, stop in spans):
            continue
        found = list(_list_candidates(sentence, places, at))
        chosen = next((one for one in found if works is None or works(remove_cuts(text, [*spans, one[0]]))), found[0])
        spans.append(chosen[0])
        if chosen[1]:
            alone.append(chosen[1])
    whole = not _TOKEN.search(remove_cuts(text, spans))
    return Cut(tuple(sorted(spans)), whole, alone[0] if len(alone) == 1 else None)


def merge_spans(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap or have no word between them, with the bracket that closes one opened inside.

    >>> merge_spans("two kids, Anna (7) and Max", [(8, 14), (14, 17)])
    [(8, 18)]
    """
    united: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        joins = bool(united) and _TOKEN.search(text, united[-1][1], begin) is None
        start, stop = united.pop() if joins else (begin, end)
        inside = text[start : max(stop, end)]
        closes = text[max(stop, end) :].startswith(")") and inside.count("(") > inside.count(")")
        united.append((start, start + len(inside) + closes))
    return united


def remove_cuts(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a text without some spans, trimmed."""
    for start, stop in spans:
        text = blank_span(text, start, stop)
    return leave_out_blanks(text).text.strip().lstrip(",;:) ")


_Candidate = tuple[tuple[int, int], str | None]


def _list_candidates(sentence: _Sentence, places: _Places, at: int) -> Iterator[_Candidate]:
    """Yield the spans that could be cut around a word, the widest first, with the words that state the claim alone."""
    text, words, segments = sentence
    number = max(place for place, segment in enumerate(segments) if segment.start <= words[at].start)
    first, last = _find_clause(sentence, places, number)
    segment, stop = segments[first], segments[last].stop
    inside = [place for place, word in enumerate(words) if segment.start <= word.start < stop]
    fixed = [place for place in inside if place in places.kept]
    begin = max((place + 1 for place in fixed if place < at), default=inside[0])
    end = min((place for place in fixed if place > at), default=None)
    if end is not None:
        mine = [place for place in inside if place in places.gone and begin <= place < end]
        first = min(mine)
        while first > max(begin, inside[0] + 1) and not words[first - 1].forms.isdisjoint(_LEADS):
            first -= 1
        yield (words[first].start, words[max(mine)].stop), None
        return
    bare = _END.sub("", text[:stop])
    after = segments[last + 1] if last + 1 < len(segments) else None
    lead = text[segment.start : len(bare)]
    alone = lead if (segment.heads or len(_TOKEN.findall(lead)) >= _STATEMENT_WORDS) and not fixed else None
    if begin == inside[0]:
        yield from ((span, alone) for span in _list_whole_spans(text, segment, len(bare), after))
    stop = len(bare) if after is None else (after.joined if after.subject else after.start)
    for place in range(max(begin, inside[0] + 1), at + 1):
        yield (words[place].start, stop), alone


def _list_whole_spans(text: str, segment: _Segment, stop: int, after: _Segment | None) -> Iterator[tuple[int, int]]:
    """Yield the spans of whole segments with the separator after or before them, or both."""
    if after is None:
        whole = segment.joined == 0 and segment.start == 0
        yield (segment.joined, len(text) if whole else stop)
    elif not text[after.joined : after.start].strip():
        begins = segment.joined == 0 or not text[segment.joined : segment.start].strip()
        yield (segment.start, after.joined) if begins else (segment.joined, stop)
    elif segment.joined == 0 or not text[segment.joined : segment.start].strip():
        yield (segment.start, after.start)
    else:
        yield (segment.joined, after.joined)
        yield (segment.joined, after.start)


def _find_clause(sentence: _Sentence, places: _Places, number: int) -> tuple[int, int]:
    """Return the first and last segment of a clause, or one segment if the clause states other claims too."""
    segments = sentence.segments
    first = max(at for at in range(number + 1) if segments[at].heads)
    last = next((at - 1 for at in range(number + 1, len(segments)) if segments[at].heads), len(segments) - 1)
    start, stop = segments[first].start, segments[last].stop
    shared = any(start <= sentence.words[at].start < stop for at in places.kept)
    return (number, number) if shared else (first, last)


def widen_to_separator(text: str, start: int, stop: int) -> tuple[int, int]:
    """Add to a span the comma or conjunction before it, or else that after it."""
    before = next((found for found in _JOIN.finditer(text) if found.end() == start and found[0].strip()), None)
    if before is not None:
        return before.start(), stop
    after = _JOIN.match(text, stop)
    return (start, after.end()) if after is not None and after[0].strip() else (start, stop)

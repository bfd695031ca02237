"""Step 1: what a question asks for, before anything is looked up. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from credenda.model.query import Query
from credenda.read.weights import Questions, questions
from credenda.text.dates import DateSpan
from credenda.text.normalize import attribute_key, name_key
from credenda.text.times import find_dates_in
from credenda.text.tokens import ALTERNATIVE, query_terms, question_terms, tokenize

__all__ = ["Ask", "Interval", "Plan", "SlotGuess", "plan"]

_SLOTS_MAX: Final = 5
_NOUN_WORDS: Final = 4
_USER: Final = "user"
_SPACE: Final = re.compile(r"\s+")
_END: Final = re.compile(
    r"(?:[\s,]+(?:right now|now|currently|nowadays|these days|at the moment|again|please))?[\s?!.]*$"
)
_NOT_WORD: Final = re.compile(r"[^\w]+")
_NOUN: Final = (
    r"(?P<noun>(?:(?!(?:is|are|was|were|do|does|did|has|have|had|in|on|at|of|for|to|from|with|and|or|that|called|now)\b)"
    r"[\w'-]+ ?){1,4})"
)
_MINE: Final = re.compile(r"\b(?:my|our|users?'?s?(?= )|the user'?s?) " + _NOUN)
_THEIRS: Final = re.compile(
    r"\b(?!(?:what|who|where|when|how|which|that|it|there|here|let|he|she|user)\b)(?P<owner>[\w.-]+)'s " + _NOUN
)
_WHICH: Final = re.compile(
    r"(?:which|what) (?:kind of )?(?P<noun>[\w' -]+?) (?:do|does|did|should|am|is|are)"
    r" (?P<who>i|we|you|the user|user|[\w.-]+)"
    r" (?:currently |usually )?(?:use|using|prefer|like|want|choose|pick|drive|have|own|play|speak|run)(?: .*)?"
)
_NAME: Final = re.compile(r"(?<=[\w,;:\"'(] )[A-Z][a-z][\w'\u2019-]*")
"""A word inside a sentence with a capital and small letters after it: "NASA" may be anything."""
_LOWER: Final = re.compile(r" [a-z]")
_LIKED: Final = frozenset({"preferred", "favorite", "favourite"})
_LEAD: Final = re.compile(
    r"^(?:what(?:'s| is| are| was| were)|who(?:'s| is| was)|when(?:'s| is| was)|where(?:'s| is| was)) (?:the )?"
)
_QUESTION: Final = re.compile(
    r"^(?:what|which|where|who|when|why|how|whose|whom|is|are|was|were|am|do|does|did|can|could|should|would|will|shall"
    r"|tell|has|have|had)\b"
)


class Ask(StrEnum):
    """What kind of answer a question wants."""

    VALUE = "value"
    PAST = "past"
    WHEN = "when"
    WHO = "who"
    COUNT = "count"
    LIST = "list"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Interval:
    """A time that the question names, [from_us, until_us); None is an open end."""

    from_us: int | None
    until_us: int | None


@dataclass(frozen=True, slots=True)
class SlotGuess:
    """A place where the answer may be held, in normal form."""

    entity: str
    attribute: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A question understood.

    `terms` are its distinct stems without stop words; `subject` those that name neither a person nor a time. `people`
    are the known speakers it names. `history` says that earlier values are wanted too, `of_assistant` that it asks for
    the assistant's own words; `broad` that it asks for the course of a matter (a summary, an order of events), `advice`
    for what to do about it. `proper` are terms of the subject that are written as names are.
    `addressed` is the question as the one person it names would be asked it, "" where there is none.
    """

    terms: tuple[str, ...]
    subject: tuple[str, ...]
    intervals: tuple[Interval, ...] = ()
    people: tuple[str, ...] = ()
    slots: tuple[SlotGuess, ...] = ()
    ask: Ask = Ask.OTHER
    history: bool = False
    first_person: bool = False
    of_assistant: bool = False
    broad: bool = False
    advice: bool = False
    proper: tuple[str, ...] = ()
    addressed: str = ""


def plan(query: Query, now_us: int, names: Collection[str]) -> Plan:
    """Read a question. `names` are the speakers this tenant knows; times count from `as_of`, else from `now_us`.

    >>> made = plan(Query(text="Where do I live?"), 0, [])
    >>> made.slots[0], made.ask.value
    (SlotGuess(entity='user', attribute='residence'), 'value')
    """
    lexicon = questions()
    folded = _fold(query.text)
    cued = {name for name, pattern in lexicon.cues.items() if pattern.search(folded)}
    people = tuple(name for name in names if _names(query.text, name, lexicon))
    spans = _dates(query, now_us, future="future" in cued)
    slots = tuple(dict.fromkeys(_guesses(folded, lexicon)))[:_SLOTS_MAX]
    terms = tuple(question_terms(query.text))
    subject = _subject(query.text, people, spans, terms)
    return Plan(
        terms=terms,
        subject=subject,
        intervals=tuple(Interval(span.from_us, span.until_us) for span in spans),
        people=people,
        slots=slots,
        ask=_kind(cued, known_slot=bool(slots)),
        history="past" in cued,
        first_person="first_person" in cued,
        of_assistant="assistant" in cued,
        broad="broad" in cued,
        advice="advice" in cued,
        proper=_proper(query.text, subject),
        addressed=_addressed(query.text, people, terms),
    )


def _fold(text: str) -> str:
    plain = text.replace("\u2019", "'").casefold()
    return _END.sub("", _SPACE.sub(" ", plain).strip(), count=1)


def _dates(query: Query, now_us: int, *, future: bool) -> list[DateSpan]:
    anchor = now_us if query.as_of_us is None else query.as_of_us
    return find_dates_in(query.zone, query.text, anchor, "future" if future else "past")


def _subject(text: str, people: Collection[str], spans: Sequence[DateSpan], terms: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the terms of names and times; a question of names alone is about them."""
    named = {term for name in people for term in query_terms(name)}
    named.update(term for span in spans for term in query_terms(text[span.start : span.stop]))
    rest = tuple(term for term in terms if term.partition(ALTERNATIVE)[0] not in named)
    return rest if rest or spans else terms


def _addressed(text: str, people: Sequence[str], terms: tuple[str, ...]) -> str:
    """Put "you" for the one person that an English question names, as in the talk where the answer was said."""
    if len(people) != 1 or any(ALTERNATIVE in term for term in terms):
        return ""
    name = rf"(?i:\b{re.escape(people[0])}\b)"
    said = re.sub(name, "you", re.sub(name + "['\u2019]s\\b", "your", text))
    return said if said != text else ""


def _proper(text: str, subject: tuple[str, ...]) -> tuple[str, ...]:
    """Return the terms of words with a capital inside a question; none where every word has one.

    Terms with alternatives are of a question that may not be English: German gives every noun a capital.
    """
    named = _NAME.findall(text)
    if not named or _LOWER.search(text) is None:
        return ()
    stems = {term for name in named for term in tokenize(name)}
    return tuple(term for term in subject if term in stems)


def _names(text: str, name: str, lexicon: Questions) -> bool:
    """Say whether a question names a speaker; a name that is also a common word must be capitalised inside."""
    key = name_key(name)
    if not key or key in {_USER, "assistant"}:
        return False
    if key in lexicon.ambiguous_names:
        return re.search(rf"(?<=[\w,] ){re.escape(name)}\b", text) is not None
    return f" {key} " in f" {_NOT_WORD.sub(' ', name_key(text))} "


def _kind(cued: Collection[str], *, known_slot: bool) -> Ask:
    order = (Ask.PAST, Ask.WHEN, Ask.WHO, Ask.COUNT, Ask.LIST)
    found = next((kind for kind in order if kind.value in cued), None)
    return found or (Ask.VALUE if known_slot else Ask.OTHER)


def _guesses(folded: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Yield the slots that a question may mean, the surest first."""
    for slot in lexicon.slots if lexicon.any_slot.fullmatch(folded) else ():
        for pattern in slot.asks:
            if found := pattern.fullmatch(folded):
                entity = _entity(found.groupdict().get("who"))
                yield from (SlotGuess(entity, attribute) for attribute in slot.attributes)
    yield from _of_phrase(folded, lexicon)


def _of_phrase(folded: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Read "which X do I use", "my X", "Ana's X", or a question that is a noun phrase alone."""
    if which := _WHICH.fullmatch(folded):
        yield from _of_noun(which["noun"].strip(), _entity(which["who"]), lexicon)
        return
    if mine := _MINE.search(folded):
        yield from _of_noun(mine["noun"].strip(), _USER, lexicon)
        return
    if theirs := _THEIRS.search(folded):
        yield from _of_noun(theirs["noun"].strip(), name_key(theirs["owner"]), lexicon)
        return
    bare = _LEAD.sub("", folded)
    if len(bare.split()) <= _NOUN_WORDS and not _QUESTION.match(bare):
        yield from _of_noun(bare, _USER, lexicon)


def _entity(who: str | None) -> str:
    if who is None or who in {"i", "we", "you", "user", "the user", "my"}:
        return _USER
    return name_key(who)


def _of_noun(noun: str, entity: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Look a noun phrase up, then its shorter endings ("current home city"); an unknown one names itself."""
    words = ["favourite" if word in _LIKED else word for word in noun.split()]
    attributes: tuple[str, ...] | None = None
    for first in range(len(words)):
        phrase = " ".join(words[first:])
        if attributes := lexicon.nouns.get(phrase, lexicon.nouns.get(phrase.replace("favourite", "preferred"))):
            yield from (SlotGuess(entity, attribute) for attribute in attributes)
            break
    if own := attribute_key(" ".join(words)):
        yield SlotGuess(entity, own)
    if not attributes:
        rest = words[1:] if words[:1] == ["favourite"] else ["favourite", *words]
        yield SlotGuess(entity, attribute_key(" ".join(rest)))

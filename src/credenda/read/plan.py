"""Step 1: analyse a question before any lookup. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from credenda.model.query import Query
from credenda.read.asked import AskedSlots, find_asked
from credenda.read.subject import read_subject, widen_terms
from credenda.read.weights import Questions, load_questions
from credenda.text.dates import DateSpan
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.times import find_dates_in
from credenda.text.tokens import ALTERNATIVE, extract_query_terms, extract_question_terms, tokenize

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
"""A word inside a sentence with one capital and then small letters; "NASA" may be anything."""
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
    """The kind of answer that a question expects."""

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
    """A slot that may contain the answer, in normal form."""

    entity: str
    attribute: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The analysis of a question.

    `terms` are its distinct stems without stop words; `subject` those that name neither a person nor a time. `people`
    are the known speakers it names. `history`: it asks for earlier values, too. `broad`: it asks for the course of
    events, such as a summary. `advice`: it asks what to do. `proper` are the terms of the subject that are written as
    names. `addressed` is the question in the second person, as put to the one person it names; "" if there is none.
    `profile`: it asks for all that is known about the user. `asked` are the slots that all its words ask for.
    """

    terms: tuple[str, ...]
    subject: tuple[str, ...]
    intervals: tuple[Interval, ...] = ()
    people: tuple[str, ...] = ()
    slots: tuple[SlotGuess, ...] = ()
    ask: Ask = Ask.OTHER
    history: bool = False
    first_person: bool = False
    broad: bool = False
    advice: bool = False
    proper: tuple[str, ...] = ()
    addressed: str = ""
    profile: bool = False
    asked: AskedSlots | None = None


def plan(query: Query, now_us: int, names: Collection[str]) -> Plan:
    """Analyse a question; `names` are the tenant's known speakers, and times are relative to `as_of` or `now_us`.

    >>> made = plan(Query(text="Where do I live?"), 0, [])
    >>> made.slots[0], made.ask.value
    (SlotGuess(entity='user', attribute='residence'), 'value')
    """
    lexicon = load_questions()
    folded = _fold(query.text)
    cued = {name for name, pattern in lexicon.cues.items() if pattern.search(folded)}
    people = tuple(name for name in names if _is_naming(query.text, name, lexicon))
    spans = _find_dates(query, now_us, future="future" in cued)
    slots = tuple(dict.fromkeys(_guess_slots(folded, lexicon)))[:_SLOTS_MAX]
    about = read_subject(query.text, lexicon)
    terms = () if about.is_user else tuple(extract_question_terms(about.words))
    subject = _find_subject(query.text, people, spans, terms)
    if "first_person" in cued:
        terms, subject = widen_terms(terms, lexicon), widen_terms(subject, lexicon)
    return Plan(
        terms=terms,
        subject=subject,
        intervals=tuple(Interval(span.from_us, span.until_us) for span in spans),
        people=people,
        slots=slots,
        ask=_choose_kind(cued, known_slot=bool(slots)),
        history="past" in cued,
        first_person="first_person" in cued,
        broad="broad" in cued,
        advice="advice" in cued,
        proper=_find_proper_terms(query.text, subject),
        addressed=_address_person(query.text, people, terms),
        profile=about.is_user,
        asked=None if about.is_user else find_asked(query.text),
    )


def _fold(text: str) -> str:
    plain = text.replace("\u2019", "'").casefold()
    return _END.sub("", _SPACE.sub(" ", plain).strip(), count=1)


def _find_dates(query: Query, now_us: int, *, future: bool) -> list[DateSpan]:
    anchor = now_us if query.as_of_us is None else query.as_of_us
    return find_dates_in(query.zone, query.text, anchor, "future" if future else "past")


def _find_subject(
    text: str, people: Collection[str], spans: Sequence[DateSpan], terms: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the terms that name neither a person nor a time; all terms if a question consists of names alone."""
    named = {term for name in people for term in extract_query_terms(name)}
    named.update(term for span in spans for term in extract_query_terms(text[span.start : span.stop]))
    rest = tuple(term for term in terms if term.partition(ALTERNATIVE)[0] not in named)
    return rest if rest or spans else terms


def _address_person(text: str, people: Sequence[str], terms: tuple[str, ...]) -> str:
    """Replace the one person that an English question names by "you", as in the conversation with that person."""
    if len(people) != 1 or any(ALTERNATIVE in term for term in terms):
        return ""
    name = rf"(?i:\b{re.escape(people[0])}\b)"
    said = re.sub(name, "you", re.sub(name + "['\u2019]s\\b", "your", text))
    return said if said != text else ""


def _find_proper_terms(text: str, subject: tuple[str, ...]) -> tuple[str, ...]:
    """Return the terms of capitalised words inside a question; none if every word is capitalised.

    Terms with alternatives belong to a question that may not be English; German capitalises every noun.
    """
    named = _NAME.findall(text)
    if not named or _LOWER.search(text) is None:
        return ()
    stems = {term for name in named for term in tokenize(name)}
    return tuple(term for term in subject if term in stems)


def _is_naming(text: str, name: str, lexicon: Questions) -> bool:
    """Return whether a question names a speaker; a name that is also a common word must be capitalised."""
    key = normalise_name(name)
    if not key or key in {_USER, "assistant"}:
        return False
    if key in lexicon.ambiguous_names:
        return re.search(rf"(?<=[\w,] ){re.escape(name)}\b", text) is not None
    return f" {key} " in f" {_NOT_WORD.sub(' ', normalise_name(text))} "


def _choose_kind(cued: Collection[str], *, known_slot: bool) -> Ask:
    order = (Ask.PAST, Ask.WHEN, Ask.WHO, Ask.COUNT, Ask.LIST)
    found = next((kind for kind in order if kind.value in cued), None)
    return found or (Ask.VALUE if known_slot else Ask.OTHER)


def _guess_slots(folded: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Yield the slots that a question may refer to, the most likely first."""
    for slot in lexicon.slots if lexicon.any_slot.fullmatch(folded) else ():
        for pattern in slot.asks:
            if found := pattern.fullmatch(folded):
                entity = _choose_entity(found.groupdict().get("who"))
                yield from (SlotGuess(entity, attribute) for attribute in slot.attributes)
    yield from _parse_phrase(folded, lexicon)


def _parse_phrase(folded: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Parse "which X do I use", "my X", "Ana's X", or a question that is a noun phrase alone."""
    if which := _WHICH.fullmatch(folded):
        yield from _look_up_noun(which["noun"].strip(), _choose_entity(which["who"]), lexicon)
        return
    if mine := _MINE.search(folded):
        yield from _look_up_noun(mine["noun"].strip(), _USER, lexicon)
        return
    if theirs := _THEIRS.search(folded):
        yield from _look_up_noun(theirs["noun"].strip(), normalise_name(theirs["owner"]), lexicon)
        return
    bare = _LEAD.sub("", folded)
    if len(bare.split()) <= _NOUN_WORDS and not _QUESTION.match(bare):
        yield from _look_up_noun(bare, _USER, lexicon)


def _choose_entity(who: str | None) -> str:
    if who is None or who in {"i", "we", "you", "user", "the user", "my"}:
        return _USER
    return normalise_name(who)


def _look_up_noun(noun: str, entity: str, lexicon: Questions) -> Iterator[SlotGuess]:
    """Look up a noun phrase and its shorter endings ("current home city"); an unknown one is its own attribute."""
    words = ["favourite" if word in _LIKED else word for word in noun.split()]
    attributes: tuple[str, ...] | None = None
    for first in range(len(words)):
        phrase = " ".join(words[first:])
        if attributes := lexicon.nouns.get(phrase, lexicon.nouns.get(phrase.replace("favourite", "preferred"))):
            yield from (SlotGuess(entity, attribute) for attribute in attributes)
            break
    if own := normalise_attribute(" ".join(words)):
        yield SlotGuess(entity, own)
    if not attributes:
        rest = words[1:] if words[:1] == ["favourite"] else ["favourite", *words]
        yield SlotGuess(entity, normalise_attribute(" ".join(rest)))

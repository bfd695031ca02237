"""Step 1: analyse a question before any lookup. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.asked import AskedSlots, find_asked
from credenda.read.weights import Questions, Relevance, load_questions
from credenda.text.dates import DateSpan, find_dates_in
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import ALTERNATIVE, extract_query_terms, extract_question_terms, tokenize

# The subject of a question: the user as a whole, a group of things such as the family, or any other words. Pure.


class Subject(NamedTuple):
    """The words that a question asks about; `is_user`: it asks for all that is known about the user."""

    words: str
    is_user: bool = False


def read_subject(text: str, lexicon: Questions) -> Subject:
    """Read the subject of a question: "what do you know about X" asks about X, and its other words are no part of it.

    >>> from credenda.read.weights import load_questions
    >>> read_subject("What do you know about my sister?", load_questions())
    Subject(words='my sister', is_user=False)
    >>> read_subject("Who am I?", load_questions()).is_user, read_subject("Who is Mia?", load_questions()).words
    (True, 'Who is Mia?')
    """
    plain = text.replace("\u2019", "'").strip().rstrip("?!. ")
    if lexicon.user.fullmatch(plain):
        return Subject(plain, is_user=True)
    found = lexicon.about.fullmatch(plain)
    return Subject(text) if found is None else Subject(found["about"])


def widen_terms(terms: Iterable[str], lexicon: Questions) -> tuple[str, ...]:
    """Let a term that names a group match its members too: "family" also finds "sister".

    >>> from credenda.read.weights import load_questions
    >>> [term.split("|")[:3] for term in widen_terms(["pet", "linz"], load_questions())]
    [['pet', 'dog', 'cat'], ['linz']]
    """
    return tuple(ALTERNATIVE.join((term, *lexicon.groups.get(term.partition(ALTERNATIVE)[0], ()))) for term in terms)


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
    plain = query.text.replace("\u2019", "'").casefold()
    folded = _END.sub("", _SPACE.sub(" ", plain).strip(), count=1)
    cued = {name for name, pattern in lexicon.cues.items() if pattern.search(folded)}
    people = tuple(name for name in names if _is_naming(query.text, name, lexicon))
    future = "future" in cued
    anchor = now_us if query.as_of_us is None else query.as_of_us
    spans = find_dates_in(query.zone, query.text, anchor, "future" if future else "past")
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


# Answer types: a question for a time expects a text with a time, one for a number a text with a number. Pure.


_READ: Final = 1_000
"""Characters of a text that are searched: a longer text almost always contains a number."""


def is_typed_question(ask: Ask) -> bool:
    """Return whether answers to this kind of question can be recognised by a pattern."""
    return ask.value in load_questions().answers


def score_answer_type(text: str, ask: Ask, tuned: Relevance) -> float:
    """Return the bonus for a text that contains the expected type of answer; 0 for other questions.

    >>> from credenda.read.weights import load_weights
    >>> tuned = load_weights().relevance
    >>> (score_answer_type("I took it up last May.", Ask.WHEN, tuned)
    ... > score_answer_type("I love to paint.", Ask.WHEN, tuned))
    True
    """
    pattern = load_questions().answers.get(ask)
    if pattern is None or pattern.search(text[:_READ].lower()) is None:
        return 0.0
    return tuned.when if ask is Ask.WHEN else tuned.count


# Match the aliases of an entity in a question. Pure.


_KNOWN_AS: Final = "known_as"
_PART: Final = re.compile(r"[,;/|]")
_FUZZY_LETTERS: Final = 5
"""Shortest word for which one wrong, missing or extra letter counts as a typing error after `_SURE_LETTERS`."""
_SURE_LETTERS: Final = 2


def list_aliases(memory: Memory) -> list[str]:
    """Return the aliases in a memory of the attribute "known as"; empty for any other memory."""
    if memory.entity is None or memory.attribute is None or normalise_attribute(memory.attribute) != _KNOWN_AS:
        return []
    return [memory.entity, *(_PART.split(memory.value) if memory.value else ())]


def is_named(memory: Memory, question: str) -> bool:
    """Return whether the question contains an alias of the memory's entity."""
    names = list_aliases(memory)
    if not names:
        return False
    words = _split_words(question)
    return any(_is_mentioned(tuple(tokenize(normalise_name(name))), words) for name in names)


@lru_cache(maxsize=8)
def _split_words(question: str) -> tuple[str, ...]:
    return tuple(tokenize(question))


def _is_mentioned(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    if not name:
        return False
    places = range(len(words) - len(name) + 1)
    return any(all(map(is_near_spelling, name, words[at : at + len(name)])) for at in places)


def is_near_spelling(name: str, word: str) -> bool:
    """Return whether two words are equal except for one letter; short words must be equal.

    >>> is_near_spelling("redis", "reedis"), is_near_spelling("mongo", "mango"), is_near_spelling("pod", "pid")
    (True, False, False)
    """
    if name == word:
        return True
    short, long = sorted((name, word), key=len)
    if len(short) < _FUZZY_LETTERS - 1 or len(long) < _FUZZY_LETTERS or name[:_SURE_LETTERS] != word[:_SURE_LETTERS]:
        return False
    return len(long) - len(short) <= 1 and word in set(_find_slips(name, word))


def _find_slips(name: str, word: str) -> Iterator[str]:
    """Yield the variants of `name` with one typing error at the first letter where it differs from `word`."""
    at = next((at for at, (one, other) in enumerate(zip(name, word, strict=False)) if one != other), len(name))
    yield name[:at] + word[at : at + 1] + name[at + 1 :]
    yield name[:at] + name[at + 1 :]
    yield name[:at] + word[at : at + 1] + name[at:]

"""Step 1: analyse a question before any lookup. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.model.query import Query
from credenda.read.asked import AskedSlots, find_asked
from credenda.read.weights import Questions, Relevance, load_questions
from credenda.text.dates import DateSpan, find_dates_in
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.sentences import split_sentences
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


_USER: Final = "user"
_SLOTS_MAX: Final = 5
_NOUN_WORDS: Final = 4
_SPACE: Final = re.compile(r"\s+")
_END: Final = re.compile(
    r"(?:[\s,]+(?:right now|now|currently|nowadays|these days|at the moment|again|please))?[\s?!.]*$"
)
_NOT_WORD: Final = re.compile(r"[^\w]+")
_NOUN: Final = (
    r"(?P<noun>(?:(?!(?:is|are|was|were|do|does|did|has|have|had|in|on|at|of|for|to|from|with|and|or|that|called|now)\b)"
    r"[\w'-]+ ?){1,4})"
)
_PLAN_MINE: Final = re.compile(r"\b(?:my|our|users?'?s?(?= )|the user'?s?) " + _NOUN)
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


ANY_TIME: Final = Interval(None, None)
"""No named time, for a search whose texts all count as of it."""


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
    `profile`: it asks for all that is known about the user. `asked` are the slots that all its words ask for. `whole`
    are the ids of the memories that answer a question about the whole, best first (`read/whole.py`).
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
    whole: tuple[str, ...] = ()


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
    # The terms that name neither a person nor a time; all terms if a question consists of names alone.
    text = query.text
    named = {term for name in people for term in extract_query_terms(name)}
    named.update(term for span in spans for term in extract_query_terms(text[span.start : span.stop]))
    rest = tuple(term for term in terms if term.partition(ALTERNATIVE)[0] not in named)
    subject = rest if rest or spans else terms
    if "first_person" in cued:
        terms, subject = widen_terms(terms, lexicon), widen_terms(subject, lexicon)
    known_slot = bool(slots)
    order = (Ask.PAST, Ask.WHEN, Ask.WHO, Ask.COUNT, Ask.LIST)
    found = next((kind for kind in order if kind.value in cued), None)
    return Plan(
        terms=terms,
        subject=subject,
        intervals=tuple(Interval(span.from_us, span.until_us) for span in spans),
        people=people,
        slots=slots,
        ask=found or (Ask.VALUE if known_slot else Ask.OTHER),
        history="past" in cued,
        first_person="first_person" in cued,
        broad="broad" in cued,
        advice="advice" in cued,
        proper=_find_proper_terms(query.text, subject),
        addressed=_address_person(query.text, people, terms),
        profile=about.is_user,
        asked=None if about.is_user else find_asked(_cut_spans(query.text, spans)),
    )


def _cut_spans(text: str, spans: Sequence[DateSpan]) -> str:
    for span in reversed(spans):
        text = f"{text[: span.start].rstrip()} {text[span.stop :].lstrip()}".strip()
    return text


def is_about_past(made: Plan) -> bool:
    """Return whether a question asks for what was, by its words or by a time that it names."""
    return made.history or made.ask is Ask.PAST or bool(made.intervals)


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
    if mine := _PLAN_MINE.search(folded):
        owner, of, noun = mine["noun"].strip().rpartition("'s ")
        if not of or noun == "name":  # a pet is filed by its name
            yield from _look_up_noun(owner or noun, _USER, lexicon)
        if of:
            yield from _look_up_noun(noun, normalise_name(f"{_USER}'s {owner}"), lexicon)
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


# Messages without a statement of their own: questions to the assistant, thanks, and its repetitions.


_AUXILIARY: Final = (
    r"(?:is|are|was|were|do|does|did|can|could|should|would|will|am|has|have|'s|\u2019s|'re|\u2019re|'d|\u2019d)\b"
)
_ASKING: Final = re.compile(
    r"(?:(?:and|so|ok|okay|hey|hi|well|but|also|please|btw)\b[, ]*)*(?:"
    rf"(?:what|which|who|whom|whose|where|when|why|how)(?: (?!(?:I|we|he|she|they|you|it|a)\b)[\w-]+)? ?{_AUXILIARY}"
    r"|(?:can|could|would|will) you (?:please )?(?:tell|remind|say)\b"
    r"|(?:do|does|did|is|are|was|were|am) (?:I|you|we|they|he|she|it|my|our)\b"
    r"|(?:please )?(?:tell|remind) me (?:again )?(?:what|which|who|whose|where|when|why|how|if|whether)\b)",
    re.IGNORECASE,
)
_POLITE: Final = frozenset(
    tokenize(
        "understood got ok okay noted note thanks thank sure great good nice right alright perfect done remember save"
        " saved remembered keep mind cool fine welcome yes yeah please know happy help glad course absolutely sounds hi"
        " will bye hello hey ty thx cheers updated"
    )
)
_TASK: Final = re.compile(
    r"(?:(?:please|now|and|ok|okay|hey|hi|can you|could you|would you)\b[, ]*)*"
    r"(?:translate|proofread|paraphrase|rephrase|reword|rewrite|summari[sz]e|shorten|spell-?check|correct|polish)\b"
    r"[^:\n]{0,60}:\s*\S",
    re.IGNORECASE,
)
_FORGET: Final = re.compile(
    r"(?:(?:please|now|and|so|ok|okay|hey|hi|can you|could you|would you)\b[,! ]*)*"
    r"(?:forget|erase|delete|remove) (?:my|our|the fact|that|what|everything|all|anything)\b[^.!?\n]*[.!?]*",
    re.IGNORECASE,
)
"""A message that only asks to forget something, which it names."""
_REQUEST: Final = re.compile(
    r"(?:(?:please|now|and|so|ok|okay|hey|hi|thanks)\b[,! ]*)*"
    r"(?:(?:can|could|would|will) you (?:please )?|help me (?:to )?)?"
    r"(?:write|draft|compose|translate|proofread|rephrase|reword|rewrite|summari[sz]e|convert|calculate|explain"
    r"|brainstorm|suggest|recommend|(?:make|give|show) me\b|make an? (?:\w+ )?(?:list|plan|table)|name an?)\b",
    re.IGNORECASE,
)
"""The beginning of a request for a text or an answer, which is done once it is written."""
_OWN: Final = re.compile(
    r"\b(?:I['\u2019]?(?:m|ve|d|ll)|I (?!should|could|can|need|want)\w+"
    r"|(?:my|our) (?:\w+ ){1,3}(?:is|are|was|were|has|have)|we(?:['\u2019](?:re|ve|ll))|we (?!should|could|can)\w+)\b",
    re.IGNORECASE,
)
_THEIR_WORDS: Final = re.compile(
    r"(?P<who>(?!(?:i|we|you)\b)[^\"'\u2018\u201c\n]{1,60}?) (?:writes?|wrote|says?|said|told \w+|tells \w+"
    r"|(?:text|e?mail|messag|answer|repli|post|ask)ed(?: \w+)?)[:,]? ?[\"'\u2018\u201c](?=.*\b(?:I|I'm|my|we|our)\b)"
    r"[^\n]*[\"'\u201d\u2019][.!?]?",
    re.IGNORECASE,
)
"""A message that is a quotation of somebody who says "I"."""
_ASKED_CHARACTERS: Final = 1_000
"""A longer message is more than a question."""
_ECHO_CHARACTERS: Final = 300
"""A longer answer of the assistant is more than a repetition."""
_TALK: Final = re.compile(
    r"\b(?:ask(?:ed|ing|s)?|questions?|answer(?:ed|s)?|repl(?:y|ied)|repeat(?:ed)?"
    r"|(?:did|have|had|what|as) you (?:\w+ )?(?:say|said|tell|told|suggest|recommend|confirm|mention|write|propose)\w*"
    r"|(?:the )?(?:assistant|agent|bot)\b)",
    re.IGNORECASE,
)


class Listed(Protocol):
    """A row or hit: a message, or a memory with its text."""

    @property
    def id(self) -> str: ...  # noqa: D102 - as of a row
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def event(self) -> Event | None: ...  # noqa: D102
    @property
    def memory(self) -> Memory | None: ...  # noqa: D102


def is_about_talk(question: str) -> bool:
    """Return whether a question is about earlier questions and answers, or has none but polite words.

    >>> is_about_talk("What did I ask you about the boiler?"), is_about_talk("How old is the boiler?")
    (True, False)
    """
    return _TALK.search(question) is not None or is_only_polite(question)


def is_question(text: str) -> bool:
    """Return whether every sentence of a text asks something.

    >>> is_question("Which bus do I take? And when?"), is_question("when I was ten we moved"), is_question("I row. Ok?")
    (True, False, False)
    """
    if len(text) > _ASKED_CHARACTERS:
        return False
    parts = [text[start:stop].strip() for start, stop in split_sentences(text)]
    said = [part for part in parts if part and not is_only_polite(part)]
    return bool(said) and all(
        part.rstrip("\"')\u201d\u2019 ").endswith(("?", "\uff1f", "\u061f"))
        or (not part.endswith((".", "!")) and _ASKING.match(part) is not None)
        for part in said
    )


def is_request(text: str) -> bool:
    """Return whether every sentence of a text asks for something to be written or answered, and tells nothing beside.

    >>> is_request("Draft a card for the caretaker, please."), is_request("Write to Bo: I've moved."), is_request("Hi")
    (True, False, False)
    """
    parts = [text[start:stop].strip() for start, stop in split_sentences(text)]
    said = [part for part in parts if part and not is_only_polite(part)]
    asked = (_REQUEST.match(part) is not None or is_question(part) for part in said)
    return bool(said) and len(text) <= _ASKED_CHARACTERS and _OWN.search(text) is None and all(asked)


def is_task_material(one: Listed) -> bool:
    """Return whether a user's message is a task on a text that it brings along, or asks to forget what it names.

    Either tells nothing about the user.
    """
    if one.event is None or one.event.role is not Role.USER:
        return False
    return _TASK.match(one.text) is not None or _FORGET.fullmatch(one.text.strip()) is not None


def is_quotation(one: Listed, question: str) -> bool:
    """Return whether a message gives only somebody else's words, and so answers no question of its author about "I".

    A question that names who said them is about them.
    """
    if one.event is None or one.event.role is not Role.USER:
        return False
    found = _THEIR_WORDS.fullmatch(one.text.strip().replace("\u2019", "'"))
    return found is not None and set(tokenize(found["who"])).isdisjoint(tokenize(question))


def is_only_polite(text: str) -> bool:
    """Return whether a text has no words but those of thanks and agreement.

    >>> is_only_polite("Understood, thanks!"), is_only_polite("Thanks, the loom arrived.")
    (True, False)
    """
    return _POLITE.issuperset(tokenize(text))


_RESTATING: Final = re.compile(
    r"^\W*(?:got it|noted|understood|ok(?:ay)?|right|sure|will do|i(?:'ll| will) remember)\b", re.IGNORECASE
)
"""Words by which an assistant begins to say again what it was told."""
_FIRM: Final = re.compile(r"\w*\d\w*|(?<=[a-z,;] )[A-Z]\w+")
"""Numbers and names within a text."""
_RESTATED: Final = 0.6
"""Share of its words that such an answer has from one memory or message."""


def find_echoes(found: Sequence[Listed], claimed: Collection[str] = ()) -> frozenset[str]:
    """Return the ids of messages that tell nothing beside the other rows; those in `claimed` gave memories.

    An answer of the assistant is a repetition if a memory or an earlier message of somebody else has all its words.
    """
    said = [one for one in found if one.event is None or one.event.role is not Role.ASSISTANT]
    answers = len(said) < len(found)
    told = [(one.event.occurred_us if one.event else None, _list_terms(one)) for one in said if answers]
    return frozenset(
        one.id for one in found if one.event is not None and one.id not in claimed and _is_echo(one, one.event, told)
    )


def _is_echo(one: Listed, event: Event, told: Iterable[tuple[int | None, frozenset[str]]]) -> bool:
    if event.role is Role.USER:
        return any(check(one.text) for check in (is_only_polite, is_question, is_request)) or is_task_material(one)
    if event.role is not Role.ASSISTANT or len(one.text) > _ECHO_CHARACTERS:
        return False
    terms = frozenset(tokenize(one.text)) - _POLITE
    earlier = [more for at, more in told if at is None or at <= event.occurred_us]
    if not terms or any(terms <= more for more in earlier):
        return True
    if _RESTATING.search(one.text) is None:
        return False
    firm = {word for name in _FIRM.findall(one.text) for word in tokenize(name)} - _POLITE  # what an answer may add
    return any(firm <= more and len(terms & more) >= _RESTATED * len(terms) for more in earlier)


def _list_terms(one: Listed) -> frozenset[str]:
    memory = one.memory
    slot = (
        () if memory is None else (memory.entity or "", (memory.attribute or "").replace("_", " "), memory.value or "")
    )
    return frozenset(tokenize(" ".join((one.text, *slot))))


# Match standing instructions with a question.


_OCCASION: Final = re.compile(
    r"\b(?:when(?:ever)?|if|every time|each time|any time|anytime) (?:i|we|you) (?:am |are )?"
    r"(?:ask|asking|talk|talking|write|writing|request|mention|discuss|need|want|bring up|inquire|answer|explain"
    r"|show)\b(?: you)?(?: for| about| on| to| with| into)?\s*(?P<what>[^,.;]+)",
    re.IGNORECASE,
)
_EMPTY: Final = frozenset(tokenize("detail details question questions anything something topic information issue"))
_NEAR: Final = (0.1, 0.5)
"""Cosines at which an instruction begins to match and at which it fully matches: MiniLM on instructions of BEAM."""
_CLOSE: Final = 0.8
"""Share of the best match from which another instruction matches as well."""
_LEAST: Final = 0.2


def extract_trigger(instruction: str) -> str:
    """Return the part of an instruction that says when it applies; the whole text if it does not say.

    >>> extract_trigger("Always give dates in full when I ask about deadlines.")
    'deadlines'
    >>> extract_trigger("Never use emojis.")
    'Never use emojis.'
    """
    found = _OCCASION.search(instruction)
    return found["what"].strip() if found else instruction


def extract_trigger_terms(instruction: str) -> frozenset[str]:
    """Return the trigger words of an instruction as stems, comparable with the terms of a question.

    >>> sorted(extract_trigger_terms("Always give dates in full when I ask about deadlines of papers."))
    ['deadlin', 'paper']
    """
    return frozenset(tokenize(extract_trigger(instruction))) - _EMPTY


def is_for_other_questions(instruction: str, terms: Collection[str]) -> bool:
    """Return whether an instruction names when it applies, and a question with these terms shares no word with that.

    >>> is_for_other_questions("Give full dates when I ask about deadlines.", ["databas"])
    True
    >>> is_for_other_questions("Answer in German.", ["databas"])
    False
    """
    named = _OCCASION.search(instruction) is not None
    return named and bool(terms) and extract_trigger_terms(instruction).isdisjoint(terms)


def score_instructions(
    terms: Collection[str], occasions: Sequence[Collection[str]], cosines: Sequence[float | None]
) -> list[float]:
    """Return for each instruction how well its trigger matches a question with these terms, in [0, 1].

    Most match 0. The match is the number of shared words divided by the length of the shorter side, plus the scaled
    cosine if vectors were compared.

    >>> instructions = "Give full dates when I ask about deadlines.", "Use Celsius."
    >>> score_instructions(["paper", "deadlin"], [extract_trigger_terms(one) for one in instructions], [None, None])
    [1.0, 0.0]
    """
    fits = [_fit(set(terms), words, near) for words, near in zip(occasions, cosines, strict=True)]
    best = max(fits, default=0.0)
    return [min(fit, 1.0) if fit >= max(_LEAST, _CLOSE * best) else 0.0 for fit in fits]


def _fit(terms: set[str], words: Collection[str], cosine: float | None) -> float:
    shared = len(terms.intersection(words)) / min(len(words), len(terms)) if words and terms else 0.0
    low, high = _NEAR
    near = 0.0 if cosine is None else min(max((cosine - low) / (high - low), 0.0), 1.0)
    return shared + near

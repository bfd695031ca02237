"""Build the prompt for one passage. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string;
secrets are masked, independently of the secrets policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.model.attributes import NOTHING, find_exact_attribute, get_attribute
from credenda.model.claim import Claim, Span, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory, Stance, get_valid_from_us
from credenda.providers.llm.protocol import Question
from credenda.text.normalize import normalise_value
from credenda.text.sentences import TextSpan, split_sentences
from credenda.text.tokens import tokenize
from credenda.write.extract.voices import Voice, is_playing, is_question, split_voices, straighten
from credenda.write.intake.secrets import screen_secrets

# A passage: messages of one session that one question to a model is about, with what it needs.


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Messages to extract, in order, and the memories that they may affect, the likeliest first.

    `readings` are the claims of the reader by event id: they stand in while there is no answer.
    """

    turns: tuple[Turn, ...]
    known: tuple[Memory, ...] = ()
    readings: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict[str, tuple[Claim, ...]])

    @property
    def event_ids(self) -> tuple[str, ...]:
        """The ids of the messages to extract."""
        return tuple(turn.event.id for turn in self.turns)

    @property
    def messages(self) -> list[Event]:
        """The messages to extract and the latest before each of them, in order."""
        shown: dict[str, Event] = {}
        for turn in self.turns:
            shown |= {event.id: event for event in turn.before[-limits.LLM_CONTEXT_TURNS :] if event.id not in shown}
            shown[turn.event.id] = turn.event
        return list(shown.values())


PROMPT: Final = "extract-6"
"""Version of the instructions and of the schema; it changes with either of them."""
_QUOTED_CHARACTERS: Final = 120
"""Most characters of the words of a known memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instructions:
    text: str
    schema: Mapping[str, object]


@cache
def _instructions() -> _Instructions:
    folder = files("credenda.write") / "prompts"
    schema: dict[str, object] = json.loads((folder / f"{PROMPT}.schema.json").read_text("utf-8"))
    return _Instructions(text=(folder / f"{PROMPT}.md").read_text("utf-8"), schema=schema)


def known_id(at: int) -> str:
    """Return the id of a known memory in the prompt."""
    return f"k{at + 1}"


def turn_id(at: int) -> str:
    """Return the id of a message in the prompt."""
    return f"t{at + 1}"


def question_about(passage: Passage) -> Question:
    """Ask for the claims of a passage."""
    instructions = _instructions()
    names = {event: turn_id(at) for at, event in enumerate(passage.event_ids)}
    known: dict[str, dict[str, str]] = {}
    for at, memory in enumerate(passage.known):
        # Show a memory in one line: "user residence: Graz" or its words; with its scope, stance of note and end.
        unusual = "" if memory.stance is Stance.ASSERTED else f" ({memory.stance.value})"
        unusual += "" if memory.valid_until_us is None else f" (until {_format_day(memory.valid_until_us)})"
        scope = f" ({memory.scope})" if memory.scope else ""
        slot = f"{memory.entity} {memory.attribute}{scope}: {memory.value}" if memory.value else ""
        known.setdefault(_format_day(get_valid_from_us(memory)), {})[known_id(at)] = _clean(
            f"{slot or f'“{_shorten(memory.text)}”'}{unusual}", limits.LLM_BEFORE_CHARACTERS
        )
    document = {
        "date": _format_day(passage.turns[-1].event.occurred_us),
        "known": dict(sorted(known.items())),
        "messages": [_show_message(one, names.get(one.id)) for one in passage.messages],
    }
    return Question(
        instructions=instructions.text,
        prompt=json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        schema=instructions.schema,
        tokens_max=limits.LLM_ANSWER_TOKENS,
    )


def _clean(text: str, most: int) -> str:
    return screen_secrets(text, "mask").text[:most]


def _show_message(event: Event, name: str | None) -> dict[str, Any]:
    speaker = event.speaker if event.role in {Role.PERSON, Role.DOCUMENT} else event.role.value
    most = limits.LLM_BEFORE_CHARACTERS if name is None else limits.LLM_TEXT_CHARACTERS
    return ({} if name is None else {"turn": name}) | {"from": speaker, "text": _clean(event.text, most)}


def _format_day(time_us: int) -> str:
    return f"{to_datetime(time_us):%F}"


def _shorten(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARACTERS else f"{text[:_QUOTED_CHARACTERS].rsplit(' ', 1)[0]} …"


# Parse proposed claims strictly: those of a model's answer, and those that a calling agent passes. Pure.


PAST: Final = "past"
"""The stance of a value that was true once."""
STANCES: Final = (*(one.value for one in Stance), PAST)
_TEXTS: Final = ("turn", "entity", "attribute", "value", "scope")
_WORDINGS: Final = ("statement", "key")
_FIELDS: Final = frozenset({"quote", *_TEXTS, *_WORDINGS, "stance", "effect"})
_EFFECT: Final = re.compile(r"\s*(?P<effect>\w+)\s+(?P<target>\S+)\s*")


class Effect(StrEnum):
    """The effect of a claim on a known memory that it names."""

    REPEATS = "repeats"
    REPLACES = "replaces"
    """The memory was true until now; of a plan or consideration, the claim settles it."""
    CORRECTS = "corrects"
    """The memory was wrong."""
    ENDS = "ends"
    """The memory is no longer true, and nothing takes its place."""
    CONTRADICTS = "contradicts"
    """Both cannot be true, and the text does not say which is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One claim as it was proposed, before any check.

    `turn` names the message that says it, "" for any; `target` names the memory that `effect` is about. `statement` is
    the claim as a line that stands alone, and `key` names its slot in words.
    """

    quote: str
    turn: str = ""
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    scope: str | None = None
    statement: str | None = None
    key: str | None = None
    stance: Stance = Stance.ASSERTED
    past: bool = False
    effect: Effect | None = None
    target: str = ""


class Refusal(StrEnum):
    """Why a claim was refused, or changed to the nearest valid form."""

    QUOTE = "the quote does not occur in a message"
    DOCUMENT = "a document states no facts of the user"
    VOICE = "the quoted words are not the speaker's own prose"
    SECRET = "the quoted words hold a secret"  # noqa: S105 - a reason, no secret
    QUESTION = "the quoted words ask, and state nothing"
    PASSING = "the quoted words are sarcasm, pasted or an order to a model"
    SLOT = "attribute and value go together, and an attribute is a short noun"
    VALUE = "the value does not occur in the quoted sentence"
    INVALID = "the attribute cannot have this value"
    ENTITY = "no message speaks of this entity"
    PERSON = "the sentence is about somebody else"
    SCOPE = "the scope does not occur in the quoted sentence"
    KNOWN = "no known memory has the name that the effect gives"
    APART = "the words do not speak of the named memory"
    REPEATED = "the sentence does not repeat the named memory"
    EMPTY = "what is left says nothing by itself"
    DENIED = "the quoted sentence denies this value; give it with the stance negated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The parsed parts of an answer.

    `proposals` has None in the place of a claim without the requested form, so that c1, c2 … stay the same claims.
    `readable` is False if the answer is not the requested document; `more` is True if the model has further claims.
    """

    proposals: tuple[Proposal | None, ...] = ()
    more: bool = False
    readable: bool = True


def read_answer(text: str) -> Answer:
    """Parse an answer."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(readable=False)
    if not isinstance(document, dict) or not isinstance(document.get("claims"), list):  # pyright: ignore[reportUnknownMemberType] - foreign JSON
        return Answer(readable=False)
    found = cast("dict[str, Any]", document)
    claims: list[Any] = found["claims"]
    return Answer(proposals=tuple(map(_try_parse, claims)), more=bool(claims) and found.get("more") is True)


def _try_parse(claim: object) -> Proposal | None:
    try:
        return parse_proposal(claim)
    except ValueError:
        return None


_STATUSES: Final = {
    "now": "asserted",
    "ended": PAST,
    "denied": "negated",
    "hearsay": "reported",
    "unreal": "hypothetical",
}
"""Stances by the names that the statuses of a reading have."""


def parse_proposal(claim: object) -> Proposal:
    """Parse one claim; only `quote` is required. Raises `ValueError` naming the fault."""
    if not isinstance(claim, Mapping):
        raise ValueError("it is not a table")  # noqa: TRY004 - one kind of complaint about foreign JSON
    given = cast("Mapping[str, Any]", claim)
    if unknown := sorted(map(str, given.keys() - _FIELDS)):
        raise ValueError(f"it has no field {unknown[0][:64]!r}")
    quote = given.get("quote")
    if not isinstance(quote, str) or not quote.strip():
        raise ValueError("quote must be words of the message")
    stance = given.get("stance") or Stance.ASSERTED.value
    stance = _STATUSES.get(stance, stance) if isinstance(stance, str) else stance
    if stance not in STANCES:
        raise ValueError(f"stance must be one of {', '.join(STANCES)}")
    texts = {name: _parse_text(given, name) for name in _TEXTS}
    wordings = {name: " ".join((_parse_text(given, name) or "").split()) or None for name in _WORDINGS}
    effect, target = _parse_effect(given.get("effect"))
    return Proposal(
        quote=quote,
        **texts | {"turn": texts["turn"] or ""},  # pyright: ignore[reportArgumentType] - never None
        **wordings,
        stance=Stance.ASSERTED if stance == PAST else Stance(stance),
        past=stance == PAST,
        effect=effect,
        target=target,
    )


def _parse_text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > limits.NAME_CHARACTERS:
        raise ValueError(f"{name} must be a text of at most {limits.NAME_CHARACTERS} characters")
    return value.strip() or None


def _parse_effect(given: object) -> tuple[Effect | None, str]:
    """Parse "replaces k3"."""
    if given is None or given == "":
        return None, ""
    found = _EFFECT.fullmatch(given) if isinstance(given, str) else None
    if found is None or found["effect"] not in frozenset(Effect):
        raise ValueError(f"effect must be one of {', '.join(Effect)}, and the name of a known memory")
    return Effect(found["effect"]), found["target"]


# Find the question that a sentence answers with yes or no: the answer alone says nothing. Pure.


_CHARACTERS_MAX: Final = 240
"""A longer question is no yes-or-no question."""
_OPENING: Final = r"(?:(?:oh|ah|well|haha+|hmm*|so|and|but|unfortunately|honestly|actually)[,!. ]+)*"
_REPLY: Final = (
    r"(?:yes|yea|yeah|yep|yup|ja|sure|of course|definitely|absolutely|indeed|certainly|no|nope|nah|never|neither|"
    r"not (?:yet|really|at all|anymore)|"
    r"(?:i|we|he|she|they|it)(?:['’]ve| have| do| did| am| was| were| had| has| does| would| will| can)?"
    r"(?:n['’]t| not)?(?: really| actually| totally)?[.!,]|"
    r"(?:i|we) (?:have|do|did|am|was|had|haven['’]t|don['’]t|didn['’]t) (?:not )?"
    r"(?:actually |really |never )*(?:been|too|so|once|yet|before|tried)\b)"
)
_ANSWER: Final = re.compile(rf"{_OPENING}{_REPLY}", re.IGNORECASE)

_REPLIES: Final = frozenset(
    tokenize("yes yea yeah yep yup ja sure course definitely absolutely indeed certainly no nope nah")
)


def find_question(turn: Turn, sentence: str) -> str:
    """Return the last question of the message before, if a sentence is the answer to it by yes or no; else "".

    The message is somebody else's, and the sentence opens the turn.
    """
    last = turn.addressed
    if last is None or not turn.event.text.lstrip().startswith(sentence.strip()):
        return ""
    if _ANSWER.match(sentence.strip()) is None:
        return ""
    asked = [last.text[one.start : one.stop].strip() for one in split_sentences(last.text)]
    questions = [one for one in asked if one.rstrip("\"')”’ ").endswith("?") and len(one) <= _CHARACTERS_MAX]
    return questions[-1] if questions else ""


def is_bare_reply(sentence: str) -> bool:
    """Return whether a sentence says yes or no and nothing else.

    >>> is_bare_reply("Yes, I did."), is_bare_reply("No actually not many, just a couple of exhibitions.")
    (True, False)
    """
    return _ANSWER.match(sentence.strip()) is not None and _REPLIES.issuperset(tokenize(sentence))


# Check whether the model's words occur in the message.


_TOKEN: Final = re.compile(r"\w+(?:[.,:]\d+)*", re.UNICODE)
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_GAP: Final = r"[^\w]{1,8}?"
_QUOTE_TOKENS: Final = 120
_APART: Final = 4
_PAIR: Final = 2
_PRONOUNS: Final = frozenset({"his", "her", "their", "its"})
"""Words that a claim has in place of the speaker's "my" and "our"."""
_SMALL: Final = frozenset("a an the my our your to of in on at for with and or is are am be".split())  # noqa: SIM905


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(normalise_value(text))


def says(text: str, value: str) -> bool:
    """Return whether a text contains a value: its whole words in order, with only small words between them.

    >>> says("I moved to the New York office", "new york")
    True
    >>> says("I earn 15000 a year", "15")
    False
    """
    wanted = [token for token in _tokens(value) if token not in _SMALL] or _tokens(value)
    held = [token for token in _tokens(text) if token not in _SMALL or token in wanted]
    width = len(wanted)
    return bool(width) and any(held[at : at + width] == wanted for at in range(len(held) - width + 1))


def says_in_order(text: str, value: str) -> bool:
    """Return whether a text contains the words of a value in order, with few words between them.

    >>> says_in_order("a fun game of basketball with my friends", "game of basketball with his friends")
    True
    >>> says_in_order("I like tea, and my sister, who came by yesterday, likes coffee", "tea coffee")
    False
    """
    wanted = [token for token in _tokens(value) if token not in _SMALL | _PRONOUNS]
    held = [token for token in _tokens(text) if token not in _SMALL]
    ends = {at for at, token in enumerate(held) if token == wanted[0]} if wanted else set[int]()
    for one in wanted[1:]:
        ends = {at for at, token in enumerate(held) if token == one and any(0 < at - end <= _APART for end in ends)}
    return bool(ends)


_APART_SIGN: Final = re.compile(
    r"[,;:.!?]\s|\d|\b(?:and|or|but|not|no|nor|instead|than|und|oder|nicht|y|o|et|ou|e)\b", re.IGNORECASE
)
"""What tells the words of one thing from those of another."""


_BETWEEN: Final = frozenset({"of", "the", "a", "an", "per", "my"})


def has_words_together(sentence: str, terms: Collection[str]) -> bool:
    """Return whether words stand in a sentence with nothing but small words between them."""
    words = re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)?|[.,;:!?()]", sentence.casefold())
    held = [next(iter(tokenize(word)), word) for word in words]
    for at, word in enumerate(held):
        found = set[str]()
        for one in held[at:] if word in terms else ():
            if one not in terms and one not in _BETWEEN:
                break
            found.add(one)
            if {*terms} <= found:
                return True
    return False


def says_closely(text: str, value: str) -> bool:
    """Return whether a text says a value word by word, in another form of its words, or with a verb between them.

    >>> says_closely("metformin's up to 1000mg", "metformin 1000mg"), says_closely("I grind my teeth", "grinds teeth")
    (True, True)
    >>> says_closely("no more ramipril, losartan 50mg now", "ramipril 50mg")
    False
    """
    wanted = [token for token in _tokens(value) if token not in _SMALL]
    if says(" ".join(tokenize(text)), " ".join(tokenize(value))):
        return True
    between = r"(?:(?!\w)(?P<gap>.{0,24}?)(?<!\w))".join  # words of one clause
    pattern = between(re.escape(token) for token in wanted) if len(wanted) == _PAIR else ""
    found = re.search(rf"(?<!\w){pattern}(?!\w)", text.casefold()) if pattern else None
    return found is not None and _APART_SIGN.search(found["gap"]) is None


def numbers(text: str) -> set[str]:
    """Return the numbers of a text as written, without grouping signs."""
    return {found.replace(",", "") for found in _NUMBER.findall(text)}


def locate(text: str, quote: str, event_id: str) -> Span | None:
    """Find the words of a text that a quote repeats; None if it does not occur.

    Case, spaces and punctuation may differ.
    """
    words = re.findall(r"\w+", quote)[:_QUOTE_TOKENS]
    if not words:
        return None
    pattern = rf"(?<!\w){_GAP.join(map(re.escape, words))}(?!\w)"
    found = re.search(pattern, text, re.IGNORECASE)
    return None if found is None else Span(event_id, found.start(), found.end())


@lru_cache(1)  # a long message is asked for each of its facts
def _list_sentences(text: str) -> tuple[TextSpan, ...]:
    return tuple(split_sentences(text))


def widen_to_sentences(text: str, span: Span) -> Span:
    """Return the whole sentences that a span touches."""
    touched = [one for one in _list_sentences(text) if one.start < span.stop and span.start < one.stop]
    return replace(span, start=min(span.start, touched[0].start), stop=max(span.stop, touched[-1].stop))


# A proposed claim with the words of the message that it rests on. Pure.


_STATEMENT_CHARACTERS: Final = 400
"""A longer sentence is quoted in part."""


@dataclass(frozen=True)
class Said:
    """A proposal with the words that it rests on."""

    proposal: Proposal
    turn: Turn
    quoted: Span
    sentences: Span
    owner: str
    replaced: Memory | None = None
    """The memory whose place it takes, if it names one."""
    by_agent: bool = False
    """Whether the calling agent proposed it, which was there and words a scope as it understood it."""

    @property
    def quote(self) -> str:
        """The quoted words."""
        return self.turn.event.text[self.quoted.start : self.quoted.stop]

    @property
    def sentence(self) -> str:
        """The whole sentences that hold the quoted words."""
        return self.turn.event.text[self.sentences.start : self.sentences.stop]

    @property
    def reaches_end(self) -> bool:
        """Whether no word of the sentence follows the quoted ones."""
        rest = self.turn.event.text[self.quoted.stop : self.sentences.stop]
        return not any(map(str.isalnum, rest))

    @property
    def voice(self) -> Voice:
        """The voice of the quoted words; of two, the one that is not own prose."""
        passages = split_voices(self.turn.event.text, playing=is_playing(self.turn))
        return max(one.voice for one in passages if one.start < self.quoted.stop and self.quoted.start < one.stop)

    @cached_property
    def question(self) -> str:
        """The question that the sentence answers with yes or no, else ""."""
        return find_question(self.turn, self.sentence)

    @property
    def states(self) -> bool:
        """Whether the sentence is a statement that can be shown whole, and not a question or a request."""
        short = len(self.sentence) <= min(_STATEMENT_CHARACTERS, limits.MEMORY_TEXT_CHARACTERS)
        return short and not _asks(self.sentence)


def _asks(text: str) -> bool:
    plain = straighten(text)
    return plain.endswith("?") or is_question(plain)


_BEGUN: Final = re.compile(r" (?:from|starting|as of) .*", re.IGNORECASE)
_SINCE: Final = re.compile(r",? since .*", re.IGNORECASE)


def leave_out_time(value: str, *, begun: bool) -> str:
    """Leave out of a value since when it holds and, with `begun`, from when.

    >>> leave_out_time("vegetarian since October", begun=False), leave_out_time("Acme from 3 March", begun=False)
    ('vegetarian', 'Acme from 3 March')
    >>> leave_out_time("Acme from 3 March", begun=True)
    'Acme'
    """
    return _SINCE.sub("", _BEGUN.sub("", value) if begun else value)


_ADDITION: Final = re.compile(r"(?:,| - | (?:with|incl(?:\.|uding)) ).*", re.IGNORECASE | re.DOTALL)
"""What an agent may add to a value: "nine, including Collins"."""
_TAKING_BACK: Final = re.compile(
    r"\b(?:except\w*|but|only|no|not|none|never|without|un\w+|ex|former\w*|old|previous\w*|past|was|were|cancel\w*|over|ended"
    r"|gone|stopped|quit|until|till|if|may|maybe|might|perhaps|possibly|wrong|false|instead|before|after|then)\b",
    re.IGNORECASE,
)
"""Words of an addition without which a value would say something else: "PureGym, cancelled"."""


def leave_out_addition(value: str) -> str:
    """Leave out an addition to a value, unless that takes the value back.

    >>> leave_out_addition("nine, including Collins"), leave_out_addition("PureGym, cancelled")
    ('nine', 'PureGym, cancelled')
    """
    added = _ADDITION.search(value)
    return value if added is None or _TAKING_BACK.search(added[0]) else value[: added.start()]


DENYING: Final = re.compile(r"\b(?:no|not|never|without|cannot|\w+n['\u2019]?t)\b", re.IGNORECASE)
"""Words of denial: "no dairy" is said by "I can't have dairy"."""
_WITHOUT: Final = re.compile(
    rf"{NOTHING.pattern}(?=$|,)|(?:no (?:longer|more)|no|not|never|without"
    r"|(?P<over>stopped|ended|over|done|finished|gone|quit|cancell?ed|dropped|gave up|given up))\b\s*",
    re.IGNORECASE,
)
"""The beginning of a value that says itself that there is nothing of the kind."""


def settle_denial(proposal: Proposal) -> Proposal:
    """Let a value that says its denial itself be denied once: not "pilates: not stopped", "diet: not no dairy"."""
    value, name = proposal.value or "", find_exact_attribute(proposal.attribute or "")
    absent = _WITHOUT.match(value)
    if proposal.stance is not Stance.NEGATED or absent is None:
        return proposal
    if get_attribute(name).known:
        return replace(proposal, value=value[absent.end() :] or value)
    over = absent["over"] or ""
    twice = over and re.search(rf"{DENYING.pattern}\W+(?:\w+\W+)?{over}", proposal.quote, re.IGNORECASE)
    return proposal if twice else replace(proposal, stance=Stance.ASSERTED)


_NEAR: Final = 3
"""How many words may stand between a denial and what it denies."""


def is_without(sentence: str, attribute: str) -> bool:
    """Return whether a sentence denies that there is what an attribute names: "the hens are no more"."""
    words = sentence.casefold().split()
    named = [at for at, word in enumerate(words) if {*tokenize(word)} & {*tokenize(attribute.replace("_", " "))}]
    return any(DENYING.search(" ".join(words[max(at - _NEAR, 0) : at + _NEAR])) for at in named)


POINTING_BACK: Final = re.compile(
    r"\b(?:it|its|that|this|there|here|them|they|their|those|these|ones?|he|him|his|she|hers?|both|same|so)\b",
    re.IGNORECASE,
)


def reach_value(text: str, quoted: Span, value: str, memory: Memory | None) -> Span:
    """Widen a quotation to the sentence before or after it that says the value, where its own sentence does not.

    The memory that the value replaces may have some of its words: "going to Orkney instead, same dates".
    """
    own = widen_to_sentences(text, quoted)
    sentence = text[own.start : own.stop]
    if not set(tokenize(sentence)).isdisjoint(tokenize(value)) or POINTING_BACK.search(sentence):
        return quoted
    near = [one for one in split_sentences(text) if one.stop <= own.start][-1:]
    near += [one for one in split_sentences(text) if one.start >= own.stop][:1]
    wanted, held = set(tokenize(value)), set(tokenize(memory.value or "")) if memory is not None else set[str]()
    new = wanted - held
    holding = [
        one
        for one in near
        if says_in_order(text[one.start : one.stop], value)
        or (held and new and new <= set(tokenize(text[one.start : one.stop])))
    ]
    if len(holding) != 1:
        return quoted
    return replace(quoted, start=min(own.start, holding[0].start), stop=max(own.stop, holding[0].stop))

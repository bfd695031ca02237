"""Build the prompt for one passage. Pure.

The instructions are a versioned file. User text goes into one JSON document, where no text can end its own string;
secrets are masked, independently of the secrets policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

from credenda import limits
from credenda.clock import to_datetime
from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Stance, get_valid_from_us
from credenda.providers.llm.protocol import Question
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize
from credenda.write.intake.secrets import screen_secrets
from credenda.write.llm.passage import Passage

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

"""Messages without a statement of their own: questions to the assistant, thanks, and its repetitions. Pure.

They share the words of a question with the statement that answers it, and are often closer to it. They stay findable:
by a question about the talk, by their own words, and behind rows that fit the question about as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Protocol

from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize

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
        part.rstrip("\"')\u201d\u2019 ").endswith(("?", "\uff1f", "\u061f")) or _is_asked(part) for part in said
    )


def _is_asked(part: str) -> bool:
    return not part.endswith((".", "!")) and _ASKING.match(part) is not None


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
    """Return whether a user's message is a task on a text that it brings along, which tells nothing about the user."""
    return one.event is not None and one.event.role is Role.USER and _TASK.match(one.text) is not None


def is_only_polite(text: str) -> bool:
    """Return whether a text has no words but those of thanks and agreement.

    >>> is_only_polite("Understood, thanks!"), is_only_polite("Thanks, the loom arrived.")
    (True, False)
    """
    return _POLITE.issuperset(tokenize(text))


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
    return not terms or any((at is None or at <= event.occurred_us) and terms <= more for at, more in told)


def _list_terms(one: Listed) -> frozenset[str]:
    memory = one.memory
    slot = (
        () if memory is None else (memory.entity or "", (memory.attribute or "").replace("_", " "), memory.value or "")
    )
    return frozenset(tokenize(" ".join((one.text, *slot))))

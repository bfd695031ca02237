"""The forms of words that mean exactly one thing, whatever the sentence is about: take back, keep. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from credenda import limits
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.memory import MemoryType
from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.speaker import who_speaks
from credenda.write.intake.secrets import screen_secrets

__all__ = ["ExactForms", "find_exact_forms"]

_OPENING: Final = r"(?:(?:no|oh|wait|sorry|actually|please|just|and|um|uh|hmm|ok|okay)[,.!]*\s+)*"
_IT: Final = (
    r"(?:(?:about )?(?:that|this|it|what i (?:just )?said|my last (?:message|sentence|statement|one)|(?:that|the) last"
    r" (?:one|bit|part|message|sentence)|(?:that|this)(?: \w+)? (?:number|date|address|name|price|amount|email)))"
)
_DROP: Final = rf"(?:ignore|scratch|strike|forget|disregard|delete) {_IT}"
_TAKEN_BACK: Final = re.compile(
    rf"\W*{_OPENING}(?:(?:never ?mind|nvm)(?: {_IT})?|(?:never ?mind[,;]? )?(?:and )?{_OPENING}{_DROP}"
    r"|i take (?:that|it|what i said) back"
    rf"|(?:don'?t|do not) (?:save|store|record|remember|note|keep|write(?: down)?) {_IT}(?: down)?)(?:,? please)?\W*",
    re.IGNORECASE,
)
_JOKE: Final = re.compile(
    rf"\W*{_OPENING}(?:(?:lol|haha+|nah)[,.!]*\s+)*(?:(?:i'm |i am |i was )?(?:just |only )?(?:kidding|joking|messing"
    r"(?: with you)?)|jk|j/k|(?:that|it) was (?:just |only )?a joke|i made (?:that|it) up|not really|april fools?)\W*",
    re.IGNORECASE,
)
_KEEP: Final = re.compile(
    r"\W*(?:(?:hey|hi|oh|ok|okay|also|and|please|can you|could you)[,.!]*\s+)*"
    r"(?:(?:remember|don'?t forget|keep in mind|make a note|take note|note(?: to self)?|for the record|fyi)"
    r"(?:\s*[:,–—-]+\s*|\s+that\s+))(?P<told>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_KEPT_WORDS: Final = 3
"""Fewer words after "remember" point at something said elsewhere."""


class ExactForms(NamedTuple):
    """What the exact forms of a message say of it."""

    claims: list[Claim]
    """What takes back an earlier message."""
    taken_back: list[TextSpan]
    """Sentences of the message that its next sentence takes back."""
    kept: list[Claim]
    """Sentences that shall be remembered, without a slot: for where nothing else was found in them."""


def find_exact_forms(turn: Turn) -> ExactForms:
    """Find the exact forms of a message, one of which is always a whole sentence."""
    text = turn.event.text
    sentences = list(split_sentences(text))
    claims: list[Claim] = []
    taken_back: list[TextSpan] = []
    for at, one in enumerate(sentences):
        said = text[one.start : one.stop].replace("’", "'")
        retracts, jokes = _TAKEN_BACK.fullmatch(said) is not None, _JOKE.fullmatch(said) is not None
        if (retracts or jokes) and at:
            taken_back.append(sentences[at - 1])
        elif retracts:
            claims.append(_make_claim(turn, one, UpdateKind.RETRACT))
    return ExactForms(claims, taken_back, list(_list_kept(turn, sentences)))


def _list_kept(turn: Turn, sentences: Sequence[TextSpan]) -> Iterator[Claim]:
    if turn.event.role is not Role.USER:
        return
    for one in sentences:
        said = turn.event.text[one.start : one.stop]
        found = _KEEP.fullmatch(said)
        if found is not None and len(found["told"].split()) >= _KEPT_WORDS and not screen_secrets(said, "mask").masked:
            yield _make_claim(turn, one._replace(start=one.start + found.start("told")), UpdateKind.STATE)


def _make_claim(turn: Turn, place: TextSpan, move: UpdateKind) -> Claim:
    event = turn.event
    return Claim(
        text=event.text[place.start : place.stop][: limits.MEMORY_TEXT_CHARACTERS],
        type=MemoryType.FACT,
        span=Span(event.id, place.start, place.stop),
        speaker=who_speaks(event)[0],
        move=move,
        topic=event.topic,
        tags=event.tags,
    )

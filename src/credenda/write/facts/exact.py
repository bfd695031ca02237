"""The forms of words that mean exactly one thing, whatever the sentence is about: take back, keep. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda import limits
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.memory import Cardinality, MemoryType
from credenda.text.normalize import fold_plural
from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.orders import INSTRUCTION, is_bare_order
from credenda.write.extract.voices import lexicon, who_speaks
from credenda.write.intake.secrets import screen_secrets

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
_OWN_WORDS: Final = re.compile(
    r"\b(?:said|last|number|date|address|name|price|amount|email|back|delete|save|store|record|remember|note|keep|write)\b",
    re.IGNORECASE,
)
"""Words of such a form by which it is about a message of the speaker, whatever was offered since."""
_OFFER: Final = re.compile(
    r"[?\uff1f]|\b(?:let me know|say (?:so|yes|the word)|if you(?:'d| would)? (?:like|want|wish|prefer)|happy to"
    r"|(?:i can|i could|i'll|i will|let me) (?!(?:\w+ )?(?:remember|note|keep|save|store|see|imagine|tell)\b))",
    re.IGNORECASE,
)
"""What an assistant asks or offers, which "never mind" declines."""
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
_FORGET: Final = (
    rf"\W*{_OPENING}(?:(?:can|could|would|will) you |i(?:'d| would)? (?:want|like) you to )?(?:please )?"
    r"(?:forget|erase|delete|remove)(?: from (?:your )?memory)? "
)
_I_SAID: Final = r"(?:i|we)(?:'ve| have)?(?: just)? (?:said|told you|mentioned|wrote|written|shared)"
_FORGET_OWN: Final = re.compile(
    rf"{_FORGET}(?:my|our) (?P<noun>[a-z][a-z -]{{2,40}}?)(?: from (?:your |the )?memory)?(?:,? please)?[.!?]*",
    re.IGNORECASE,
)
_FORGET_ALL: Final = re.compile(
    rf"{_FORGET}(?:(?:everything|all|anything)(?: (?:that )?(?:you (?:know|have|remember|stored)|{_I_SAID}))?"
    rf"|what {_I_SAID}) about (?P<name>[\w' .-]{{2,40}}?)(?:,? please)?[.!?]*",
    re.IGNORECASE,
)
_FORGET_THAT: Final = re.compile(
    rf"{_FORGET}(?:the fact )?that (?:i|my|we|our|the|[A-Z])\b.*", re.IGNORECASE | re.DOTALL
)
_OWN: Final = re.compile(r"^(?:my|our) ", re.IGNORECASE)
_NOBODY: Final = re.compile(r"(?:me|us|this|that|it|him|her|them|you|myself|everything|what .*)$", re.IGNORECASE)
"""What names nobody and nothing in particular, or the whole memory, which only a deletion may empty."""
_WEIGHTY: Final = 0.8
_CONFIDENCE: Final = 0.85
_NOUN_WORDS: Final = 3
_KEPT_WORDS: Final = 3
"""Fewer words after "remember" point at something said elsewhere."""


class ExactForms(NamedTuple):
    """What the exact forms of a message say of it."""

    claims: list[Claim]
    """What takes back an earlier message."""
    taken_back: list[TextSpan]
    """Sentences of the message that its next sentence takes back."""
    forgotten: list[TextSpan]
    """Sentences whose facts shall be forgotten: "forget that I live in Graz"."""
    orders: list[Claim]
    """Sentences that only tell how to answer, which hold in the place of a standing order alone."""
    kept: list[Claim]
    """Sentences that shall be remembered, without a slot: for where nothing else was found in them."""


def find_exact_forms(turn: Turn) -> ExactForms:
    """Find the exact forms of a message, one of which is always a whole sentence."""
    text = turn.event.text
    sentences = list(split_sentences(text))
    claims: list[Claim] = []
    taken_back: list[TextSpan] = []
    forgotten: list[TextSpan] = []
    for at, one in enumerate(sentences):
        said = text[one.start : one.stop].replace("’", "'")
        retracts, jokes = _TAKEN_BACK.fullmatch(said) is not None, _JOKE.fullmatch(said) is not None
        if (retracts or jokes) and at:
            taken_back.append(sentences[at - 1])
        elif retracts and not _is_declining(turn, said):
            claims.append(_make_exact_claim(turn, one, UpdateKind.RETRACT))
        elif (forgets := _find_forgotten(turn, one, said)) is not None:
            claims.append(forgets)
            taken_back.append(one)
        elif _FORGET_THAT.fullmatch(said):
            forgotten.append(one)
    return ExactForms(
        claims, taken_back, forgotten, list(_list_orders(turn, sentences)), list(_list_kept(turn, sentences))
    )


def _list_orders(turn: Turn, sentences: Sequence[TextSpan]) -> Iterator[Claim]:
    if any(one.role is not Role.USER for one in (turn.event, *turn.before) if one.role is not Role.ASSISTANT):
        return
    for one in sentences:
        said = turn.event.text[one.start : one.stop]
        if is_bare_order(said):
            told = _make_exact_claim(turn, one, UpdateKind.CHANGE)
            more = {"importance": _WEIGHTY, "confidence": _CONFIDENCE, "cardinality": Cardinality.SET}
            yield replace(told, attribute=INSTRUCTION, value=said.strip(" .!"), **more)


def _is_declining(turn: Turn, said: str) -> bool:
    """Return whether words such as "never mind" answer an offer or question of the assistant, and take nothing back."""
    heard = turn.addressed
    asked = heard is not None and heard.role is Role.ASSISTANT and _OFFER.search(heard.text.replace("’", "'"))
    return bool(asked) and _OWN_WORDS.search(said) is None


def _find_forgotten(turn: Turn, place: TextSpan, said: str) -> Claim | None:
    """Return what takes back a slot of the speaker, or all that is held of somebody or something that is named."""
    owner = who_speaks(turn.event)[1]
    own, everything = _FORGET_OWN.fullmatch(said), _FORGET_ALL.fullmatch(said)
    claim = _make_exact_claim(turn, place, UpdateKind.RETRACT)
    if own is not None and owner is not None and len(own["noun"].split()) <= _NOUN_WORDS:
        noun = own["noun"].strip().lower()
        many = fold_plural(noun, "en") != noun
        known = lexicon().attribute(noun)
        name = known.name if known.known or not many else lexicon().attribute(fold_plural(noun, "en")).name
        return replace(claim, entity=owner, attribute=name, cardinality=Cardinality.SET if many else Cardinality.SINGLE)
    if everything is not None and owner is not None and not _NOBODY.match(everything["name"]):
        return replace(claim, entity=_OWN.sub(f"{owner}'s ", everything["name"].strip()), cardinality=Cardinality.SET)
    return None


def _list_kept(turn: Turn, sentences: Sequence[TextSpan]) -> Iterator[Claim]:
    if turn.event.role is not Role.USER:
        return
    for one in sentences:
        said = turn.event.text[one.start : one.stop]
        found = _KEEP.fullmatch(said)
        if found is not None and len(found["told"].split()) >= _KEPT_WORDS and not screen_secrets(said, "mask").masked:
            yield _make_exact_claim(turn, one._replace(start=one.start + found.start("told")), UpdateKind.STATE)


def _make_exact_claim(turn: Turn, place: TextSpan, move: UpdateKind) -> Claim:
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

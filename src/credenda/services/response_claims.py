"""Judge the claims of a response by the lines of its context, by rules. Pure.

A response is cut into sentences, and the sentences of a response to the user are read as the user's own: "You live in
Linz" is compared with "I live in Linz". Where both sides have a slot and a value, these decide, as they do about
memories. Elsewhere the words do: a line supports a sentence that it holds every word of, unless they differ in a
number or a negation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Extractor, Span, Turn
from credenda.model.evaluation import JudgedClaim, Verdict
from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.model.statement import write_claim
from credenda.text.fence import fence_text
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize
from credenda.write.reconcile.slots import get_slot, has_same_meaning, is_in_conflict

_CLAIMED: Final = ("text", "type", "speaker", "entity", "attribute", "value", "scope", "cardinality", "stance")
_WORDS_MIN: Final = 2
"""Sentences of fewer words that mean something claim nothing: "Sure!"."""
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_IDS: Final = re.compile(r"^\[([^\]]{1,400})\]\s*")
_ID: Final = re.compile(r"[em][1-9][0-9]{0,17}-[0-9a-f]{6}")
_VOICE: Final = re.compile(r"^(?:user|note):\s+")
_NOTES: Final = re.compile(r"\s\([^()]{1,400}\)$")
_FRAME: Final = re.compile(r"^(?:</?memory>|Recalled data, not instructions.*|[A-Z][^.:]{2,60}:)$")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION: Final = re.compile(r"(?i)\b(?:not|no|never|cannot|without|none|nobody|neither)\b|n['’]t\b")
_SECOND_PERSON: Final = (
    (r"you are", "I am"),
    (r"are you", "am I"),
    (r"you were", "I was"),
    (r"you['’]re", "I'm"),
    (r"you['’](ve|d|ll)", r"I'\1"),
    (r"yourself", "myself"),
    (r"yours", "mine"),
    (r"your", "my"),
    (r"(to|for|with|at|from|of|by|about|told|gave|remind|asked) you", r"\1 me"),
    (r"you", "I"),
)
"""What a response says to the user, in the words of the user."""
_PERSONS: Final = tuple((re.compile(rf"(?i)\b{said}\b"), meant) for said, meant in _SECOND_PERSON)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context: its words, the ids that it names, and what it says."""

    text: str
    words: str
    ids: tuple[str, ...]
    claims: tuple[Claim, ...] = ()


def split_response(response: str) -> list[str]:
    """Return the sentences of a response that claim something: no questions, and nothing of one word.

    >>> split_response("Sure! You live in Linz. Shall I book a table?")
    ['You live in Linz.']
    """
    found: list[str] = []
    for line in response.splitlines():
        bare = _BULLET.sub("", line).strip()
        for start, stop in split_sentences(bare):
            sentence = bare[start:stop].strip()
            if not sentence.endswith(("?", ":")) and len(tokenize(sentence)) + len(_NUMBER.findall(sentence)) > 0:
                found += [sentence] if len(re.findall(r"\w+", sentence)) >= _WORDS_MIN else []
    return found[: limits.SCORED_CLAIMS]


def read_context(context: str, extractor: Extractor) -> list[Line]:
    """Return the lines of a context that say something: one made by `context`, or any text."""
    lines: list[Line] = []
    for raw in context.splitlines():
        text = raw.strip()
        bare = _BULLET.sub("", text)
        if not bare or _FRAME.match(text):
            continue
        named = _IDS.match(bare)
        ids = tuple(_ID.findall(named[1])) if named else ()
        words = _NOTES.sub("", _VOICE.sub("", bare[named.end() :] if named and ids else bare))
        lines.append(Line(bare, words, ids, _extract(words, extractor)))
    return lines


def add_memory_claims(lines: Iterable[Line], memories: Mapping[str, Memory]) -> list[Line]:
    """Give lines that show the statement of a memory the claim of it, which no sentence states."""
    return [replace(line, claims=(*line.claims, *_list_claims(line, memories))) for line in lines]


def _list_claims(line: Line, memories: Mapping[str, Memory]) -> Iterable[Claim]:
    for memory in (memories[name] for name in line.ids if name in memories):
        if memory.value is not None and fence_text(write_claim(memory)) in line.text:
            fields = {name: getattr(memory, name) for name in _CLAIMED}
            yield Claim(span=Span("", 0, 0), **fields)


def judge_claims(sentences: Sequence[str], lines: Sequence[Line], extractor: Extractor) -> list[JudgedClaim]:
    """Judge each sentence: the first line that supports it decides, else the first one that contradicts it."""
    return [_judge(sentence, lines, extractor) for sentence in sentences]


def _judge(sentence: str, lines: Sequence[Line], extractor: Extractor) -> JudgedClaim:
    meant = _say_as_user(sentence)
    claims = _extract(meant, extractor)
    against: JudgedClaim | None = None
    for line in lines:
        verdict, reason = _compare_slots(claims, line.claims)
        if verdict is None:
            verdict, reason = _compare_words(meant, line.words)
        if verdict is None:
            continue
        found = JudgedClaim(text=sentence, verdict=verdict, line=line.text, ids=line.ids, reason=reason)
        if verdict is Verdict.SUPPORTED:
            return found
        against = against or found
    return against or JudgedClaim(text=sentence, verdict=Verdict.NOT_FOUND, reason="no line says so")


def _say_as_user(sentence: str) -> str:
    """Put a sentence that speaks to the user into the user's words.

    >>> _say_as_user("Your sister told you that you are late.")
    'my sister told me that I am late.'
    """
    for said, meant in _PERSONS:
        sentence = said.sub(meant, sentence)
    return sentence


def _extract(text: str, extractor: Extractor) -> tuple[Claim, ...]:
    event = Event(id="e0", role=Role.USER, speaker="user", text=text, occurred_us=0, recorded_us=0)
    return tuple(extractor.extract(Turn(event=event)))


def _compare_slots(said: Iterable[Claim], held: Sequence[Claim]) -> tuple[Verdict | None, str]:
    """Compare values in the same slots: all claims of a sentence must be supported, one that conflicts decides."""
    verdicts: list[Verdict | None] = []
    for claim in said:
        slot = get_slot(claim)
        same = [one for one in held if slot is not None and get_slot(one) == slot]
        if any(has_same_meaning(claim, one) for one in same):
            verdicts.append(Verdict.SUPPORTED)
        elif any(is_in_conflict(claim, one) for one in same):
            return Verdict.CONTRADICTED, "the line has another value for the same attribute"
        else:
            verdicts.append(None)
    if verdicts and all(verdicts):
        return Verdict.SUPPORTED, "the line has the same value for the same attribute"
    return None, ""


def _compare_words(said: str, held: str) -> tuple[Verdict | None, str]:
    """Compare the words of two sentences, without numbers and negations: the second must have all of the first."""
    said_words, held_words = _list_words(said), _list_words(held)
    if not said_words or not said_words <= held_words:
        return None, ""
    said_numbers, held_numbers = set(_NUMBER.findall(said)), set(_NUMBER.findall(held))
    if said_numbers - held_numbers:
        differs = held_numbers and len(held_words) <= len(said_words) + _WORDS_MIN
        return (Verdict.CONTRADICTED, "the line has another number") if differs else (None, "")
    if bool(_NEGATION.search(said)) != bool(_NEGATION.search(held)):
        close = len(held_words) <= len(said_words) + _WORDS_MIN
        return (Verdict.CONTRADICTED, "one of the two is negated") if close else (None, "")
    return Verdict.SUPPORTED, "the line has all of its words"


def _list_words(text: str) -> set[str]:
    return {word for word in tokenize(_NUMBER.sub(" ", text)) if not word.isdigit()}

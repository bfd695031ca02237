"""Rewrite third-person notes about the user in the first person.

Agents and other memories write "The user lives in Linz." for "I live in Linz."; both must lead to one slot. Only notes
are rewritten: texts that begin with the user, or that come from another memory. In talk about software "the user" is
somebody else.
"""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import Turn
from credenda.model.event import Event, Role, Source
from credenda.text.notes import USER, is_about_user

__all__ = ["as_own_words", "is_among_persons", "is_note", "who_speaks"]

_NOTE_CHARACTERS: Final = 400
_OWNED: Final = re.compile(rf"^{USER}'s\s+(?=\w)", re.IGNORECASE)
_ADVERBS: Final = (
    "no longer",
    "always",
    "never",
    "usually",
    "currently",
    "now",
    "still",
    "also",
    "really",
    "recently",
    "often",
    "sometimes",
    "generally",
    "typically",
    "strongly",
    "just",
    "already",
    "only",
    "mostly",
    "previously",
)
_DOES: Final = re.compile(
    rf"^{USER}\s+(?P<adverb>(?:(?:{'|'.join(_ADVERBS)})\s+)*)(?P<verb>[a-z]+(?:'t)?)\b", re.IGNORECASE
)
_BARE: Final = re.compile(
    r"^(?P<verb>lives?|works?|prefers?|likes?|loves?|enjoys?|dislikes?|hates?|owns?|speaks?|has|have|is|was|wants?|uses?"
    r"|plays?|study|studies|drives?|moved|grew up|graduated|born|(?=(?:from|with|in) |\d{1,3} years old))\b"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_BARE_NOUN: Final = re.compile(
    r"^(?P<noun>(?:full |first |last )?name|age|birthday|job|occupation|employer|hometown|favou?rite [\w ]{2,30}) is\b",
    re.IGNORECASE,
)
_IRREGULAR: Final = {
    "is": "am",
    "isn't": "am not",
    "has": "have",
    "hasn't": "have not",
    "does": "do",
    "doesn't": "do not",
    "goes": "go",
    "were": "was",
    "are": "am",
}
_UNCHANGED: Final = frozenset({"was", "wasn't"})
_THEIR: Final = re.compile(r"\b(?:their|his or her)\b", re.IGNORECASE)
_THEMSELVES: Final = re.compile(r"\b(?:themselves|themself)\b", re.IGNORECASE)


def is_note(event: Event) -> bool:
    """Return whether a text is a note about the user, written by somebody else."""
    if event.role is not Role.USER or len(event.text) > _NOTE_CHARACTERS:
        return False
    return event.source is Source.INGEST or is_about_user(event.text)


def as_own_words(sentence: str, *, noted: bool) -> str:
    """Return a note's sentence in the first person; with `noted`, also one without an explicit subject.

    >>> as_own_words("The user no longer works at Acme.", noted=False)
    'I no longer work at Acme.'
    >>> as_own_words("User's sister lives in Graz.", noted=False)
    'My sister lives in Graz.'
    >>> as_own_words("Prefers tea over coffee", noted=True)
    'I prefer tea over coffee'
    """
    if owned := _OWNED.match(sentence):
        return f"My {_own_rest(sentence[owned.end() :])}"
    if does := _DOES.match(sentence):
        return f"I {does['adverb']}{_first_person(does['verb'])}{_own_rest(sentence[does.end() :])}"
    if noted and _BARE_NOUN.match(sentence):
        return f"My {sentence[:1].lower()}{sentence[1:]}"
    if noted and (bare := _BARE.match(sentence)):
        verb = {"": "am ", "born": "was born"}.get(bare["verb"].lower()) or _first_person(bare["verb"])
        return f"I {verb}{_own_rest(bare['rest'])}"
    return sentence


def _own_rest(text: str) -> str:
    return _THEMSELVES.sub("myself", _THEIR.sub("my", text))


def _first_person(verb: str) -> str:
    """Return the first-person form of a verb: "lives" is "live", "studies" is "study", "moved" stays."""
    lower = verb.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower in _UNCHANGED or not lower.endswith("s") or lower.endswith("ss"):
        return lower
    if lower.endswith("ies"):
        return f"{lower[:-3]}y"
    return lower[:-2] if lower.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else lower[:-1]


def who_speaks(event: Event) -> tuple[str, str | None]:
    """Return the speaker, and the entity of "I" (None in a document)."""
    if event.role is Role.USER:
        return "user", "user"
    if event.role is Role.DOCUMENT:
        return event.speaker, None
    return event.speaker, event.speaker


def is_among_persons(turn: Turn) -> bool:
    """Return whether a message belongs to talk between persons, in which nobody instructs the assistant."""
    roles = {one.role for one in turn.before}
    return Role.PERSON in roles and Role.ASSISTANT not in roles

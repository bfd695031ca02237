"""Check whether the model's words occur in the message. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from credenda import limits
from credenda.model.claim import Span, Turn
from credenda.model.memory import Memory
from credenda.text.normalize import normalise_value
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize
from credenda.write.extract.clauses import is_question, straighten
from credenda.write.extract.voices import Voice, is_playing, split_voices
from credenda.write.llm.prompt import Proposal, find_question

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


def widen_to_sentences(text: str, span: Span) -> Span:
    """Return the whole sentences that a span touches."""
    touched = [one for one in split_sentences(text) if one.start < span.stop and span.start < one.stop]
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

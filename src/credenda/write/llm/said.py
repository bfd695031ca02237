"""A proposed claim with the words of the message that it rests on. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from credenda import limits
from credenda.model.claim import Span, Turn
from credenda.write.extract.acts import is_question
from credenda.write.extract.clauses import straighten
from credenda.write.extract.voices import Voice, is_playing, split_voices
from credenda.write.llm.answer import Proposal
from credenda.write.llm.answered import find_question

__all__ = ["Said"]

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

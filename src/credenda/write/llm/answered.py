"""Find the question that a sentence answers with yes or no: the answer alone says nothing. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import Turn
from credenda.text.sentences import split_sentences
from credenda.text.tokens import tokenize

__all__ = ["find_question", "is_bare_reply"]

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

"""Keep sentences that no pattern matches and the classifier accepts: verbatim, without a slot, confidence at most .5.

The classifier gives probabilities; fixed conditions here limit the sentences to keep.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.clauses import open_sentence
from credenda.write.extract.lexicon import expression, names, words_of
from credenda.write.extract.plainly import is_plain
from credenda.write.extract.predicates import read_predicate
from credenda.write.extract.readings import Reading
from credenda.write.extract.subjects import find_subject
from credenda.write.extract.worth import Worth, worth_of

__all__ = ["doubted", "is_at_hand", "keep_worthwhile"]

_WORDS_MAX: Final = 40
_CONFIDENCE: Final = 0.5
_FAINT: Final = 0.4
_UNMEANT: Final = 0.3
_SURE: Final = 0.58
"""Minimum probability for a short turn; below it, more small talk than statements would be kept."""
_SURE_OF_OTHERS: Final = 0.7
"""Minimum for a sentence that names neither the speaker nor anything shared, and may be about the world."""
_SURE_IF_PLAIN: Final = 0.4
"""Minimum for a declarative sentence; small talk seldom is one."""
_SURE_OF_THE_HOUR: Final = 0.9
"""Minimum for a sentence about the hour or about nature, of which few last."""
_FIRM: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
_DOUBTED: Final = 0.6
"""The probability from which readings of patterns are lowered.

On unseen sentences, this lowers half of the suppositions that patterns take for facts, and 3 facts in 1,000.
"""
_HALF: Final = 0.5
"""Probability from which readings without a slot are lowered."""
_WISHES: Final = frozenset({"prefers", "instruction"})
"""Wishes, which are no plans."""
_OWN: Final = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours"})
_NEAR_ONE: Final = _OWN | frozenset({"you", "your", "yours"})
"""Words for the two speakers."""
_STANDING: Final = frozenset(
    ["always", "never", "every", "each", "before", "after", "when", "whenever", "once", "unless", "until", "if", "from"]
)
"""Words of an order that holds more than once."""
_OCCASIONS: Final = ("to ", "on ", "in ", "at ", "for ", "during ", "the ", "our ")
"""Openings that name the goal or the occasion of an order: "On a Sev1, page the on-call"."""
_AT_HAND: Final = frozenset({"attached", "traceback", "screenshot", "snippet"})
"""Words for things in the conversation, and error names."""
_OFFERING: Final = (
    "if you need ",
    "if you want ",
    "if you have any ",
    "let me know ",
    "feel free ",
    "hang on",
    "hold on",
    "one sec",
)
"""Offers, and requests to wait."""
_FAULTS: Final = ("error", "errors", "exception")
_SHOWN: Final = re.compile(
    r"\b(?:(?:the|see|as|from|code|text) (?:above|below)|(?:above|below)(?=[.,:;!]|$))", re.IGNORECASE
)
"""References to the surrounding text, as "above" or "below"."""
_QUOTED: Final = re.compile(r'"[^"]*\b(?:i|i\'m|my|we|our)\b[^"]*"|"(?:[^" ]+ ){3,}[^"]*"', re.IGNORECASE)


def keep_worthwhile(sentence: str, owner: str, *, alone: bool) -> list[Reading]:
    """Keep one unmatched sentence as the classifier decides; [] if it is worth nothing.

    Only a note of the user is kept, a sentence that is the whole turn; `noteworthy.py` weighs those of a conversation.
    """
    words = words_of(sentence)
    quotes = '"' in sentence and _QUOTED.search(sentence) is not None
    if not alone or owner != "user" or quotes or not 0 < sentence.count(" ") < _WORDS_MAX:
        return []
    if is_at_hand(sentence) or sentence.lower().startswith(_OFFERING):
        return []
    found = worth_of(_unframed(sentence))
    if found.kind == "procedure" and _is_for_once(sentence, words):
        return []
    done = found.planned and found.unsure > found.shares[0] and _is_done(sentence)
    if done or (found.kept >= _least(sentence, owner) and found.kept >= found.unsure):
        return [_unsure(planned=True)] if expression("as_said", "someday").search(sentence) else [_kept(found)]
    return [_unsure(planned=found.planned)] if found.unsure > max(found.kept, found.shares[0]) else []


def is_at_hand(sentence: str) -> bool:
    """Return whether a sentence is about an error, or about something in the conversation."""
    words = words_of(sentence)
    told = not _AT_HAND.isdisjoint(words) or any(word.endswith(_FAULTS) for word in words)
    return told or _SHOWN.search(sentence) is not None


def _unframed(sentence: str) -> str:
    """Remove an opening that resembles a wish or a plan and is none: "change of plan, …"."""
    return expression("as_said", "chosen").sub("", sentence, count=1)


def _least(sentence: str, owner: str) -> float:
    if expression("checks", "of_the_hour").search(sentence.strip(" .!,")):
        return _SURE_OF_THE_HOUR
    ours = not _NEAR_ONE.isdisjoint(words_of(sentence))
    if not ours and expression("as_said", "nature").search(sentence):
        return _SURE_OF_THE_HOUR
    if is_plain(sentence, owner):
        return _SURE_IF_PLAIN
    at_large = not ours and not sentence.startswith(("The ", "the "))
    return _SURE_OF_OTHERS if at_large else _SURE


def doubted(sentence: str, readings: Sequence[Reading], *, alone: bool) -> Stance | None:
    """Return the stance to which the readings of a sentence are lowered; None if they may stay.

    Only a whole turn is doubted, because longer turns mix statements and questions.
    """
    if not alone:
        return None
    if not any(one.confidence > _UNMEANT and one.stance in _FIRM for one in readings):
        return None
    plan, supposition = worth_of(_unframed(sentence)).shares[5:]
    limit = _DOUBTED if any(one.attribute for one in readings) else _HALF
    if supposition >= limit:
        return Stance.HYPOTHETICAL
    wished = any(one.attribute in _WISHES for one in readings)
    return Stance.CONSIDERED if plan >= limit and not (wished or _is_done(sentence)) else None


def _is_done(sentence: str) -> bool:
    """Return whether a sentence states a completed action, which is no plan."""
    text = open_sentence(sentence).text
    if expression("checks", "done").match(text):
        return True
    subject = find_subject(text, "user", None)
    predicate = None if subject is None else read_predicate(subject.rest)
    return (
        predicate is not None
        and (predicate.tense == "past" or predicate.ended)
        and predicate.verb not in names().mental
    )


def _is_for_once(sentence: str, words: Collection[str]) -> bool:
    """Return whether a sentence is an order about the task that runs: "rebase onto main, then push"."""
    standing = not _STANDING.isdisjoint(words) or sentence.lower().startswith(_OCCASIONS)
    return not standing and find_subject(open_sentence(sentence).text, "user", None) is None


def _kept(found: Worth) -> Reading:
    return Reading(type=MemoryType(found.kind), confidence=_CONFIDENCE, importance=_FAINT, pattern="worthwhile")


def _unsure(*, planned: bool) -> Reading:
    return Reading(
        type=MemoryType.FACT,
        stance=Stance.CONSIDERED if planned else Stance.HYPOTHETICAL,
        confidence=_FAINT if planned else _UNMEANT,
        importance=_UNMEANT,
        pattern="worthwhile",
    )

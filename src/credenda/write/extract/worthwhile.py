"""What no pattern reads and the judge finds worth keeping: in its own words, without a slot, never surer than half.

The judge weighs; what may be kept at all is decided here, by what must hold whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.clauses import open_sentence
from credenda.write.extract.lexicon import expression, names, words_of
from credenda.write.extract.plainly import is_plain
from credenda.write.extract.predicates import read_predicate
from credenda.write.extract.readings import Reading
from credenda.write.extract.subjects import find_subject
from credenda.write.extract.worth import Worth, worth_of

__all__ = ["doubted", "keep_worthwhile"]

_WORDS_MAX: Final = 40
_CONFIDENCE: Final = 0.5
_FAINT: Final = 0.4
_UNMEANT: Final = 0.3
_SURE: Final = 0.58
"""A short turn is kept where the judge is this sure: below, more chatter is kept than statements are won."""
_SURE_OF_OTHERS: Final = 0.7
"""What names neither the speaker nor theirs, nor one thing that both know, may be of the world at large."""
_SURE_IF_PLAIN: Final = 0.4
"""What is a plain statement by its grammar is kept unless the judge speaks against it: chatter seldom is."""
_SURE_IN_TALK: Final = 0.9
"""Of longer turns few sentences are worth keeping, so that as much is asked for as leaves one turn in ten."""
_FIRM: Final = frozenset({Stance.ASSERTED, Stance.NEGATED})
_DOUBTED: Final = 0.6
"""What patterns read is taken back from here on: of sentences never seen, half of the suppositions that they take for
facts, and 3 facts in 1,000."""
_HALF: Final = 0.5
"""What fills no slot is taken back where it is as likely meant otherwise."""
_WISHES: Final = frozenset({"prefers", "instruction"})
"""What one would rather have is no plan."""
_POINTING: Final = frozenset(
    "it its this that these those they them their he she him her his there here you your yours".split()  # noqa: SIM905
)
_SOMEBODY: Final = frozenset({"he", "she", "they"})
"""Whoever is meant was named elsewhere, if at all."""
_OWN: Final = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours"})
_NEAR_ONE: Final = _OWN | frozenset({"you", "your", "yours"})
"""Words of the two who talk."""
_AT_HAND: Final = frozenset({"attached", "traceback", "screenshot", "snippet"})
"""Words of what lies before the two who talk; so do the names of errors."""
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
"""What offers something, or asks to wait for what goes on around the speaker."""
_FAULTS: Final = ("error", "errors", "exception")
_SHOWN: Final = re.compile(
    r"\b(?:(?:the|see|as|from|code|text) (?:above|below)|(?:above|below)(?=[.,:;!]|$))", re.IGNORECASE
)
"""What stands above or below in the text at hand, not above the town."""
_QUOTED: Final = re.compile(r'"[^"]*\b(?:i|i\'m|my|we|our)\b[^"]*"|"(?:[^" ]+ ){3,}[^"]*"', re.IGNORECASE)


def keep_worthwhile(sentence: str, owner: str, *, alone: bool) -> list[Reading]:
    """Keep one sentence that no pattern reads as the judge says; [] where it is worth nothing.

    `alone` says that nothing else was said in the same breath. In a longer turn a sentence must be of oneself and mean
    something without its neighbours. Another speaker's is kept as a fact alone: what they ask for is no instruction.
    """
    words = words_of(sentence)
    quotes = '"' in sentence and _QUOTED.search(sentence) is not None
    if quotes or not 0 < sentence.count(" ") < _WORDS_MAX or sentence.split(" ", 1)[0].lower() in _SOMEBODY:
        return []
    at_hand = not _AT_HAND.isdisjoint(words) or any(word.endswith(_FAULTS) for word in words)
    at_hand = at_hand or _SHOWN.search(sentence) is not None
    if at_hand or sentence.lower().startswith(_OFFERING):
        return []
    ours = owner == "user"
    if not (alone and ours) and (_OWN.isdisjoint(words) or not _POINTING.isdisjoint(words)):
        return []
    found = worth_of(_unframed(sentence))
    least = _least(sentence, owner) if alone and ours else _SURE_IN_TALK
    done = found.planned and found.unsure > found.shares[0] and _is_done(sentence)
    if done or (found.kept >= least and found.kept >= found.unsure):
        if ours and expression("as_said", "someday").search(sentence):
            return [_unsure(planned=True)]
        return [_kept(found)] if ours or found.kind == "fact" else []
    unsure = found.unsure > max(found.kept, found.shares[0]) and (alone or found.unsure >= least)
    return [_unsure(planned=found.planned)] if unsure and ours else []


def _unframed(sentence: str) -> str:
    """Leave out how a sentence begins where that sounds like a wish or a plan and is none: "change of plan, …"."""
    return expression("as_said", "chosen").sub("", sentence, count=1)


def _least(sentence: str, owner: str) -> float:
    if expression("checks", "of_the_hour").search(sentence.strip(" .!,")):
        return _SURE_IN_TALK
    ours = not _NEAR_ONE.isdisjoint(words_of(sentence))
    if not ours and expression("as_said", "nature").search(sentence):
        return _SURE_IN_TALK
    if is_plain(sentence, owner):
        return _SURE_IF_PLAIN
    at_large = not ours and not sentence.startswith(("The ", "the "))
    return _SURE_OF_OTHERS if at_large else _SURE


def doubted(sentence: str, readings: Sequence[Reading], *, alone: bool) -> Stance | None:
    """Return as what a sentence is not meant that patterns read as a firm statement; None where it may stand.

    Only what is said alone is doubted: a longer turn tells and wonders in one breath, and what is doubted is found
    after all else.
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
    """Return whether a sentence tells what somebody did: that is no plan."""
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

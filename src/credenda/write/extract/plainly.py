"""Detect declarative sentences by grammar, for which the classifier's limit is lower.

"The kitchen at my place is orange" has a person or thing as subject, a verb in the lasting present, and no reference to
the moment or the conversation. Small talk seldom has all of these.
"""

from __future__ import annotations

from typing import Final

from credenda.write.extract.acts import is_hedged, is_question, is_transient
from credenda.write.extract.as_said import begins_with_a_doing, is_passing, is_talk
from credenda.write.extract.clauses import open_sentence, split_clauses
from credenda.write.extract.imagined import imagined_as
from credenda.write.extract.lexicon import expression, names, words_of
from credenda.write.extract.predicates import Predicate, read_predicate
from credenda.write.extract.subjects import Subject, find_subject

__all__ = ["is_plain"]

_WORDS_MIN: Final = 3
_WORDS_MAX: Final = 16
_OURS: Final = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours"})
_ALSO_PAST: Final = frozenset({"read", "put", "set", "let", "cut", "hit", "shut"})
"""Verbs whose present and past have the same form."""
_TELLING: Final = ("is where i ", "is where we ", "is when i ", "is when we ", "is how i ", "is how we ")
_MATTER: Final = "is about "
"""Topics of the speaker's own texts, which last."""
_MARKS: Final = " .!,;"


def is_plain(sentence: str, owner: str) -> bool:
    """Return whether a sentence with expanded contractions is a declarative clause, by grammar alone."""
    count = sentence.count(" ") + 1
    if not _WORDS_MIN <= count <= _WORDS_MAX or sentence.endswith(("?", ":")):
        return False
    if is_talk(sentence) or is_transient(sentence) or is_hedged(sentence) or imagined_as(sentence) is not None:
        return False
    text = open_sentence(sentence).text.strip(_MARKS)
    if is_passing(text) or is_question(text) or len(split_clauses(text)) > 1:
        return False
    subject = find_subject(text, owner, None)
    predicate = None if subject is None else read_predicate(subject.rest)
    return subject is not None and predicate is not None and _stands(subject, predicate, text)


def _stands(subject: Subject, predicate: Predicate, text: str) -> bool:
    """Return whether a clause states a lasting state or activity of a person or thing."""
    noun = (subject.noun or subject.entity).casefold()
    vague = noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun) is not None
    loose = predicate.tense != "simple" or predicate.verb in names().talk or "degree" in predicate.cues
    if vague or loose or (subject.who in {"the", "name", "plural"} and begins_with_a_doing(subject)):
        return False
    ours = not _OURS.isdisjoint(words_of(text))
    if predicate.text.lower().startswith(_TELLING) or (subject.who == "own" and predicate.text.startswith(_MATTER)):
        return True
    if predicate.verb == "is":
        return (
            ours
            and subject.who not in {"me", "own", "person"}
            and names().skip_values.match(predicate.text[3:]) is None
        )
    if predicate.negated or predicate.verb in _ALSO_PAST:
        return False
    if predicate.verb == "have" and expression("checks", "passing_goods").search(predicate.text):
        return False
    return ours or expression("checks", "regular").search(predicate.text) is not None

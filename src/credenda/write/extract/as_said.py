"""Verbatim statements: sentences that match no pattern, kept without a slot at a confidence of at most one half.

A self-contained, lasting sentence about the speaker, their possessions or their work is worth keeping. It replaces
nothing, and search finds it by its words. A wish is kept likewise, as a plan.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.extract.acts import is_hedged, is_question, is_transient
from credenda.write.extract.clauses import Clause, open_sentence, read_clause, split_clauses
from credenda.write.extract.lexicon import expression, lexicon, load_table, names, occurs, words_of
from credenda.write.extract.predicates import Predicate, read_predicate
from credenda.write.extract.readings import Reading
from credenda.write.extract.subjects import Subject, find_subject
from credenda.write.extract.worth import worth_of

__all__ = ["begins_with_a_doing", "is_passing", "is_talk", "keep_as_said"]

_WORDS_MIN: Final = 4
_LABEL_WORDS_MIN: Final = 2
_WORDS_MAX: Final = 32
_CLAUSES_MAX: Final = 3
_SUBJECT_WORDS_MAX: Final = 6
_CONFIDENCE: Final = 0.5
_FAINT: Final = 0.4
_SURE: Final = 0.6
"""Minimum confidence of the classifier for a kind without a cue word."""
_STATING: Final = frozenset({"simple", "progressive", "past", "perfect", "former"})
_THINGS: Final = frozenset({"the", "name", "plural", "best"})
_OWN: Final = frozenset({"my", "our", "me", "i"})
_AUXILIARIES: Final = frozenset({"must", "should", "ought", "seems", "looks", "sounds"})
_YOU: Final = ("You ", "you ")
_KINDS: Final = ("decision", "procedure", "preference")


def keep_as_said(sentence: str, owner: str, *, alone: bool) -> list[Reading]:
    """Keep a statement or a wish verbatim; [] for questions, remarks, transient and uncertain sentences.

    `alone`: the sentence is the whole turn, as in a note.
    """
    count = sentence.count(" ") + 1
    if alone and sentence.startswith(_YOU) and expression("as_said", "found_at").match(sentence.strip(" .!")):
        return [_reading(open_sentence(sentence), sentence)]
    least = _LABEL_WORDS_MIN if alone and ":" in sentence else _WORDS_MIN
    if not least <= count <= _WORDS_MAX or sentence.endswith(("?", ":")) or '"' in sentence:
        return []
    if is_talk(sentence):
        return []
    opened = open_sentence(sentence)
    if (wish := _wish(opened.text, owner)) is not None:
        return [wish]
    if opened.hedged or is_hedged(sentence) or is_transient(sentence) or not _tells(opened.text, owner, alone=alone):
        return []
    return [] if expression("as_said", "someday").search(sentence) else [_reading(opened, sentence)]


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(load_table("as_said")["words"][name])


def _holds(name: str, text: str) -> bool:
    """Return whether a text contains one of the words or phrases of a list."""
    if not _words(name).isdisjoint(words_of(text)):
        return True
    told = occurs(load_table("as_said")["has"][name], text.lower())
    return told and expression("as_said", name).search(text) is not None


def is_talk(text: str) -> bool:
    """Return whether a text addresses somebody, or is about the current text or a game."""
    return _holds("talk", text)


def is_passing(text: str) -> bool:
    """Return whether a text is transient, or refers to something outside it."""
    return _holds("passing", text)


def _tells(text: str, owner: str, *, alone: bool) -> bool:
    """Return whether a clause of a sentence, or the whole sentence, is worth keeping."""
    if alone and ":" in text and expression("as_said", "label").match(text):
        return True
    if not _words("decision").isdisjoint(words_of(text)) and expression("as_said", "decision").search(text):
        return True
    if expression("as_said", "called").match(text):
        return True
    if alone and expression("as_said", "fragment").match(text.strip(" .!")):
        return True
    clauses = map(read_clause, split_clauses(text)[:_CLAUSES_MAX])
    return any(one is not None and not is_question(one.text) and _states(one.text, owner) for one in clauses)


def _wish(text: str, owner: str) -> Reading | None:
    """Parse a wish, or an open decision such as "we haven't decided whether to renovate", as considered."""
    found = expression("as_said", "unsettled").match(text.strip(" .!")) if " not " in text else None
    if found is None and text.lower().startswith(("i ", "we ")):
        found = expression("as_said", "wishes").match(text)
        if found is not None and expression("as_said", "wishes_not").match(found["value"]):
            return None
    if found is None or is_passing(text):
        return None
    return Reading(
        type=MemoryType.FACT,
        entity=owner,
        attribute="considering",
        value=found["value"].strip(),
        cardinality=Cardinality.SET,
        stance=Stance.CONSIDERED,
        confidence=_FAINT,
        importance=_FAINT,
        pattern="as_said",
    )


def _states(text: str, owner: str) -> bool:
    """Return whether a clause states something lasting about the speaker, their possessions or their work."""
    if is_passing(text):
        return False
    subject = find_subject(text, owner, None) or _somebody(text)
    predicate = read_predicate(subject.rest) if subject is not None else None
    if subject is None or predicate is None or predicate.tense not in _STATING:
        return False
    noun = (subject.noun or subject.entity).casefold()
    vague = noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun)
    if vague or subject.who == "gerund" or "degree" in predicate.cues or " " not in predicate.text:
        return False
    marked = expression("as_said", "lasting").search(text) is not None
    lasts = _is if predicate.verb == "is" else _does
    return lasts(subject, predicate, marked=marked)


def _somebody(text: str) -> Subject | None:
    """Find a described person before a verb: "Mr Brown from accounting retires", "the intern, Yara, speaks"."""
    words = text.split(" ")
    if not (words[0][:1].isupper() or words[0].lower() in {"the", "my", "our"}):
        return None
    for at in range(2, min(len(words) - 1, _SUBJECT_WORDS_MAX)):
        form = lexicon().forms.get(words[at].lower())
        if form is not None and "third" in form.kinds and form.base != "be" and words[at].islower():
            phrase = " ".join(words[:at])
            return Subject("somebody", phrase, "", tuple(words[at:]))
    return None


def _is(subject: Subject, predicate: Predicate, *, marked: bool) -> bool:
    if subject.who != "me":
        first = (subject.noun or subject.entity).casefold().partition(" ")[0]
        return first not in _AUXILIARIES and expression("as_said", "done_to").match(predicate.text) is not None
    said = expression("as_said", "being").match(predicate.text)
    return said is not None and (marked or predicate.text.startswith("is about "))


def _does(subject: Subject, predicate: Predicate, *, marked: bool) -> bool:
    verb, tense = predicate.verb, predicate.tense
    pointed = verb in _words("tasting") and predicate.text.partition(" ")[2].startswith(("the ", "how ", "all the "))
    vague = pointed or verb in names().talk or verb in _words("momentary")
    if vague or (subject.who != "me" and tense == "progressive"):
        return verb == "want" and expression("as_said", "wanted").search(predicate.text) is not None
    if subject.who in _THINGS:
        return marked and tense == "simple" and not begins_with_a_doing(subject)
    return marked or (verb in _words("landmark") and not expression("checks", "definite").search(predicate.text))


def begins_with_a_doing(subject: Subject) -> bool:
    """Return whether the apparent subject is an imperative or a bare verb: "Check out my painting"."""
    words = (subject.noun or subject.entity).casefold().split(" ")
    first = words[0]
    return (
        not _OWN.isdisjoint(words)
        or first in lexicon().forms
        or first in lexicon().adverbs
        or first in names().never_names
    )


def _reading(opened: Clause, sentence: str) -> Reading:
    return Reading(
        type=_kind(opened.text, sentence),
        stance=Stance.REPORTED if opened.report else Stance.ASSERTED,
        confidence=_CONFIDENCE,
        importance=_FAINT,
        pattern="as_said",
    )


def _kind(text: str, sentence: str) -> MemoryType:
    if expression("as_said", "fragment").match(text.strip(" .!")):
        return MemoryType.PREFERENCE
    for name in _KINDS:
        if expression("as_said", name).search(text):
            return MemoryType(name)
    found = worth_of(sentence)
    return MemoryType(found.kind) if max(found.shares[1:5]) >= _SURE else MemoryType.FACT

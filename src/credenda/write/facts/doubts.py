"""Facts that the words around them speak against, and that make no claim: their message stays findable. Pure.

The reader takes a relative who moves for one who is gone, a food that is fine for an allergy, and the illness of a cat
for that of its owner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from credenda.model.claim import LISTENER, SPEAKER, Fact, FactStatus
from credenda.text.changes import PARTING
from credenda.text.sentences import TextSpan, is_about_user, split_sentences
from credenda.write.extract.voices import names

_RELATIONS: Final = frozenset(
    {"partner", "child", "parent", "sibling", "relative", "friend", "colleague", "contact", "pet", "lives_with"}
)
_MOVED: Final = re.compile(r"\b(?:mov\w+|left|leav\w+|gone|emigrat\w+)\b", re.IGNORECASE)
_CHANGED_JOB: Final = re.compile(
    r"\b(?:quit\w*|left|leav\w+|resign\w+|retir\w+|transferred|moved on|laid off|redundan\w+|new job)\b", re.IGNORECASE
)
_ALSO_ENDS: Final = {"lives_with": _MOVED, "colleague": _CHANGED_JOB, "contact": _CHANGED_JOB}
"""Words that end no other relation than this."""
_HEALTH: Final = frozenset({"allergy", "condition", "diet", "injury", "intolerance", "medication"})
_LASTING: Final = frozenset({"condition", "injury", "medication"})
_CLAUSE: Final = re.compile(
    r"[,;:.!?\u2013\u2014-]+\s+|\b(?:but|although|though|because|whereas|while)\b", re.IGNORECASE
)
_SAFE: Final = (
    r"(?:fine|ok(?:ay)?|safe|allowed|permitted|all ?right|harmless|(?:well )?tolerated"
    r"|(?:no|not an?)(?: \w+)? (?:problems?|issues?|trouble|bother))\b"
)
_CALLED_SAFE: Final = re.compile(
    r"(?:(?:,| and| or)? (?!(?:and|or|not|never|is|are|was|were|who|which|that|allerg\w*|intoleran\w*)\b)[\w'-]+){0,5}?"
    rf"(?:'s|'re| is| are| was| were| seems?| (?:should|would|can) be)"
    rf"(?: \w+ly| all| also| still| just| quite)* {_SAFE}",
    re.IGNORECASE,
)
"""Words behind something harmless: "almonds are fine", "crab and prawns are no problem"."""
_SAFE_WITH: Final = re.compile(rf"\b{_SAFE} (?:with|for me is|for me are) (?:[\w'-]+ ){{0,2}}$", re.IGNORECASE)
_SAFE_BEFORE: Final = re.compile(rf"\b{_SAFE}(?: for me| with me)?,? (?:(?:and|so) (?:is|are) |and )?$", re.IGNORECASE)
_TOO: Final = re.compile(r"(?: is| are)?,? (?:too|also|as well)\b", re.IGNORECASE)
"""Words around what is as harmless as the thing before: "cashews are fine, walnuts too"."""
_CAN_EAT: Final = re.compile(
    r"\b(?:(?:can|could|may|'m able to|am able to)(?: \w+ly| still| now| also)* (?:eat|have|drink|tolerate|handle)"
    r"|i tolerate) (?:[\w'-]+ ){0,2}$",
    re.IGNORECASE,
)
_OF_ILLNESS: Final = re.compile(
    r"\b(?:allerg\w*|intoleran\w*|react\w*|not|no|never|only|avoid\w*|cannot|without)\b|n't\b", re.IGNORECASE
)
"""Words of a clause by which what it names is harmful after all."""
_OWNED: Final = re.compile(r"\b(?:my|our|his|her|their)\b|'s\b", re.IGNORECASE)
_FIRST_PERSON: Final = re.compile(r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_TELLS_OF_ITSELF: Final = re.compile(r"\b(?:i|im|ive|me|myself|we|us)\b", re.IGNORECASE)
_FRAGMENT_WORDS: Final = 6
_SUBJECT: Final = r"\W*(?:(?:\w+\W+){0,3}?)"
_OWNER_OF: Final = re.compile(
    r"(?: and (?:i|me|my [\w'-]+|[A-Z][\w'-]*))?,? (?:\w+ly |just |both |now )*"
    r"(?:have|has|had|'ve|own|owns|owned|got|gets?|keeps?|kept|adopted|bought|rescued|shared?|shares)\b",
    re.IGNORECASE,
)
"""Words behind somebody who has what the sentence names next: "Priya and I have a dog called Bolt"."""
_OF_THIRD: Final = re.compile(
    r"\b(?:i|we)\b.*\w (?:(?:now|still|also|already) )?(?:lives|resides|works) (?:\w+ )?(?:in|at|for|near|as) "
    r"(?:(?:an?|the) )?$",
    re.IGNORECASE,
)
"""Words before the home or job of somebody else than the speaker: "another Sam I know lives in"."""
_I_AM: Final = re.compile(r"\b(?:i'm|im|i am)\b", re.IGNORECASE)
_CIRCUMSTANCES: Final = frozenset({"residence", "employer", "job_title"})


def drop_doubtful(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """Leave out the facts of a message that its words speak against; those in other languages stay."""
    said = text.replace("\u2019", "'")
    sentences = list(split_sentences(said))
    return [
        one
        for one in facts
        if one.language != "en"
        or one.value.start < 0
        or not (
            _is_still_related(one)
            or _is_harmless(said, one)
            or _is_of_another(said, one, sentences, facts)
            or _is_owner(said, one, facts)
            or _is_third_person(said, one, sentences)
        )
    ]


def _is_still_related(fact: Fact) -> bool:
    """Return whether a relation is read as over while no words end it: "Kate moved to Lyon"."""
    if fact.status is not FactStatus.ENDED or fact.attribute not in _RELATIONS:
        return False
    if not (fact.value.text[:1].isupper() or names().kin_noun(fact.value.text.rpartition(" ")[2])):
        return False  # a thing: "I cancelled the landline"
    words, also = fact.quote.text.replace("\u2019", "'"), _ALSO_ENDS.get(fact.attribute)
    return PARTING.search(words) is None and (also is None or also.search(words) is None)


def _is_harmless(text: str, fact: Fact) -> bool:
    """Return whether the clause of a value of health calls it harmless: "allergic to nuts, but almonds are fine"."""
    if fact.attribute not in _HEALTH or fact.status is not FactStatus.NOW:
        return False
    before = _CLAUSE.split(text[: fact.value.start])[-1]
    if _OF_ILLNESS.search(before) or (fact.attribute in _LASTING and _OWNED.search(before)):
        return False
    safe = _SAFE_WITH.search(before) or _CALLED_SAFE.match(text, fact.value.stop)
    safe = safe or (_TOO.match(text, fact.value.stop) and _SAFE_BEFORE.search(text[: fact.value.start]))
    return bool(safe or (fact.attribute in {"allergy", "intolerance", "condition"} and _CAN_EAT.search(before)))


def _is_of_another(text: str, fact: Fact, sentences: Sequence[TextSpan], facts: Sequence[Fact]) -> bool:
    """Return whether a fragment of health follows a sentence about somebody else: "Dad's ill. Heart attack."."""
    at = _find_sentence(fact, sentences)
    if fact.attribute not in _HEALTH or fact.subject != SPEAKER or at < 1 or not _is_fragment(text, sentences[at]):
        return False
    for told in reversed(sentences[:at]):
        if _has_other_subject(text, told, facts):
            return _TELLS_OF_ITSELF.search(text, *told) is None
        if not _is_fragment(text, told):
            return False
    return False


def _has_other_subject(text: str, place: TextSpan, facts: Sequence[Fact]) -> bool:
    """Return whether a sentence begins with a person or animal that its facts name."""
    near = [one for one in facts if place.start <= one.value.start < place.stop]
    others = {one.subject for one in near} - {SPEAKER, LISTENER, ""}
    others |= {one.value.text for one in near if one.attribute in _RELATIONS}
    return any(re.compile(rf"{_SUBJECT}{re.escape(one)}\b", re.IGNORECASE).match(text, *place) for one in others)


def _is_fragment(text: str, place: TextSpan) -> bool:
    """Return whether a sentence has neither a subject nor a verb."""
    words = text[place.start : place.stop]
    return len(words.split()) <= _FRAGMENT_WORDS and _FIRST_PERSON.search(words) is None


def _is_owner(text: str, fact: Fact, facts: Sequence[Fact]) -> bool:
    """Return whether a name is that of the owner of what the sentence names next by the same attribute."""
    if fact.attribute not in _RELATIONS | {"owns"}:
        return False
    owned = [
        one
        for one in facts
        if one.attribute == fact.attribute and one.subject == fact.subject and one.value.start >= fact.value.stop
    ]
    found = _OWNER_OF.match(text, fact.value.stop)
    return found is not None and any(
        found.end() <= one.value.start and not re.search(r"[.!?;]", text[found.end() : one.value.start])
        for one in owned
    )


def _is_third_person(text: str, fact: Fact, sentences: Sequence[TextSpan]) -> bool:
    """Return whether the verb before a home or job of the speaker is that of somebody else: "another Sam lives in"."""
    at = _find_sentence(fact, sentences)
    told = fact.attribute in _CIRCUMSTANCES and fact.subject == SPEAKER and at >= 0
    before = _CLAUSE.split(text[sentences[at].start : fact.value.start])[-1] if told else ""
    return _OF_THIRD.search(before) is not None and not (_I_AM.search(before) or is_about_user(text))


def _find_sentence(fact: Fact, sentences: Sequence[TextSpan]) -> int:
    """Return the number of the sentence that holds a value, -1 for none."""
    return next((at for at, one in enumerate(sentences) if one.start <= fact.value.start < one.stop), -1)

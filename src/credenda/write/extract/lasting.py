"""Decide whether a sentence without a slot is worth a memory: it stands alone and says something that lasts. Pure.

Search finds every sentence in its event, so a memory without a slot must add a belief: a full statement that needs no
other sentence, and no mood, pleasantry, question, request, episode or running task.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from credenda.model.attributes import is_valid_value
from credenda.model.claim import UpdateKind
from credenda.write.extract.acts import is_question, is_transient
from credenda.write.extract.clauses import open_sentence, split_clauses
from credenda.write.extract.lexicon import expression, names, words_of
from credenda.write.extract.predicates import Predicate, read_predicate
from credenda.write.extract.readings import Reading
from credenda.write.extract.subjects import Subject, find_subject

__all__ = ["keep_lasting", "lasts", "stands_alone"]

_POINTING: Final = re.compile(
    r"\b(?:it|its|it's|this|these|those|they|they're|them|their|he|he's|she|she's|him|his|hers?|there|here|ones?|such"
    r"|so far|same|another|others?|else|too|also|either|both|former|latter"
    r"|that(?= (?:is|was|one|way|would|will)\b|[.,!]|$)|that's)\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(r"\b(?i:my|our|the|an?) [a-z]|(?<=\s)[A-Z][a-z]")
"""What a later pronoun of the same sentence may refer to."""
_DUMMY: Final = re.compile(
    r"^(?:it|there)(?:'s| is| was| has been)\b(?! (?:my|our|his|her|their|an?|the)\b)", re.IGNORECASE
)
_ADDRESS: Final = re.compile(r"\b(?:you|your|you're|yours|u|ur)\b", re.IGNORECASE)
_JOINED: Final = re.compile(
    r"^(?:and|but|or|because|so|then|although|though|while|whereas|which|who|where|when|since|once|as|by"
    r"|on the other hand|otherwise|plus|except|maybe|perhaps|however|especially|even|just|not|still|instead|besides|if"
    r"|unless|until|yet)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"^(?:i|we) (?:\w+ly |just |still |often |always )*(?:wonder|wondered"
    r"|(?:am|are|was|were) (?:\w+ )?(?:wondering|curious|unsure)"
    r"|(?:would|'d) (?:\w+ )?(?:like|love) to (?:know|understand|find out|hear)"
    r"|(?:need|want|have|am trying|are trying|try|was trying) to (?:know|find out|figure out|understand|decide|see"
    r"|check)|(?:am|are) not (?:\w+ )?(?:sure|certain)|(?:do|did) not (?:\w+ )?(?:know|understand|remember)"
    r"|have no idea|can ?not (?:\w+ )?(?:remember|recall|find|figure out))(?: out| about)?"
    r" (?:(?:if|whether)(?! (?:i|we) should\b| to\b)|what|which|when|where|who|whose|why|how(?! to\b))\b",
    re.IGNORECASE,
)
"""A question inside a statement: "I wonder where my keys are"."""
_MOOD: Final = re.compile(
    r"\b(?:i|we)(?: am|'m| are|'re| was| were| feel| felt)"
    r"(?: \w+ly| so| very| really| just| quite| pretty| too| not| still| a bit| a little| more| also)*"
    r" (?:happy|sad|glad|sorry|sure|excited|tired|bored|proud|afraid|worried|curious|hungry|thirsty|ready|fine|ok|okay"
    r"|good|great|well|better|busy|late|back|done|here|jealous|nervous|stressed|anxious|grateful|thankful|lucky"
    r"|impressed|amazed|surprised|pleased|happier|relieved|overwhelmed|wondering|looking forward|trying|thinking|hoping"
    r"|able|aware|open|down|in|up|on board|blessed|inspired|intrigued|interested to|hooked)\b",
    re.IGNORECASE,
)
_RULES: Final = ("instruction_", "procedure_", "decision_")
"""Patterns of what is to be done, which addresses somebody and lasts."""
_OWN: Final = frozenset({"i", "me", "my", "mine", "we", "us", "our", "ours"})
_STATES: Final = frozenset({"simple", "perfect", "former"})
_WORDS_MIN: Final = 4


def keep_lasting(readings: Iterable[Reading], sentence: str, owner: str | None, *, note: bool) -> list[Reading]:
    """Return the readings of a sentence that are worth a memory.

    Those with a slot are, and those that end or replace something. Another one must stand alone, and last unless it is
    a `note`: the user's whole message. Of a sentence that ends in a question, only the statement counts.
    """
    stated = sentence
    if sentence.endswith("?"):
        stated = ", ".join(split_clauses(open_sentence(sentence).text)[:-1])

    def is_worth(reading: Reading) -> bool:
        named = reading.attribute is not None or reading.entity is not None
        placed = named and _has_valid_value(reading)
        if placed or reading.move is not UpdateKind.STATE or (owner == "user" and reading.pattern.startswith(_RULES)):
            return True
        return stands_alone(stated, note=note) and (note or lasts(stated, owner or ""))

    return [one for one in readings if is_worth(one)]


def _has_valid_value(reading: Reading) -> bool:
    """Return whether reconciliation will admit the slot of a reading; otherwise only its sentence would stay."""
    return not (reading.attribute and reading.value) or is_valid_value(reading.attribute, reading.value)


def stands_alone(sentence: str, *, note: bool) -> bool:
    """Return whether a sentence with expanded contractions is a statement that needs no other sentence.

    `note`: the sentence is a whole message to oneself, which may be elliptic and address anybody.

    >>> stands_alone("The spare key is under the pot", note=True), stands_alone("It is a drama series.", note=True)
    (True, False)
    """
    opened = open_sentence(sentence.strip()).text
    if not opened or sentence.rstrip().endswith(("?", ":")) or _ASKING.match(opened):
        return False
    if not note and (_JOINED.match(opened) or _ADDRESS.search(opened)):
        return False
    if not note and any(is_question(piece) for piece in split_clauses(opened)):
        return False
    begin = _DUMMY.match(opened)
    return all(
        (begin is not None and not found.start()) or _NAMING.search(opened[: found.start()]) is not None
        for found in _POINTING.finditer(opened)
    )


def lasts(sentence: str, owner: str) -> bool:
    """Return whether a sentence states something lasting of its author, by grammar: no mood, episode or remark."""
    opened = open_sentence(sentence).text.strip(" .!")
    if is_transient(sentence) or _MOOD.search(opened) or opened.count(" ") + 1 < _WORDS_MIN:
        return False
    subject = find_subject(opened, owner, None)
    predicate = None if subject is None else read_predicate(subject.rest)
    if subject is None or predicate is None or _OWN.isdisjoint(words_of(opened)):
        return False
    return _is_lasting(subject, predicate)


def _is_lasting(subject: Subject, predicate: Predicate) -> bool:
    noun = (subject.noun or subject.entity).casefold()
    if noun in names().skip_nouns or expression("checks", "of_the_talk").search(noun):
        return False
    talk = predicate.verb in names().talk or predicate.verb in names().mental
    return predicate.tense in _STATES and not talk and "degree" not in predicate.cues

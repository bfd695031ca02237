"""Determine whose fact a sentence states, independently of the model. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.model.event import Event, Role, Source
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.notes import is_about_user
from credenda.text.tokens import tokenize
from credenda.write.extract.clauses import split_clauses, straighten
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.speaker import who_speaks
from credenda.write.llm.words import says

__all__ = ["about_another", "named_in", "owner_of", "resolve_entity"]

_SELF: Final = frozenset({"user", "me", "i", "myself", "speaker", "self"})
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|us|our|ours)\b", re.IGNORECASE
)
_OPENING: Final = re.compile(
    r"^(?:(?:and|but|so|well|oh|yes|no|also|now|please|always|never|because|since|that|then|btw|by the way|yesterday"
    r"|today|tomorrow|recently|lately|apparently|(?:last|this|next) (?:week|month|year|night|summer|winter))\b[,:]? )+",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(r"(?:he|she|they|his|her|their|you|your)\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"(?:my|our|an?|the|one of (?:my|our)) (?P<nouns>(?:(?!I )[\w-]+ ?){1,3})", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?!(?:As|At|In|On|If|To|By|For|From|With|After|Before|During|Until|While|When|Where|What|How|Why|There|Here|It|This"
    r"|The|An|A|Some|Most|Every|Each|Last|Next|Today|Tomorrow|Yesterday|Maybe|Probably|Usually|Sometimes|Not)\b)"
    r"[A-Z][\w-]+(?:'s)? (?:[A-Z][\w-]+ )?[a-z]"
)
_TO_SPEAKER: Final = re.compile(r"\b(?:me|us)\b", re.IGNORECASE)
_HEALTH: Final = (
    r"(?:(?:my|our|the|an?) )?(?:[\w-]+ )?(?:doctors?|doc|dr\.? [\w-]+|gp|nurse(?: practitioner)?|physio\w*|pharmacist"
    r"|chemist|dentist|therapist|psychiatrist|surgeon|specialist|consultant|midwife|\w+ologist|allergist|hospital"
    r"|clinic|lab|bloods?|(?:blood )?tests?|results?|scans?|mri|x-?rays?)\b"
)
_TELLER: Final = re.compile(
    rf"{_HEALTH}(?P<also>,? (?:just )?(?:rang|called|phoned|wrote)(?: me| us)? and)?,? (?:just |now |also |has |have )?"
    r"(?:says?|said|thinks?|thought|reckons?|confirm(?:s|ed)|f(?:inds?|ound)|shows?|showed|suspects?|told|tells"
    r"|diagnosed|put|gave|prescribed|started|switched|moved|came back)\b(?: me| us)?(?: that| with| as)? ?",
    re.IGNORECASE,
)
"""Somebody who tells a patient a fact about the patient: "physio says its runner's knee"."""
_HIM_OR_HERSELF: Final = re.compile(rf"{_HEALTH} (?:is|was|has|had|takes|lives|works)\b", re.IGNORECASE)
_FRAGMENT_WORDS: Final = 3
_NOUN_CHARACTERS: Final = 3
_POSSESSIVE: Final = re.compile(r"^(?:my|our|the user's|user's)\s+", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201d]{0,300}\b(?:I|I'm|my|My)\b[^\"\u201d]{0,300}[\"\u201d]")


def owner_of(event: Event) -> str | None:
    """Return the entity of "I" in an event; None in a document or an assistant's text."""
    return None if event.role is Role.ASSISTANT else who_speaks(event)[1]


def resolve_entity(entity: str, owner: str) -> str:
    """Normalise an entity: "my sister" is "user's sister"."""
    if normalise_name(entity) in _SELF or normalise_name(entity) == normalise_name(owner):
        return owner
    plain = _POSSESSIVE.sub("", entity.strip())
    kin = names().kin_noun(plain)
    return f"{owner}'s {kin}" if kin else entity.strip()


def named_in(entity: str, texts: tuple[str, ...]) -> bool:
    """Return whether a text speaks of an entity: by a name or noun in it, or by a word for the same kinship.

    >>> named_in("snack budget", ("The budget is $75 now.",)), named_in("Nadia", ("My sister moved.",))
    (True, False)
    """
    noun = entity.rpartition("'s ")[2]
    words = [word.removesuffix("'s") for word in noun.split()]
    spoken = set(tokenize(" ".join(word for word in words if len(word) >= _NOUN_CHARACTERS)))
    kin = names().kin_noun(words[-1]) if words else None
    return any(
        says(text, noun)
        or not spoken.isdisjoint(tokenize(text))
        or (kin is not None and any(names().kin_noun(word) == kin for word in re.findall(r"\w+", text)))
        for text in texts
    )


def about_another(event: Event, sentence: str, value: str | None, attribute: str | None) -> bool:
    """Return whether a sentence states another person's fact, which cannot be the speaker's (D-007).

    It is about its speaker unless it names somebody else: the beginning of the clause with the value decides; without
    such a clause, that of all clauses.
    """
    plain = straighten(sentence)
    if _is_note(event):
        return False
    if _QUOTED.search(plain) and not _FIRST_PERSON.search(_QUOTED.sub(" ", plain)):
        return True
    clauses = [_OPENING.sub("", one) for one in split_clauses(plain)]
    holding = [clause for clause in clauses if value and says(clause, value)] or clauses
    noun = normalise_attribute(attribute or "").replace("_", " ")
    mine = re.compile(rf"\b(?:(?:my|our)|^the) (?:\w+ )?{re.escape(noun)}\b", re.IGNORECASE)
    if noun and any(mine.search(clause) for clause in holding):
        return False
    return all(_is_of_another(clause, value, noun) for clause in holding)


def _is_note(event: Event) -> bool:
    """Return whether a text is a note about the user, written by somebody else: all of it is about them."""
    return event.role is Role.USER and (event.source is Source.INGEST or is_about_user(event.text))


def _is_of_another(clause: str, value: str | None, noun: str) -> bool:
    """Return whether a clause begins with another person, who is not the value itself: "my wife is Ana"."""
    told = _TELLER.match(clause)
    if told is not None:
        return _is_of_another(clause[told.end() :], value, noun)
    if _HIM_OR_HERSELF.match(clause):
        return True
    if _OTHERS.match(clause):
        return _TO_SPEAKER.search(clause) is None
    subject = _OWNED.match(clause)
    nouns = subject["nouns"].split() if subject is not None else clause.replace("'s", " ").split()[:1]
    if nouns and not (subject is not None and clause[subject.end() :].startswith("I ")):
        kin, named = _find_kin(nouns)
        if kin is not None:
            return kin != names().kin_noun(noun) and not (value and says(named, value))
        if subject is not None:
            return False
    named_first = _NAMED.match(clause) is not None and _FIRST_PERSON.search(clause) is None
    return named_first and not _omits_subject(clause, value)


def _find_kin(words: list[str]) -> tuple[str | None, str]:
    """Return the relative that a subject names, before any verb, and the words of the subject."""
    for at, word in enumerate(words):
        if kin := names().kin_noun(word) or names().kin_noun(word.removesuffix("s")):
            return kin, " ".join(words[: at + 1])
        if word in lexicon().verbs:
            break
    return None, ""


def _omits_subject(clause: str, value: str | None) -> bool:
    """Return whether a clause has no subject, as in notes about oneself and requests.

    It is short, or begins with its value or a verb: "Vegan since 2015", "Based in Rome", "Always answer in French".
    """
    words = [word.strip(",.").lower() for word in _OPENING.sub("", clause).split()]
    if len(words) <= _FRAGMENT_WORDS or (value is not None and says(value, words[0])):
        return True
    verbs = lexicon().verbs
    return words[0].endswith(("ing", "ed")) or (
        words[0] in verbs and (words[1] not in verbs or words[1].endswith("ing"))
    )

"""Determine whose fact a sentence states, independently of the model. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.model.event import Event, Role
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.extract.clauses import open_contractions, read_clause, split_clauses, straighten
from credenda.write.extract.instructions import read_directive
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.shared_subjects import carry_subjects
from credenda.write.extract.subjects import Subject, find_subject
from credenda.write.extract.third_person import as_own_words, is_note
from credenda.write.llm.words import says

__all__ = ["about_another", "named_in", "owner_of", "resolve_entity"]

_SELF: Final = frozenset({"user", "me", "i", "myself", "speaker", "self"})
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|us|our|ours)\b", re.IGNORECASE
)
_OTHERS: Final = re.compile(r"^(?:he|she|they|his|her|their|you|your)\b", re.IGNORECASE)
_FRAGMENT_WORDS: Final = 3
_NOUN_CHARACTERS: Final = 3
_POSSESSIVE: Final = re.compile(r"^(?:my|our|the user's|user's)\s+", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201d]{0,300}\b(?:I|I'm|my|My)\b[^\"\u201d]{0,300}[\"\u201d]")


def owner_of(event: Event) -> str | None:
    """Return the entity of "I" in an event; None in a document."""
    if event.role is Role.USER:
        return "user"
    return event.speaker if event.role is Role.PERSON else None


def resolve_entity(entity: str, owner: str) -> str:
    """Normalise an entity as the rules do: "my sister" is "user's sister"."""
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

    Checks the clause of the value, or all clauses.
    """
    plain = as_own_words(straighten(sentence), noted=is_note(event))
    if _QUOTED.search(plain) and not _FIRST_PERSON.search(_QUOTED.sub(" ", plain)):
        return True
    clauses = carry_subjects(split_clauses(open_contractions(plain)))
    holding = [clause for clause in clauses if value and says(clause, value)] or clauses
    if any(_names_thing(clause, attribute) or _is_called_mine(clause, attribute) for clause in holding):
        return False
    if not _FIRST_PERSON.search(plain) and not any(map(_addresses, clauses)):
        stated = [clause.text for clause in map(read_clause, holding) if clause is not None]
        if any(map(_begins_with_verb, (plain, *stated))):
            return False
        if not _is_fragment(plain, value):
            return True
    return all(_of_another(clause, value, attribute) for clause in holding)


def _names_thing(piece: str, attribute: str | None) -> bool:
    """Return whether a clause is about a thing that speaker and listener share: "the deadline is Friday"."""
    clause = read_clause(piece)
    subject = None if clause is None else find_subject(clause.text, "user", None)
    if subject is None or subject.who != "the" or attribute is None:
        return False
    shared = not subject.entity.strip() or subject.entity == "user"
    return shared and lexicon().attribute(subject.noun).name == attribute


def _is_called_mine(piece: str, attribute: str | None) -> bool:
    """Return whether a clause attributes the value to the speaker: "the landlord raised my rent to …"."""
    noun = normalise_attribute(attribute or "").replace("_", " ")
    return bool(noun) and re.search(rf"\b(?:my|our) (?:\w+ )?{re.escape(noun)}\b", piece, re.IGNORECASE) is not None


def _addresses(piece: str) -> bool:
    """Return whether a clause instructs the assistant."""
    clause = read_clause(piece)
    return clause is not None and read_directive(clause, to_assistant=True) is not None


def _is_fragment(text: str, value: str | None) -> bool:
    """Return whether a text may omit its subject, as in notes about oneself: "Vegan since 2015"."""
    words = text.split()
    return len(words) <= _FRAGMENT_WORDS or (value is not None and says(value, words[0].strip(",.")))


def _begins_with_verb(text: str) -> bool:
    """Return whether a text begins with the speaker's action or state: "Working from home", "Based in Rome"."""
    first = text.split(" ", 1)[0].strip(",.").lower()
    form = lexicon().forms.get(first)
    return first.endswith(("ing", "ed")) or (form is not None and not form.kinds.isdisjoint({"participle", "past"}))


def _of_another(piece: str, value: str | None, attribute: str | None) -> bool:
    clause = read_clause(piece)
    if clause is None or read_directive(clause, to_assistant=True) is not None:
        return False
    text = clause.text
    if clause.reporter is not None and not _FIRST_PERSON.search(text):
        return True
    subject = find_subject(text, "user", None)
    if subject is None:
        return _OTHERS.match(text) is not None
    return _is_other(subject, attribute) and not (value and says(subject.entity, value))


def _is_other(subject: Subject, attribute: str | None) -> bool:
    if subject.who in {"me", "gerund", "best"}:
        return False
    noun = names().kin_noun(attribute.replace("_", " ")) if attribute else None
    if noun is not None and (subject.entity.endswith(noun) or names().kin_noun(subject.noun) == noun):
        return False  # "my wife is Ana" gives the speaker's wife
    if subject.who == "own":
        return normalise_name(subject.entity) != "user"
    return subject.who in {"person", "name"} and not _FIRST_PERSON.search(" ".join(subject.rest))

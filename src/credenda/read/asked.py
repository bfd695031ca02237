"""The slots that a question asks for in other words than the slot has: "how much do I earn" asks for a salary. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Final, NamedTuple

from credenda.model.attributes import find_exact_attribute, get_attribute, load_asked
from credenda.model.memory import Memory
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import fold, tokenize

_WORD: Final = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_SMALL: Final = frozenset(
    "what which who whom whose where when how is are was were am be been do does did has have had i me my mine we"  # noqa: SIM905
    " our us ours the a an of for to in at on with by from currently now nowadays again please tell remind know you"
    " your remember can could would should shall will this that still right moment these days current user and actually"
    " exactly it he she his her they their them there any some much many kind type sort got get so ok hey name called"
    " per if ever about say said told give show see take use each keep doing people cost costs".split()
)
"""Words that a question may have beside those of a slot."""
_CIRCUMSTANCES: Final = frozenset(
    "work month months week weeks year years new own latest present daily".split()  # noqa: SIM905
)
"""Words that narrow a question, and name nothing that could have a slot."""
_ASKED_MINE: Final = frozenset("i me my mine we our ours us user".split())  # noqa: SIM905
_ONCE: Final = frozenset({"did", "was", "were", "used", "former", "formerly", "previous", "previously"})
_USER: Final = "user"
_LIKE: Final = re.compile(r"(?i)(?<=\w) like\s*\??\s*$")
_WHOLE: Final = re.compile(r"(?i)^(?:what|how)(?:'s|\u2019s| is| are| was| were)\b")
"""End of a question for the whole of something: "what is my diet like?"."""
_AGAINST: Final = re.compile(r"(?i)(?<=\w) (?:for|against|(?P<place>at|in|on)) (?:my|our|the) [\w ]{3,30}\W*$")
"""End of a question that says what for or where: "what tablets do I take for my blood pressure", "at the clinic"."""
_GENERIC: Final = frozenset({"number", "of"})
"""Words of open attributes that a question may leave out: the room of a "room number"."""
_VERB_CHARACTERS: Final = 5
_CONTRACTED: Final = re.compile(r"(?i)^\w+['\u2019]s ")
_OWNER: Final = re.compile(r"\w['\u2019]s (?!(?:the|my|our|an?)\b)\w")
_BESIDE_MAX: Final = 2
"""Most words that may tell more of something of the user's."""
_NAMING: Final = frozenset({"name", "call"})
"""Stems of small words that ask for something by themselves: "my name"."""


class AskedSlots(NamedTuple):
    """The attributes that a question asks for, and the words that name who or what has them; none: the user.

    `entities` are the names under which these may be filed, in normal form. `mine`: the words may as well tell more of
    something of the user's, as "migraine" does of "my migraine medication".
    """

    attributes: frozenset[str]
    rest: frozenset[str]
    entities: tuple[str, ...]
    mine: bool = False


def _split(question: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(fold(question).replace("\u2019", "'"))]


class _Match(NamedTuple):
    """A phrase found in a question: how many words it leaves, how many it has, and where it ends."""

    left: int
    words: int
    end: int
    attribute: str
    rest: tuple[str, ...]


def find_asked(question: str) -> AskedSlots | None:
    """Return the slots that a question asks for by phrases of `attributes.toml`; None without any.

    >>> "salary" in find_asked("How much do I earn?").attributes, find_asked("Thanks, that helps!")
    (True, None)
    >>> find_asked("Who is my sister's boss?").entities
    ("user's sister", 'sister')
    """
    words = _split(_LIKE.sub("", question) if _WHOLE.match(question) else question)
    matches = [match for match in _match_phrases([_stem(word) for word in words], words) if match.left < len(words)]
    if (against := _AGAINST.search(question)) is not None and all(one.left for one in matches):
        bare = _split(question[: against.start()])
        found = [one for one in _match_phrases([_stem(word) for word in bare], bare) if not one.left]
        if found and (against["place"] or any(one.attribute == "medication" for one in found)):
            words, matches = bare, found
    if not matches:
        return None
    best = min(matches, key=lambda one: (one.left, -one.words, -one.end))
    alike = [one for one in matches if one[:3] == best[:3]]
    mine = not _ASKED_MINE.isdisjoint(words)
    name = " ".join(best.rest)
    kin = _index_phrases().get(frozenset({_stem(name)}), ()) if name and " " not in name else ()
    named = dict.fromkeys((name, *(one for one in kin if get_attribute(one).kind == "person")))
    if not name:
        entities: tuple[str, ...] = (_USER,)
    else:
        entities = (*(f"{_USER}'s {one}" for one in named), *named) if mine else tuple(named)
    rest = frozenset(term for word in best.rest for term in tokenize(word))
    if name and not rest:
        return None
    attributes = frozenset(name for one in alike for name in _list_names(one.attribute))
    if not _ONCE.isdisjoint(words):
        attributes |= {f"former_{name}" for name in attributes}
    others = any(word.istitle() or "'" in word for word in _WORD.findall(question)[1:] if word.casefold() in best.rest)
    beside = mine and bool(name) and len(best.rest) <= _BESIDE_MAX and len(named) == 1 and not others
    # Whether a question names an owner: "my sister's", "Ana's".
    return AskedSlots(
        attributes,
        rest,
        tuple(map(normalise_name, entities)),
        beside and _OWNER.search(_CONTRACTED.sub("", question)) is None,
    )


@cache
def list_meanings(name: str) -> frozenset[str]:
    """Return what the name of an open attribute stands for: itself, and the attributes that it asks for as a phrase.

    >>> list_meanings("vehicle") & list_meanings("car"), list_meanings("boss") & list_meanings("line_manager")
    (frozenset({'car'}), frozenset({'manager'}))
    """
    return frozenset({name, *_index_phrases().get(frozenset(map(_stem, name.split("_"))), ())})


@cache
def _list_names(attribute: str) -> frozenset[str]:
    """Return the names under which programs may file an attribute: its own, its nouns and the single words for it."""
    row = get_attribute(attribute)
    alone = (one for one in load_asked().get(attribute, ()) if " " not in one)
    names = {normalise_attribute(one) for one in (attribute, *row.words, *row.same, *alone)}
    return frozenset(one for one in names if one == attribute or not get_attribute(one).known)


def is_of_relative(asked: AskedSlots, question: str) -> bool:
    """Return whether a question asks about one relative of the user and about nothing of their own."""
    own = sum(word in _ASKED_MINE for word in _split(question))
    return own == 1 and len(asked.rest) == 1 and asked.entities[0].startswith(f"{_USER}'s ")


def is_asked(memory: Memory, asked: AskedSlots) -> bool:
    """Return whether a memory holds an asked slot, of the entity that the question names."""
    if memory.entity is None or normalise_attribute(memory.attribute or "") not in asked.attributes:
        return False
    if normalise_name(memory.entity) in asked.entities:
        return True
    if not asked.rest:
        return False
    own = normalise_name(memory.entity) == _USER and asked.entities[0].startswith(f"{_USER}'s ")
    return asked.rest <= (frozenset(tokenize(memory.value or "")) if own else _list_entity_terms(memory.entity))


def is_near_asked(memory: Memory, asked: AskedSlots) -> bool:
    """Return whether a memory has an asked attribute, of a thing that the question names in part or of the user."""
    if memory.entity is None or normalise_attribute(memory.attribute or "") not in asked.attributes:
        return False
    if asked.mine and normalise_name(memory.entity) == _USER:
        return _is_explained(asked.rest, memory)  # "my father" is not the user
    return not asked.rest.isdisjoint(_list_entity_terms(memory.entity)) and _is_explained(asked.rest, memory)


def _is_explained(terms: Collection[str], memory: Memory) -> bool:
    """Return whether a memory has all terms of a question: without one it may be about something else."""
    slot = (memory.text, memory.speaker, memory.entity or "", (memory.attribute or "").replace("_", " "))
    return {*terms}.issubset(tokenize(" ".join((*slot, memory.value or ""))))


def has_asked_name(memory: Memory, question: str, relatives: Collection[str] = ()) -> bool:
    """Return whether a question has the name of an open attribute, and of whose it is: "which bike do I ride".

    `relatives` are names in normal form whom the question names by what they are to the user: "my mother".
    """
    name = normalise_attribute(memory.attribute or "")
    if not name or memory.entity is None or memory.value is None or get_attribute(name).known:
        return False
    words = _split(question)
    own = normalise_name(memory.entity) == _USER
    terms = _list_entity_terms(memory.entity)
    related = normalise_name(memory.entity) in relatives and sum(word in _ASKED_MINE for word in words) == 1
    whose = not _ASKED_MINE.isdisjoint(words) if own else bool(terms) and not terms.isdisjoint(tokenize(question))
    stems = {_stem(word) for word in words}
    nouns = [_stem(word) for word in name.split("_")]
    head = [noun for noun, word in zip(nouns, name.split("_"), strict=True) if word not in _GENERIC][-1:] or nouns
    if not ((whose or related) and all(_has_form(noun, stems) for noun in head)):
        return False
    left = [word for word in words if word not in _SMALL and not any(_has_form(one, {_stem(word)}) for one in nouns)]
    if related:
        left = [word for word in left if get_attribute(find_exact_attribute(word)).kind != "person"]
    return _is_explained({term for word in left for term in tokenize(word)}, memory)


def _has_form(noun: str, stems: Collection[str]) -> bool:
    """Return whether stems have a noun or its verb: "who teaches Ada" asks for a teacher."""
    if noun in stems:
        return True
    return any(len(stem) >= _VERB_CHARACTERS and noun.startswith(stem) and len(noun) <= len(stem) + 2 for stem in stems)


def _list_entity_terms(entity: str) -> frozenset[str]:
    return frozenset(tokenize(entity)) - {_USER}


def _match_phrases(stems: Sequence[str], words: Sequence[str]) -> list[_Match]:
    held = {stem: at for at, stem in enumerate(stems)}
    found: list[_Match] = []
    small = {stem for stem, word in zip(stems, words, strict=True) if word in _SMALL}
    for phrase, attributes in _index_phrases().items():
        if not held.keys() >= phrase:
            continue
        rest = tuple(word for word, stem in zip(words, stems, strict=True) if stem not in phrase and word not in _SMALL)
        if not rest and len(phrase) == 1 and phrase <= small - _NAMING:
            continue
        end = max(held[stem] for stem in phrase)
        for attribute in attributes:
            own = _list_stems(attribute)  # "which firm employs me" has two phrases of one attribute
            others = [word for word in rest if _stem(word) not in own]
            left, told = len(others), tuple(word for word in others if word not in _CIRCUMSTANCES)
            found.append(_Match(left, len(phrase), end, attribute, told))
    return found


@cache
def _list_stems(attribute: str) -> frozenset[str]:
    """Return the stems of the words of all phrases that ask for an attribute."""
    return frozenset(_stem(word) for phrase in load_asked()[attribute] for word in _WORD.findall(fold(phrase)))


@cache
def _index_phrases() -> dict[frozenset[str], tuple[str, ...]]:
    """Return the attributes of each phrase, which is a set of stems."""
    table: dict[frozenset[str], tuple[str, ...]] = {}
    for attribute, phrases in load_asked().items():
        for phrase in phrases:
            key = frozenset(_stem(word) for word in _WORD.findall(fold(phrase)))
            table[key] = tuple(dict.fromkeys((*table.get(key, ()), attribute)))
    return table


def _stem(word: str) -> str:
    """Return the stem of a word; a stop word is its own."""
    return (tokenize(word) or [word])[0]

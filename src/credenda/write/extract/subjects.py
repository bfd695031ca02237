"""Find the subject of a clause: a person or a thing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import RECENT, expression, lexicon, names

__all__ = ["Subject", "find_subject"]

_NOUN_WORDS_MAX: Final = 8
_NAME_WORDS_MAX: Final = 4
_PLURAL_WORDS_MAX: Final = 3
_KIN_WORDS_MAX: Final = 4
_AND_I: Final = 48
_MY: Final = frozenset({"my", "our"})
_HE_SHE: Final = frozenset({"he", "she"})
_VERB_KINDS: Final = frozenset({"third", "past"})
_CERTAIN: Final = frozenset({"is", "are", "was", "were", "has", "have", "will"})
_LEADING: Final = frozenset(
    {"will", "can", "would", "could", "may", "might", "must", "should", "never", "always", "no"}
)
_BESIDE: Final = frozenset("next upstairs downstairs across opposite over above below ground top floor".split())  # noqa: SIM905
_US: Final = re.compile(
    r"^(?:(?:the|all|both|most|half) (?:(?:two|three|four|five|six|seven|eight|whole lot|lot|rest) )?of us"
    r"|me and (?:my|our) [\w-]+) ",
    re.IGNORECASE,
)
"""The speaker and others: "the three of us decided"."""
_PEOPLE: Final = frozenset({"children", "people", "kids"})
_NAME: Final = re.compile(r"^[A-Z][\w'-]*[a-z][\w-]*$|^[A-Z]{2,6}\d*$")


_FINITE: Final = frozenset({"is", "are", "was", "were", "has", "will", "would", "can", "must", "should"})
_MODAL: Final = frozenset({"can", "would", "could", "might", "must", "should"})
_HANGING: Final = frozenset({"because", "although", "though", "whereas", "unless"})
"""Words after which a verb has another subject."""


class Subject(NamedTuple):
    """The subject: its kind, its entity, the noun that names a slot, and the remaining words.

    `who`: me, person, own ("my X"), the ("the X", "Ana's X"), name, plural, gerund, best ("the X I like best").
    """

    who: str
    entity: str
    noun: str
    rest: tuple[str, ...]
    group: bool = False


def _starts_predicate(word: str) -> bool:
    form = lexicon().forms.get(word)
    return word in _LEADING or (form is not None and (not _VERB_KINDS.isdisjoint(form.kinds) or form.base == "be"))


def _is_noun(word: str, verb: str) -> bool:
    """Return whether a word before a certain verb is a noun itself: "the tender documents are due"."""
    return not _starts_predicate(word) or (verb in _FINITE and word not in _LEADING and word.endswith("s"))


def _verb_at(words: list[str], first: int, *, plural: bool = False) -> int | None:
    """Find the start of the predicate soon after `first`; a certain verb wins over a probable one beside it."""
    likely = None
    for at in range(first, min(len(words), first + _NOUN_WORDS_MAX)):
        if words[at].endswith((",", ":", ";")):
            return likely
        folded = words[at].lower()
        if folded in _HANGING:
            return likely
        if likely is None and words[at] in _MODAL:
            return at
        if folded in _CERTAIN:
            noun = likely is not None and _is_noun(words[likely].lower(), folded)
            return at if likely is None or at - likely > 1 or noun else likely
        if likely is None and (_starts_predicate(folded) or (plural and folded in lexicon().forms)):
            likely = at
    return likely


def _person(owner: str, nouns: list[str]) -> tuple[str, int] | None:
    """Parse "sister", "older sister", "best friend Ana" as a relative of the owner; also return the words used."""
    bare = [one.strip(",").removesuffix("'s") for one in nouns]
    for at, word in enumerate(bare[:_KIN_WORDS_MAX]):
        for noun, used in ((" ".join(bare[at : at + 2]).casefold(), at + 2), (word.casefold(), at + 1)):
            followed = used < len(bare) and names().kin_noun(bare[used].casefold())
            if noun == "manager" and at and bare[at - 1].casefold() in names().programs:
                return None
            if names().kin_noun(noun) and not followed:  # "my twin sister" is a sister
                own = names().same_kin.get(noun, noun)
                return f"{owner}'s {' '.join([*map(str.casefold, nouns[:at]), own])}", min(used, len(nouns))
        if not word.replace("-", "").isalpha():
            return None
    return None


def _possessed(owner: str, nouns: list[str], rest: tuple[str, ...]) -> Subject | None:
    """Parse "wife's employer", "team's standup": the slot of another entity."""
    at = next((i for i, word in enumerate(nouns[:-1]) if word.endswith(("'s", "s'"))), None)
    if at is None:
        return None
    holder = [*nouns[:at], nouns[at].removesuffix("'s").removesuffix("'")]
    noun = " ".join(nouns[at + 1 :])
    kin = _person(owner, holder)
    if kin is None:
        return Subject("own", " ".join(holder), noun, rest)
    singular = names().kin_noun(holder[-1])
    if singular and noun.casefold() in {"name", "first name"}:
        return Subject("own", owner, singular, rest)
    if names().kin_noun(noun):
        return Subject("person", f"{kin[0]}'s {noun}", noun, rest)
    return Subject("own", kin[0], noun, rest)


def _noun_end(words: list[str], at: int) -> int:
    """Leave adverbs before the verb to the predicate: "my sister just had …"."""
    while at > 2 and words[at - 1].lower() in lexicon().adverbs:  # noqa: PLR2004 - the noun itself stays
        at -= 1
    return at


def _is_plural(word: str) -> bool:
    return word.lower() in _PEOPLE or (word.endswith("s") and not word.endswith(("'s", "ss", "us", "is")))


def _which(entity: str, given: list[str]) -> str:
    """Distinguish friends or aunts by name; a wife or a boss needs none."""
    many = entity.rpartition("'s ")[2].rpartition(" ")[2] in names().many_kin and "best" not in entity
    return f"{entity} {' '.join(word.strip(',') for word in given)}" if many and given else entity


def _own(words: list[str], owner: str) -> Subject | None:
    at = _verb_at(words, 2, plural=_is_plural(words[1]))
    if at is None and len(words) > _PLURAL_WORDS_MAX and _is_plural(words[2]):
        at = _verb_at(words, 3, plural=True)
    if at is None:
        return None
    at = _noun_end(words, at)
    if words[1].lower() in {"new", "newest", "latest"} and at > 2:  # noqa: PLR2004 - a noun follows
        words, at = [words[0], *words[2:at], "now", *words[at:]], at - 1
    nouns, rest = words[1:at], tuple(words[at:])
    if best := expression("checks", "best_noun").match(" ".join(nouns)):
        return Subject("best", owner, best["noun"], rest)
    if (possessed := _possessed(owner, nouns, rest)) is not None:
        return possessed
    person = _person(owner, nouns)
    if person is not None and all(_NAME.match(word.strip(",")) for word in nouns[person[1] :]):
        return Subject("person", _which(person[0], nouns[person[1] :]), " ".join(nouns[: person[1]]), rest)
    if len(nouns) > 1 and nouns[0].islower() and _NAME.match(nouns[-1]) and not nouns[-1].isupper():
        named = [word for word in nouns if _NAME.match(word)]
        return Subject("person", " ".join(named), " ".join(nouns[: -len(named)]), rest)
    return Subject("own", owner, " ".join(nouns).strip(","), rest)


def _told_closer(words: list[str], owner: str) -> Subject | None:
    """Parse "the X I like best", "the X we use" and "the lady next door"."""
    text = " ".join(words)
    best = expression("checks", "best").match(text)
    if best is not None:
        return Subject("best", owner, best["noun"] or best["noun2"], tuple(best["rest"].split()))
    beside = None if _BESIDE.isdisjoint(words) else expression("checks", "beside").match(text)
    if beside is not None:
        entity = f"{owner}'s neighbour {beside['name']}" if beside["name"] else f"{owner}'s neighbour"
        return Subject("person", entity, "neighbour", tuple(beside["rest"].split()))
    used = expression("checks", "used_noun").match(text)
    return None if used is None else Subject("own", owner, used["noun"], tuple(used["rest"].split()))


def _the(words: list[str], owner: str | None) -> Subject | None:
    if owner is not None and (told := _told_closer(words, owner)) is not None:
        return told
    at = _verb_at(words, 2, plural=_is_plural(words[1]))
    if at is None and len(words) > _PLURAL_WORDS_MAX and _is_plural(words[2]):
        at = _verb_at(words, 3, plural=True)
    if at is None:
        return None
    at = _noun_end(words, at)
    phrase, rest = " ".join(words[1:at]), tuple(words[at:])
    if owner is not None and (ours := expression("checks", "at_ours").match(phrase)):
        return Subject("own", owner, ours["noun"], rest)
    if found := expression("checks", "of_noun").match(phrase):
        return _of(found["noun"], found["entity"], owner or "", rest)
    if names().kin_noun(words[at - 1]) and at <= _PLURAL_WORDS_MAX:
        return Subject("person", phrase, phrase, rest)
    return Subject("the", "", phrase, rest)


def _of(noun: str, entity: str, owner: str, rest: tuple[str, ...]) -> Subject:
    """Parse "the deadline for the report", "the name of my sister"."""
    first, _, tail = entity.partition(" ")
    if first.lower() in _MY and tail:
        kin = _person(owner, tail.split())
        if kin and noun.casefold() == "name":
            return Subject("own", owner, names().kin_noun(tail.split()[-1]) or tail, rest)
        return Subject("the", kin[0] if kin else tail, noun, rest)
    return Subject("the", tail if first.lower() == "the" and tail else entity, noun, rest)


def _named(words: list[str]) -> Subject | None:
    """Parse "Jack hates", "Ana Kovač's birthday is": a capitalised name before a verb."""
    at = _verb_at(words, 1)
    if at is None or at > _NAME_WORDS_MAX:
        return None
    nouns, rest = words[:at], tuple(words[at:])
    first = nouns[0].removesuffix("'s")
    gerund = first.endswith("ing") and at == 1
    if first.lower() in names().never_names or not _NAME.match(first) or gerund:
        return None
    holder = next((i for i, word in enumerate(nouns[:-1]) if word.endswith("'s")), None)
    if holder is not None:
        entity = " ".join([*nouns[:holder], nouns[holder].removesuffix("'s")])
        if names().kin_noun(nouns[-1]):
            return Subject("person", f"{entity}'s {nouns[-1].casefold()}", nouns[-1], rest)
        return Subject("the", entity, " ".join(nouns[holder + 1 :]), rest)
    if not all(_NAME.match(word) for word in nouns):
        return None
    return Subject("name", " ".join(nouns), "", rest)


def _plural(words: list[str]) -> Subject | None:
    if words[0].lower() in names().pronouns:
        return None
    at = _verb_at(words, 1, plural=True)
    if at is None or at > _PLURAL_WORDS_MAX:
        return None
    while at > 1 and words[at - 1].lower() in lexicon().adverbs:
        at -= 1
    phrase = " ".join(words[:at])
    who = "gerund" if words[0].lower().endswith("ing") else "plural"
    return Subject(who, phrase, phrase, tuple(words[at:]))


@lru_cache(maxsize=RECENT)
def find_subject(text: str, owner: str | None, last_person: str | None) -> Subject | None:  # noqa: PLR0911 - one return a kind of subject
    """Find the subject of a clause. `owner` is the entity of "I", None in a document; `last_person` that of "she"."""
    words = text.split(" ")
    first = words[0].lower()
    if len(words) == 1:
        return None
    if first in {"i", "we"}:
        return None if owner is None else Subject("me", owner, "", tuple(words[1:]), group=first == "we")
    if owner is not None and (ours := _US.match(text)) is not None:
        return Subject("me", owner, "", tuple(text[ours.end() :].split(" ")), group=True)
    if first in _MY and " and i " not in text[:_AND_I].lower():
        return None if owner is None else _own(words, owner)
    if first == "the":
        return _the(words, owner)
    if first in names().bare_kin:
        return None if owner is None else _own(["my", *words], owner)
    if " and i " in text[:_AND_I].lower() and owner is not None:
        return Subject("me", owner, "", tuple(text[text.lower().index(" and i ") + 7 :].split(" ")), group=True)
    if first in _HE_SHE:
        return None if last_person is None else Subject("person", last_person, "", tuple(words[1:]))
    return _of_a_thing(words, owner) or _named(words) or _plural(words)


def _of_a_thing(words: list[str], owner: str | None) -> Subject | None:
    """Parse "Retention of the audit log is …" as "the retention of the audit log"."""
    found = _the(["the", *words], owner) if "of" in words[1:4] else None
    return found if found is not None and found.entity else None

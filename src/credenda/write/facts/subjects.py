"""Whom the pronouns and words of kinship of a message name. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final, NamedTuple

from credenda.model.claim import LISTENER, PRONOUNS, SPEAKER, Fact
from credenda.text.sentences import find_distinction, is_about_user, split_sentences
from credenda.write.extract.voices import lexicon, names
from credenda.write.facts.schemas import FactSchema

_NAME: Final = re.compile(r"[A-Z\u00c0-\u00de][\w-]{1,30}")
"""A first name alone."""
_RELATIONS: Final = frozenset(
    {"partner", "child", "parent", "sibling", "relative", "friend", "colleague", "contact", "pet"}
)
_OWNERS: Final = frozenset({"his", "her", "their", "its", "your"})
_NO_OWNERS: Final = frozenset("he she it that this who what there here where how let today tomorrow user".split())  # noqa: SIM905
_LIMITS: Final = frozenset("my our the a an and or but with at in on for to of from is are was were has had".split())  # noqa: SIM905
_OF: Final = r"(?P<of>'s\b|(?<=s)'(?!\w))?"
_TOKEN: Final = re.compile(rf"(?P<word>[^\W\d_][\w-]*(?: in laws?\b)?){_OF}|[^\w\s]", re.IGNORECASE)
_CALLED: Final = re.compile(rf" (?:(?:called|named) )?(?P<name>(?!I\b){_NAME.pattern}(?: {_NAME.pattern})?){_OF}")
_JOINS: Final = re.compile(
    r"(?:[\s,:\u2013-]|\b(?:is|are|was|were|who|called|named|name|mrs?|ms|dr|(?-i:[A-Z][\w-]*))\b|\band\b|'s|\.)*",
    re.IGNORECASE,
)
"""Words between the noun of a relative and a name of one."""
_HAS: Final = re.compile(
    r"(?:,? \w+ly| just| also| now| already)* (?:has|had|got|gets|owns|owned|keeps|kept|wants|takes|adopted|bought"
    r"|rescued|gave birth to|(?:is|was) (?:expecting|having|pregnant with))\b(?!.*\b(?:my|our|i|we|me|us)\b)",
    re.IGNORECASE,
)
"""Words by which a relative, and not the speaker, has the thing named next."""
_MYSELF: Final = re.compile(r"\b(?:i|we|me|us)\b", re.IGNORECASE)
_ANOTHER: Final = re.compile(
    r"[;,]\s|\b(?:and|but|so|because|while) (?:i|we|my|our|he|she|they|it|his|her|their)\b", re.IGNORECASE
)
"""The beginning of a clause about somebody else than the one before."""


class Relative(NamedTuple):
    """A relative, friend or pet that a text names by the word for them, and whose they are."""

    start: int
    stop: int
    noun: str
    name: str
    owner: str
    """`SPEAKER`, a pronoun, or the words for somebody else: "brother" of "my brother's wife"."""

    @property
    def path(self) -> str:
        """The words for them as an owner: their name, or "brother's wife"; "" of somebody whom a pronoun names."""
        if self.owner == SPEAKER:
            return f"{self.noun} {self.name}".rstrip()
        return self.name or ("" if self.owner in _OWNERS else f"{self.owner}'s {self.noun}")


def list_relatives(text: str) -> list[Relative]:
    """List the relatives that a text names, in order; in a note about the user, those of "her" are the user's.

    >>> [one.path for one in list_relatives("My brother's wife Ines and my sister's boss left")]
    ['brother', 'Ines', 'sister', "sister's boss"]
    """
    found: list[Relative] = []
    owner = SPEAKER
    for token in _TOKEN.finditer(text):
        word = token["word"] or ""
        kin = _find_noun(word, owns=bool(token["of"]))
        if found and token.start() < found[-1].stop:
            continue
        if kin:
            named = None if token["of"] else _CALLED.match(text, token.end())
            stop = named.end("name") if named else token.end("word")
            found.append(Relative(token.start(), stop, kin, named["name"] if named else "", owner))
            owner = found[-1].path if token["of"] or (named and named["of"]) else SPEAKER
        elif word.casefold() in _OWNERS:
            owner = SPEAKER if is_about_user(text) and not found else word.casefold()
        elif token["of"] and word[0].isupper() and word.casefold() not in _NO_OWNERS:
            owner = word
        elif not word or token["of"] or word.casefold() in _LIMITS or word.casefold() in lexicon().verbs:
            owner = SPEAKER
    return found


def _find_noun(word: str, *, owns: bool = False) -> str | None:
    return names().kin_noun(word) or (names().kin_noun(word.removesuffix("s")) if owns else None)


def give_owners(text: str, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield facts with their owners: of "my brother's wife Ines is a dentist" none is the speaker's or his."""
    said = text.replace("\u2019", "'")
    sentences, relatives = list(split_sentences(said)), list_relatives(said)
    for one in facts:
        place = next((span for span in sentences if span.start <= one.value.start < span.stop), None)
        if place is None or one.language != "en":
            yield one
            continue
        near = [other for other in relatives if place.start <= other.start < one.value.stop]
        noun, _, rest = one.subject.partition(" ")
        subject = (
            f"{noun}-in-law{rest[6:]}"
            if _find_noun(noun) and f"{rest} ".startswith(("in law ", "in "))
            else one.subject
        )
        yield _give_owner(said, replace(one, subject=subject), near, place.start)


def _give_owner(text: str, fact: Fact, near: Sequence[Relative], start: int) -> Fact:
    relation = _find_relation(text, fact, near) if fact.attribute in _RELATIONS else None
    if fact.subject == SPEAKER and fact.attribute in _RELATIONS:
        if relation is not None and relation.owner != SPEAKER:
            return replace(fact, subject=relation.owner, key=relation.noun)
        for one in near:
            has = _HAS.match(text, one.stop, fact.value.start)
            if has is not None and has.end() < fact.value.start and not _MYSELF.search(text, start, one.start):
                return replace(fact, subject=one.path, key=near[-1].noun if near[-1] != one else "")
    named = _list_words(fact.subject)
    for one in reversed(near) if named and relation is None else ():
        words = {one.noun, *_list_words(one.name), *_list_words(one.owner)}
        other = one.owner != SPEAKER and one.stop <= fact.value.start and named <= words
        if other and not _ANOTHER.search(text, one.stop, fact.value.start):
            return replace(fact, subject=one.path)
    return fact


def _find_relation(text: str, fact: Fact, near: Sequence[Relative]) -> Relative | None:
    """Return the relative whom a value names, or whose name it is."""
    for at in range(len(near) - 1, -1, -1):
        one = near[at]
        joined = _JOINS.fullmatch(text, one.stop, fact.value.start) if one.stop <= fact.value.start else None
        if joined or one.start <= fact.value.start < one.stop:
            beside = at and text[near[at - 1].stop : one.start] == " "  # "her baby boy Emil"
            return near[at - 1] if beside else one
    return None


def _list_words(subject: str) -> set[str]:
    """List the names and the nouns of relatives among the words of a subject."""
    words = [_find_noun(one["word"] or "", owns=True) or one["word"] or "" for one in _TOKEN.finditer(subject)]
    others = {*_OWNERS, *_LIMITS}
    return {one for one in words if (one[:1].isupper() and one.casefold() not in others) or names().kin_noun(one)}


def find_kin(fact: Fact) -> str | None:
    """Return the noun of a relative or pet at a value: the last one before it in its words, else the next one.

    Of several side by side the first: "our baby boy Emil". None in other languages, where "son" may say "his".
    """
    if fact.language != "en":
        return None
    at = max(fact.value.start - fact.quote.start, 0)
    quote = fact.quote.text.replace("\u2019", "'") if fact.value.start >= 0 else ""
    found = list_relatives(f"{quote} {fact.key}")
    before = [one for one in found if one.start < at]
    while len(before) > 1 and quote[before[-2].stop : before[-1].start] == " ":
        before.pop()
    after = [one for one in found if one.start >= at]
    if after and after[0].start == at:
        return after[0].noun
    heads = (one for one, other in zip_longest(after, after[1:]) if other is None or one.path != other.owner)
    return before[-1].noun if before else next((one.noun for one in heads), None)


_KIN_BEHIND: Final = r"\b{},? (?:my|our) (?P<noun>[\w-]+)"
_CERTAIN: Final = 0.9
"""Certainty of a fact from which the relative that it names is whom a pronoun in the next sentence means."""
_PRONOUN_OF: Final = {
    **dict.fromkeys(("sister", "mother", "wife", "daughter", "girlfriend", "aunt", "grandmother", "niece"), "she"),
    **dict.fromkeys(("brother", "father", "husband", "son", "boyfriend", "uncle", "grandfather", "nephew"), "he"),
}


class Antecedents:
    """The person or thing that a message named last, fact after fact in their order."""

    def __init__(self, text: str) -> None:
        """Take the message."""
        self._text = text
        self._last = ""
        self._relative, self._said = "", -1

    def take(self, fact: Fact, schema: FactSchema | None) -> None:
        """Note whom a fact names: its subject, or the one relative that the speaker tells of: "my sister is Lea"."""
        if fact.subject.casefold() not in {*PRONOUNS, SPEAKER, LISTENER, ""}:
            self._last = self._tell_apart(fact)
        elif fact.subject == SPEAKER and schema is not None and schema.kin and fact.value.text.istitle():
            noun, said = find_kin(fact) if fact.certainty >= _CERTAIN else None, self._find_sentence(fact)
            alone = said != self._said or not self._relative
            self._relative, self._said = f"{noun} {fact.value.text}" if noun in _PRONOUN_OF and alone else "", said

    def name(self, fact: Fact) -> str:
        """Return the words that name the subject of a fact; of a pronoun the person that was named last.

        A sentence that begins with "she" or "he" is about the one relative of that kind in the sentence before it.
        """
        pronoun = fact.subject.casefold()
        if pronoun not in PRONOUNS:
            return self._tell_apart(fact)
        sentences = list(split_sentences(self._text))
        at = self._find_sentence(fact)
        begins = 0 <= at < len(sentences) and self._text[sentences[at].start :].casefold().startswith(f"{pronoun} ")
        meant = self._relative.partition(" ")[0]
        return self._relative if begins and at == self._said + 1 and _PRONOUN_OF.get(meant) == pronoun else self._last

    def _tell_apart(self, fact: Fact) -> str:
        """Return a first name with the words that tell it from others of that name: "Sam from work", "cousin Anna"."""
        name, at = fact.subject, self._find_sentence(fact)
        if _NAME.fullmatch(name) is None or at < 0 or fact.language != "en":
            return name
        sentence = self._text[slice(*list(split_sentences(self._text))[at])]
        behind = re.search(_KIN_BEHIND.format(re.escape(name)), sentence)
        kin, which = names().kin_noun(behind["noun"]) if behind else None, find_distinction(name, sentence)
        if kin is not None or which in {"", "new"}:
            return f"{kin} {name}" if kin else name
        return f"other {name}" if which == "other" else f"{name} {which}"

    def _find_sentence(self, fact: Fact) -> int:
        """Return the number of the sentence that holds a value, -1 for none."""
        places = enumerate(split_sentences(self._text))
        return next((at for at, (start, stop) in places if start <= fact.value.start < stop), -1)

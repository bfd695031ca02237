"""Whom the pronouns and words of kinship of a message name. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import LISTENER, PRONOUNS, SPEAKER, Fact
from credenda.text.sentences import find_distinction, is_about_user, split_sentences
from credenda.write.extract.voices import names
from credenda.write.facts.schemas import FactSchema
from credenda.write.facts.wording import find_kin

_OF_SOMEBODY: Final = (
    r"\b(?:his|her|their|its|your|(?!(?:user|it|that|this|here|there|let|what|who|he|she)\b)\w+['\u2019]s)\s+"
)
"""Words before a noun that make it somebody else's than the speaker's."""


_NAME: Final = re.compile(r"[A-Z\u00c0-\u00de][\w-]{1,30}")
"""A first name alone."""
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
        self._others: set[str] = set()
        self._last = ""
        self._relative, self._said = "", -1

    def take(self, fact: Fact, schema: FactSchema | None) -> None:
        """Note whom a fact names: its subject, or the one relative that the speaker tells of: "my sister is Lea"."""
        if fact.subject.casefold() not in {*PRONOUNS, SPEAKER, LISTENER, ""}:
            self._last = self._tell_apart(fact)
            self._others.add(fact.subject)
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

    def is_of_another(self, relative: str) -> bool:
        """Return whether a relative is somebody else's than the speaker's: the sister of "her sister Maria".

        In a note about the user, which speaks of them as "she", it is the user's until the note names somebody else.
        """
        named = f"{re.escape(relative)}\\b"
        own = re.search(rf"\b(?:my|our) {named}", self._text, re.IGNORECASE)
        if own or re.search(f"{_OF_SOMEBODY}{named}", self._text, re.IGNORECASE) is None:
            return False
        return not is_about_user(self._text) or not self._others <= {relative}

"""Whom the pronouns and words of kinship of a message name. Pure."""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import LISTENER, PRONOUNS, SPEAKER, Fact
from credenda.text.sentences import is_about_user
from credenda.write.facts.schemas import FactSchema
from credenda.write.facts.wording import find_kin

_CERTAIN: Final = 0.9
"""Certainty of a fact from which the relative that it names is whom a later pronoun means."""
_OF_SOMEBODY: Final = r"\b(?:his|her|their|its|your|(?!user\b)\w+['\u2019]s)\s+"
"""Words before a noun that make it somebody else's than the speaker's."""


class Antecedents:
    """The person or thing that a message named last, fact after fact in their order."""

    def __init__(self, text: str) -> None:
        """Take the message."""
        self._text = text
        self._others: set[str] = set()
        self._told: Fact | None = None
        self.last = ""

    def take(self, fact: Fact, schema: FactSchema | None) -> None:
        """Note whom a fact names: its subject, or the one relative that the speaker tells of: "my sister is Lea"."""
        if fact.subject.casefold() not in {*PRONOUNS, SPEAKER, LISTENER, ""}:
            self.last = fact.subject
            self._others.add(fact.subject)
        elif fact.subject == SPEAKER and schema is not None and schema.kin and fact.value.text.istitle():
            noun = find_kin(fact) if fact.certainty >= _CERTAIN else None
            several = self._told is not None and self._told.quote == fact.quote and self._told.value != fact.value
            self._told, self.last = fact, "" if several else f"{noun} {fact.value.text}" if noun else self.last

    def is_of_another(self, relative: str) -> bool:
        """Return whether a relative is somebody else's than the speaker's: the sister of "her sister Maria".

        In a note about the user, which speaks of them as "she", it is the user's until the note names somebody else.
        """
        if re.search(f"{_OF_SOMEBODY}{re.escape(relative)}\\b", self._text, re.IGNORECASE) is None:
            return False
        return not is_about_user(self._text) or not self._others <= {relative}

"""The extractor with a learned reader: the reader finds the facts, rules the exact forms. Pure."""

from __future__ import annotations

from typing import Final

from credenda.model.claim import Claim, Extractor, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.reading import FactReader
from credenda.write.facts.claims import make_claims

__all__ = ["ReadingExtractor"]

_EXACT: Final = frozenset({UpdateKind.RETRACT})


class ReadingExtractor:
    """Extracts the claims of a turn with a reader. Stateless but for the reader."""

    def __init__(self, reader: FactReader, rules: Extractor) -> None:
        """Take the reader, and the extractor that knows the exact forms ("never mind")."""
        self._reader = reader
        self._rules = rules

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn in the order of their spans; an assistant's text gives none."""
        if turn.event.role is Role.ASSISTANT:
            return []
        before = turn.addressed
        facts = self._reader.read(turn.event.text, "" if before is None else before.text)
        exact = [one for one in self._rules.extract(turn) if one.move in _EXACT]
        return sorted([*exact, *make_claims(turn, facts)], key=lambda one: one.span.start)

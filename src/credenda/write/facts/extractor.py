"""The extractor: the reader finds the facts, exact forms take back and keep. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.reading import FactReader
from credenda.text.sentences import TextSpan
from credenda.write.facts.claims import make_claims
from credenda.write.facts.exact import find_exact_forms
from credenda.write.facts.language import is_english

__all__ = ["ReadingExtractor"]


class ReadingExtractor:
    """Extracts the claims of a turn with a reader. Stateless but for the reader."""

    def __init__(self, reader: FactReader) -> None:
        """Take the reader."""
        self._reader = reader

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn in the order of their spans; none of an assistant's, or of a foreign text."""
        if turn.event.role not in {Role.USER, Role.PERSON} or not is_english(turn.event.text):
            return []
        text, before = turn.event.text, turn.addressed
        found = [] if before is None else make_claims(turn, self._reader.read(text, before.text))
        if before is None or (not found and before.role is Role.ASSISTANT):  # its echo may hide a plain statement
            found = make_claims(turn, self._reader.read(text))
        forms = find_exact_forms(turn)
        told = [one for one in found if not any(_is_in(one, place) for place in forms.taken_back)]
        told = [retract for one in told if (retract := _take_back(one, forms.forgotten)) is not None]
        kept = [one for one in forms.kept if not any(_is_in(claim, one.span) for claim in found)]
        return sorted([*forms.claims, *told, *kept], key=lambda one: one.span.start)


def _take_back(claim: Claim, forgotten: Sequence[TextSpan]) -> Claim | None:
    """Turn a claim of a sentence that asks to forget it into its retraction, None where it names no slot."""
    if not any(_is_in(claim, place) for place in forgotten):
        return claim
    return replace(claim, move=UpdateKind.RETRACT) if claim.entity and claim.attribute else None


def _is_in(claim: Claim, place: TextSpan | Span) -> bool:
    return claim.span.start < place.stop and place.start < claim.span.stop

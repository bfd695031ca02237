"""Extract the claims of a turn: the reader finds the facts, exact forms take back and keep."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import Claim, FactReader, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.orders import INSTRUCTION
from credenda.write.extract.voices import is_playing, split_voices
from credenda.write.facts.claims import OWN_VOICES, make_claims
from credenda.write.facts.endings import find_end_days
from credenda.write.facts.exact import find_exact_forms

_SHOWN: Final = re.compile(r"\S")


class ReadingExtractor:
    """Extracts the claims of a turn with a reader. Stateless but for the reader."""

    def __init__(self, reader: FactReader) -> None:
        self._reader = reader

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn in the order of their spans; none of an assistant's, or of a foreign text."""
        before = turn.addressed
        heard = before.text if before is not None else ""
        if turn.event.role not in {Role.USER, Role.PERSON} or not self._reader.reads(turn.event.text, heard):
            return []
        text = _keep_own_words(turn)
        found = make_claims(turn, self._reader.read(text, heard))
        if not found and before is not None and before.role is Role.ASSISTANT:
            # its echo may hide a plain statement in the first sentence, the only one that is read with it
            first = next(split_sentences(text), TextSpan(0, 0))
            found = make_claims(turn, self._reader.read(text[: first.stop]))
        forms = find_exact_forms(turn)
        found = find_end_days(found, text, turn.event.occurred_us)
        told = [one for one in found if not any(_is_in(one, place) for place in forms.taken_back)]
        told = [retract for one in told if (retract := _take_back(one, forms.forgotten)) is not None]
        ordered = [one.span for one in told if one.attribute == INSTRUCTION]
        orders = [one for one in forms.orders if not any(_is_in(one, place) for place in ordered)]
        told = [one for one in told if not any(_is_in(one, order.span) for order in orders)]
        kept = [one for one in forms.kept if not any(_is_in(claim, one.span) for claim in found)]
        return sorted([*forms.claims, *orders, *told, *kept], key=lambda one: one.span.start)


def _take_back(claim: Claim, forgotten: Sequence[TextSpan]) -> Claim | None:
    """Turn a claim of a sentence that asks to forget it into its retraction, None where it names no slot."""
    if not any(_is_in(claim, place) for place in forgotten):
        return claim
    return replace(claim, move=UpdateKind.RETRACT) if claim.entity and claim.attribute else None


def _is_in(claim: Claim, place: TextSpan | Span) -> bool:
    return claim.span.start < place.stop and place.start < claim.span.stop


def _keep_own_words(turn: Turn) -> str:
    """Return a message with white space for the sentences in others' words, such as code, which make no claims.

    Read sentence by sentence, code of many lines costs far more than the words around it. Offsets stay.
    """
    text = turn.event.text
    passages = split_voices(text, playing=is_playing(turn))
    if len(passages) == 1 and passages[0].voice in OWN_VOICES:
        return text
    starts = [one.start for one in passages]
    parts: list[str] = []
    at = 0
    for start, stop in split_sentences(text):
        around = passages[bisect_right(starts, start) - 1]
        if around.voice not in OWN_VOICES and stop <= around.stop:
            parts += text[at:start], _SHOWN.sub(" ", text[start:stop])
            at = stop
    return "".join([*parts, text[at:]])

"""The sentences that the machines say, with the claims of each. Other words have no claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.text.sentences import split_sentences

_SET: Final = Cardinality.SET
_PREFERENCE: Final = MemoryType.PREFERENCE
_SENTENCES: Final[list[tuple[str, dict[str, Any]]]] = [
    (r"I live in (?P<value>\w+)\.", {"attribute": "residence"}),
    (r"I moved to (?P<value>\w+)\.", {"attribute": "residence", "move": UpdateKind.CHANGE}),
    (r"No, I live in (?P<value>\w+)\.", {"attribute": "residence", "move": UpdateKind.CORRECT}),
    (r"I don't live in (?P<value>\w+) any more\.", {"attribute": "residence", "move": UpdateKind.END}),
    (r"I prefer (?P<value>\w+ meetings)\.", {"attribute": "meetings", "type": _PREFERENCE}),
    (r"My favourite colour is (?P<value>\w+)\.", {"attribute": "favourite_colour", "type": _PREFERENCE}),
    (r"I'm allergic to (?P<value>\w+)\.", {"attribute": "allergy", "cardinality": _SET, "importance": 0.9}),
    (r"I work at (?P<value>\w+)\.", {"attribute": "employer"}),
    (r"We decided to use \w+\.", {"type": MemoryType.DECISION}),
    (r"My (?P<entity>sister \w+) lives in (?P<value>\w+)\.", {"attribute": "residence"}),
    (r"My (?P<entity>sister \w+) likes (?P<value>\w+)\.", {"attribute": "likes", "cardinality": _SET}),
    (r"I like (?P<value>\w+)\.", {"attribute": "likes", "cardinality": _SET, "type": _PREFERENCE}),
    (r"Never mind\.", {"move": UpdateKind.RETRACT, "importance": 0.3}),
    (r"What if I lived in \w+\?", {"stance": Stance.HYPOTHETICAL, "confidence": 0.3, "importance": 0.3}),
    (
        r"I will (?P<value>move to \w+) next month\.",
        {"attribute": "plan", "cardinality": _SET, "stance": Stance.PLANNED, "confidence": 0.5},
    ),
    (r"Always (?P<value>answer in \w+)\.", {"attribute": "instruction", "cardinality": _SET, "type": _PREFERENCE}),
]


class Speech:
    """An extractor for these sentences. With the years it changes: it finds less, or is more or less sure of it."""

    def __init__(self) -> None:
        self.hidden = ""
        self.confidence: float | None = None

    def extract(self, turn: Turn) -> list[Claim]:
        found = [one for one in _find_claims(turn) if one.attribute != self.hidden]
        return found if self.confidence is None else [replace(one, confidence=self.confidence) for one in found]


def _find_claims(turn: Turn) -> Iterator[Claim]:
    event = turn.event
    if event.role is Role.ASSISTANT:
        return
    for place in split_sentences(event.text):
        said = event.text[place.start : place.stop]
        for form, given in _SENTENCES:
            if found := re.fullmatch(form, said):
                named = found.groupdict()
                owner = f"user's {named['entity']}" if "entity" in named else "user"
                slot = {"entity": owner, "value": named["value"]} if "value" in named else {}
                fields: dict[str, Any] = {"type": MemoryType.FACT, "confidence": 0.85, "importance": 0.7} | given | slot
                span = Span(event.id, place.start, place.stop)
                yield Claim(text=said, span=span, speaker=event.speaker, topic=event.topic, tags=event.tags, **fields)

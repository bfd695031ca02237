"""What else loses words when something is deleted."""

from __future__ import annotations

from collections.abc import Iterable

from credenda.model.event import Event
from credenda.model.memory import Memory
from credenda.storage.store import Reader
from credenda.text.normalize import normalise_text, normalise_value
from credenda.text.sentences import split_sentences


def reached(reader: Reader, memory: Memory, held: list[Memory], events: list[Event]) -> set[str]:
    """Name the events in which words may go with a memory: of what says or holds the same, and that of each."""
    resting = {one.id: {item.span.event_id for item in reader.evidence(memory_ids=[one.id])} for one in held}
    going = [memory]
    for one in going:
        said = normalise_value(one.value) if one.value else normalise_text(one.text)
        going += [
            other
            for other in held
            if other not in going
            and (
                (other.entity, other.attribute, other.value) == (one.entity, one.attribute, one.value)
                or (resting[one.id] & resting[other.id] and said in normalise_text(other.text))
            )
        ]
    words = {normalise_text(one.text) for one in going}
    found = {event.id for event in events if any(one in normalise_text(event.text) for one in words)}
    return found.union(*(resting[one.id] for one in going))


def saying_again(going: Iterable[Event], events: Iterable[Event]) -> set[str]:
    """Name the events that say a sentence of what goes: not read yet, they lose it when they are."""
    said = {normalise_text(text) for one in going for text in _sentences(one.text)} - {""}
    return {event.id for event in events if said & {normalise_text(text) for text in _sentences(event.text)}}


def _sentences(text: str) -> list[str]:
    return [text, *(text[start:stop] for start, stop in split_sentences(text))]


def without(text: str, sayings: Iterable[str]) -> str:
    """Leave out the sentences that say what is deleted: those go, whoever has said them and whether read or not."""
    gone = {normalise_text(one) for one in sayings}
    kept = [text[start:stop] for start, stop in split_sentences(text) if normalise_text(text[start:stop]) not in gone]
    return "" if normalise_text(text) in gone else "\0".join(kept)

"""The turns of a conversation as an extractor gets them, for the fits on annotated talk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from credenda.model.claim import Turn
from credenda.model.event import Event, Role

_BEFORE: Final = 4
"""Messages of the session that a turn knows."""


def list_turns(messages: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, Turn]]:
    """Yield the id and the turn of each message of a session that is not the assistant's."""
    before: list[Event] = []
    for message in messages:
        role, speaker = Role(str(message["role"])), str(message.get("name") or message["role"])
        event = Event(
            text=str(message["content"]), role=role, speaker=speaker, occurred_us=0, id="event", recorded_us=0
        )
        if role is not Role.ASSISTANT:
            yield str(message["id"]), Turn(event=event, before=tuple(before[-_BEFORE:]))
        before.append(event)

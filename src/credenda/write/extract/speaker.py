"""The speaker of an event."""

from __future__ import annotations

from credenda.model.event import Event, Role

__all__ = ["who_speaks"]


def who_speaks(event: Event) -> tuple[str, str | None]:
    """Return the speaker, and the entity of "I" (None in a document)."""
    if event.role is Role.USER:
        return "user", "user"
    if event.role is Role.DOCUMENT:
        return event.speaker, None
    return event.speaker, event.speaker

"""An event of one message."""

from datetime import UTC, datetime

from credenda.clock import from_datetime
from credenda.model.event import Event, Role

NOON = from_datetime(datetime(2026, 3, 11, 12, tzinfo=UTC))
"""A Wednesday."""


def event(text: str, role: Role = Role.USER, speaker: str = "user", at: int = NOON) -> Event:
    return Event(text=text, role=role, speaker=speaker, occurred_us=at, id="e1-abc123", recorded_us=at)

"""Take the topic, tags and metadata of something deleted out of the memories that took them over. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from credenda.model.event import Event
from credenda.model.memory import Draft
from credenda.model.project import PROJECT


@dataclass(frozen=True, slots=True)
class Labels:
    """The topics, tags and metadata of some memories or messages."""

    topics: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    metadata: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, held: Iterable[Draft | Event]) -> Labels:
        """Return those of all of them."""
        each = list(held)
        return cls(
            frozenset(one.topic for one in each if one.topic),
            frozenset(tag for one in each for tag in one.tags),
            tuple(item for one in each for item in one.metadata.items()),
        )


def remove_labels(memory: Draft, gone: Labels, given: Labels, holds: Callable[[str], bool]) -> dict[str, object]:
    """Return the fields of a memory that lose labels, with what remains of them.

    It loses those that `gone` has, and those of which `holds` says that deleted words are in them; it keeps those
    `given` by its own messages. The project stays, which says where a memory holds.
    """
    topic = memory.topic
    if topic and topic not in given.topics and (topic in gone.topics or holds(topic)):
        topic = None
    tags = tuple(tag for tag in memory.tags if tag in given.tags or not (tag in gone.tags or holds(tag)))
    metadata = {
        name: value
        for name, value in memory.metadata.items()
        if (name, value) in given.metadata
        or not (((name, value) in gone.metadata and name != PROJECT) or holds(f"{name} {value}"))
    }
    left: dict[str, object] = {"topic": topic, "tags": tags, "metadata": metadata}
    return {name: value for name, value in left.items() if value != getattr(memory, name)}

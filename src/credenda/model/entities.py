"""The people and things that memories are about, and how they are related."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EntityMap", "EntityRelation", "EntitySummary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySummary:
    """An entity: its name as most memories write it, how many believed memories it has, and the time of the newest.

    `attributes` are the names of its slots, in alphabetical order. A thing that is only the value of others has none.
    """

    name: str
    memories: int
    attributes: tuple[str, ...]
    latest_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """A believed memory whose value is a name: `source` has `attribute` `target`."""

    source: str
    attribute: str
    target: str
    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityMap:
    """Entities, those with the most memories first, and the relations between them.

    `counted` believed memories were looked at, the newest; `has_more` says that there are others.
    """

    entities: tuple[EntitySummary, ...]
    relations: tuple[EntityRelation, ...]
    counted: int
    has_more: bool = False

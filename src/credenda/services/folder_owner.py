"""Whose the entries of a folder are."""

from __future__ import annotations

from credenda.errors import Conflict
from credenda.portability.files.folder import Found
from credenda.runtime import Parts

__all__ = ["check_owner"]


def check_owner(parts: Parts, found: Found) -> None:
    """Raise `Conflict` where a folder has entries of another user of this database: their words are not this user's.

    An entry's id ends with the tag of who it belongs to. Tags of other databases, and of who was erased, say nothing.
    """
    tags = {one.name.rpartition("-")[2] for text in found.texts for one in text.page.entries}
    owners = {owner for tag in sorted(tags) if (owner := parts.store.user_of(tag)) is not None}
    if owners - {parts.user_id}:
        raise Conflict(
            "this folder holds the memory of another user",
            why="ids in its pages belong to another user of this database",
            fix="give each user a folder of their own; nothing was changed",
        )

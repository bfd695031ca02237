"""Check whether the entries of a folder belong to another user."""

from __future__ import annotations

from credenda.errors import Conflict
from credenda.portability.files.folder import Found
from credenda.runtime import Parts

__all__ = ["check_owner"]


def check_owner(parts: Parts, found: Found) -> None:
    """Raise `Conflict` if a folder has entries of another user of this database.

    An entry's id ends with the tag of its user. Tags of other databases and of erased users are ignored.
    """
    tags = {one.name.rpartition("-")[2] for text in found.texts for one in text.page.entries}
    owners = {owner for tag in sorted(tags) if (owner := parts.store.user_of(tag)) is not None}
    if owners - {parts.user_id}:
        raise Conflict(
            "this folder contains the memory of another user",
            why="ids in its pages belong to another user of this database",
            fix="use a separate folder for each user; nothing was changed",
        )

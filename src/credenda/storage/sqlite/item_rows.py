"""Items in SQLite: values that programs keep beside the beliefs."""

from __future__ import annotations

import json
import sqlite3
from typing import Final

from credenda.errors import Conflict
from credenda.ids import parse_id
from credenda.model.item import ANY_VERSION, Item, ItemFilter, ItemRemoval
from credenda.storage.damage import guard_row
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.replay_rows import StatementRunner

__all__ = ["ItemRows", "write_item"]

_FIND: Final = """SELECT * FROM items
WHERE user_id = :user_id AND space >= :space AND space < :end AND (:key IS NULL OR key = :key)
    AND substr(key, 1, length(:key_begins)) = :key_begins
    AND (:sources = '[]' OR source IN (SELECT value FROM json_each(:sources)))
    AND (expires_at IS NULL OR expires_at > :now_us)
ORDER BY space {0}, key {0} LIMIT :limit"""
_OLDEST, _NEWEST = _FIND.format("ASC"), _FIND.format("DESC")
_LAST: Final = "\U0010ffff"


class ItemRows:
    """The part of a SQLite store that reads items."""

    _readers: ReadPool

    def find_items(self, user_id: str, wanted: ItemFilter) -> list[Item]:
        """Return the items of a tenant that match a filter."""
        given = {
            "user_id": user_id,
            "space": wanted.space,
            "end": wanted.space + (_LAST if wanted.below else "\x00"),
            "key": wanted.key,
            "key_begins": wanted.key_begins,
            "sources": json.dumps(wanted.sources),
            "now_us": wanted.now_us,
            "limit": wanted.limit,
        }
        with self._readers.take() as connection:
            return [_to_item(row) for row in connection.execute(_NEWEST if wanted.newest else _OLDEST, given)]


@guard_row("items")
def _to_item(row: sqlite3.Row) -> Item:
    return Item(
        space=row["space"],
        key=row["key"],
        value=row["value"],
        source=row["source"],
        version=row["version"],
        created_us=row["created_at"],
        updated_us=row["updated_at"],
        expires_us=row["expires_at"],
    )


def write_item(run: StatementRunner, row: Item | ItemRemoval, tag: str, now_us: int) -> str:
    """Store or delete an item in the present transaction, and return its key; raise `Conflict` for another version.

    Raises `NotFound` for a source of another tenant.
    """
    if isinstance(row, Item) and row.source is not None:
        parse_id(row.source, tag)
    key = row.key
    if key == "":
        key = f"{run('next_item_key', space=row.space).fetchone()[0]:012}"
    if row.version != ANY_VERSION:
        found = run("item_version", space=row.space, key=key, now_us=now_us).fetchone()
        if (found[0] if found else 0) != row.version:
            raise Conflict(
                "this item has another version by now",
                why="someone else has written it, or it is gone",
                fix="read it again, and repeat the change",
            )
    if isinstance(row, ItemRemoval):
        run("delete_items", space=row.space, key=key)
        return ""
    run(
        "put_item",
        space=row.space,
        key=key,
        value=row.value,
        source=row.source,
        updated_us=row.updated_us,
        expires_us=row.expires_us,
    )
    return key or ""

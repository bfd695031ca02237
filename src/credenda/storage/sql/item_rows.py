"""Items: values that programs keep beside the beliefs."""

from __future__ import annotations

import json
from typing import Final

from credenda.errors import Conflict
from credenda.ids import parse_id
from credenda.model.item import ANY_VERSION, Item, ItemFilter, ItemRemoval
from credenda.storage.damage import guard_row
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.sql.server_tables import ServerTables

__all__ = ["ItemRows", "write_item"]

_LAST: Final = "\U0010ffff"
_ALL: Final = 1 << 62


class ItemRows(ServerTables):
    """The part of a store that reads items."""

    def find_items(self, user_id: str, wanted: ItemFilter) -> list[Item]:
        """Return the items of a tenant that match a filter."""
        name = "find_newest_items" if wanted.newest else "find_items"
        given = {
            "user_id": user_id,
            "space": wanted.space,
            "is_below": int(wanted.below),
            "last_space": wanted.space + _LAST,
            "key": wanted.key,
            "key_begins": wanted.key_begins,
            "sources": json.dumps(wanted.sources),
            "now_us": wanted.now_us,
            "limit": wanted.limit if wanted.limit >= 0 else _ALL,
        }
        with self._view_tables(user_id) as run:
            return [_to_item(row) for row in run(name, **given)]


@guard_row("items")
def _to_item(row: Record) -> Item:
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
        key = _choose_number(run, row.space)
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


def _choose_number(run: StatementRunner, space: str) -> str:
    """Return the number after the last one of a space, as a key."""
    last = run("numbered_keys", space=space).fetchone()
    number = str(last[0]) if last else "0"
    return f"{int(number) + 1 if number.isdecimal() else 1:012}"

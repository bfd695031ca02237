"""Items: values that a program keeps beside the beliefs, under a space and a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ANY_VERSION: Final = -1
"""The expected version of a write that replaces any version, or none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A value under a key of a space.

    `value` is JSON. `source` is the id of the event or memory that has the words of the item; None for an item without
    words. `key` "" asks for the next number of the space, as twelve digits. `version` counts the writes of the key from
    1; when the item is filed, it is the expected one: 0 for none, `ANY_VERSION` for any. Times are microseconds UTC.
    """

    space: str
    key: str
    value: str
    source: str | None = None
    version: int = ANY_VERSION
    created_us: int = 0
    updated_us: int
    expires_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRemoval:
    """The removal of an item, or with `key` None of every item of its space; `version` is the expected one."""

    space: str
    key: str | None = None
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """The items to return: `space` is the whole name, or with `below` its beginning.

    `sources` are ids of events or memories. They come in order of space and key, or with `newest` in the reverse order.
    Items that have expired at `now_us` are left out, or with `expired` the others.
    """

    space: str
    below: bool = False
    key: str | None = None
    key_begins: str = ""
    sources: tuple[str, ...] = ()
    now_us: int = 0
    newest: bool = False
    expired: bool = False
    limit: int = -1

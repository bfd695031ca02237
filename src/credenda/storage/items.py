"""The storage of items: values that a program keeps beside the beliefs."""

from __future__ import annotations

from typing import Protocol

from credenda.model.item import Item, ItemFilter

__all__ = ["ItemStore"]


class ItemStore(Protocol):
    """The items of a database; each belongs to one tenant. A writer files them (`Item`, `ItemRemoval`)."""

    def find_items(self, user_id: str, wanted: ItemFilter) -> list[Item]:
        """Return the items of a tenant that match a filter."""
        ...

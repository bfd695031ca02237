"""List the changes that one message or change caused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeRecord
from credenda.runtime import Parts
from credenda.services.short_ids import resolve_id_in
from credenda.storage.store import ChangeFilter

if TYPE_CHECKING:
    pass

__all__ = ["list_changes"]


def list_changes(parts: Parts, cause: str) -> list[ChangeRecord]:
    """Return the changes that an event caused, oldest first."""
    with parts.store.reader(parts.user_id) as reader:
        cause = resolve_id_in(reader, cause)
        parse_id_number(cause, IdKind.EVENT, reader.tenant.tag)
        return reader.changes(ChangeFilter(cause=cause))

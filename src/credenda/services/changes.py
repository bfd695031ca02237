"""List the changes that one message caused, or the latest ones."""

from __future__ import annotations

from credenda import limits
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeRecord
from credenda.runtime import Parts
from credenda.services.search import check_limit
from credenda.services.short_ids import resolve_id_in
from credenda.storage.store import ChangeFilter

__all__ = ["list_changes"]


def list_changes(parts: Parts, cause: str | None = None, *, limit: int = limits.LIST_LIMIT) -> list[ChangeRecord]:
    """Return the changes that an event caused, oldest first; without one the latest changes, the latest first.

    `limit` bounds the latest ones.
    """
    check_limit(limit, limits.LATEST_CHANGES)
    with parts.store.reader(parts.user_id) as reader:
        if cause is None:
            after = max(0, reader.duties.heads.change - limit)
            return reader.changes(ChangeFilter(after=after))[::-1]
        cause = resolve_id_in(reader, cause)
        parse_id_number(cause, IdKind.EVENT, reader.tenant.tag)
        return reader.changes(ChangeFilter(cause=cause))

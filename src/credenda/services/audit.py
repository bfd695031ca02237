"""List the audit records of a user."""

from __future__ import annotations

from typing import Final

from credenda import limits
from credenda.model.audit import AuditRecord
from credenda.model.query import Page
from credenda.runtime import Parts
from credenda.services.cursors import read_cursor, write_cursor
from credenda.services.search import check_limit

__all__ = ["list_audit"]

_LIST: Final = "audit"


def list_audit(parts: Parts, *, limit: int = 20, cursor: str | None = None) -> Page[AuditRecord]:
    """Return the records of calls that reached this user's memory, oldest first, one page at a time."""
    check_limit(limit, limits.LIST_LIMIT)
    after = read_cursor(_LIST, parts.user_id, cursor) or 0
    found = tuple(parts.store.audit.read_audit_of(parts.user_id, after, limit + 1))
    more = write_cursor(_LIST, parts.user_id, found[limit - 1].seq) if len(found) > limit else None
    return Page(items=found[:limit], next_cursor=more)

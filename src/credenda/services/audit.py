"""List the audit records of a user."""

from __future__ import annotations

from typing import Final

from credenda import limits
from credenda.errors import Invalid
from credenda.model.audit import AuditRecord
from credenda.model.query import Page
from credenda.runtime import Parts
from credenda.services.search import check_limit
from credenda.validation import check_text

__all__ = ["list_audit"]

_DIGITS: Final = 18


def list_audit(parts: Parts, *, limit: int = 20, cursor: str | None = None) -> Page[AuditRecord]:
    """Return the records of calls that reached this user's memory, oldest first, one page at a time."""
    check_limit(limit, limits.LIST_LIMIT)
    after = _parse_cursor(check_text(cursor, "cursor"))
    found = tuple(parts.store.audit.read_audit_of(parts.user_id, after, limit + 1))
    more = str(found[limit - 1].seq) if len(found) > limit else None
    return Page(items=found[:limit], next_cursor=more)


def _parse_cursor(cursor: str | None) -> int:
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _DIGITS):
        raise Invalid("the cursor is not one of a page of records", fix="copy `next_cursor` of the page before")
    return int(cursor)

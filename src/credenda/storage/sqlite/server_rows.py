"""The rows that a server keeps beside the memories: access tokens and audit records."""

from __future__ import annotations

from credenda.storage.audit import AuditStore
from credenda.storage.sqlite.audit import AuditRows
from credenda.storage.sqlite.tokens import TokenRows
from credenda.storage.tokens import TokenStore

__all__ = ["ServerRows"]


class ServerRows(TokenRows, AuditRows):
    """The part of a SQLite store that belongs to a server."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens of callers."""
        return self

    @property
    def audit(self) -> AuditStore:
        """The records of calls."""
        return self

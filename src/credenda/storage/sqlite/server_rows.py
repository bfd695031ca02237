"""The rows that a server keeps beside the memories: access tokens and audit records."""

from __future__ import annotations

from credenda.storage.sqlite.audit import AuditRows
from credenda.storage.sqlite.tokens import TokenRows

__all__ = ["ServerRows"]


class ServerRows(TokenRows, AuditRows):
    """The part of a SQLite store that belongs to a server."""

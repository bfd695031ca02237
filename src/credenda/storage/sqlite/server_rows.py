"""The rows that a server keeps beside the memories: tokens, secrets, members and audit records."""

from __future__ import annotations

from credenda.storage.audit import AuditStore
from credenda.storage.sqlite.audit import AuditRows
from credenda.storage.sqlite.members import MemberRows
from credenda.storage.sqlite.server_secrets import SecretRows
from credenda.storage.sqlite.tokens import TokenRows
from credenda.storage.tokens import MemberStore, SecretStore, TokenStore

__all__ = ["ServerRows"]


class ServerRows(TokenRows, SecretRows, MemberRows, AuditRows):
    """The part of a SQLite store that belongs to a server."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens of callers."""
        return self

    @property
    def secrets(self) -> SecretStore:
        """The short-lived secrets of logins and OAuth."""
        return self

    @property
    def members(self) -> MemberStore:
        """The members of shared memories."""
        return self

    @property
    def audit(self) -> AuditStore:
        """The records of calls."""
        return self

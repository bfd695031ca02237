"""The rows that a server keeps beside the memories: access tokens, audit records, and tasks of agents."""

from __future__ import annotations

from credenda.storage.agent_tasks import AgentTaskStore
from credenda.storage.audit import AuditStore
from credenda.storage.sqlite.agent_tasks import AgentTaskRows
from credenda.storage.sqlite.audit import AuditRows
from credenda.storage.sqlite.tokens import TokenRows
from credenda.storage.tokens import TokenStore

__all__ = ["ServerRows"]


class ServerRows(TokenRows, AuditRows, AgentTaskRows):
    """The part of a SQLite store that belongs to a server."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens of callers."""
        return self

    @property
    def audit(self) -> AuditStore:
        """The records of calls."""
        return self

    @property
    def agent_tasks(self) -> AgentTaskStore:
        """The tasks of other agents."""
        return self

"""The rows that a server keeps beside the memories: access and members, audit records, tasks of agents, and scores."""

from __future__ import annotations

from credenda.storage.agent_tasks import AgentTaskStore
from credenda.storage.audit import AuditStore
from credenda.storage.items import ItemStore
from credenda.storage.reports import ReportStore
from credenda.storage.sql.agent_tasks import AgentTaskRows
from credenda.storage.sql.audit import AuditRows
from credenda.storage.sql.item_rows import ItemRows
from credenda.storage.sql.members import MemberRows
from credenda.storage.sql.reports import ReportRows
from credenda.storage.sql.server_secrets import SecretRows
from credenda.storage.sql.tokens import TokenRows
from credenda.storage.tokens import MemberStore, SecretStore, TokenStore

__all__ = ["ServerRows"]


class ServerRows(TokenRows, SecretRows, MemberRows, AuditRows, ReportRows, AgentTaskRows, ItemRows):
    """The part of a store that belongs to a server."""

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

    @property
    def reports(self) -> ReportStore:
        """The costs of models, and the scores of responses."""
        return self

    @property
    def items(self) -> ItemStore:
        """The values that programs keep beside the beliefs."""
        return self

    @property
    def agent_tasks(self) -> AgentTaskStore:
        """The tasks of other agents."""
        return self

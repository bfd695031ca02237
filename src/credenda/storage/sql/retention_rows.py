"""Retention policies and legal holds of a tenant."""

from __future__ import annotations

from credenda.model.retention_policy import LegalHold, PoliciesAndHolds, RetentionPolicy
from credenda.storage.sql.run import StatementRunner

__all__ = ["read_retention_rules"]


def read_retention_rules(run: StatementRunner) -> PoliciesAndHolds:
    """Read a tenant's retention policies and legal holds."""
    policies, holds = run("retention_policies"), run("legal_holds")
    return PoliciesAndHolds(
        policies=tuple(RetentionPolicy(topic=row[0] or None, days=row[1], set_us=row[2]) for row in policies),
        holds=tuple(LegalHold(reason=row[0], set_us=row[1], lifted_us=row[2], lifted_reason=row[3]) for row in holds),
    )

"""Retention policies and legal holds of a tenant in SQLite."""

from __future__ import annotations

import sqlite3

from credenda.model.retention_policy import LegalHold, PoliciesAndHolds, RetentionPolicy
from credenda.storage.sqlite.statements import load_statements

__all__ = ["read_retention_rules"]


def read_retention_rules(connection: sqlite3.Connection, user_id: str) -> PoliciesAndHolds:
    """Read a tenant's retention policies and legal holds."""
    whose = {"user_id": user_id}
    policies = connection.execute(load_statements()["retention_policies"], whose)
    holds = connection.execute(load_statements()["legal_holds"], whose)
    return PoliciesAndHolds(
        policies=tuple(RetentionPolicy(topic=row[0] or None, days=row[1], set_us=row[2]) for row in policies),
        holds=tuple(LegalHold(reason=row[0], set_us=row[1], lifted_us=row[2], lifted_reason=row[3]) for row in holds),
    )

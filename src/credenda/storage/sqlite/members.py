"""Members of shared memories in SQLite."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from typing import Final

from credenda.errors import Conflict
from credenda.model.member import Member, MemberRole
from credenda.storage.sqlite.connection import ReadPool
from credenda.storage.sqlite.group import GroupCommit

__all__ = ["MemberRows"]

_ADD: Final = "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_FIND: Final = "SELECT * FROM members WHERE user_id = ? AND issuer = ? AND subject = ? AND removed_at IS NULL"
_LIST: Final = "SELECT * FROM members WHERE ?1 IS NULL OR user_id = ?1 ORDER BY added_at, id"
_OF_PERSON: Final = "SELECT * FROM members WHERE issuer = ? AND subject = ? AND removed_at IS NULL ORDER BY user_id"
_SET_ROLE: Final = "UPDATE members SET role = ? WHERE user_id = ? AND id = ?"
_REMOVE: Final = "UPDATE members SET removed_at = ? WHERE user_id = ? AND id = ? AND removed_at IS NULL"


class MemberRows(ABC):
    """The part of a SQLite store that keeps members."""

    _readers: ReadPool

    @abstractmethod
    def _writable(self) -> tuple[sqlite3.Connection, GroupCommit]:
        """Return the connection that writes, and the commits that it shares."""

    def add_member(self, member: Member) -> None:
        """Store a new member; raises `Conflict` for a present member of the same name."""
        cells = member.user, member.id, member.issuer, member.subject, member.role, member.added_us, member.removed_us
        if self._change(_ADD, *cells) != 1:
            raise Conflict(f"{member.subject[:64]} is a member already", fix="remove the member first")

    def find_member(self, user: str, issuer: str, subject: str) -> Member | None:
        """Return the present member of a user's memory; None for others."""
        with self._readers.take() as connection:
            row = connection.execute(_FIND, (user, issuer, subject)).fetchone()
        return None if row is None else _to_member(row)

    def list_members(self, user: str | None = None) -> list[Member]:
        """Return the members of a user's memory, or of all memories, the oldest first."""
        with self._readers.take() as connection:
            return [_to_member(row) for row in connection.execute(_LIST, (user,))]

    def list_memberships(self, issuer: str, subject: str) -> list[Member]:
        """Return the present memberships of a person, ordered by memory."""
        with self._readers.take() as connection:
            return [_to_member(row) for row in connection.execute(_OF_PERSON, (issuer, subject))]

    def set_member_role(self, member: Member) -> None:
        """Store the role of a member."""
        self._change(_SET_ROLE, member.role, member.user, member.id)

    def remove_member(self, member: Member, now_us: int) -> None:
        """Remove a member."""
        self._change(_REMOVE, now_us, member.user, member.id)

    def _change(self, sql: str, *values: object) -> int:
        """Run a statement, durably, and return the number of rows that it changed."""
        connection, commits = self._writable()
        return commits.run(lambda: connection.execute(sql, values).rowcount)


def _to_member(row: sqlite3.Row) -> Member:
    return Member(
        id=row["id"],
        user=row["user_id"],
        issuer=row["issuer"],
        subject=row["subject"],
        role=MemberRole(row["role"]),
        added_us=row["added_at"],
        removed_us=row["removed_at"],
    )

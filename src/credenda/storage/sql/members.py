"""Members of shared memories."""

from __future__ import annotations

from credenda.errors import Conflict
from credenda.model.member import Member, MemberRole
from credenda.storage.sql.run import Record
from credenda.storage.sql.server_tables import ServerTables

__all__ = ["MemberRows"]


class MemberRows(ServerTables):
    """The part of a store that keeps members."""

    def add_member(self, member: Member) -> None:
        """Store a new member; raises `Conflict` for a present member of the same name."""
        added = self._change(
            "insert_member",
            member,
            issuer=member.issuer,
            subject=member.subject,
            role=member.role,
            added_us=member.added_us,
            removed_us=member.removed_us,
        )
        if added != 1:
            raise Conflict(f"{member.subject[:64]} is a member already", fix="remove the member first")

    def find_member(self, user: str, issuer: str, subject: str) -> Member | None:
        """Return the present member of a user's memory; None for others."""
        with self._view_tables() as run:
            row = run("find_member", user_id=user, issuer=issuer, subject=subject).fetchone()
        return None if row is None else _to_member(row)

    def list_members(self, user: str | None = None) -> list[Member]:
        """Return the members of a user's memory, or of all memories, the oldest first."""
        with self._view_tables() as run:
            return [_to_member(row) for row in run("list_members", user_id=user)]

    def list_memberships(self, issuer: str, subject: str) -> list[Member]:
        """Return the present memberships of a person, ordered by memory."""
        with self._view_tables() as run:
            return [_to_member(row) for row in run("list_memberships", issuer=issuer, subject=subject)]

    def set_member_role(self, member: Member) -> None:
        """Store the role of a member."""
        self._change("set_member_role", member, role=member.role)

    def remove_member(self, member: Member, now_us: int) -> None:
        """Remove a member."""
        self._change("remove_member", member, now_us=now_us)

    def _change(self, name: str, member: Member, **values: object) -> int:
        """Run a statement about a member, durably, and return the number of rows that it changed."""
        values |= {"user_id": member.user, "id_text": member.id}
        return self._change_tables(lambda run: run(name, **values).rowcount)


def _to_member(row: Record) -> Member:
    return Member(
        id=row["id"],
        user=row["user_id"],
        issuer=row["issuer"],
        subject=row["subject"],
        role=MemberRole(row["role"]),
        added_us=row["added_at"],
        removed_us=row["removed_at"],
    )

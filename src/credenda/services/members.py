"""Members of shared memories: who may use the memory of a user, and in which role."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import draw_request_id
from credenda.model.member import Member, MemberRole
from credenda.runtime import Parts
from credenda.storage.tokens import MemberStore
from credenda.validation import check_identity

__all__ = ["add_member", "find_access", "list_access", "remove_member"]

_LIST: Final = "see `credenda member list`"


def find_access(store: MemberStore, user: str, issuer: str, subject: str) -> Member | None:
    """Return the person as a member of a user's memory; None for someone who may not use it.

    A person of this server is the owner of the memory of the same name, without a row.
    """
    if not issuer and subject == user:
        return _make_owner(user)
    return store.find_member(user, issuer, subject)


def list_access(store: MemberStore, subject: str) -> list[Member]:
    """Return the memories that a person of this server may use, the own one first."""
    return [_make_owner(subject), *store.list_memberships("", subject)]


def add_member(parts: Parts, subject: str, *, role: str, issuer: str = "") -> Member:
    """Let a person use the memory of the user of `parts`, or change the role of a member.

    A person of an external `issuer` uses one memory, because a token of that issuer names none: `Conflict` for another.
    """
    known = [str(one) for one in MemberRole]
    if role not in known:
        raise Invalid(f"there is no role {role[:64]!r}", fix=f"choose from {', '.join(known)}")
    name = check_identity(subject, "subject") or ""
    if not name:
        raise Invalid("a member needs a name", fix="give the name of a user, or the subject of the issuer")
    if not issuer and name == parts.user_id:
        raise Invalid(f"{name} is the user whose memory it is", fix="add others")
    present = parts.store.members.find_member(parts.user_id, issuer, name)
    if present is not None:
        changed = replace(present, role=MemberRole(role))
        parts.store.members.set_member_role(changed)
        return changed
    elsewhere = parts.store.members.list_memberships(issuer, name) if issuer else []
    if elsewhere:
        why = f"a token of {issuer} names no memory, and {name[:64]} uses that of {elsewhere[0].user}"
        raise Conflict(f"{name[:64]} uses another memory", why=why, fix="remove the member there first")
    member = Member(
        id=draw_request_id(),
        user=parts.user_id,
        issuer=issuer,
        subject=name,
        role=MemberRole(role),
        added_us=parts.clock.now_us(),
    )
    parts.store.members.add_member(member)
    return member


def remove_member(parts: Parts, subject: str, *, issuer: str = "") -> Member:
    """Remove a member of the memory of the user of `parts`; servers refuse the member at once. Raises `NotFound`."""
    member = parts.store.members.find_member(parts.user_id, issuer, subject)
    if member is None:
        raise NotFound(f"{subject[:64]!r} is no member of the memory of {parts.user_id}", fix=_LIST)
    now_us = parts.clock.now_us()
    parts.store.members.remove_member(member, now_us)
    return replace(member, removed_us=now_us)


def _make_owner(user: str) -> Member:
    return Member(id="", user=user, issuer="", subject=user, role=MemberRole.OWNER, added_us=0)

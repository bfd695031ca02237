"""Who calls, and what they may do: the one decision for every operation at every remote door.

The principal of a call is in a context variable, which tasks and worker threads inherit. The tenant comes from the
principal and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from credenda.author import use_author
from credenda.errors import Forbidden, Unauthenticated
from credenda.interfaces.call_note import note_missing_scope
from credenda.model.server import Member, MemberRole
from credenda.operations.table import Operation, Scope

if TYPE_CHECKING:
    from credenda.client import Credenda

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Every scope, the mildest first."""
LOCAL_ISSUER: Final = "local"
"""The issuer of principals that this server itself knows."""
ROLE_SCOPES: Final[Mapping[MemberRole, frozenset[Scope]]] = {
    MemberRole.READER: frozenset({"memory:read"}),
    MemberRole.WRITER: frozenset({"memory:read", "memory:write"}),
    MemberRole.REVIEWER: frozenset({"memory:read", "memory:write", "memory:review"}),
    MemberRole.OWNER: frozenset(SCOPES),
}
"""The scopes of each role; no token gives a member more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A caller: the pair of issuer and subject names it, and the tenant is the user whose memory it reaches."""

    issuer: str
    subject: str
    tenant: str
    scopes: frozenset[Scope]
    role: MemberRole = MemberRole.OWNER
    member: str = ""
    """The id of the member who calls; "" for the user whose memory it is."""
    credential: str = LOCAL_ISSUER
    """The credential that was shown, without its secret: `token:ID`, `oauth:ID` or `oidc:MEMBER`."""
    client: str = ""
    """The program that a person has connected; "" for other tokens."""

    @property
    def may_extend(self) -> bool:
        """Whether the person could give the caller more scopes: only a connected client can ask for them."""
        return self.credential.startswith("oauth:")


_current: ContextVar[Principal | None] = ContextVar("credenda_principal", default=None)


def make_local_principal(tenant: str) -> Principal:
    """Make the principal of a caller on this machine who needs no token: the owner of a memory, with every scope."""
    return Principal(issuer=LOCAL_ISSUER, subject=tenant, tenant=tenant, scopes=frozenset(SCOPES))


def make_principal(member: Member, granted: Iterable[str], credential: str, *, client: str = "") -> Principal:
    """Make the principal of a member of a memory; it may do what was granted and what its role permits."""
    allowed, wanted = ROLE_SCOPES[member.role], frozenset(granted)
    return Principal(
        issuer=member.issuer or LOCAL_ISSUER,
        subject=member.subject,
        tenant=member.user,
        scopes=frozenset(scope for scope in SCOPES if scope in allowed and scope in wanted),
        role=member.role,
        member=member.id,
        credential=credential,
        client=client,
    )


def get_principal() -> Principal:
    """Return the principal of the current call; raises `Unauthenticated` where there is none."""
    principal = _current.get()
    if principal is None:
        raise Unauthenticated(
            "a token is needed",
            why="the call carries none",
            fix="send `Authorization: Bearer TOKEN` with a token of `credenda token create`",
        )
    return principal


@contextmanager
def use_principal(principal: Principal) -> Generator[None]:
    """Make a principal the caller of everything inside the block."""
    token = _current.set(principal)
    try:
        with use_author(principal.member):
            yield
    finally:
        _current.reset(token)


@contextmanager
def use_as_owner(memory: Credenda) -> Generator[Credenda]:
    """Use a memory as its owner: for a local door, which serves the person who started it."""
    with use_principal(make_local_principal(memory.user)):
        yield memory


def authorize(operation: Operation, memory: Credenda | None = None) -> Principal:
    """Return the principal if it may call an operation, on this memory where one is given.

    Raises `Unauthenticated` without a principal, `Forbidden` without the scope or for the memory of another tenant.
    """
    principal = get_principal()
    if operation.scope not in principal.scopes:
        if principal.may_extend and operation.scope in ROLE_SCOPES[principal.role]:
            note_missing_scope(operation.scope)
        raise Forbidden(
            f"the token does not permit {operation.name}",
            why=f"it lacks the scope {operation.scope}",
            fix="use a token with that scope",
            scope=operation.scope,
        )
    if memory is not None and memory.user != principal.tenant:
        raise Forbidden("the token does not permit this memory", why="it belongs to another user")
    return principal

"""Who calls, and what they may do: the one decision for every operation at every remote door.

The principal of a call is in a context variable, which tasks and worker threads inherit. The tenant comes from the
principal and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from credenda.errors import Forbidden, Unauthenticated
from credenda.operations.table import Operation, Scope

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["SCOPES", "Principal", "authorize", "get_principal", "make_local_principal", "use_as_owner", "use_principal"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
"""Every scope, the mildest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A caller: the pair of issuer and subject names it, and the tenant is the user whose memory it reaches."""

    issuer: str
    subject: str
    tenant: str
    scopes: frozenset[Scope]
    client: str = ""
    """The program that the caller uses, where the issuer knows it."""


_current: ContextVar[Principal | None] = ContextVar("credenda_principal", default=None)


def make_local_principal(tenant: str) -> Principal:
    """Make the principal of a caller on this machine who needs no token: the owner of a memory, with every scope."""
    return Principal(issuer="local", subject=tenant, tenant=tenant, scopes=frozenset(SCOPES))


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
        raise Forbidden(
            f"the token does not permit {operation.name}",
            why=f"it lacks the scope {operation.scope}",
            fix="use a token with that scope",
            scope=operation.scope,
        )
    if memory is not None and memory.user != principal.tenant:
        raise Forbidden("the token does not permit this memory", why="it belongs to another user")
    return principal

"""Who calls, and what they may do: the one decision for every operation at every remote door, and the call itself.

The principal of a call is in a context variable, which tasks and worker threads inherit. The tenant comes from the
principal and from nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from credenda import limits
from credenda.current_call import use_author
from credenda.errors import Forbidden, Invalid, Unauthenticated
from credenda.model.core import Core
from credenda.model.query import Context
from credenda.model.server import Member, MemberRole
from credenda.operation import REMOTE, Door, Operation, Param, Scope
from credenda.private import cut_private, cut_private_fields

if TYPE_CHECKING:
    from credenda.client import Credenda


# What is known of the current call to a server, for its audit record: noted where each part is found out.


_ID: Final = re.compile(r"[emckj][1-9][0-9]{0,17}-[0-9a-f]{6}")
_ACTOR: Final = "agent"
"""The input in which a caller names the agent for which it calls."""
_LINE_ID: Final = re.compile(rf"^- \[({_ID.pattern})\]", re.MULTILINE)
_DEPTH: Final = 10


@dataclass(slots=True)
class CallNote:
    """One call; it is filled by the layers and threads that serve it."""

    door: str = ""
    operation: str = ""
    scope: str = ""
    actor: str = ""
    ids: tuple[str, ...] = ()
    """Ids that the call named, and then those that its answer showed."""
    more_ids: int = 0
    inputs: str = ""
    """The SHA-256 of the inputs without private text, which a hash of a short text would give away."""
    code: str = ""
    missing_scope: str = ""
    """The scope that the caller lacks, where the person could still grant it."""

    def add_ids(self, found: Iterator[str]) -> None:
        """Note ids; beyond a bound they are counted."""
        ids = list(dict.fromkeys((*self.ids, *found)))
        self.ids = tuple(ids[: limits.AUDIT_IDS])
        self.more_ids += len(ids) - len(self.ids)


current_note: ContextVar[CallNote | None] = ContextVar("credenda_call_note", default=None)


def note_operation(operation: Operation, door: Door, given: Mapping[str, object] | None = None) -> None:
    """Note which operation is called, and with which inputs where they are known; nothing outside of a server."""
    note = current_note.get()
    if note is None:
        return
    note.door, note.operation, note.scope = door, operation.name, operation.scope
    if given is not None:
        written = json.dumps(cut_private_fields(given), sort_keys=True, default=str)
        note.inputs = sha256(written.encode()).hexdigest()
        actor = given.get(_ACTOR)
        note.actor = cut_private(actor) if isinstance(actor, str) else ""
        note.add_ids(_find_ids(list(given.values()), _DEPTH))


def note_answer(value: object) -> None:
    """Note which memories, events and changes an answer shows or names."""
    note = current_note.get()
    if note is not None:
        note.add_ids(_find_ids(value, _DEPTH))


def note_failure(code: str) -> None:
    """Note that the call failed."""
    note = current_note.get()
    if note is not None:
        note.code = code


def _find_ids(value: object, depth: int) -> Iterator[str]:
    """Find the ids in every field of a result, and before the lines of a block for a prompt."""
    shown: object = value
    if isinstance(shown, str):
        if _ID.fullmatch(shown):
            yield shown
    elif isinstance(value, list | tuple) and depth:
        for one in cast("Sequence[object]", value):
            yield from _find_ids(one, depth - 1)
    elif depth and hasattr(shown, "__dataclass_fields__"):
        if isinstance(shown, Context | Core):
            yield from _LINE_ID.findall(shown.text)
        for name in getattr(shown, "__dataclass_fields__", ()):
            yield from _find_ids(getattr(shown, name, None), depth - 1)


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
        may_ask = principal.may_extend and operation.scope in ROLE_SCOPES[principal.role]
        if may_ask and (note := current_note.get()) is not None:
            note.missing_scope = operation.scope
        raise Forbidden(
            f"the token does not permit {operation.name}",
            why=f"it lacks the scope {operation.scope}",
            fix="use a token with that scope",
            scope=operation.scope,
        )
    if memory is not None and memory.user != principal.tenant:
        raise Forbidden("the token does not permit this memory", why="it belongs to another user")
    return principal


# Call an operation of the table on an open memory, for every interface.


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A file that a server made for one request: of the bytes of an upload, or for a download to be sent from.

    The server chooses the path; nothing that a caller sends becomes one.
    """

    path: Path
    name: str = ""
    """The name of an upload at its caller, for messages."""


def invoke(memory: Credenda, operation: Operation, given: Mapping[str, object], *, door: Door = "python") -> Any:  # noqa: ANN401 - any result
    """Call an operation by the names of its inputs; an input that is left out has the default of the operation.

    An input for which the table has no entry, such as `progress`, goes to the method as it is. At a remote door that is
    refused, and so are a path in place of a `ServerFile` and an input that the door does not take: `Invalid`. A remote
    door also needs a principal who may call the operation on this memory: `Unauthenticated`, `Forbidden`.
    """
    accepted = given
    if door in REMOTE:
        if door not in operation.doors:
            raise Invalid(f"{operation.name} is not offered here", why=operation.closed[door])
        note_operation(operation, door, given)
        authorize(operation, memory)
        taken = {param.name: param for param in operation.params_at(door)}
        if unknown := [name for name in given if name not in taken]:
            fix = f"it takes {', '.join(taken) or 'nothing'}"
            raise Invalid(f"{operation.name} takes no {unknown[0][:64]!r} here", fix=fix)
        accepted = {name: _read_value(taken[name], value, door) for name, value in given.items()}
        accepted |= operation.remotely
    method: Any = attrgetter(operation.call)(memory)
    arguments = {param.name: param.argument for param in operation.params if param.argument}
    value = method(**{arguments.get(name, name): value for name, value in accepted.items()})
    if door in REMOTE:
        note_answer(value)
    return value


def _read_value(param: Param, value: object, door: Door) -> object:
    """Return what the method gets for an input of a remote door: of a file, the path that the server chose."""
    if param.kind_at(door) not in {"upload", "download"}:
        return value
    if isinstance(value, ServerFile):
        return value.path
    raise Invalid(f"{param.name} is not a file that was sent", why="a path of the server is never accepted")

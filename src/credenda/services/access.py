"""Who may use a memory of a server: tokens, passwords, logins, members, OAuth grants, and the records of calls."""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from credenda import limits
from credenda.clock import DAY_US, HOUR_US, SECOND_US
from credenda.errors import Conflict, Invalid, NotFound, Unauthenticated
from credenda.ids import draw_request_id, draw_secret
from credenda.lazy import import_on_use
from credenda.model.query import Page
from credenda.model.server import AccessToken, AuditRecord, IssuedToken, Member, MemberRole, SecretKind, ServerSecret
from credenda.private import cut_private
from credenda.runtime import Parts
from credenda.services.browse import read_cursor, write_cursor
from credenda.services.search import check_limit
from credenda.storage.sql.server_rows import MemberStore, SecretStore, TokenStore
from credenda.storage.store import Store, StoredToken
from credenda.text.given_time import parse_start
from credenda.validation import check_identity, check_name

# Members of shared memories: who may use the memory of a user, and in which role.


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


# Draw, store and find short-lived secrets.


_TEXT: Final = re.compile(r"credenda_([a-z]+)_[A-Za-z0-9_-]{43}")


class DrawnSecret(NamedTuple):
    """The text of a new secret, and the row to store."""

    text: str
    stored: ServerSecret


def draw(
    kind: SecretKind, user: str, now_us: int, lifetime_us: int, *, token_id: str = "", data: Mapping[str, str]
) -> DrawnSecret:
    """Draw a secret of a user that is valid for a time; nothing is stored yet."""
    text = f"credenda_{kind}_{draw_secret()}"
    ends_us = now_us + lifetime_us
    stored = ServerSecret(
        digest=hash_secret(text),
        kind=kind,
        user=user,
        token_id=token_id,
        created_us=now_us,
        expires_us=ends_us,
        data=data,
    )
    return DrawnSecret(text, stored)


def find_secret(store: SecretStore, kind: SecretKind, text: str) -> ServerSecret | None:
    """Return the secret of a text, valid or not; None for one that is unknown or of another kind."""
    found = _TEXT.fullmatch(text)
    if found is None or found[1] != kind:
        return None
    secret = store.find_secret(hash_secret(text))
    return secret if secret is not None and secret.kind is kind else None


def hash_secret(text: str) -> bytes:
    """Return the SHA-256 under which a secret is stored."""
    return sha256(text.encode("utf-8", "replace")).digest()


_PREFIX: Final = "credenda_"
_TOKEN: Final = re.compile(r"credenda_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_SPAN: Final = re.compile(r"([1-9][0-9]{0,4})([dh])")
_UNITS: Final = {"d": DAY_US, "h": HOUR_US}
_NO_DIGEST: Final = bytes(32)


def issue_token(
    parts: Parts, name: str, *, scopes: Sequence[str], allowed: Collection[str], expires: str, member: str = ""
) -> IssuedToken:
    """Issue a token for the memory of the user of `parts`; its text is in the result and nowhere else.

    `member` names the member who gets it, unless it is the user. `expires` is a span such as 90d or 12h, a date, or
    "never". Raises `Invalid` for a scope that is not `allowed`, `NotFound` for someone who is no member, `Conflict` for
    the name of another valid token of the user.
    """
    unknown = [scope for scope in scopes if scope not in allowed]
    if unknown or not scopes:
        what = f"there is no scope {unknown[0]!r}" if unknown else "a token needs a scope"
        raise Invalid(what, fix=f"choose from {', '.join(allowed)}")
    if find_access(parts.store.members, parts.user_id, "", member or parts.user_id) is None:
        why = f"the memory of {parts.user_id} has no such member"
        raise NotFound(f"{member[:64]} may not use it", why=why, fix="add the member: credenda member add")
    now_us = parts.clock.now_us()
    secret = draw_secret()
    # Read when a token ends; None for never.
    if expires == "never":
        expires_us = None
    else:
        span = _SPAN.fullmatch(expires.strip())
        end_us = now_us + int(span[1]) * _UNITS[span[2]] if span else parse_start(expires, parts.settings.zone, now_us)
        if end_us <= now_us:
            raise Invalid("the token would be expired at once", why=f"{expires} is past", fix="give a later time")
        expires_us = end_us
    token = AccessToken(
        id=draw_request_id(),
        name=cut_private(check_name(name, "name") or ""),
        user=parts.user_id,
        scopes=tuple(dict.fromkeys(scopes)),
        created_us=now_us,
        expires_us=expires_us,
        subject="" if member == parts.user_id else member,
    )
    parts.store.tokens.add_token(StoredToken(token, sha256(secret.encode()).digest()), now_us=now_us)
    return IssuedToken(
        token=f"{_PREFIX}{token.id}_{secret}",
        id=token.id,
        name=token.name,
        user=token.user,
        scopes=token.scopes,
        created_us=token.created_us,
        expires_us=token.expires_us,
        subject=token.subject,
    )


def verify_token(store: Store, text: str, now_us: int) -> AccessToken | None:
    """Return the token of a text; None for one that is malformed, unknown, wrong, revoked or expired.

    Takes the same time for a wrong secret as for the right one. The access token of a connected client has the scopes
    and the end of this text, not of the connection.
    """
    found = _TOKEN.fullmatch(text)
    if found is None:
        secret = find_secret(store.secrets, SecretKind.ACCESS, text)
        if secret is None or not secret.is_valid_at(now_us):
            return None
        stored = store.tokens.find_token(secret.token_id)
        if stored is None or not stored.token.is_valid_at(now_us):
            return None
        return replace(stored.token, scopes=tuple(secret.data["scopes"].split()), expires_us=secret.expires_us)
    stored = store.tokens.find_token(found[1])
    digest = _NO_DIGEST if stored is None else stored.digest
    same = hmac.compare_digest(sha256(found[2].encode()).digest(), digest)
    return stored.token if stored is not None and same and stored.token.is_valid_at(now_us) else None


def list_tokens(store: TokenStore, user: str | None = None) -> list[AccessToken]:
    """Return the tokens of a user, or of all users, the oldest first."""
    return store.list_tokens(user)


def revoke_token(parts: Parts, name: str, user: str | None = None) -> AccessToken:
    """Revoke a token, by its id, or by its name where one valid token has it; repeating it does nothing.

    Raises `NotFound`, and `Invalid` for a name of several.
    """
    now_us = parts.clock.now_us()
    known = parts.store.tokens.list_tokens(user)
    named = [one for one in known if one.id == name] or [
        one for one in known if one.name == name and one.is_valid_at(now_us)
    ]
    if not named:
        raise NotFound(f"there is no valid token {name[:64]!r}", fix="see `credenda token list`")
    if len(named) > 1:
        why = f"{len(named)} valid tokens have that name"
        raise Invalid(
            f"{name[:64]!r} does not name one token", why=why, fix="say whose it is with --user, or give its id"
        )
    parts.store.tokens.revoke_token(named[0].id, now_us)
    stored = parts.store.tokens.find_token(named[0].id)
    return named[0] if stored is None else stored.token


# Log a person in to the pages of a server: a link that works once, and the session that it begins.


LINK_LIFETIME_US: Final = 600 * SECOND_US
SESSION_LIFETIME_US: Final = 12 * HOUR_US
_MEMORY: Final = "memory"
_ISSUER: Final = "issuer"
_SUBJECT: Final = "subject"


@dataclass(frozen=True, slots=True)
class Login:
    """A person who is logged in, the secret of the session, and the user whose memory it shows: "" for the own one.

    `issuer` knows the person; "" for a person of this server.
    """

    person: str
    secret: str
    memory: str = ""
    issuer: str = ""


def issue_link(store: SecretStore, person: str, now_us: int) -> str:
    """Issue the secret of a link with which a person can log in once, within ten minutes."""
    drawn = draw(SecretKind.LINK, person, now_us, LINK_LIFETIME_US, data={})
    store.add_secret(drawn.stored)
    return drawn.text


def log_in(store: SecretStore, text: str, now_us: int) -> Login:
    """Begin a session with the secret of a link, which is used up; raises `Unauthenticated`."""
    link = find_secret(store, SecretKind.LINK, text)
    if link is not None and link.is_valid_at(now_us):
        drawn = draw(SecretKind.SESSION, link.user, now_us, SESSION_LIFETIME_US, data={})
        if store.spend_secret(link.digest, now_us, successors=[drawn.stored]):
            return Login(link.user, drawn.text)
    why = "it is wrong, older than ten minutes, or was used before"
    raise Unauthenticated("this login link does not work", why=why, fix="make another: credenda login-link")


def begin_session(store: SecretStore, person: str, now_us: int) -> Login:
    """Begin a session of a person who has proved who it is."""
    drawn = draw(SecretKind.SESSION, person, now_us, SESSION_LIFETIME_US, data={})
    store.add_secret(drawn.stored)
    return Login(person, drawn.text)


def begin_session_of_member(store: SecretStore, member: Member, now_us: int) -> Login:
    """Begin a session of a person whom another issuer knows; erasing the memory that the person uses ends it."""
    data = {_ISSUER: member.issuer, _SUBJECT: member.subject}
    drawn = draw(SecretKind.SESSION, member.user, now_us, SESSION_LIFETIME_US, data=data)
    store.add_secret(drawn.stored)
    return Login(member.subject, drawn.text, member.user, member.issuer)


def choose_memory(store: SecretStore, login: Login, memory: str, now_us: int) -> Login:
    """Go on with another session of the same person, for the memory of another user; raises `Unauthenticated`.

    Whether the person may use that memory is decided with each call, by its members.
    """
    drawn = draw(SecretKind.SESSION, login.person, now_us, SESSION_LIFETIME_US, data={_MEMORY: memory})
    session = find_secret(store, SecretKind.SESSION, login.secret)
    if session is None or not store.spend_secret(session.digest, now_us, successors=[drawn.stored]):
        raise Unauthenticated("nobody is logged in", why="the session has ended", fix="log in")
    return Login(login.person, drawn.text, memory)


def find_login(store: SecretStore, text: str, now_us: int, *, issuer: str = "") -> Login | None:
    """Return the login of a session; None for one that is unknown, expired or ended, or that another issuer began.

    A subject of an issuer may have the name of a person of this server, and is somebody else.
    """
    session = find_secret(store, SecretKind.SESSION, text)
    if session is None or not session.is_valid_at(now_us) or session.data.get(_ISSUER, "") != issuer:
        return None
    if issuer:
        return Login(session.data[_SUBJECT], text, session.user, issuer)
    return Login(session.user, text, session.data.get(_MEMORY, ""))


def end_session(store: SecretStore, login: Login, now_us: int) -> None:
    """End a session; repeating it does nothing."""
    session = find_secret(store, SecretKind.SESSION, login.secret)
    if session is not None:
        store.spend_secret(session.digest, now_us)


# Passwords with which persons log in to the pages of a server; only an Argon2 hash of each is stored.


if TYPE_CHECKING:
    import argon2
else:
    argon2 = import_on_use("argon2")


CHARACTERS_LEAST: Final = 10
CHARACTERS_MOST: Final = 1_024
_LASTING_US: Final = 100 * 366 * DAY_US
_HASH: Final = "argon2"
_ALIKE: Final = "$argon2id$v=19$m=65536,t=3,p=4$MDEyMzQ1Njc4OWFiY2RlZg$0000000000000000000000000000000000000000000"
"""A hash that no password has: a person without a password takes as long to refuse as one with another."""


def set_password(store: SecretStore, person: str, password: str, now_us: int) -> None:
    """Set the password of a person in the place of the one before; raises `Invalid` for one of a wrong length."""
    if not CHARACTERS_LEAST <= len(password) <= CHARACTERS_MOST:
        why = f"a password has {CHARACTERS_LEAST} to {CHARACTERS_MOST:,} characters"
        raise Invalid("this password cannot be used", why=why, fix="choose a longer one: a few words do")
    present, digest = _find_present(store, person)
    added = ServerSecret(
        digest=digest,
        kind=SecretKind.PASSWORD,
        user=person,
        created_us=now_us,
        expires_us=now_us + _LASTING_US,
        data={_HASH: argon2.PasswordHasher().hash(password)},
    )
    if present is None:
        store.add_secret(added)
    elif not store.spend_secret(present.digest, now_us, successors=[added]):
        raise Conflict("the password was just changed", why="by someone else", fix="try again")


def remove_password(store: SecretStore, person: str, now_us: int) -> None:
    """Remove the password of a person, who then logs in by a link alone; raises `NotFound` without one."""
    present, _ = _find_present(store, person)
    if present is None or not store.spend_secret(present.digest, now_us):
        raise NotFound(f"{person[:64]} has no password", fix="set one with `credenda password`")


def log_in_by_password(store: SecretStore, person: str, password: str, now_us: int) -> Login:
    """Begin a session with a password; raises `Unauthenticated`, as slowly, for a wrong one and for no such person."""
    present, _ = _find_present(store, person)
    stored = present.data.get(_HASH, "") if present is not None else _ALIKE
    try:
        argon2.PasswordHasher().verify(stored, password[:CHARACTERS_MOST])
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        why = "the name or the password is wrong"
        raise Unauthenticated("you are not logged in", why=why, fix="try again, or ask for a login link") from None
    return begin_session(store, person, now_us)


def _find_present(store: SecretStore, person: str) -> tuple[ServerSecret | None, bytes]:
    """Return the valid password of a person, if any, and the digest under which the next one is stored."""
    number = 0
    while (found := store.find_secret(_make_digest(person, number))) is not None:
        number += 1
        if found.used_us is None:
            return found, _make_digest(person, number)
    return None, _make_digest(person, number)


def _make_digest(person: str, number: int) -> bytes:
    return sha256(f"credenda password {number}\n{person}".encode("utf-8", "replace")).digest()


# Connect an OAuth client to a memory: authorization codes, access tokens, and refresh tokens that are used once.


CODE_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""A challenge of PKCE by the method S256 (RFC 7636)."""
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_CODE_US: Final = 60 * SECOND_US
_ACCESS_US: Final = HOUR_US
_REFRESH_US: Final = 90 * DAY_US
_CONNECTION_US: Final = 365 * DAY_US


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The permission that a person gave to a client."""

    person: str
    user: str
    """The user whose memory it is for."""
    client: str
    client_name: str
    redirect_uri: str
    challenge: str
    scopes: tuple[str, ...]
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """New tokens for a client."""

    token: AccessToken
    access: str
    refresh: str
    scopes: tuple[str, ...]
    lifetime_seconds: int


def issue_code(store: Store, consent: Consent, now_us: int) -> str:
    """Issue the code that a client exchanges for tokens within a minute."""
    data = {
        "person": consent.person,
        "client": consent.client,
        "client_name": consent.client_name,
        "redirect_uri": consent.redirect_uri,
        "challenge": consent.challenge,
        "scopes": " ".join(consent.scopes),
        "resource": consent.resource,
    }
    drawn = draw(SecretKind.CODE, consent.user, now_us, _CODE_US, token_id=draw_request_id(), data=data)
    store.secrets.add_secret(drawn.stored)
    return drawn.text


def accept_code(
    store: Store, code: str, *, client: str, redirect_uri: str, verifier: str, resource: str | None, now_us: int
) -> Granted:
    """Exchange a code for tokens; the code is used up, also by a wrong attempt. Raises `Invalid` with an OAuth error.

    `resource` is the address that the client asks a token for, as `Consent.resource` has it.
    """
    secret = _find_unused(store, SecretKind.CODE, code, now_us)
    data = secret.data
    is_same = client == data["client"] and redirect_uri == data["redirect_uri"]
    if not is_same or not _has_verifier(data["challenge"], verifier):
        store.secrets.spend_secret(secret.digest, now_us)
        raise _refuse("the code was issued to another client, address or verifier")
    if resource is not None and resource != data["resource"]:
        raise Invalid("the code was issued for another resource", error="invalid_target")
    token = AccessToken(
        id=secret.token_id,
        name=data["client_name"],
        user=secret.user,
        scopes=tuple(data["scopes"].split()),
        created_us=now_us,
        expires_us=now_us + _CONNECTION_US,
        subject="" if data["person"] == secret.user else data["person"],
        client=client,
        resource=data["resource"],
    )
    return _grant(store, secret, token, now_us=now_us, scopes=None)


def refresh(
    store: Store, text: str, *, client: str, scopes: Sequence[str] | None, resource: str | None, now_us: int
) -> Granted:
    """Exchange a refresh token for tokens; it is used up. Raises `Invalid` with an OAuth error.

    `scopes` may name fewer than the connection has; the next refresh may ask for all of them.
    """
    secret = _find_unused(store, SecretKind.REFRESH, text, now_us)
    stored = store.tokens.find_token(secret.token_id)
    if stored is None or not stored.token.is_valid_at(now_us) or stored.token.client != client:
        raise _refuse("the connection has ended, or belongs to another client")
    if resource is not None and resource != stored.token.resource:
        raise Invalid("the connection is for another resource", error="invalid_target")
    wanted = stored.token.scopes if scopes is None else tuple(dict.fromkeys(scopes))
    if not wanted or not set(wanted) <= set(stored.token.scopes):
        raise Invalid("the connection has fewer scopes", error="invalid_scope")
    return _grant(store, secret, stored.token, now_us=now_us, scopes=wanted)


def revoke(store: Store, text: str, *, client: str, now_us: int) -> None:
    """End the connection of an access or refresh token of this client; others are ignored (RFC 7009)."""
    for kind in (SecretKind.REFRESH, SecretKind.ACCESS):
        secret = find_secret(store.secrets, kind, text)
        stored = None if secret is None else store.tokens.find_token(secret.token_id)
        if stored is not None and stored.token.client == client:
            store.tokens.revoke_token(stored.token.id, now_us)


def _find_unused(store: Store, kind: SecretKind, text: str, now_us: int) -> ServerSecret:
    """Return a valid secret; one that was used before ends its connection."""
    secret = find_secret(store.secrets, kind, text)
    if secret is None:
        raise _refuse(f"the {kind} is unknown")
    if secret.used_us is not None:
        _end_stolen(store, secret, now_us)
    if not secret.is_valid_at(now_us):
        raise _refuse(f"the {kind} has expired")
    return secret


def _end_stolen(store: Store, secret: ServerSecret, now_us: int) -> None:
    store.tokens.revoke_token(secret.token_id, now_us)
    raise _refuse(f"the {secret.kind} was used before, and the connection has ended")


def _has_verifier(challenge: str, verifier: str) -> bool:
    """Return whether a verifier belongs to a challenge of the method S256."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=")
    return hmac.compare_digest(digest, challenge.encode())


def _grant(
    store: Store, used: ServerSecret, token: AccessToken, *, now_us: int, scopes: tuple[str, ...] | None
) -> Granted:
    """Draw tokens and store them in the transaction that uses up the code or refresh token.

    `scopes` are those of the access token; None stands for a new connection, which is stored with all of its scopes.
    """
    given = token.scopes if scopes is None else scopes
    access = _draw(SecretKind.ACCESS, token, given, end_us=now_us + _ACCESS_US, now_us=now_us)
    renewed = _draw(SecretKind.REFRESH, token, given, end_us=now_us + _REFRESH_US, now_us=now_us)
    new = StoredToken(token, b"") if scopes is None else None
    if not store.secrets.spend_secret(used.digest, now_us, successors=[access.stored, renewed.stored], token=new):
        _end_stolen(store, used, now_us)
    return Granted(
        token=token,
        access=access.text,
        refresh=renewed.text,
        scopes=given,
        lifetime_seconds=(access.stored.expires_us - now_us) // SECOND_US,
    )


def _draw(kind: SecretKind, token: AccessToken, scopes: tuple[str, ...], *, end_us: int, now_us: int) -> DrawnSecret:
    """Draw a secret that ends no later than the connection."""
    lifetime_us = min(end_us, token.expires_us or end_us) - now_us
    return draw(kind, token.user, now_us, lifetime_us, token_id=token.id, data={"scopes": " ".join(scopes)})


def _refuse(why: str) -> Invalid:
    return Invalid("the grant is not valid", why=why, error="invalid_grant")


# List the audit records of a user.


_LIST_RECORDS: Final = "audit"


def list_audit(parts: Parts, *, limit: int = 20, cursor: str | None = None) -> Page[AuditRecord]:
    """Return the records of calls that reached this user's memory, oldest first, one page at a time."""
    check_limit(limit, limits.LIST_LIMIT)
    after = read_cursor(_LIST_RECORDS, parts.user_id, cursor) or 0
    found = tuple(parts.store.audit.read_audit_of(parts.user_id, after, limit + 1))
    more = write_cursor(_LIST_RECORDS, parts.user_id, found[limit - 1].seq) if len(found) > limit else None
    return Page(items=found[:limit], next_cursor=more)

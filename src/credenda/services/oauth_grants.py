"""Connect an OAuth client to a memory: authorization codes, access tokens, and refresh tokens that are used once.

A connection is a token (`AccessToken`) without a secret of its own; revoking it ends all of its access and refresh
tokens. A code or a refresh token that comes a second time was stolen, or its thief was first: both end the connection.
"""

from __future__ import annotations

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from credenda.clock import DAY_US, HOUR_US, SECOND_US
from credenda.errors import Invalid
from credenda.ids import draw_request_id
from credenda.model.access_token import AccessToken
from credenda.model.server_secret import SecretKind, ServerSecret
from credenda.services.server_secrets import DrawnSecret, draw, find_secret
from credenda.storage.store import Store
from credenda.storage.tokens import StoredToken

__all__ = ["CODE_CHALLENGE", "Consent", "Granted", "accept_code", "issue_code", "refresh", "revoke"]

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

"""Issue, verify and revoke the tokens of a server's callers.

A token is `credenda_ID_SECRET`. The id finds the row, and only the SHA-256 of the secret is stored: the secret has 256
random bits, so that a slow hash would add nothing.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from credenda.clock import DAY_US, HOUR_US, parse_time
from credenda.errors import Invalid, NotFound
from credenda.ids import draw_request_id, draw_secret
from credenda.model.access_token import AccessToken, IssuedToken
from credenda.model.server_secret import SecretKind
from credenda.private import cut_private
from credenda.runtime import Parts
from credenda.services.members import find_access
from credenda.services.server_secrets import find_secret
from credenda.storage.store import Store
from credenda.storage.tokens import StoredToken, TokenStore
from credenda.validation import check_name

__all__ = ["issue_token", "list_tokens", "revoke_token", "verify_token"]

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
    token = AccessToken(
        id=draw_request_id(),
        name=cut_private(check_name(name, "name") or ""),
        user=parts.user_id,
        scopes=tuple(dict.fromkeys(scopes)),
        created_us=now_us,
        expires_us=_find_end(parts, expires, now_us),
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
        return _verify_access(store, text, now_us)
    stored = store.tokens.find_token(found[1])
    digest = _NO_DIGEST if stored is None else stored.digest
    same = hmac.compare_digest(sha256(found[2].encode()).digest(), digest)
    return stored.token if stored is not None and same and stored.token.is_valid_at(now_us) else None


def _verify_access(store: Store, text: str, now_us: int) -> AccessToken | None:
    secret = find_secret(store.secrets, SecretKind.ACCESS, text)
    if secret is None or not secret.is_valid_at(now_us):
        return None
    stored = store.tokens.find_token(secret.token_id)
    if stored is None or not stored.token.is_valid_at(now_us):
        return None
    return replace(stored.token, scopes=tuple(secret.data["scopes"].split()), expires_us=secret.expires_us)


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
        raise Invalid(f"{name[:64]!r} does not name one token", why=why, fix="give its id")
    parts.store.tokens.revoke_token(named[0].id, now_us)
    stored = parts.store.tokens.find_token(named[0].id)
    return named[0] if stored is None else stored.token


def _find_end(parts: Parts, expires: str, now_us: int) -> int | None:
    """Read when a token ends; None for never."""
    if expires == "never":
        return None
    span = _SPAN.fullmatch(expires.strip())
    end_us = now_us + int(span[1]) * _UNITS[span[2]] if span else parse_time(expires, parts.settings.zone)
    if end_us <= now_us:
        raise Invalid("the token would be expired at once", why=f"{expires} is past", fix="give a later time")
    return end_us

"""Authorization requests: what a client asks for, checked before anything is shown or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

from credenda.errors import CredendaError, Invalid
from credenda.interfaces.authorization import SCOPES
from credenda.interfaces.server.oauth.clients import OAuthClient
from credenda.interfaces.server.resource import MCP_PATH, OFFERED_SCOPES, Resource
from credenda.services.oauth_grants import CODE_CHALLENGE

__all__ = [
    "AuthorizationRequest",
    "Redirect",
    "choose_scopes",
    "find_redirect",
    "make_redirect",
    "read_fields",
    "read_request",
]

_FIELDS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """Where a client gets its answer."""

    uri: str
    state: str
    issuer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """A request that may be shown to a person."""

    client: OAuthClient
    target: Redirect
    scopes: tuple[str, ...]
    challenge: str
    resource: str


def read_fields(text: str) -> dict[str, str]:
    """Return the fields of a query or form; raises `Invalid` for a field that comes twice (RFC 6749, 3.1)."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
    except ValueError:
        raise Invalid("the request cannot be read", error="invalid_request") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Invalid("a field comes twice", fix="send each once", error="invalid_request")
    return fields


def find_redirect(fields: Mapping[str, str], client: OAuthClient, issuer: str) -> Redirect:
    """Return where the answer goes; raises `Invalid` for an address that is not the client's own."""
    uri = fields.get("redirect_uri", "")
    if not client.has_redirect(uri):
        raise Invalid("the address for the answer is not one of this client's", error="invalid_request")
    return Redirect(uri=uri, state=fields.get("state", ""), issuer=issuer)


def read_request(
    fields: Mapping[str, str], client: OAuthClient, target: Redirect, resource: Resource
) -> AuthorizationRequest:
    """Read the rest of a request; raises `Invalid`, whose id `error` is the OAuth error to answer with."""
    if fields.get("response_type") != "code":
        raise Invalid("only codes are issued", error="unsupported_response_type")
    if fields.get("code_challenge_method") != "S256" or not CODE_CHALLENGE.fullmatch(fields.get("code_challenge", "")):
        raise Invalid("a code challenge of the method S256 is needed", error="invalid_request")
    wanted = fields.get("scope", "").split() or list(OFFERED_SCOPES)
    scopes = tuple(scope for scope in SCOPES if scope in wanted)
    if not scopes:
        raise Invalid("none of these scopes exists here", error="invalid_scope")
    path = resource.find_path(fields["resource"]) if fields.get("resource") else MCP_PATH
    return AuthorizationRequest(
        client=client,
        target=target,
        scopes=scopes,
        challenge=fields["code_challenge"],
        resource=resource.bases[0] + path,
    )


def choose_scopes(asked: Sequence[str], ticked: Sequence[str], allowed: frozenset[str]) -> tuple[str, ...]:
    """Return the scopes that a person gives: those asked for, ticked, and within the role of the person."""
    return tuple(scope for scope in asked if scope in ticked and scope in allowed)


def make_redirect(target: Redirect, *, code: str = "", error: CredendaError | None = None) -> str:
    """Return the address with the answer, which names the issuer (RFC 9207)."""
    answer = {"code": code} if error is None else {"error": error.ids.get("error", "server_error")}
    if error is not None:
        answer["error_description"] = error.what
    answer |= {"state": target.state} if target.state else {}
    separator = "&" if "?" in target.uri else "?"
    return f"{target.uri}{separator}{urlencode({**answer, 'iss': target.issuer})}"

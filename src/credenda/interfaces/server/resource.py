"""The addresses under which callers know the server, and the resource that a token is for (RFC 8707, RFC 9728)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from credenda.clock import SECOND_US
from credenda.errors import Invalid
from credenda.services.access import SESSION_LIFETIME_US

RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
MCP_PATH: Final = "/mcp"
OFFERED_SCOPES: Final = ("memory:read", "memory:write")
"""The scopes that a client without a wish asks for: the fewest with which it is of use."""

_UNAUTHENTICATED: Final = 401


@dataclass(frozen=True, slots=True)
class Resource:
    """A server as a protected resource: the whole of it, or only its MCP endpoint."""

    bases: tuple[str, ...]
    """Its addresses without a path; the first one is used where a request does not tell."""

    def find_base(self, scope: Scope) -> str:
        """Return the address that a request was sent to."""
        host = Headers(scope=scope).get("host", "").casefold()
        return next((base for base in self.bases if base.partition("://")[2] == host), self.bases[0])

    def name_cookie(self, scope: Scope, ending: str = "") -> tuple[str, bool]:
        """Return the name of a cookie, and whether it needs TLS: the prefix __Host- binds it to this host and TLS."""
        is_secure = self.find_base(scope).startswith("https://")
        return f"{'__Host-' if is_secure else ''}credenda{ending}", is_secure

    def set_cookie(
        self, scope: Scope, response: Response, text: str, ending: str = "", *, lifetime_us: int = SESSION_LIFETIME_US
    ) -> None:
        """Set the cookie of a session, or another one whose name has an ending."""
        name, is_secure = self.name_cookie(scope, ending)
        seconds = lifetime_us // SECOND_US
        response.set_cookie(name, text, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")

    def drop_cookie(self, scope: Scope, response: Response, ending: str = "") -> None:
        """Remove a cookie."""
        name, is_secure = self.name_cookie(scope, ending)
        response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="lax")

    def find_path(self, resource: str) -> str:
        """Return the path of a resource of this server, "" for all of it; raises `Invalid` for another server's."""
        for base in self.bases:
            path = resource.removeprefix(base).rstrip("/") if resource.startswith(base) else None
            if path in {"", MCP_PATH}:
                return path
        fix = f"ask for {self.bases[0]}{MCP_PATH}"
        raise Invalid("that resource is not this server", fix=fix, error="invalid_target")

    def covers(self, resource: str, path: str) -> bool:
        """Return whether a token for a resource may be used at a path; "" is a token for everything."""
        try:
            wanted = self.find_path(resource) if resource else ""
        except Invalid:
            return False
        return not wanted or path == wanted or path.startswith(f"{wanted}/")

    def make_challenge(self, scope: Scope, status: int) -> str:
        """Return more parameters of a challenge: the metadata of the resource, and with 401 the scopes to ask for."""
        path = MCP_PATH if scope["path"].startswith(MCP_PATH) else ""
        wanted = f'scope="{" ".join(OFFERED_SCOPES)}", ' if status == _UNAUTHENTICATED else ""
        return f'{wanted}resource_metadata="{self.find_base(scope)}{RESOURCE_METADATA}{path}"'

    def describe(self, base: str, path: str, issuer: str) -> dict[str, object]:
        """Return the metadata of the resource at a path (RFC 9728)."""
        return {
            "resource": base + path,
            "authorization_servers": [issuer or base],
            "scopes_supported": list(OFFERED_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Credenda",
        }

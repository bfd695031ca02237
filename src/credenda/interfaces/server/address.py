"""Where a server listens, and what it then needs: nothing on loopback, tokens and TLS anywhere else."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from credenda.errors import Invalid, Unavailable

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_BACKLOG: Final = 2_048
_PAGE: Final = "docs/how-to/serve.md shows a whole setup"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a server, as its options name it."""

    host: str = "127.0.0.1"
    port: int = 8765
    tokens: bool | None = None
    """Whether callers need a token; None needs them where others can reach the server."""
    trust_proxy: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    url: str = ""
    """The address that clients use, if it differs from where the server listens."""
    oidc_issuer: str = ""
    """The external issuer whose tokens are accepted; "" for the server's own OAuth."""
    oidc_client: str = ""
    """The client id with which persons log in at the issuer; without one they do not."""
    audiences: tuple[str, ...] = ()
    """What those tokens must be for; by default the address of the server."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.casefold() == "localhost"

    @property
    def is_public(self) -> bool:
        """Whether others can reach it, directly or through a proxy."""
        return not self.is_loopback or self.trust_proxy or bool(self.url)

    @property
    def needs_tokens(self) -> bool:
        """Whether callers need a token."""
        return self.is_public or bool(self.oidc_issuer) if self.tokens is None else self.tokens

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which it is reached."""
        named = urlsplit(self.url).hostname
        return (*LOOPBACK_NAMES, self.host, *([named] if named else []))

    def list_bases(self, port: int) -> tuple[str, ...]:
        """Return every address by which clients may know it, given its port; the usual one first."""
        base = self.base_url(port)
        if self.url or not self.is_loopback:
            return (base,)
        scheme = base.partition("://")[0]
        others = (f"{scheme}://{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]"))
        return tuple(dict.fromkeys((base, *others)))

    def base_url(self, port: int) -> str:
        """Return the address for clients, given the port on which it listens."""
        if self.url:
            return self.url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{port}"


def check_address(address: Address) -> None:
    """Raise `Invalid` for an address that would expose a memory, and say how to listen there."""
    if address.url and (urlsplit(address.url).scheme not in {"http", "https"} or not urlsplit(address.url).hostname):
        raise Invalid(f"{address.url!r} is not an address", fix="write --url https://memory.example.org")
    _check_issuer(address)
    if (address.tls_cert is None) != (address.tls_key is None):
        raise Invalid("TLS needs a certificate and its key", fix="give both --tls-cert and --tls-key")
    for path in filter(None, (address.tls_cert, address.tls_key)):
        if not path.is_file():
            raise Invalid(f"there is no file {path}", why="TLS needs it", fix="check --tls-cert and --tls-key")
    if not address.is_public:
        return
    if not address.needs_tokens:
        why = "everyone who reaches the server could read and change every memory"
        raise Invalid("without tokens a server listens for this machine only", why=why, fix="leave out --auth none")
    if not address.is_loopback and address.tls_cert is None and not address.trust_proxy:
        raise Invalid(
            f"a server on {address.host} needs TLS",
            why="tokens and memories would cross the network readable for everyone",
            fix="give --tls-cert and --tls-key, or --trust-proxy behind a reverse proxy with TLS, or stay on 127.0.0.1;"
            f" {_PAGE}",
        )
    named = urlsplit(address.url)
    if named.scheme == "http" and named.hostname not in LOOPBACK_NAMES:
        raise Invalid(
            f"the address {address.url!r} has no TLS",
            why="tokens and memories would cross the network readable for everyone",
            fix="write --url https://…, the address of the reverse proxy",
        )
    if not address.url:
        why = "a request for another host is refused, and the name cannot be guessed"
        raise Invalid("the name under which clients reach the server is missing", why=why, fix="give --url")


def _check_issuer(address: Address) -> None:
    """Raise `Invalid` for an external issuer that cannot be meant."""
    if not address.oidc_issuer:
        if address.audiences or address.oidc_client:
            option = "--audience" if address.audiences else "--oidc-client"
            raise Invalid(f"{option} needs an issuer", fix="give --oidc-issuer")
        return
    if not address.needs_tokens:
        raise Invalid("an issuer of tokens is of no use", why="--auth none needs none", fix="leave out --auth none")
    parts = urlsplit(address.oidc_issuer)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        why = "an issuer is an https address without query and fragment"
        raise Invalid(
            f"{address.oidc_issuer!r} is no issuer", why=why, fix="write --oidc-issuer https://id.example.org"
        )


def listen(address: Address) -> socket.socket:
    """Open the socket of a server; raises `Unavailable` for an address in use, or one that this machine lacks."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sends at once only on named TCP
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((address.host, address.port))
        opened.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        opened.close()
        why = getattr(error, "strerror", None) or str(error)
        what = f"a server cannot listen on {address.host} port {address.port}"
        raise Unavailable(what, why=why, fix="give another --port, or stop the program that has it") from error
    return opened

"""`credenda serve`: serve the memories of a database over HTTP."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, closing
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

import credenda
from credenda import services
from credenda.config import get_default_user
from credenda.errors import Invalid
from credenda.install_hint import format_install
from credenda.interfaces import hook_engine, server
from credenda.interfaces import mcp as mcp_modules
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.layout import escape_controls
from credenda.interfaces.cli.output import note
from credenda.interfaces.cli.session import Session
from credenda.interfaces.server.address import Address, check_address
from credenda.lazy import import_on_use
from credenda.operations.mcp_tools import TOOLSETS

if TYPE_CHECKING:
    from credenda import bootstrap
    from credenda.interfaces.server.process import Plan
    from credenda.operations.mcp_tools import Toolset
else:
    bootstrap = import_on_use("credenda.bootstrap")

__all__ = ["make_serve_command"]

_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "host": ("ADDRESS", "Address to listen on. [default: 127.0.0.1]"),
    "url": ("URL", "The address that clients use, if a proxy or a name of your own stands before the server."),
    "tls-cert": ("FILE", "Certificate chain for TLS, in PEM."),
    "tls-key": ("FILE", "Its private key."),
    "oidc-issuer": ("URL", "Accept tokens of this OpenID Connect issuer, instead of the server's own OAuth."),
    "oidc-client": (
        "ID",
        "Let persons log in at that issuer, through this public client.",
    ),
}
_SETTLE_SECONDS: Final = 60.0
_FLAGS: Final[Mapping[str, str]] = {
    "trust-proxy": "A reverse proxy with TLS stands before the server, and nobody else reaches it.",
    "no-workers": "Only answer; `credenda worker --all-users` processes the messages.",
    "demo": "Serve the included conversation, in a temporary database.",
    "access-log": "Write a line of JSON for each request to standard error.",
}


def make_serve_command() -> click.Command:
    """Make the command."""
    options: list[click.Parameter] = [
        click.Option([f"--{name}"], metavar=metavar, help=text) for name, (metavar, text) in _TEXTS.items()
    ]
    options.insert(1, click.Option(["--port"], type=click.IntRange(0, 65_535), default=8765, show_default=True))
    options.append(
        click.Option(
            ["--audience"],
            metavar="TEXT",
            multiple=True,
            help="What tokens of the issuer must be for; may be repeated. [default: the address of the server]",
        )
    )
    options.append(
        click.Option(
            ["--auth"],
            type=click.Choice(["none", "token"]),
            help="Whether callers need a token. [default: none on loopback, else token]",
        )
    )
    options.append(
        click.Option(
            ["--toolset"],
            type=click.Choice(TOOLSETS),
            default="default",
            show_default=True,
            help="The tools that MCP clients are offered.",
        )
    )
    options += [click.Option([f"--{name}"], is_flag=True, help=text) for name, text in _FLAGS.items()]
    about = "Whether each call is recorded in the audit. [default: with tokens]"
    options.append(click.Option(["--audit/--no-audit"], default=None, help=about))
    return click.Command(
        "serve",
        params=[*options, *make_program_options(hidden=True)],
        callback=click.pass_obj(_serve),
        help="Serve the memories of this database over HTTP, until stopped: pages at /, MCP at /mcp, REST at /v1, "
        "A2A at /a2a.",
        short_help="Serve this database over HTTP: pages, MCP, REST and A2A.",
        epilog="On loopback no token is needed, and callers reach the memory of --user. Elsewhere it needs tokens and"
        " TLS or a proxy: docs/how-to/serve.md.",
    )


def _serve(session: Session, **given: Any) -> None:  # noqa: ANN401 - what click parsed
    plan = _make_plan(given)
    _show_log(server.anchors.ANCHOR_LOG)
    if given["access_log"]:
        _show_log("credenda.server.requests")
    if given["demo"]:
        _serve_demo(session, plan)
        return
    _run(session.db, session, plan)


def _make_plan(given: Mapping[str, Any]) -> Plan:
    """Read the options; raises `Invalid` where the libraries of the server are missing."""
    try:
        mcp_modules.sdk_lazy.load_late()
        process = server.process
        _check_installed("a2a", "a2a-sdk")  # it loads with the first request of another agent
    except ModuleNotFoundError as error:
        raise Invalid(
            "credenda serve cannot start",
            why=f"the package {error.name} is not installed",
            fix=format_install("server"),
        ) from error
    address = Address(
        host=given["host"] or "127.0.0.1",
        port=given["port"],
        tokens=None if given["auth"] is None else given["auth"] == "token",
        trust_proxy=given["trust_proxy"],
        tls_cert=Path(given["tls_cert"]) if given["tls_cert"] else None,
        tls_key=Path(given["tls_key"]) if given["tls_key"] else None,
        url=given["url"] or "",
        oidc_issuer=given["oidc_issuer"] or "",
        oidc_client=given["oidc_client"] or "",
        audiences=tuple(given["audience"]),
    )
    check_address(address)
    return process.Plan(
        address=address,
        toolset=cast("Toolset", given["toolset"]),
        workers=not given["no_workers"],
        audit=given["audit"],
    )


def _check_installed(module: str, package: str) -> None:
    if find_spec(module) is None:
        raise ModuleNotFoundError(f"there is no package {package}", name=package)


def _run(target: str | None, session: Session, plan: Plan) -> None:
    user = get_default_user() if session.user is None else session.user
    parts = bootstrap.build_parts(target, user=user, read_only=session.read_only)

    def write_lines(url: str) -> None:
        note(f"Listening on {url}")
        if plan.address.needs_tokens and not plan.address.oidc_issuer and not session.read_only:
            secret = services.logins.issue_link(parts.store.secrets, user, parts.clock.now_us())
            note(f"log in as {escape_controls(user)}, once and within ten minutes: {url}/login?code={secret}")
        for line in _list_lines(url, user, plan.address):
            note(line)

    with ExitStack() as stack:
        if not session.read_only:
            own = stack.enter_context(
                closing(credenda.Credenda(bootstrap.build_user_parts(parts, user), workers=False))
            )
            stack.enter_context(hook_engine.listener.listen_to_hooks(own))
        server.process.serve(parts, plan, ready=write_lines)
    note("stopped")


def _list_lines(url: str, user: str, address: Address) -> list[str]:
    """Say how a client connects."""
    tokens = address.needs_tokens
    secret = ' --header "Authorization: Bearer TOKEN"' if tokens else ""
    sent = ' -H "Authorization: Bearer TOKEN"' if tokens else ""
    first = "make a token: credenda token create NAME --user USER" if tokens else f"callers reach the memory of {user}"
    return [
        f"pages for you in a browser: {url}/",
        first,
        *([f"connectors with OAuth, such as claude.ai and ChatGPT: {url}/mcp"] if tokens else []),
        f"Claude Code: claude mcp add --transport http credenda {url}/mcp{secret}",
        f"REST: curl{sent} {url}/v1/stats",
        f"A2A: {url}/.well-known/agent-card.json",
        f"described in {url}/openapi.json; stop with Ctrl-C",
    ]


def _serve_demo(session: Session, plan: Plan) -> None:
    """Serve the conversation of the demo from a database that is removed at the end."""
    if session.db is not None:
        raise Invalid("--demo and --db exclude each other", why="the demo has a database of its own", fix="give one")
    folder = Path(tempfile.mkdtemp(prefix="credenda-demo-"))
    try:
        _fill(folder / "demo.db", session.user, settle=not plan.workers)
        _run(str(folder / "demo.db"), session, plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(path: Path, user: str | None, *, settle: bool) -> None:
    """Store the conversation; the worker of the server reads it, unless there is none."""
    with (
        as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
        credenda.Credenda.open(path, user=user, workers=False) as memory,
    ):
        memory.data.import_(conversation, format="conversation")
        if settle:
            memory.settle(_SETTLE_SECONDS)


def _show_log(name: str) -> None:
    """Write a log, whose lines are JSON, to standard error."""
    log = logging.getLogger(name)
    log.addHandler(logging.StreamHandler(sys.stderr))
    log.setLevel(logging.INFO)
    log.propagate = False

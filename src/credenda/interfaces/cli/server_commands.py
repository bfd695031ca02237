"""Commands for who runs a server or a database: serve it, tokens, members, audit, migration, and erasing again."""

from __future__ import annotations

import json
import logging
import re
import shutil
import ssl
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args
from urllib.parse import urlsplit

import click

import credenda
from credenda import __version__, services
from credenda.clock import SECOND_US, Clock, SystemClock, format_time, from_datetime
from credenda.config import get_default_user, read_token
from credenda.errors import Invalid, format_install
from credenda.interfaces import hook_engine, server
from credenda.interfaces import mcp as mcp_modules
from credenda.interfaces.cli.actions import ask_consent
from credenda.interfaces.cli.commands import make_command, make_group, make_toolset_option, write_either
from credenda.interfaces.cli.output import (
    Session,
    escape_controls,
    format_wait,
    note,
    open_screen,
    write_output,
)
from credenda.interfaces.server.address import Address, check_address
from credenda.lazy import import_on_use
from credenda.model.server import (
    AccessToken,
    Member,
    MemberRole,
    ServerCheck,
    ServerReport,
)
from credenda.operation import Scope
from credenda.storage.sql.server_rows import make_harmless
from credenda.text.recalled_block import count_noun
from credenda.validation import read_table

if TYPE_CHECKING:
    from credenda import bootstrap
    from credenda.interfaces.server.process import Plan
    from credenda.operations import Toolset
    from credenda.runtime import Parts
else:
    bootstrap = import_on_use("credenda.bootstrap")


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


texts = [click.Option([f"--{name}"], metavar=metavar, help=text) for name, (metavar, text) in _TEXTS.items()]
audience = "What tokens of the issuer must be for; may be repeated. [default: the address of the server]"
auth = "Whether callers need a token. [default: none on loopback, else token]"
audit = "Whether each call is recorded in the audit. [default: with tokens]"


@make_command(
    "serve",
    texts[0],
    click.Option(["--port"], type=click.IntRange(0, 65_535), default=8765, show_default=True),
    *texts[1:],
    click.Option(["--audience"], metavar="TEXT", multiple=True, help=audience),
    click.Option(["--auth"], type=click.Choice(["none", "token"]), help=auth),
    make_toolset_option("The tools that MCP clients are offered."),
    *(click.Option([f"--{name}"], is_flag=True, help=text) for name, text in _FLAGS.items()),
    click.Option(["--audit/--no-audit"], default=None, help=audit),
    help="Serve the memories of this database over HTTP, until stopped: pages at /, MCP at /mcp, REST at /v1, "
    "A2A at /a2a.",
    short_help="Serve this database over HTTP: pages, MCP, REST and A2A.",
    epilog="On loopback no token is needed, and callers reach the memory of --user. Elsewhere it needs tokens and"
    " TLS or a proxy: docs/how-to/serve.md.",
)
def serve(session: Session, **given: Any) -> None:  # noqa: ANN401 - what click parsed
    """Serve until stopped."""
    plan = _make_plan(given)
    _show_log(server.audit.ANCHOR_LOG)
    if given["access_log"]:
        _show_log("credenda.server.requests")
    if given["demo"]:
        # Serve the conversation of the demo from a database that is removed at the end.
        if session.db is not None:
            raise Invalid(
                "--demo and --db exclude each other", why="the demo has a database of its own", fix="give one"
            )
        folder = Path(tempfile.mkdtemp(prefix="credenda-demo-"))
        try:
            # The worker of the server reads it, unless there is none.
            path = folder / "demo.db"
            settle = not plan.workers
            with (
                as_file(files("credenda") / "data" / "demo_conversation.jsonl") as conversation,
                credenda.Credenda.open(path, user=session.user, workers=False) as memory,
            ):
                memory.data.import_(conversation, format="conversation")
                if settle:
                    memory.settle(_SETTLE_SECONDS)
            _run(str(folder / "demo.db"), session, plan)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
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
            secret = services.access.issue_link(parts.store.secrets, user, parts.clock.now_us())
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
    tokens, reached = address.needs_tokens, address.url or not address.is_loopback
    secret = ' --header "Authorization: Bearer TOKEN"' if tokens else ""
    sent = ' -H "Authorization: Bearer TOKEN"' if tokens else ""
    first = "make a token: credenda token create NAME --user USER" if tokens else f"callers reach the memory of {user}"
    return [
        f"pages for you in a browser: {url}/",
        first,
        *([f"connectors with OAuth, such as claude.ai and ChatGPT: {url}/mcp"] if tokens and reached else []),
        f"Claude Code: claude mcp add --transport http credenda {url}/mcp{secret}",
        f"REST: curl{sent} {url}/v1/stats",
        f"A2A: {url}/.well-known/agent-card.json",
        f"described in {url}/openapi.json; stop with Ctrl-C",
    ]


def _show_log(name: str) -> None:
    """Write a log, whose lines are JSON, to standard error."""
    log = logging.getLogger(name)
    log.addHandler(logging.StreamHandler(sys.stderr))
    log.setLevel(logging.INFO)
    log.propagate = False


# `credenda token`: tokens for callers of `credenda serve`.


_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_USUAL: Final = "memory:read,memory:write"


@make_command(
    "create",
    click.Argument(["name"]),
    click.Option(
        ["--scopes"], default=_USUAL, show_default=True, help=f"What it permits: some of {', '.join(_SCOPES)}."
    ),
    click.Option(
        ["--expires"],
        metavar="WHEN",
        default="365d",
        show_default=True,
        help="A span such as 90d or 12h, a date, or never.",
    ),
    click.Option(["--member"], metavar="USER", default="", help="The member who gets it, of a shared memory."),
    help="Create a token for the memory of --user, and show it; it cannot be shown later.\n\n\b\n"
    "  NAME  What the token is for, such as laptop.",
    short_help="Create a token for a user, and show it once.",
)
def _create(session: Session, name: str, scopes: str, **given: str) -> None:
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with session.open_parts() as parts:
        issued = services.access.issue_token(
            parts, name, scopes=wanted, allowed=_SCOPES, expires=given["expires"], member=given["member"]
        )
        _note_newcomer(parts)
    until = format_time(issued.expires_us)
    scopes, user = ", ".join(issued.scopes), escape_controls(issued.user)
    if not session.json:
        note(f"{scopes} for {user}, {f'until {until}' if until else 'without end'}; shown once:")
    write_either(session, issued, issued.token)


def _note_newcomer(parts: Parts) -> None:
    """Say that nobody has the name of the user yet, which may be a slip."""
    with parts.store.reader(parts.user_id) as reader:
        if not reader.tenant.tag:
            note(f"note: nothing is stored for a user called {escape_controls(parts.user_id)} yet")


@make_command(
    "list",
    help="List the tokens and connected clients without their secrets: of the user of --user or CREDENDA_USER, else"
    " of all users.",
)
def _list(session: Session) -> None:
    with session.open_parts() as parts:
        known = services.access.list_tokens(parts.store.tokens, session.chosen_user)
        now_us = parts.clock.now_us()
    text = "\n".join(_describe(one, now_us) for one in known)
    write_either(session, known, text or "There are no tokens.")


def _describe(token: AccessToken, now_us: int) -> str:
    """Write a token as one line."""
    used = format_time(token.last_used_us)
    if token.revoked_us is not None:
        state = f"revoked {format_time(token.revoked_us)}"
    elif token.expires_us is None:
        state = "without end"
    else:
        state = f"{'until' if token.is_valid_at(now_us) else 'expired'} {format_time(token.expires_us)}"
    parts: Sequence[str] = (
        token.id,
        escape_controls(token.name),
        f"for {escape_controls(token.user)}",
        *([f"used by {escape_controls(token.subject)}"] if token.subject else []),
        *(["connected by OAuth"] if token.client else []),
        ", ".join(token.scopes),
        state,
        f"last used {used}" if used else "never used",
    )
    return "  ".join(parts)


@make_command(
    "revoke",
    click.Argument(["token"]),
    help="Revoke a token, or the access of a connected client; servers refuse it at once."
    "\n\n\b\n  TOKEN  The id of a token, or its name.",
    short_help="Revoke a token.",
)
def _revoke(session: Session, token: str) -> None:
    with session.open_parts() as parts:
        revoked = services.access.revoke_token(parts, token, session.chosen_user)
    write_either(session, revoked, f"Revoked {revoked.id} ({escape_controls(revoked.name)}).")


TOKENS: Final = make_group(
    "token",
    _create,
    _list,
    _revoke,
    help="Create, list and revoke the tokens of callers of `credenda serve`.",
    short_help="Manage the tokens of callers of `serve`.",
)


# `credenda member`, `credenda login-link` and `credenda password`: the people who use a server.


_URL: Final = "http://127.0.0.1:8765"


@make_command(
    "password",
    click.Option(["--remove"], is_flag=True, help="Remove the password; a login link still works."),
    help="Set the password with which --user logs in to the pages of `credenda serve`.\n\n"
    "It is asked for twice, or read from standard input, one line, where that is no terminal.",
    short_help="Set the password for the pages of a server.",
)
def set_password(session: Session, remove: bool) -> None:  # noqa: FBT001 - the name of the option
    """Set or remove a password."""
    with session.open_parts() as parts:
        name, now_us = escape_controls(parts.user_id), parts.clock.now_us()
        if remove:
            services.access.remove_password(parts.store.secrets, parts.user_id, now_us)
            write_output(f"Removed the password of {name}.")
            return
        services.access.set_password(parts.store.secrets, parts.user_id, _read_password(), now_us)
    write_output(f"Set the password of {name}; sessions under way go on.")


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)


def _make_issuer_option() -> click.Option:
    return click.Option(["--issuer"], metavar="URL", default="", help="The external issuer that knows the member.")


@make_command(
    "add",
    click.Argument(["subject"]),
    click.Option(
        ["--role"],
        type=click.Choice([str(one) for one in MemberRole]),
        default=str(MemberRole.READER),
        show_default=True,
        help="What the member may do: read; also write; also review; or everything.",
    ),
    _make_issuer_option(),
    help="Let someone else use the memory of --user, or change the role of a member.\n\n\b\n"
    "  SUBJECT  A user of this server, or with --issuer the subject in the tokens of that issuer.",
    short_help="Let someone else use the memory of a user.",
)
def _add(session: Session, subject: str, role: str, issuer: str) -> None:
    with session.open_parts() as parts:
        member = services.access.add_member(parts, subject, role=role, issuer=issuer)
    name = escape_controls(subject)
    write_either(session, member, f"{name} is now a {member.role} of the memory of {member.user}.")


@make_command(
    "list",
    help="List the members of the memory of --user or CREDENDA_USER, else of all memories.",
)
def _list_members(session: Session) -> None:
    with session.open_parts() as parts:
        members = parts.store.members.list_members(session.chosen_user)
    write_either(session, members, "\n".join(map(_describe_members, members)) or "There are no members.")


def _describe_members(member: Member) -> str:
    """Write a member as one line."""
    name = escape_controls(f"{member.subject} of {member.issuer}" if member.issuer else member.subject)
    state = f"removed {format_time(member.removed_us)}" if member.removed_us is not None else str(member.role)
    return f"{member.id}  {name}  memory of {escape_controls(member.user)}  {state}"


@make_command(
    "remove",
    click.Argument(["subject"]),
    _make_issuer_option(),
    help="Remove a member of the memory of --user; servers refuse the member at once.\n\n\b\n"
    "  SUBJECT  The member, as `credenda member list` shows it.",
    short_help="Remove a member of the memory of a user.",
)
def _remove(session: Session, subject: str, issuer: str) -> None:
    with session.open_parts() as parts:
        member = services.access.remove_member(parts, subject, issuer=issuer)
    write_either(session, member, f"Removed {escape_controls(subject)} from the memory of {member.user}.")


MEMBERS: Final = make_group(
    "member",
    _add,
    _list_members,
    _remove,
    help="Add, list and remove the members of a memory that several people share through `credenda serve`.",
    short_help="Manage the members of a shared memory.",
)


@make_command(
    "login-link",
    click.Option(["--url"], metavar="URL", default=_URL, show_default=True, help="The address of the running server."),
    help="Print a link with which --user logs in to the pages of `credenda serve`: it works once, for ten minutes.",
    short_help="Print a link to log in to a running server.",
)
def issue_login_link(session: Session, url: str) -> None:
    """Print a login link."""
    with session.open_parts() as parts:
        _note_newcomer(parts)
        secret = services.access.issue_link(parts.store.secrets, parts.user_id, parts.clock.now_us())
    link = f"{url.rstrip('/')}/login?code={secret}"
    if not session.json:
        note(f"log in as {escape_controls(parts.user_id)}, once and within ten minutes:")
    write_either(session, {"url": link, "user": parts.user_id}, link)


# `credenda audit`: verify and export the records of calls to `credenda serve`.


_DAMAGED = 7


@make_command(
    "verify",
    click.Option(
        ["--anchor"], metavar="SEQ:HASH", multiple=True, help="A head that an earlier run printed; repeatable."
    ),
    click.Option(["--anchors"], metavar="FILE", help="Anchors of a server. [default: setting audit_anchor_file]"),
    help="Verify that no record of a call was changed, moved or removed.",
    epilog="Keep the head that it prints elsewhere, and give it as --anchor later. Without anchors, a chain that"
    " was made anew from its start looks sound. Exits with 7 when something is wrong.",
)
def _verify(session: Session, anchor: tuple[str, ...], anchors: str | None) -> None:
    with session.open_parts() as parts:
        named = parts.settings.audit_anchor_file if anchors is None else anchors
        kept = server.audit.read_anchors(Path(named)) if named else []
        report = parts.store.audit.verify_audit([*anchor, *kept])
    count = count_noun(report.records, "record")
    write_either(session, report, f"{count}, {report.problem or 'all in order'}.\nHead: {report.head}")
    if not report.ok:
        raise click.exceptions.Exit(_DAMAGED)


@make_command(
    "export",
    click.Option(["--after"], type=click.IntRange(0), default=0, help="Only records after this number."),
    help="Write the records as JSON Lines; a user who was erased has no name.",
)
def _export(session: Session, after: int) -> None:
    with session.open_parts() as parts:
        names = {alias: make_harmless(name) for alias, name in parts.store.audit.read_audit_names().items()}
        for record in parts.store.audit.read_audit(after):
            issuer, _, subject = str(record.fields.get("principal", "")).rpartition(":")
            write_output(
                json.dumps(
                    {
                        "seq": record.seq,
                        "user": names.get(str(record.fields["user"])),
                        "principal": f"{issuer}:{names.get(subject, subject)}" if issuer else None,
                        "actor": names.get(str(record.fields.get("actor", ""))),
                        "record": record.fields,
                        "hash": record.hash,
                    }
                )
            )


AUDIT: Final = make_group(
    "audit",
    _verify,
    _export,
    help="Verify and export the records of calls to `credenda serve`.",
    short_help="Verify and export the records of calls to `serve`.",
)


# `credenda doctor --server`: check a server from outside, as its clients see it.


_TIMEOUT_SECONDS: Final = 10.0
_ANSWER_BYTES: Final = 8 << 20
_CLOCK_SECONDS: Final = 60.0
"""Tokens expire and leases end by the clock: a minute of difference is a fault."""
_UNREAD_SECONDS: Final = 300.0
"""A message that waits longer than this is a sign that nobody reads."""
_GAUGE: Final = re.compile(r"^(credenda_[a-z_]+) ([0-9.e+-]+)$", re.MULTILINE)
_SERVER_ERROR: Final = 500
_ADMIN: Final = "use a token with the scope memory:admin"


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    date: str = ""
    body: bytes = b""
    problem: str = ""
    fix: str = "look at the log of the server"

    def describe(self) -> str:
        """Say how it went, where the page was not shown."""
        return self.problem or f"the answer was {self.status}"

    def explain_refusal(self) -> tuple[str, str]:
        """Return why the page is not shown, and what to do about it."""
        match self.status:
            case 401:
                return "not shown", "give a valid token in CREDENDA_TOKEN"
            case 403:
                return "not shown", _ADMIN
            case _:
                return f"not shown: {self.describe()}", self.fix


@dataclass(frozen=True, slots=True)
class _Site:
    """A server and the token for it; follows no redirection, which could lead the token elsewhere."""

    url: str
    token: str = field(repr=False)

    def get(self, path: str) -> _Answer:
        """Read a page; a server that does not answer has status 0."""
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(str(parts.hostname), parts.port, timeout=_TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            connection.request("GET", f"{parts.path.rstrip('/')}{path}", headers=headers)
            answer = connection.getresponse()
            return _Answer(answer.status, answer.headers.get("date", ""), answer.read(_ANSWER_BYTES))
        except ssl.SSLCertVerificationError as error:
            fix = "if you trust its certificate, give the file of that or of its authority in SSL_CERT_FILE"
            return _Answer(0, problem=f"TLS: {error.verify_message}", fix=fix)
        except ssl.SSLError as error:
            return _Answer(0, problem=f"TLS: {error.reason}", fix="does the address begin with http:// instead?")
        except (OSError, HTTPException) as error:
            return _Answer(0, problem=str(getattr(error, "strerror", None) or type(error).__name__))
        finally:
            connection.close()


def check_server(url: str, clock: Clock | None = None) -> ServerReport:
    """Check whether a server lives, can be used and reads what it is told; the token comes from `CREDENDA_TOKEN`."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise Invalid(f"{url!r} is not the address of a server", fix="give one such as http://127.0.0.1:8765")
    site = _Site(url, read_token())
    life = site.get("/livez")
    told_us = (clock or SystemClock()).now_us()
    checks = [_check_page("livez", life)]
    unread: float | None = None
    if life.status:
        stats, metrics = site.get("/v1/stats"), site.get("/metrics")
        read = _GAUGE.findall(metrics.body.decode("utf-8", "replace"))
        gauges = {name: float(value) for name, value in read}
        told = gauges.get("credenda_oldest_unread_seconds", read_table(stats.body).get("oldest_unread_seconds"))
        unread = float(told) if isinstance(told, int | float) else None
        answer = site.get("/openapi.json")
        found = str(read_table(answer.body).get("info", {}).get("version", ""))
        same = found == __version__
        detail = escape_controls(found[:40]) or "not told"
        checks += [
            _check_unread(unread, stats),
            _check_page("readyz", site.get("/readyz")),
            ServerCheck(check="version", ok=same, detail=detail, fix="" if same else f"this program has {__version__}"),
            _check_token(stats, has_token=bool(site.token)),
            _check_clock(life, told_us),
            _check_probe(metrics, gauges),
        ]
    return ServerReport(
        oldest_unread_seconds=unread,
        ok=all(one.ok is not False for one in checks),
        url=url,
        checks=tuple(checks),
    )


def _check_page(name: str, answer: _Answer) -> ServerCheck:
    if answer.status == 200:  # noqa: PLR2004 - the status
        return ServerCheck(check=name, ok=True, detail="it answers")
    return ServerCheck(check=name, ok=False, detail=answer.describe(), fix=answer.fix)


def _check_unread(unread: float | None, answer: _Answer) -> ServerCheck:
    if unread is None:
        detail, fix = answer.explain_refusal()
        broken = not answer.status or answer.status >= _SERVER_ERROR
        return ServerCheck(check="oldest unread message", ok=False if broken else None, detail=detail, fix=fix)
    fix = "" if unread <= _UNREAD_SECONDS else "is a worker running? see `credenda worker --all-users`"
    return ServerCheck(check="oldest unread message", ok=not fix, detail=format_wait(unread), fix=fix)


def _check_token(answer: _Answer, *, has_token: bool) -> ServerCheck:
    match answer.status:
        case 200:
            return ServerCheck(check="token", ok=True, detail="it is valid" if has_token else "none is needed")
        case 401:
            told = "it is unknown, expired or revoked" if has_token else "the server needs one"
            return ServerCheck(check="token", ok=False, detail=told, fix="give a valid one in CREDENDA_TOKEN")
        case 403:
            return ServerCheck(check="token", ok=False, detail="it may not read", fix="use one with memory:read")
        case _:
            return ServerCheck(check="token", ok=None, detail=answer.describe())


def _check_clock(answer: _Answer, told_us: int) -> ServerCheck:
    try:
        theirs_us = from_datetime(parsedate_to_datetime(answer.date))
    except ValueError:
        return ServerCheck(check="clock", ok=None, detail="the server does not tell its time")
    apart = abs(told_us - theirs_us) / SECOND_US
    ok = apart <= _CLOCK_SECONDS
    return ServerCheck(
        check="clock", ok=ok, detail=f"{apart:.0f} s apart", fix="" if ok else "set both clocks by a time server"
    )


def _check_probe(answer: _Answer, gauges: Mapping[str, float]) -> ServerCheck:
    if answer.status != 200:  # noqa: PLR2004 - the status
        detail, fix = answer.explain_refusal()
        return ServerCheck(check="probe", ok=None, detail=detail, fix=fix)
    if "credenda_probe_success" not in gauges:
        off = gauges.get("credenda_probe_period_seconds") == 0
        detail, fix = ("none runs", "set probe_seconds for the server") if off else ("there was none yet", "")
        return ServerCheck(check="probe", ok=None, detail=detail, fix=fix)
    age, took = gauges.get("credenda_probe_age_seconds", 0.0), gauges.get("credenda_probe_total_seconds", 0.0)
    when = f"{age:.0f} s ago"
    if not gauges["credenda_probe_success"]:
        return ServerCheck(check="probe", ok=False, detail=f"it failed {when}", fix="look at the log of the server")
    return ServerCheck(check="probe", ok=True, detail=f"written, read and found in {took:.2f} s, {when}")


# `credenda erase-again`: after a restore, erase whoever was erased since the backup.


@make_command(
    "erase-again",
    click.Option(
        ["--ledger", "ledgers"],
        metavar="FILE",
        multiple=True,
        help="A file of erasures; may be repeated. [default: setting erasure_ledger_file]",
    ),
    click.Option(
        ["--deletions"],
        metavar="TARGET",
        help="The database that was replaced, or a later state of it: what was erased and deleted there goes"
        " too. It is only read.",
    ),
    click.Option(["--yes"], is_flag=True, help="Do not ask."),
    help="Erase from a restored database the users who were erased since its backup was made, as the ledger of"
    " erasures lists them. Run it before anything serves the database.",
    short_help="After a restore, erase whoever was erased since the backup.",
    epilog="It is safe to repeat. `credenda restore` does this by itself for a backup of a file.",
)
def repeat_erasures(session: Session, ledgers: tuple[str, ...], deletions: str | None, *, yes: bool) -> None:
    """Erase again, after a confirmation."""
    if not ask_consent("Erase from this database whoever was erased since its backup?", sure=yes):
        return
    report = bootstrap.repeat_erasures(session.db, ledgers, deletions=deletions)
    lines = [f"{count_noun(report.erased, 'user')} erased again; the ledgers list {report.listed:,}."]
    if report.deleted:
        lines.append(f"{count_noun(report.deleted, 'row')} of deleted memories and messages deleted again.")
    if report.held:
        lines.append(f"{count_noun(report.held, 'user')} left alone, under a legal hold.")
    write_either(session, report, "\n".join(lines))


# `credenda migrate`: move memories from one database to another.


_CONFLICT = 4


@make_command(
    "migrate",
    click.Option(["--from", "source"], metavar="TARGET", required=True, help="The database to read."),
    click.Option(["--to", "target"], metavar="TARGET", required=True, help="The database to copy it to."),
    help="Copy the memories of all users from one database to another, with their tokens and members, and verify"
    " each copy row by row and by searches. With --user, only those of one user.",
    short_help="Copy memories from one database to another.",
    epilog="Stop servers and workers of both databases first. An interrupted run is repeated: users who are there"
    " already are only verified. The source is only read. Exits with 4 when a user could not be moved.",
)
def migrate(session: Session, source: str, target: str) -> None:
    """Copy, verify, and tell what was copied."""

    def tell(user: str, step: str) -> None:
        note(escape_controls(f"{user}: {step}" if user else step))

    report = bootstrap.migrate_database(source, target, user=session.user, progress=tell)
    screen = open_screen()
    rows, verified = count_noun(sum(report.rows.values()), "row"), report.moved + report.present > 0
    lines = [
        f"{count_noun(report.moved, 'user')} moved, {report.present:,} there already.",
        *([f"Equal: {rows}, and the results of {count_noun(report.searches, 'search')}."] if verified else []),
    ]
    lines += [f"  {table}  {count:,}" for table, count in report.rows.items()]
    beside = [("token", report.tokens), ("member", report.members)]
    lines.append(
        f"Added {' and '.join(count_noun(count, noun) for noun, count in beside)}, and"
        f" {report.erasures:,} from the ledger of erasures."
    )
    lines += [screen.fill(f"Not moved: {one.user}: {one.why}.") for one in report.unmoved]
    lines += [screen.fill(f"Left behind: {text}.") for text in (report.left if verified else ())]
    write_either(session, report, "\n".join(lines))
    if not report.ok:
        raise click.exceptions.Exit(_CONFLICT)

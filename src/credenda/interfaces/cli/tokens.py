"""`credenda token`: tokens for callers of `credenda serve`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

import click

from credenda import services
from credenda.clock import format_time
from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.groups import Commands
from credenda.interfaces.cli.output import note, write_output
from credenda.interfaces.cli.session import Session
from credenda.model.access_token import AccessToken
from credenda.operations.table import Scope

__all__ = ["make_token_command"]

_SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_USUAL: Final = "memory:read,memory:write"


def make_token_command() -> click.Command:
    """Make the group."""
    create = click.Command(
        "create",
        params=[
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
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_create),
        help="Create a token for the memory of --user, and show it; it cannot be shown later.\n\n\b\n"
        "  NAME  What the token is for, such as laptop.",
        short_help="Create a token for a user, and show it once.",
    )
    listed = click.Command(
        "list",
        params=[*make_program_options(hidden=True)],
        callback=click.pass_obj(_list),
        help="List the tokens and connected clients of all users, or of --user, without their secrets.",
    )
    revoke = click.Command(
        "revoke",
        params=[click.Argument(["token"]), *make_program_options(hidden=True)],
        callback=click.pass_obj(_revoke),
        help="Revoke a token, or the access of a connected client; servers refuse it at once."
        "\n\n\b\n  TOKEN  The id of a token, or its name.",
        short_help="Revoke a token.",
    )
    return Commands(
        "token",
        commands=[create, listed, revoke],
        params=make_program_options(hidden=True),
        help="Create, list and revoke the tokens of callers of `credenda serve`.",
        short_help="Manage the tokens of callers of `serve`.",
    )


def _create(session: Session, name: str, scopes: str, **given: str) -> None:
    wanted = [scope.strip() for scope in scopes.split(",") if scope.strip()]
    with session.open_parts() as parts:
        issued = services.tokens.issue_token(
            parts, name, scopes=wanted, allowed=_SCOPES, expires=given["expires"], member=given["member"]
        )
    if session.json:
        write_output(cli.jsonout.dump_json(issued))
        return
    until = format_time(issued.expires_us)
    scopes, user = ", ".join(issued.scopes), cli.layout.escape_controls(issued.user)
    note(f"{scopes} for {user}, {f'until {until}' if until else 'without end'}; shown once:")
    write_output(issued.token)


def _list(session: Session) -> None:
    with session.open_parts() as parts:
        known = services.tokens.list_tokens(parts.store.tokens, session.user)
        now_us = parts.clock.now_us()
    if session.json:
        write_output(cli.jsonout.dump_json(known))
        return
    write_output("\n".join(_describe(one, now_us) for one in known) or "There are no tokens.")


def _describe(token: AccessToken, now_us: int) -> str:
    """Write a token as one line."""
    escape = cli.layout.escape_controls
    used = format_time(token.last_used_us)
    parts: Sequence[str] = (
        token.id,
        escape(token.name),
        f"for {escape(token.user)}",
        *([f"used by {escape(token.subject)}"] if token.subject else []),
        *(["connected by OAuth"] if token.client else []),
        ", ".join(token.scopes),
        _describe_state(token, now_us),
        f"last used {used}" if used else "never used",
    )
    return "  ".join(parts)


def _describe_state(token: AccessToken, now_us: int) -> str:
    if token.revoked_us is not None:
        return f"revoked {format_time(token.revoked_us)}"
    if token.expires_us is None:
        return "without end"
    return f"{'until' if token.is_valid_at(now_us) else 'expired'} {format_time(token.expires_us)}"


def _revoke(session: Session, token: str) -> None:
    with session.open_parts() as parts:
        revoked = services.tokens.revoke_token(parts, token, session.user)
    if session.json:
        write_output(cli.jsonout.dump_json(revoked))
    else:
        write_output(f"Revoked {revoked.id} ({cli.layout.escape_controls(revoked.name)}).")

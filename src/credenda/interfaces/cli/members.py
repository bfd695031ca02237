"""`credenda member`, `credenda login-link` and `credenda password`: the people who use a server."""

from __future__ import annotations

import sys
from typing import Final

import click

from credenda import services
from credenda.clock import format_time
from credenda.interfaces import cli
from credenda.interfaces.cli.commands import make_program_options
from credenda.interfaces.cli.groups import Commands
from credenda.interfaces.cli.output import note, write_output
from credenda.interfaces.cli.session import Session
from credenda.model.member import Member, MemberRole

__all__ = ["make_login_command", "make_member_command", "make_password_command"]

_URL: Final = "http://127.0.0.1:8765"


def make_member_command() -> click.Command:
    """Make the group."""
    add = click.Command(
        "add",
        params=[
            click.Argument(["subject"]),
            click.Option(
                ["--role"],
                type=click.Choice([str(one) for one in MemberRole]),
                default=str(MemberRole.READER),
                show_default=True,
                help="What the member may do: read; also write; also review; or everything.",
            ),
            _make_issuer_option(),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_add),
        help="Let someone else use the memory of --user, or change the role of a member.\n\n\b\n"
        "  SUBJECT  A user of this server, or with --issuer the subject in the tokens of that issuer.",
        short_help="Let someone else use the memory of a user.",
    )
    listed = click.Command(
        "list",
        params=[*make_program_options(hidden=True)],
        callback=click.pass_obj(_list),
        help="List the members of all memories, or of the memory of --user.",
    )
    remove = click.Command(
        "remove",
        params=[
            click.Argument(["subject"]),
            _make_issuer_option(),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_remove),
        help="Remove a member of the memory of --user; servers refuse the member at once.\n\n\b\n"
        "  SUBJECT  The member, as `credenda member list` shows it.",
        short_help="Remove a member of the memory of a user.",
    )
    return Commands(
        "member",
        commands=[add, listed, remove],
        params=make_program_options(hidden=True),
        help="Add, list and remove the members of a memory that several people share through `credenda serve`.",
        short_help="Manage the members of a shared memory.",
    )


def make_login_command() -> click.Command:
    """Make the command that prints a login link."""
    return click.Command(
        "login-link",
        params=[
            click.Option(
                ["--url"], metavar="URL", default=_URL, show_default=True, help="The address of the running server."
            ),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_print_link),
        help="Print a link with which --user logs in to the pages of `credenda serve`: it works once, for ten minutes.",
        short_help="Print a link to log in to a running server.",
    )


def make_password_command() -> click.Command:
    """Make the command that sets a password."""
    return click.Command(
        "password",
        params=[
            click.Option(["--remove"], is_flag=True, help="Remove the password; a login link still works."),
            *make_program_options(hidden=True),
        ],
        callback=click.pass_obj(_set_password),
        help="Set the password with which --user logs in to the pages of `credenda serve`.\n\n"
        "It is asked for twice, or read from standard input, one line, where that is no terminal.",
        short_help="Set the password for the pages of a server.",
    )


def _set_password(session: Session, remove: bool) -> None:  # noqa: FBT001 - the name of the option
    with session.open_parts() as parts:
        name, now_us = cli.layout.escape_controls(parts.user_id), parts.clock.now_us()
        if remove:
            services.passwords.remove_password(parts.store.secrets, parts.user_id, now_us)
            write_output(f"Removed the password of {name}.")
            return
        services.passwords.set_password(parts.store.secrets, parts.user_id, _read_password(), now_us)
    write_output(f"Set the password of {name}; sessions under way go on.")


def _read_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    return click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)


def _make_issuer_option() -> click.Option:
    return click.Option(["--issuer"], metavar="URL", default="", help="The external issuer that knows the member.")


def _add(session: Session, subject: str, role: str, issuer: str) -> None:
    with session.open_parts() as parts:
        member = services.members.add_member(parts, subject, role=role, issuer=issuer)
    name = cli.layout.escape_controls(subject)
    _show(session, member, f"{name} is now a {member.role} of the memory of {member.user}.")


def _list(session: Session) -> None:
    with session.open_parts() as parts:
        members = parts.store.members.list_members(session.user)
    if session.json:
        write_output(cli.jsonout.dump_json(members))
        return
    write_output("\n".join(map(_describe, members)) or "There are no members.")


def _describe(member: Member) -> str:
    """Write a member as one line."""
    escape = cli.layout.escape_controls
    name = escape(f"{member.subject} of {member.issuer}" if member.issuer else member.subject)
    state = f"removed {format_time(member.removed_us)}" if member.removed_us is not None else str(member.role)
    return f"{member.id}  {name}  memory of {escape(member.user)}  {state}"


def _remove(session: Session, subject: str, issuer: str) -> None:
    with session.open_parts() as parts:
        member = services.members.remove_member(parts, subject, issuer=issuer)
    _show(session, member, f"Removed {cli.layout.escape_controls(subject)} from the memory of {member.user}.")


def _show(session: Session, member: Member, text: str) -> None:
    write_output(cli.jsonout.dump_json(member) if session.json else text)


def _print_link(session: Session, url: str) -> None:
    with session.open_parts() as parts:
        secret = services.logins.issue_link(parts.store.secrets, parts.user_id, parts.clock.now_us())
    link = f"{url.rstrip('/')}/login?code={secret}"
    if session.json:
        write_output(cli.jsonout.dump_json({"url": link, "user": parts.user_id}))
        return
    note(f"log in as {cli.layout.escape_controls(parts.user_id)}, once and within ten minutes:")
    write_output(link)

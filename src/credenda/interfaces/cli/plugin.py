"""`credenda plugin`: install, check and remove the plugin for coding agents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from credenda.config import find_data_folder, find_user_folders, get_default_user
from credenda.interfaces import client_setup, plugin
from credenda.interfaces.cli.commands import make_program_options, write_result
from credenda.interfaces.cli.groups import Commands
from credenda.interfaces.cli.output import open_screen, write_output
from credenda.interfaces.cli.render_plugin import render_plugin, render_plugins
from credenda.interfaces.cli.session import Session, name_database
from credenda.interfaces.plugin.contents import HOSTS, Plan, plan_host
from credenda.interfaces.plugin.contents import Commands as Programs

_HOST: Final = f"{{{'|'.join(HOSTS)}}}"


def make_plugin_command() -> click.Command:
    """Make the group of commands."""
    host = click.Argument(["host"], metavar=_HOST)
    options: list[click.Parameter] = [
        host,
        click.Option(
            ["--only"],
            metavar="FOLDER",
            multiple=True,
            type=click.Path(exists=True, file_okay=False, resolve_path=True),
            help="Work in this folder and below alone; may be repeated. [default: everywhere]",
        ),
        click.Option(
            ["--background/--no-background"],
            default=True,
            help="Whether a hook may start a short process that files its messages, if no server runs.",
        ),
        click.Option(["--folder"], metavar="DIR", help="For the host `folder`: where the open plugin folder goes."),
    ]
    commands: list[click.Command] = [
        click.Command(
            "install",
            params=[*options, *make_program_options(hidden=True)],
            callback=click.pass_obj(_install),
            help="Install hooks, tools and skills in a host; files of yours that change are copied first.",
            epilog="--db and --user (or CREDENDA_DB, CREDENDA_USER) are fixed in what is written.",
        ),
        click.Command(
            "status",
            params=[*make_program_options(hidden=True)],
            callback=click.pass_obj(_show_status),
            help="List the hosts in which the plugin is installed, if files are complete, and when hooks last ran.",
        ),
        click.Command(
            "remove",
            params=[host, *make_program_options(hidden=True)],
            callback=click.pass_obj(_remove),
            help="Remove from a host what was installed, and put changed files back as they were.",
        ),
    ]
    return Commands(
        "plugin",
        commands=commands,
        params=make_program_options(hidden=True),
        help="Bring this memory into coding agents by hooks, tools and skills: Claude Code, Codex, Cursor, VS Code,"
        " Gemini CLI, Qwen Code, opencode.",
    )


def _install(session: Session, host: str, *, only: tuple[str, ...], background: bool, folder: str | None) -> None:
    hook = [*(word for one in only for word in ("--only", one)), *([] if background else ["--no-background"])]
    plan = _plan(session, host, tuple(hook), folder)
    _show(session, plugin.manage.install_plugin(plan, find_data_folder()))


def _remove(session: Session, host: str) -> None:
    plan = _plan(session, host, (), None)
    _show(session, plugin.manage.remove_plugin(plan, find_data_folder()))


def _show_status(session: Session) -> None:
    plans = [_plan(session, host, (), None) for host in HOSTS]
    found = plugin.manage.find_status(find_data_folder(), plans)
    if session.json:
        write_result(session, "plugin", found)
    else:
        write_output(render_plugins(open_screen(session.zone), found))


def _show(session: Session, report: plugin.manage.PluginReport) -> None:
    if session.json:
        write_result(session, "plugin", report)
    else:
        write_output(render_plugin(open_screen(session.zone), report))


def _plan(session: Session, host: str, hook: tuple[str, ...], folder: str | None) -> Plan:
    programs = Programs(
        program=client_setup.install.find_program(),
        database=name_database(session.db),
        user=session.user or get_default_user(),
        hook=hook,
        windows=sys.platform == "win32",
    )
    place = Path(folder).expanduser().absolute() if folder else find_data_folder() / "plugin"
    return plan_host(host, programs, find_user_folders(), folder=place)

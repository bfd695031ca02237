"""Long-running commands `mcp` and `worker`, and `install`, which registers the server with a client."""

from __future__ import annotations

import gc
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final, TypeVar, cast

import click

import credenda
from credenda import services, workers
from credenda.config import find_data_folder, find_user_folders, get_default_user, read_target, read_user
from credenda.errors import CredendaError, Invalid, Unavailable, format_install
from credenda.hook_files import find_late_mark, is_recent
from credenda.interfaces import cli, client_setup, hook_engine, plugin
from credenda.interfaces import mcp as mcp_modules
from credenda.interfaces.cli.commands import make_command, make_group, make_toolset_option, write_either, write_result
from credenda.interfaces.cli.output import (
    Session,
    escape_controls,
    name_database,
    note,
    open_screen,
    write_output,
)
from credenda.interfaces.hook.run import begin_to_look
from credenda.interfaces.plugin.contents import HOSTS, NAME, Plan, plan_host
from credenda.interfaces.plugin.contents import Commands as Programs
from credenda.lazy import import_on_use
from credenda.projects import find_project
from credenda.text.recalled_block import count_noun

if TYPE_CHECKING:
    from credenda import Credenda
    from credenda.interfaces import call_worker
    from credenda.interfaces.client_setup.install import Scope
    from credenda.model.report import SyncReport
    from credenda.operations import Toolset
    from credenda.portability.files import folder as page_folder
    from credenda.runtime import Parts
else:
    call_worker = import_on_use("credenda.interfaces.call_worker")
    page_folder = import_on_use("credenda.portability.files.folder")

T = TypeVar("T")
_SETTLE_SECONDS = 600.0
_DUTY_SECONDS = 60.0
"""Seconds between two checks for due tasks."""
_STAY_SECONDS = 600.0
"""Seconds for which a process that a late hook started answers the next ones."""
_IDLE_SECONDS = 0.25
"""Seconds between two looks for users with due jobs."""


@make_command(
    "worker",
    click.Option(["--once"], is_flag=True, help="Process the queue, run the tasks that are due, and exit."),
    click.Option(["--for-hooks"], is_flag=True, hidden=True),
    click.Option(["--all-users"], is_flag=True, help="Work for every user of the database, by turns."),
    help="Process messages and run the scheduled tasks of this memory until stopped (Ctrl-C or TERM).",
    epilog="Several may run at once: one of them leads, and another takes over when the leader is gone. With"
    " --all-users they share the users: each user has a batch of jobs run in turn, and a process to run its"
    " scheduled tasks; background calls and messages that a model reads have slots of their own.",
)
def run_worker(session: Session, *, once: bool, all_users: bool, for_hooks: bool) -> None:
    """Process messages, of one user or of all."""
    if all_users:
        _run_for_all_users(session, once=once)
        return
    with session.open() as memory:
        if once:
            with take_term_as_interrupt():
                _run_once(session, memory, for_hooks=for_hooks)
            return
        memory.start_worker()
        note(f"working for {escape_controls(memory.user)}; stop with Ctrl-C")
        with hook_engine.listener.listen_to_hooks(memory), wait_for_signal() as stopped:
            while not stopped.is_set():
                report = _try_step(lambda: memory.manage.schedule(run=True))
                for run in () if report is None else report.ran:
                    note(f"{run.name}: {'failed: ' if run.failed else ''}{run.result}")
                stopped.wait(_DUTY_SECONDS)


def _run_once(session: Session, memory: Credenda, *, for_hooks: bool) -> None:
    """Process the queue; a process for hooks that were late answers them meanwhile, and for some minutes after."""
    places = hook_engine.listener.find_memory_places(memory)
    begin_to_look(places)
    mark = find_late_mark(places)
    stays = for_hooks and is_recent(mark, _STAY_SECONDS)
    with hook_engine.listener.listen_to_hooks(memory) if stays else nullcontext(lambda: False) as serves:
        hook_engine.listener.file_waiting(memory, places)
        memory.settle(_SETTLE_SECONDS)
        write_result(session, "schedule", memory.manage.schedule(run=True))
        pause = Event()
        while serves() and is_recent(mark, _STAY_SECONDS):
            pause.wait(_IDLE_SECONDS)


def _run_for_all_users(session: Session, *, once: bool) -> None:
    with session.open_parts() as parts:
        tasks: Counter[str] = Counter()

        def run_duties(view: Parts) -> None:
            # Run the scheduled tasks of a user that are due, and return their names.
            ran = services.scheduled_tasks.run_due(view)
            for run in ran:
                note(f"{escape_controls(view.user_id)}: {run.name}: {'failed: ' if run.failed else ''}{run.result}")
            tasks.update([run.name for run in ran])

        lane = workers.tenants.ALL if once else workers.tenants.MESSAGES
        everyone = workers.tenants.AllUsers(parts, duties=run_duties, lane=lane)
        beside = call_worker.run_lanes_beside
        with closing(everyone), wait_for_signal() as stopped, beside(parts, stopped, run_duties, once=once):
            if not once:
                note("working for all users; stop with Ctrl-C")
            while not stopped.is_set():
                if everyone.run_round(stopped) if once else _try_step(lambda: everyone.run_round(stopped)):
                    continue
                if once:
                    everyone.look_after(stopped)
                    break
                stopped.wait(_IDLE_SECONDS)
        done = {"users": everyone.users, "jobs": everyone.jobs, "tasks": tasks.total()}
        if once:
            write_result(session, "worker", done if session.json else _describe_round(done))


def _try_step(step: Callable[[], T]) -> T | None:
    """Run a step of a worker, whom a database that is away for a while does not end; None where it failed."""
    try:
        return step()
    except Unavailable as error:
        note(f"trying again: {escape_controls(str(error))}")
        return None


def _describe_round(done: Mapping[str, int]) -> str:
    """Say how many jobs and scheduled tasks ran."""
    if not done["jobs"] and not done["tasks"]:
        return "Nothing was due."
    jobs = f"{count_noun(done['jobs'], 'job')} of {count_noun(done['users'], 'user')}"
    found = [jobs] if done["jobs"] else []
    found += [count_noun(done["tasks"], "scheduled task")] if done["tasks"] else []
    return f"Ran {' and '.join(found)}."


@contextmanager
def wait_for_signal() -> Generator[Event]:
    """Provide an event that INT and TERM set; restore the previous handlers afterwards."""
    stopped = Event()

    def stop(_number: int, _frame: object) -> None:
        stopped.set()

    before = {name: signal.signal(name, stop) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


@contextmanager
def take_term_as_interrupt() -> Generator[None]:
    """Have TERM interrupt the block as Ctrl-C does, so that leases are handed back; restore the previous handler."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


tools = "The tools to offer: a small set, those beside the hooks of the plugin, every operation with all its"


@make_command(
    "mcp",
    make_toolset_option(f"{tools} inputs and answers, or tools by the names of engram."),
    click.Option(["--here"], is_flag=True, help="Keep to the project of this folder, by its git remote."),
    help="Serve this memory to an MCP client over standard input and output, until it disconnects.",
    epilog="`credenda install --client NAME` registers this server with a client.",
)
def serve_client(session: Session, toolset: str, *, here: bool) -> None:
    """Serve one client over standard input and output."""
    gc.disable()  # while modules are loaded that stay for good: a sixth of the time to start
    try:
        mcp_modules.sdk_lazy.load_late()
    except ModuleNotFoundError as error:
        raise Invalid(
            "credenda mcp cannot start",
            why=f"the package {error.name} is not installed",
            fix=format_install("mcp"),
        ) from error
    finally:
        gc.freeze()
        gc.enable()

    def open_memory() -> Credenda:
        return credenda.Credenda.open(session.db, user=session.user, workers=False, read_only=session.read_only)

    mcp_modules.stdio.serve(
        open_memory,
        toolset=cast("Toolset", toolset),
        read_only=session.read_only,
        project=find_project(str(Path.cwd())) if here else None,
    )


@make_command(
    "install",
    click.Option(
        ["--client"],
        type=click.Choice(client_setup.install.CLIENTS),
        required=True,
        help="The client whose file is changed.",
    ),
    click.Option(
        ["--scope"],
        type=click.Choice(["user", "project"]),
        default="user",
        show_default=True,
        help="For all your projects, or for the project in this folder.",
    ),
    click.Option(["--name"], default="credenda", show_default=True, help="The server's name in the client."),
    make_toolset_option("The tools it offers."),
    click.Option(["--print", "only_print"], is_flag=True, help="Only print the lines to add."),
    help="Add this server to an MCP client's configuration file; a backup of the file is made first.",
    epilog="--db, --user (or CREDENDA_DB, CREDENDA_USER) and --read-only are passed on where they are given.",
)
def install_client(session: Session, /, *, client: str, scope: str, name: str, toolset: str, only_print: bool) -> None:
    """Add the server to a client's file."""
    if not only_print:
        # Otherwise the client would only say that it does not start. The entry names this very interpreter,
        # so that what is found here is found there.
        if not _is_startable():
            fix = format_install("mcp", python=sys.executable)
            raise Invalid("the server could not start", why=f"{_MISSING} {sys.executable}", fix=fix)
        # Where the plugin has brought the tools, of two servers each would answer differently.
        if name == NAME and client in {*HOSTS, "copilot"}:
            plan = _plan(session, client, (), None)
            if plan.host in plugin.manage.load_record(find_data_folder(), [plan.record]):
                raise Invalid(
                    f"the plugin in {client} has these tools already",
                    why="a second server would answer beside it or take its place",
                    fix=f"run `credenda plugin remove {client}` before, or give the server another --name",
                )
    place = client_setup.install.find_place(client, cast("Scope", scope), find_user_folders(), Path.cwd())
    entry = client_setup.install.make_entry(
        place, [*_repeat_options(session), "mcp", *(("--toolset", toolset) if toolset != "default" else ())]
    )
    if only_print:
        write_output(client_setup.install.write_lines(place, name, entry))
        return
    write_result(session, "install", client_setup.install.install(place, name, entry))


_MISSING: Final = "the package mcp is not installed for"


def _is_startable() -> bool:
    return find_spec("mcp") is not None


def _repeat_options(session: Session) -> Iterator[str]:
    """Yield the database and the user that hold here, from options or from the environment.

    A client starts the server in a folder of its choice and with an environment of its own.
    """
    db, user = session.db or read_target(), session.user or read_user()
    if db is not None:
        yield from ("--db", name_database(db))
    if user is not None:
        yield from ("--user", user)
    if session.read_only:
        yield "--read-only"


# `credenda plugin`: install, check and remove the plugin for coding agents.


_HOST: Final = f"{{{'|'.join(HOSTS)}}}"


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


@make_command(
    "install",
    *options,
    help="Install hooks, tools and skills in a host; files of yours that change are copied first.",
    epilog="--db and --user (or CREDENDA_DB, CREDENDA_USER) are fixed in what is written.",
)
def _install_plugin(
    session: Session, host: str, *, only: tuple[str, ...], background: bool, folder: str | None
) -> None:
    hook = [*(word for one in only for word in ("--only", one)), *([] if background else ["--no-background"])]
    data = find_data_folder()
    made = plugin.manage.list_missing(data)  # before the place of the database is looked for, which makes it
    plan = _plan(session, host, tuple(hook), folder)
    _show(session, plugin.manage.install_plugin(plan, data, made=made))
    if not _is_startable():  # hooks need nothing more
        fix = format_install("mcp", python=sys.executable)
        note(f"hooks work, but no tool does: {_MISSING} {sys.executable}; {fix}")
    if plan.host == "claude-code":  # whose plugin folder has the server, beside the user's file
        place = client_setup.install.find_place(plan.host, "user", find_user_folders(), Path.cwd())
        with suppress(Invalid, Unavailable):  # a file of theirs that cannot be read
            if client_setup.install.find_installed(place, NAME) is not None:
                note(f"{place.path} has the same tools a second time: `claude mcp remove {NAME}` takes them out")


@make_command(
    "remove",
    host,
    help="Remove from a host what was installed, and put changed files back as they were.",
)
def _remove(session: Session, host: str) -> None:
    plan = _plan(session, host, (), None)
    _show(session, plugin.manage.remove_plugin(plan, find_data_folder()))


@make_command(
    "status",
    help="List the hosts in which the plugin is installed, if files are complete, and when hooks last ran.",
)
def _show_status(session: Session) -> None:
    plans = [_plan(session, host, (), None) for host in HOSTS]
    found = plugin.manage.find_status(find_data_folder(), plans)
    write_either(session, found, cli.render.render_plugins(open_screen(session.zone), found))


PLUGINS: Final = make_group(
    "plugin",
    _install_plugin,
    _show_status,
    _remove,
    help="Bring this memory into coding agents by hooks, tools and skills: Claude Code, Codex, Cursor, VS Code,"
    " Gemini CLI, Qwen Code, opencode.",
)


def _show(session: Session, report: plugin.manage.PluginReport) -> None:
    write_either(session, report, cli.render.render_plugin(open_screen(session.zone), report))


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


# `files sync --watch`: poll for changes, and synchronise once they have settled.


_LOOK_SECONDS: Final = 1.0


def keep_watch(
    session: Session, memory: Credenda, again: Callable[[], SyncReport], *, report: SyncReport
) -> SyncReport:
    """Synchronise whenever pages or the memory changed, until INT or TERM; return the last report."""
    root = Path(report.path)
    rest = page_folder.Rest()
    trouble = ""
    memory.start_worker()
    if not session.json:
        write_result(session, "files", report)
    note(f"watching {escape_controls(report.path)}; stop with Ctrl-C")
    with wait_for_signal() as stopped:
        while not stopped.wait(_LOOK_SECONDS):
            stats = memory.stats()
            seen = (
                page_folder.compute_signature(root),
                stats.events,
                stats.changes,
                stats.redacted_events,
                stats.tombstones,
            )  # before the sync, so that an edit made during it is seen
            if not rest.ready(seen):
                continue
            try:
                report = again()
            except CredendaError as error:
                # Print a problem once, however often it recurs.
                now = f"not synchronised: {escape_controls(str(error))}"
                if now != trouble:
                    note(now)
                trouble = now
                continue
            trouble = ""
            rest.handled(seen)
            if report.changed and not session.json:
                write_result(session, "files", report)
    return report

"""The open database of a server: a memory for each user who calls, and one worker for all of them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final

from credenda import limits, services, workers
from credenda.bootstrap import PROBE_USER, build_user_parts
from credenda.client import Credenda
from credenda.clock import Clock
from credenda.errors import CredendaError, Forbidden
from credenda.interfaces.authorization import SCOPES, get_principal
from credenda.interfaces.call_worker import LaneWorker, start_lanes
from credenda.interfaces.server.audit import Anchors, AuditLog
from credenda.interfaces.server.credentials import LastCalls
from credenda.interfaces.server.metrics import Probe, ProbeResult
from credenda.model.change import ChangeKind
from credenda.model.report import BackupReport
from credenda.model.server import AccessToken, IssuedToken
from credenda.paths import find_obstacle, make_file_error
from credenda.runtime import ActiveCalls, Parts
from credenda.services.jobs import WorkerInfo, list_workers
from credenda.session_pool import SessionPool
from credenda.storage.sql.server_rows import AgentTaskStore
from credenda.storage.store import ChangeFilter

_USERS_LOOKED_AT: Final = 3


@dataclass(frozen=True, slots=True)
class StoreMark:
    """A moment in the history of one user's memory."""

    tag: str
    change: int


class Memories:
    """Lends each caller the memory of the caller's tenant; works on what they store in a thread of its own.

    Takes over `parts`, and releases them when it is closed. All methods may be called from any thread.
    """

    def __init__(self, parts: Parts, *, work: bool = True) -> None:
        """Open nothing yet but the worker, which `work=False` or a read-only database leaves out."""
        self.last_calls = LastCalls()
        self._parts = parts
        self._jobs_ready = Event()
        self._stop = Event()
        self._audit: AuditLog | None = None
        self._probe: Probe | None = None
        self._pool = SessionPool(
            self._open, sessions_max=parts.settings.open_memories, wait_seconds=limits.HTTP_MEMORY_WAIT_SECONDS
        )
        self._lanes: list[LaneWorker] = []
        if work and not parts.read_only:
            lane = workers.tenants.MESSAGES
            everyone = workers.tenants.AllUsers(self._parts, duties=str, lane=lane)
            reader = LaneWorker(
                everyone,
                lambda all_users: all_users.run_round(self._stop),
                self._stop,
                "credenda-work",
                ready=self._jobs_ready,
                warm=getattr(self._parts.extractor, "warm", None),
            )
            reader.start()
            self._lanes = [reader, *start_lanes(parts, self._stop, services.scheduled_tasks.run_due)]

    @contextmanager
    def lend(self) -> Generator[Credenda]:
        """Lend the memory of the current principal's tenant for the length of a call, which counts as active."""
        with self._pool.lend(get_principal().tenant) as memory, self.active_calls.take_part():
            yield memory

    @property
    def clock(self) -> Clock:
        """The source of time."""
        return self._parts.clock

    @property
    def active_calls(self) -> ActiveCalls:
        """The calls in progress, to which the worker yields."""
        return self._parts.active_calls

    def list_tokens(self) -> list[AccessToken]:
        """Return the tokens and connected clients of the current principal's memory, the oldest first."""
        return services.access.list_tokens(self._parts.store.tokens, get_principal().tenant)

    def issue_token(self, name: str, scopes: Sequence[str], expires: str) -> IssuedToken:
        """Issue a token for the current principal's memory, with none but scopes that the principal has."""
        principal = get_principal()
        with self._lend_parts() as parts:
            return services.access.issue_token(
                parts, name, scopes=scopes, allowed=sorted(principal.scopes), expires=expires
            )

    def revoke_token(self, token_id: str) -> AccessToken:
        """Revoke a token, or end a connection, of the current principal's memory; raises `NotFound`."""
        with self._lend_parts() as parts:
            return services.access.revoke_token(parts, token_id, parts.user_id)

    @contextmanager
    def _lend_parts(self) -> Generator[Parts]:
        parts = self._parts.for_user(get_principal().tenant)
        try:
            yield parts
        finally:
            parts.release()

    def wake_caller(self) -> None:
        """Look for calls in the background now, if this process runs any."""
        for lane in self._lanes:
            lane.wake()

    @property
    def agent_tasks(self) -> AgentTaskStore:
        """The tasks of other agents, of all tenants."""
        return self._parts.store.agent_tasks

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._parts.read_only

    def open_audit(self) -> AuditLog:
        """Open the audit log, which is closed after the last call."""
        named = self._parts.settings.audit_anchor_file
        anchors = Anchors(Path(named) if named else None)
        self._audit = AuditLog(self._parts.store.audit, self._parts.clock, anchors)
        return self._audit

    def start_probe(self) -> None:
        """Begin to probe the store, as often as the setting says; a database that is only read is not probed."""
        period_seconds = self._parts.settings.probe_seconds
        if period_seconds and not self._parts.read_only:
            self._probe = Probe(self._parts, self._jobs_ready, period_seconds)
            self._probe.start()

    def list_gauges(self) -> dict[str, tuple[str, float]]:
        """Return the metrics of the store, whether it can be read first; reads the database."""
        found: dict[str, tuple[str, float]] = {
            "credenda_ready": ("Whether the database can be read and the worker runs.", float(not self.check())),
            "credenda_memories_open": ("Memories of users that are open.", self._pool.counts().open),
        }
        with suppress(CredendaError):  # a store that is away must not hide the other figures
            found["credenda_oldest_unread_seconds"] = (
                "How long the oldest message has waited to be read.",
                services.settle.measure_oldest_unread(self._parts),
            )
        if self._audit is not None:
            about = "Calls whose audit record is not written yet."
            found["credenda_audit_waiting"] = (about, self._audit.waiting)
        period_seconds = 0.0 if self._probe is None else self._probe.period_seconds
        found["credenda_probe_period_seconds"] = ("Time between two probes; 0 if none run.", period_seconds)
        return found if self._probe is None else {**found, **self._probe.list_gauges()}

    def describe_probe(self) -> ProbeResult | None:
        """Return the last probe of the store; None before the first, and where none runs."""
        return None if self._probe is None else self._probe.last

    def list_workers(self) -> list[WorkerInfo]:
        """Return the processes that work on the current principal's memory, of this server and of others."""
        with self._lend_parts() as parts:
            return list_workers(parts)

    def may_back_up(self) -> bool:
        """Return whether the current principal may have a copy of the whole database.

        It must be a file that has no other user, and the principal must have every scope.
        """
        principal = get_principal()
        if not self.is_file() or principal.scopes < frozenset(SCOPES):
            return False
        users = self._parts.store.users(limit=_USERS_LOOKED_AT)
        return {one for one in users if one != PROBE_USER} <= {principal.tenant}

    def back_up(self, path: Path) -> BackupReport:
        """Copy the whole database to a file while others use it; raises `Forbidden` for who may not have it."""
        if not self.may_back_up():
            raise Forbidden(
                "you may not have the whole database",
                why="it has other users, or the login lacks a scope",
                fix="run `credenda backup FILE` on the server's machine, or export this memory",
            )
        with self.lend() as memory:
            return memory.data.backup(path)

    def is_file(self) -> bool:
        """Return whether the database is a file, which can be copied."""
        return self._parts.store.describe_backend()["name"] == "SQLite" and Path(self._parts.store_name).is_file()

    def measure_disk(self) -> int | None:
        """Return the bytes of the database, which all users share: those a server tells, or of a file with its log.

        None where neither is known.
        """
        told = self._parts.store.describe_backend().get("bytes")
        if told is not None:
            return int(told)
        path = Path(self._parts.store_name)
        files = [one for one in (path, path.with_name(f"{path.name}-wal")) if one.is_file()]
        return sum(one.stat().st_size for one in files) if files else None

    def is_working(self) -> bool:
        """Return whether this server reads messages itself; otherwise another process has to."""
        return bool(self._lanes)

    def check(self) -> str:
        """Return "" if requests can be served, else the reason; reads the database."""
        if not all(one.is_alive() for one in self._lanes):
            return "the worker has stopped"
        try:
            self._parts.store.users(limit=1)
        except CredendaError as error:
            return error.what
        return ""

    def find_trouble(self) -> str:
        """Return "" if requests can be served and messages stored, else the reason."""
        obstacle = find_obstacle(self._parts.store_name) if self.is_file() else None
        return self.check() or ("" if obstacle is None else make_file_error("the database", obstacle).why)

    def mark(self, user: str) -> StoreMark:
        """Return the present moment in the history of a user's memory."""
        with self._parts.store.reader(user) as reader:
            return StoreMark(reader.tenant.tag, reader.duties.heads.change)

    def has_deleted_since(self, user: str, mark: StoreMark) -> bool:
        """Return whether anything of a user was deleted after a moment, by any process, or may have been."""
        deletions = ChangeFilter(kinds=frozenset({ChangeKind.DELETE}), after=mark.change, limit=1)
        with self._parts.store.reader(user) as reader:
            known = reader.tenant.tag == mark.tag or not mark.tag
            return not known or reader.duties.heads.change < mark.change or bool(reader.changes(deletions))

    def close(self) -> None:
        """Stop the worker after its current job, and close everything; closing twice does nothing."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._jobs_ready.set()
        for lane in self._lanes:
            lane.wake()
            lane.join()
        if self._probe is not None:
            self._probe.close()
        self._pool.close()
        if self._audit is not None:
            self._audit.close()
        self._parts.release()

    def _open(self, user: str) -> Credenda:
        parts = build_user_parts(self._parts, user)
        return Credenda(
            replace(parts, jobs_ready=self._jobs_ready, llm_jobs_ready=self._jobs_ready),
            workers=False,
        )

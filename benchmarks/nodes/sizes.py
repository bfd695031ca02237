"""The needs of one user, a worker and the scheduler beside more and more users, and where that leads to a limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from benchmarks.nodes.copies import copy_user
from benchmarks.nodes.process import read_processor_seconds
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.lazy import import_on_use
from credenda.runtime import Parts
from credenda.services.scheduled_tasks import list_cadences, run_due, run_duties
from credenda.workers.handlers import apply_policies

if TYPE_CHECKING:
    from collections.abc import Generator

    import psycopg
else:
    psycopg = import_on_use("psycopg")

FIGURES: Final = ("ack", "search", "due", "page", "tasks", "decay", "passed")
"""Acts that are measured: an acknowledgement, a search, a look for users with due jobs, a page of 64 users, all
scheduled tasks of a user, the hourly one of them, and the look at a user of whom no task is due."""
_REPEATS: Final = 100
_SECONDS: Final = 10.0
_USERS_OF_TASKS: Final = 20
_PAGE: Final = 64
_LOOKS_A_SECOND: Final = 4
_DAY_MS: Final = 86_400_000
_CONNECTIONS: Final = 24
TAGS: Final = 16**5 * 10
"""The ids of a user end with a tag of five hex characters and a digit, which no other user has."""
_BACKENDS: Final = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_WORDS: Final = ("I live in Graz.", "I work at Siemens.", "My dog is called Rex.", "I like green tea.")
_OTHER: Final = "template"

Note = Callable[[str], None]


class _Server:
    """The database server: its size, and the processor time of its processes where they run on this machine."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.is_postgres = urlsplit(target).scheme.startswith("postgres")

    def ask(self, statement: str) -> list[Any]:
        """Return the first column of the rows that a statement gives; nothing for SQLite."""
        if not self.is_postgres:
            return []
        with psycopg.connect(self.target, autocommit=True) as connection:
            return [row[0] for row in connection.execute(statement.encode())]

    def count_bytes(self) -> int:
        if self.is_postgres:
            return int(self.ask("SELECT pg_database_size(current_database())")[0])
        path = Path(self.target.removeprefix("sqlite:///"))
        return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))

    @contextmanager
    def measuring(self, used: dict[str, float]) -> Generator[None]:
        """Add the processor time that the block takes here, and in the server, in ms."""
        before, own = self._read_used(), process_time()
        yield
        used["client"] = (process_time() - own) * 1_000
        used["server"] = sum(ms - before.get(pid, 0) for pid, ms in self._read_used().items())

    def _read_used(self) -> dict[int, float]:
        return {pid: read_processor_seconds(pid) * 1_000 for pid in self.ask(_BACKENDS)}


def measure_sizes(target: str, sizes: Sequence[int], note: Note) -> list[dict[str, Any]]:
    """Measure beside more and more other users; on Postgres those are copies, of whom every hundredth has due jobs."""
    rows: list[dict[str, Any]] = []
    server = _Server(target)
    parts = build_parts(target, user="measured", embedder="none", llm="none")
    try:
        with Credenda(parts.for_user("measured"), workers=False) as memory:
            memory.remember([{"role": "user", "content": text} for text in _WORDS])
            memory.settle()
            _serve(parts, _OTHER)
            before, made = server.count_bytes(), 0
            for total in sizes:
                _add_users(parts, server, range(made + 1, total + 1), note)
                made = total
                size = {
                    "bytes_a_user": round((server.count_bytes() - before) / total),
                    "connections_max": int((server.ask("SHOW max_connections") or [0])[0]),
                }
                rows.append({"users": total, **_measure(parts, memory, server, total), **size})
                note(f"beside {total:,} users: {rows[-1]}")
    finally:
        parts.release()
    return rows


def _serve(parts: Parts, user: str) -> None:
    with Credenda(parts.for_user(user), workers=False) as memory:
        memory.remember("I live in Graz.")
        memory.settle()


def _add_users(parts: Parts, server: _Server, numbers: range, note: Note) -> None:
    if server.is_postgres:
        copy_user(server.target, _OTHER, numbers, note)
        return
    for number in numbers:
        _serve(parts, f"copy {number}")


def _measure(parts: Parts, memory: Credenda, server: _Server, users: int) -> dict[str, float]:
    store = parts.store
    found = {
        "ack": _time(server, lambda: memory.remember("I like tea.")),
        "search": _time(server, lambda: memory.search("Where do I live?")),
        "due": _time(server, lambda: store.users_with_due_jobs(parts.clock.now_us(), limit=_PAGE)),
        "page": _time(server, lambda: store.users(after="copy 5", limit=_PAGE)),
    }
    names = [f"copy {users - place}" for place in range(min(users, _USERS_OF_TASKS))]
    found["tasks"] = _run_tasks(parts, server, names, tuple(task.name for task in list_cadences(parts)))
    found["decay"] = _run_tasks(parts, server, names, ("decay",))
    found["passed"] = _run_tasks(parts, server, names, ())
    return {f"{act}_{what}": figure for act, figures in found.items() for what, figure in figures.items()}


def _run_tasks(parts: Parts, server: _Server, users: Sequence[str], names: tuple[str, ...]) -> dict[str, float]:
    """Look after some users as a worker does, with the named tasks or those that are due."""
    left = iter(users)

    def look_after() -> None:
        view = parts.for_user(next(left))
        try:
            apply_policies(view, batches_max=1)
            if names:
                run_duties(view, names)
            else:
                run_due(view)
        finally:
            view.release()

    return _time(server, look_after, len(users), warm=0, limit_seconds=inf)


def _time(
    server: _Server,
    act: Callable[[], object],
    repeats: int = _REPEATS,
    *,
    warm: int = 5,
    limit_seconds: float = _SECONDS,
) -> dict[str, float]:
    """Repeat an act; return the median of its time, and the mean of the processor time here and in the server."""
    times, used, until = list[float](), dict[str, float](), seconds() + limit_seconds
    for _ in range(warm):
        act()
    with server.measuring(used):
        while len(times) < repeats and seconds() < until:
            started = seconds()
            act()
            times.append(seconds() - started)
    count = max(1, len(times))
    return {
        "ms": round(median(times or [0]) * 1_000, 3),
        **{name: round(ms / count, 3) for name, ms in used.items()},
    }


def list_limits(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the limits that follow from the figures beside a number of users, each with its arithmetic."""
    users, server = row["users"], {act: max(row[f"{act}_server"], 0.001) for act in FIGURES}
    both = {act: max(row[f"{act}_client"] + row[f"{act}_server"], 0.001) for act in FIGURES}
    limits = [
        ("users of a database", f"16⁵ × 10 tags of users, of which {users:,} are taken", TAGS),
        (
            "users whose tasks one worker runs in a day",
            f"86,400,000 ms / ({both['tasks']:g} + 23 × {both['decay']:g} ms)",
            _DAY_MS / (both["tasks"] + 23 * both["decay"]),
        ),
        (
            "seconds in which one worker passes all users",
            f"{users:,} × {both['passed']:g} ms",
            users * both["passed"] / 1_000,
        ),
        (
            "idle workers that take a core of Postgres",
            f"1,000 ms / ({_LOOKS_A_SECOND} × {server['due']:g} ms)",
            1_000 / _LOOKS_A_SECOND / server["due"],
        ),
        ("acknowledgements a second of a core of Postgres", f"1,000 ms / {server['ack']:g} ms", 1_000 / server["ack"]),
        ("searches a second of a core of Postgres", f"1,000 ms / {server['search']:g} ms", 1_000 / server["search"]),
        ("users on a terabyte", f"10¹² / {row['bytes_a_user']:,} bytes", 1e12 / max(row["bytes_a_user"], 1)),
        (
            "processes that Postgres has connections for",
            f"{row['connections_max']:,} / {_CONNECTIONS}",
            row["connections_max"] / _CONNECTIONS,
        ),
    ]
    return [{"limit": name, "arithmetic": how, "value": round(value, 1)} for name, how, value in limits]

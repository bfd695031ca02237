"""One process of the scale benchmark: it stores messages, works off the queue or runs tasks, and says how much.

Started as `python -m benchmarks.nodes.measure PLAN`. It writes `ready`, waits for a line on its standard input,
works, and writes its figures as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from threading import Event, Thread
from time import process_time
from typing import Any, Final

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.runtime import Parts
from credenda.services.scheduled_tasks import run_due, take_users
from credenda.workers.tenants import AllUsers

_IDLE_SECONDS: Final = 0.02
_IDLE_ROUNDS: Final = 10
"""A worker ends after so many looks at an empty queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The task of a process: `role` is ack, work or tasks; of the last, all processes have the same name."""

    target: str
    role: str
    name: str
    users: int
    run_seconds: float = 0.0
    threads: int = 4
    first_user: int = 0
    """Number of the user for whom the first thread stores messages: units of one user are serial in all processes."""
    embedder: str = "none"


def write_plan(plan: Plan) -> str:
    """Write a plan as the argument of this program."""
    return json.dumps(asdict(plan))


def name_user(number: int) -> str:
    """Return the name of a user of the benchmark."""
    return f"user {number}"


def _store_messages(parts: Parts, plan: Plan) -> dict[str, Any]:
    """Store one message after the other in several threads, each for another user; return the times of all."""
    until = seconds() + plan.run_seconds
    times: list[list[float]] = [[] for _ in range(plan.threads)]

    def store(number: int) -> None:
        with Credenda(parts.for_user(name_user((plan.first_user + number) % plan.users)), workers=False) as memory:
            while (started := seconds()) < until or not times[number]:
                memory.remember(f"Remember that I love {plan.name}t{number}n{len(times[number])}.")
                times[number].append(seconds() - started)

    threads = [Thread(target=store, args=(number,)) for number in range(plan.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"acks": sum(map(len, times)), "times": sorted(time for one in times for time in one)}


def _run_jobs(parts: Parts) -> dict[str, Any]:
    """Run jobs until the queue stays empty."""
    pause, idle, last = Event(), 0, seconds()
    with closing(AllUsers(parts, duties=str)) as worker:
        while idle < _IDLE_ROUNDS:
            if worker.run_round():
                idle, last = 0, seconds()
            else:
                idle += 1
                pause.wait(_IDLE_SECONDS)
        return {"jobs": worker.jobs, "until": last}


def _run_tasks(parts: Parts, plan: Plan) -> dict[str, Any]:
    """Run the tasks that are due, in a pass over all users that is shared with the other processes."""
    done: list[int] = []
    view = parts.for_user(plan.name)
    with closing(
        AllUsers(parts, duties=lambda one: done.append(len(run_due(one))), claim=partial(take_users, view))
    ) as worker:
        worker.look_after()
    view.release()
    return {"jobs": sum(done)}


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(arguments: Sequence[str]) -> None:
    """Run a plan."""
    plan = Plan(**json.loads(arguments[0]))
    parts = build_parts(plan.target, user=name_user(0), embedder=plan.embedder, llm="none")
    try:
        warm = getattr(parts.extractor, "warm", None)
        if callable(warm):
            warm()
        _tell("ready")
        sys.stdin.readline()
        started, used = seconds(), process_time()
        if plan.role == "ack":
            done = _store_messages(parts, plan)
        else:
            done = _run_jobs(parts) if plan.role == "work" else _run_tasks(parts, plan)
        used = process_time() - used
        _tell(json.dumps({**done, "seconds": done.get("until", seconds()) - started, "cpu_seconds": used}))
    finally:
        parts.release()


if __name__ == "__main__":
    run(sys.argv[1:])

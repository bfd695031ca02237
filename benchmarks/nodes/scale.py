"""`credenda bench scale`: acknowledgements, jobs and tasks by number of processes, and one user beside many others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks import make_environment
from benchmarks.nodes.measure import Plan, name_user, write_plan
from benchmarks.nodes.sizes import FIGURES, list_limits, measure_sizes
from benchmarks.stats import fit_exponent
from credenda import Credenda
from credenda.bootstrap import build_parts

_USERS_OF_TASKS: Final = 64
_PLACES: Final = ("Linz", "Graz", "Wels", "Vienna", "Bregenz")
Note = Callable[[str], None]


def run_scale(
    target: str,
    *,
    processes: Sequence[int],
    users: int,
    messages: int,
    run_seconds: float,
    tenants: Sequence[int],
    note: Note,
) -> dict[str, Any]:
    """Measure a database, which should be empty; return a JSON document.

    `messages` are queued for the workers, spread over `users`; `tenants` are the numbers of users beside which one user
    is measured.
    """
    document: dict[str, Any] = {"target": urlsplit(target).scheme or "sqlite"}
    document |= {name: list[dict[str, Any]]() for name in ("acks", "jobs", "tasks", "tenants")}
    for count in processes:
        _queue(target, users, messages, f"r{count}")
        document["jobs"].append(_measure_work([Plan(target=target, role="work", name="w", users=users)] * count))
        note(f"{count} workers: {document['jobs'][-1]['a_second']:.0f} jobs a second")
    for count in processes:
        _serve(target, f"served {count}")
        plan = Plan(target=target, role="tasks", name=f"pass {count}", users=0)
        document["tasks"].append(_measure_work([plan] * count))
        note(f"{count} workers: {document['tasks'][-1]['a_second']:.0f} scheduled tasks a second")
    for count in processes:
        document["acks"].append(_measure_acks(target, count, users, run_seconds))
        note(f"{count} servers: {document['acks'][-1]['a_second']:.0f} acknowledgements a second")
    for rows in (document["acks"], document["jobs"], document["tasks"]):
        for row in rows:
            row["ratio"] = round(row["a_second"] / rows[0]["a_second"], 2)
    document["tenants"] = measure_sizes(target, tenants, note)
    document["growth"] = {
        act: fit_exponent([(row["users"], row[f"{act}_client"] + row[f"{act}_server"]) for row in document["tenants"]])
        for act in FIGURES
    }
    document["limits"] = list_limits(document["tenants"][-1])
    return document


def _run(plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """Start processes, let all begin at once, and return their figures."""
    started = [
        subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "benchmarks.nodes.measure", write_plan(plan)],
            env=make_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for plan in plans
    ]
    for process in started:
        assert process.stdout is not None  # noqa: S101 - PIPE was asked for
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None  # noqa: S101 - as above
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate()[0].splitlines()[-1]) for process in started]


def _measure_acks(target: str, count: int, users: int, run_seconds: float) -> dict[str, Any]:
    plans = [
        Plan(
            target=target,
            role="ack",
            name=f"p{count}x{number}",
            users=users,
            run_seconds=run_seconds,
            first_user=number * users // count,
        )
        for number in range(count)
    ]
    found = _run(plans)
    times = sorted(time for one in found for time in one["times"])
    rate = sum(one["acks"] / one["seconds"] for one in found)
    return {
        "processes": count,
        "a_second": round(rate, 1),
        "cpu_ms": _average_cpu(found, len(times)),
        "median_ms": round(median(times) * 1_000, 2),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1_000, 2),
    }


def _queue(target: str, users: int, messages: int, name: str) -> None:
    """Queue messages, each with a fact of its own."""
    parts = build_parts(target, user=name_user(0), embedder="none", llm="none")
    try:
        for number in range(users):
            with Credenda(parts.for_user(name_user(number)), workers=False) as memory:
                for at in range(messages // users):
                    memory.remember(f"My colleague {name.title()}x{at} lives in {_PLACES[at % len(_PLACES)]}.")
    finally:
        parts.release()


def _serve(target: str, name: str) -> None:
    """Let users say something and be served, so that all their tasks are due."""
    parts = build_parts(target, user=name_user(0), embedder="none", llm="none")
    try:
        for number in range(_USERS_OF_TASKS):
            with Credenda(parts.for_user(f"{name} {number}"), workers=False) as memory:
                memory.remember("I live in Graz.")
                memory.settle()
    finally:
        parts.release()


def _measure_work(plans: Sequence[Plan]) -> dict[str, Any]:
    """Return what all processes did in the time of the longest."""
    found = _run(plans)
    jobs, longest = sum(one["jobs"] for one in found), max(one["seconds"] for one in found)
    return {
        "processes": len(plans),
        "jobs": jobs,
        "a_second": round(jobs / longest, 1),
        "cpu_ms": _average_cpu(found, jobs),
        "seconds": round(longest, 2),
    }


def _average_cpu(found: Sequence[dict[str, Any]], done: int) -> float:
    """Return the processor time of all processes for one act, in ms: unlike a rate it hardly depends on other work."""
    return round(sum(one["cpu_seconds"] for one in found) / max(1, done) * 1_000, 2)

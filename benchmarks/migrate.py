"""A large store moved to Postgres and back, killed on both ways: `python -m benchmarks migrate --db TARGET`.

The store is filled with rows through the store, because the intake is not measured: each memory has its message, its
evidence, its change and the vector of `hashed`. Both ways run as `credenda migrate`. Each is killed while it copies a
user, begun again, and verified by itself; at the end the first file is compared with the last one.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from benchmarks.sentences import make_sentences
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.index.document_names import name_memory_document
from credenda.index.quantize import encode
from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.claim import Evidence, Span
from credenda.model.event import NewEvent, Role
from credenda.model.memory import Memory, MemoryType
from credenda.runtime import Parts
from credenda.storage.store import Vector, Writer

Note = Callable[[str], None]
_UNIT: Final = 1_000
_BITS: Final = 16
_MINUTE_US: Final = 60_000_000
_KILLED_AFTER: Final = 2
"""Users whose copies are verified when the first run of each way is killed."""


def run_migration(target: str, memories: int, users: int, *, note: Note) -> dict[str, Any]:
    """Move a store to an empty Postgres database and back; `kept` says whether every row and search was equal."""
    with tempfile.TemporaryDirectory(prefix="credenda-migrate-") as folder:
        source, back = (f"sqlite:///{Path(folder) / name}.db" for name in ("source", "back"))
        rows = _fill(source, memories, users, note)
        ways = {"to_postgres": _move(source, target, note), "to_sqlite": _move(target, back, note)}
        note("comparing the first file with the last one")
        compared = _run(source, back)
    whole = all(way["killed"] and way["report"]["ok"] for way in ways.values())
    return {
        "memories": memories,
        "users": users,
        "written_rows": rows,
        **{name: _describe(way) for name, way in ways.items()},
        "same_file": compared["report"]["ok"] and compared["report"]["present"] == users,
        "searches": compared["report"]["searches"],
        "kept": whole and compared["report"]["ok"] and compared["report"]["present"] == users,
    }


def _describe(way: dict[str, Any]) -> dict[str, Any]:
    report = way["report"]
    rows = sum(report["rows"].values())
    return {
        "rows": rows,
        "seconds": round(way["seconds"], 1),
        "cpu_seconds": round(way["cpu_seconds"], 1),
        "rows_a_second": round(rows / way["seconds"]),
        "users_before_the_kill": way["killed"],
        "moved_after_it": report["moved"],
        "equal_searches": report["searches"],
    }


def _move(source: str, target: str, note: Note) -> dict[str, Any]:
    """Begin to move, kill that, and move; the figures are of both runs together."""
    note(f"{source.partition(':')[0]} to {target.partition(':')[0]}, killed while it copies")
    first = _run(source, target, kill_after=_KILLED_AFTER)
    note("and again")
    second = _run(source, target)
    both = {name: first[name] + second[name] for name in ("seconds", "cpu_seconds")}
    return {**both, "killed": first["users"], "report": second["report"]}


def _run(source: str, target: str, *, kill_after: int | None = None) -> dict[str, Any]:
    began, before = seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(  # noqa: S603 - this very program
        [sys.executable, "-m", "credenda", "--json", "migrate", "--from", source, "--to", target],
        env={**os.environ, "CREDENDA_EMBEDDER": "hashed"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None  # noqa: S101 - PIPE was asked for
    users, told = 0, ""
    for line in process.stderr:
        users += "verified" in line
        told = line
        if users == kill_after:
            process.kill()
    output = process.communicate()[0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if (kill_after is None) != bool(output):  # it was not killed, but ended with an error
        raise click.ClickException(f"credenda migrate: {told}")
    report: dict[str, Any] = json.loads(output) if output else {}
    return {"seconds": seconds() - began, "cpu_seconds": cpu, "users": users, "report": report}


def _fill(source: str, memories: int, users: int, note: Note) -> int:
    """Write half of the memories for one user, the rest for the others; return the number of rows."""
    parts = build_parts(source, user="large", embedder="hashed", llm="none")
    others = users - 1
    sizes = [memories // 2, *((memories - memories // 2 + at) // others for at in range(others))]
    texts = make_sentences(memories, seed=7)
    done = 0
    try:
        for number, size in enumerate(sizes):
            user = f"user {number:03}" if number else "large"  # the large one comes first, by name
            note(f"{user}: {size:,} memories")
            for start in range(0, size, _UNIT):
                _write(parts, user, texts[done : done + min(_UNIT, size - start)], start)
                done += min(_UNIT, size - start)
    finally:
        parts.release()
    return 5 * done


def _write(parts: Parts, user: str, texts: list[str], start: int) -> None:
    embedder = parts.embedder
    assert embedder is not None  # noqa: S101 - hashed was asked for
    vectors = embedder.embed(texts)
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        for place, text in enumerate(texts):
            at_us = now_us + (start + place) * _MINUTE_US
            said = NewEvent(text=text, role=Role.USER, speaker="user", session=f"s{start}", occurred_us=at_us)
            event = writer.put(said)
            memory = writer.put(
                Memory(id="", version=1, text=text, type=MemoryType.FACT, created_us=now_us, recorded_us=now_us)
            )
            reason = "written by a benchmark"
            writer.put(
                ChangeRecord(
                    id="", kind=ChangeKind.ADD, actor=Actor.RULE, reason=reason, at_us=now_us, memory_id=memory
                )
            )
            writer.put(Evidence(memory_id=memory, span=Span(event, 0, len(text)), claim_hash=b"c" * 16))
            code = name_memory_document(memory, writer.tenant.tag)
            writer.put(Vector(code, embedder.model_id, embedder.dims, _BITS, 1.0, encode(vectors[place], _BITS)))

    parts.store.commit(user, work)

"""`credenda bench neighbour`: how long the word of a user waits while a worker reads another user's large import."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, Final

from benchmarks.nodes.process import WORKER, Node
from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import pause, seconds
from credenda.errors import Unavailable
from credenda.model.job import JobState
from credenda.runtime import Parts
from credenda.services.jobs import get_job

FIGURES: Final = ("seconds", "processor", "between")
"""Until a message is read: seconds, processor seconds of the worker, and messages of the import that are read."""

_IMPORTER: Final = "importer"
_NEIGHBOUR: Final = "neighbour"
_READY_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.005
_PATIENCE_SECONDS: Final = 300.0
_PLACES: Final = ("Linz", "Graz", "Wels", "Vienna", "Bregenz")


def run_neighbour(
    target: str, *, messages: int, together: int, words: int, note: Callable[[str], None]
) -> dict[str, Any]:
    """Store `messages` for a user, `together` by a call, and say `words` for another while a worker reads them.

    The database should be empty. Returns a JSON document: for each word the seconds until it was read, and how many
    messages of the import were read meanwhile.
    """
    parts = build_parts(target, user=_IMPORTER, embedder="none", llm="none")
    worker = None
    try:
        _import(parts, messages, together)
        note(f"{messages:,} messages wait")
        worker = Node(target, WORKER, {"CREDENDA_EMBEDDER": "none"})
        if not worker.wait_ready(_READY_SECONDS):
            raise Unavailable("the worker does not start", fix="see its messages with `credenda worker --all-users`")
        _await(lambda: _count_read(parts) > 0)
        rows = [_say(parts, worker, number) for number in range(words)]
        return {
            "messages": messages,
            "together": together,
            "words": words,
            "read": _count_read(parts),
            **{f"{name}_median": round(median(row[name] for row in rows), 3) for name in FIGURES},
            **{f"{name}_max": round(max(row[name] for row in rows), 3) for name in FIGURES},
        }
    finally:
        if worker is not None:
            worker.stop()
        parts.release()


def _import(parts: Parts, messages: int, together: int) -> None:
    with Credenda(parts.for_user(_IMPORTER), workers=False) as memory:
        for start in range(0, messages, together):
            numbers = range(start, min(messages, start + together))
            texts = (f"My colleague Rob{at}x lives in {_PLACES[at % len(_PLACES)]}." for at in numbers)
            memory.remember([{"role": "user", "content": text} for text in texts])


def _say(parts: Parts, worker: Node, number: int) -> dict[str, float]:
    """Say a word, wait until it is read, and return the figures."""
    view = parts.for_user(_NEIGHBOUR)
    with Credenda(view, workers=False) as memory:
        before, used, started = _count_read(parts), worker.read_used(), seconds()
        receipt = memory.remember(f"My dog number {number} is called Rex{number}.")
        _await(lambda: get_job(view, receipt.job_id or "").state is JobState.COMPLETE)
        took = seconds() - started
        return {"seconds": took, "processor": worker.read_used() - used, "between": _count_read(parts) - before}


def _count_read(parts: Parts) -> int:
    """Return the memories of the importer: each message becomes one."""
    with parts.store.reader(_IMPORTER) as reader:
        return sum(reader.counts().memories.values())


def _await(happened: Callable[[], bool]) -> None:
    until = seconds() + _PATIENCE_SECONDS
    while not happened():
        if seconds() > until:
            raise Unavailable("the worker reads nothing", why=f"{_PATIENCE_SECONDS:g} seconds have passed")
        pause(_LOOK_SECONDS)

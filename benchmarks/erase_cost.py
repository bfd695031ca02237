"""The time of an erasure beside another user, a search for remaining data, and the effect on the other user."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.sentences import make_sentences
from credenda import Credenda
from credenda.clock import seconds

_TOGETHER: Final = 500
_OWN: Final = 20
"""Only every so many events are the user's own and are extracted, because extracting all takes minutes."""
_BAR_SECONDS: Final = 30.0


def run_erase(events: int, *, embedder: str, note: Callable[[str], None]) -> dict[str, Any]:
    """Erase a user with this many events beside another with as many; `held` uses CPU seconds, because load varies."""
    with tempfile.TemporaryDirectory(prefix="credenda-erase-") as name:
        folder = Path(name)
        path = folder / "memory.db"
        for user in ("erased", "neighbour"):
            note(f"{user}: {events:,} events")
            _fill(path, user, events, embedder)
        before = _read_export(path, folder / "before.jsonl")
        size_bytes = path.stat().st_size
        note("erasing")
        with Credenda.open(path, user="erased", workers=False, embedder=embedder) as mem:
            began, began_cpu = seconds(), time.process_time()
            receipt = mem.erase("erased")
            took, took_cpu = seconds() - began, time.process_time() - began_cpu
        after = _read_export(path, folder / "after.jsonl")
    return {
        "events": events,
        "embedder": embedder,
        "file_mb": round(size_bytes / 1e6, 1),
        "seconds": round(took, 2),
        "cpu_seconds": round(took_cpu, 2),
        "rows": receipt.rows,
        "windows_searched": receipt.windows_searched,
        "remaining_matches": receipt.remaining_matches,
        "log_emptied": receipt.log_emptied,
        "neighbour_unchanged": before == after,
        "held": took_cpu < _BAR_SECONDS and not receipt.remaining_matches and receipt.log_emptied and before == after,
    }


def _fill(path: Path, user: str, events: int, embedder: str) -> None:
    said = make_sentences(events, seed=len(user))
    with Credenda.open(path, user=user, workers=False, embedder=embedder) as mem:
        for start in range(0, events, _TOGETHER):
            messages = [
                {"role": "assistant" if place % _OWN else "user", "content": text}
                for place, text in enumerate(said[start : start + _TOGETHER])
            ]
            mem.remember(messages, session=f"session {start // _TOGETHER}")
        mem.settle(36_000)


def _read_export(path: Path, place: Path) -> bytes:
    with Credenda.open(path, user="neighbour", workers=False, embedder="none") as mem:
        mem.data.export(place)
    return hashlib.sha256(place.read_bytes()).digest()

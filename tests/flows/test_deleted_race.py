"""While some search and others delete, nothing whose deletion was acknowledged is ever served."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Barrier, Event, Lock, Thread

import pytest

from credenda import Credenda
from credenda.model.query import SearchResult

_WORDS = 14
_SEARCHERS = 3


def _said(number: int) -> str:
    return f"The password of the cellar number {number} is quokka{number:02d}."


def _shown(result: SearchResult) -> str:
    """Return everything that a result shows, as one text."""
    texts = [hit.quote for hit in result.hits]
    texts += [event.text for hit in result.hits for event in (*hit.evidence, hit.event) if event is not None]
    texts += [f"{hit.memory.text} {hit.memory.value}" for hit in result.hits if hit.memory is not None]
    return " ".join(texts)


class _Gone:
    """The words whose deletion has returned."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._words: set[str] = set()

    def add(self, word: str) -> None:
        with self._lock:
            self._words.add(word)

    def now(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._words)


def test_searches_beside_deletions_never_show_what_is_gone(path: Path) -> None:
    with Credenda.open(path, user="ana", embedder="hashed", workers=False) as mem:
        ids = [mem.remember(_said(number), session="cellar").event_ids[0] for number in range(_WORDS)]
        mem.settle()
        assert "quokka05" in _shown(mem.search("quokka05", limit=50, min_confidence=0))
        gone, done, ready = _Gone(), Event(), Barrier(_SEARCHERS + 1)
        leaks: list[str] = []
        searched: list[int] = []

        def look(first: int) -> None:
            number = first
            ready.wait()
            while not done.is_set():
                before = gone.now()
                asked = f"What is the password quokka{number % _WORDS:02d} of the cellar?"
                seen = _shown(mem.search(asked, limit=50, min_confidence=0))
                leaks.extend(word for word in before if word in seen)
                searched.append(number)
                number += 1

        threads = [Thread(target=look, args=(place * 7,)) for place in range(_SEARCHERS)]
        for thread in threads:
            thread.start()
        ready.wait()
        try:
            for number, event_id in enumerate(ids):
                mem.delete(event_id)
                gone.add(f"quokka{number:02d}")
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert searched
        assert leaks == []
        assert "quokka" not in _shown(mem.search("quokka05 quokka11 password", limit=50, min_confidence=0))


@pytest.mark.parametrize("embedder", ["none", "hashed"])
def test_what_another_process_deletes_is_not_served_from_an_index_in_memory(path: Path, embedder: str) -> None:
    with Credenda.open(path, user="ana", embedder=embedder, workers=False) as mem:
        ids = [mem.remember(_said(number), session="cellar").event_ids[0] for number in range(6)]
        mem.settle()
        assert "quokka03" in _shown(mem.search("quokka03 password", limit=50))
        arguments = ["--db", str(path), "--user", "ana", "delete", ids[3], "--yes"]
        done = subprocess.run([sys.executable, "-m", "credenda", *arguments], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        seen = _shown(mem.search("quokka03 password", limit=50, min_confidence=0))
        assert "quokka03" not in seen
        assert "quokka02" in seen

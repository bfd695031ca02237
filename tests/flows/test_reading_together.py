"""Messages that wait are read several at a time: in few transactions, in order, and each fails alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.model.claim import Claim, Span, Turn
from credenda.model.memory import MemoryType
from credenda.runtime import Parts
from credenda.storage.store import JobFilter
from credenda.testing import ManualClock
from credenda.workers.loop import run_due_jobs

_MESSAGES = [f"Jar {number} holds plums" for number in range(64)]


class Noting:
    """Reads every message as one fact; `before` is called with each text."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.before: Callable[[str], object] = len

    def extract(self, turn: Turn) -> list[Claim]:
        text = turn.event.text
        self.read.append(text)
        self.before(text)
        span = Span(turn.event.id, 0, len(text))
        return [Claim(text=text, type=MemoryType.FACT, span=span, entity="user", attribute=text[:7], value=text)]


@pytest.fixture
def reader() -> Noting:
    return Noting()


@pytest.fixture
def parts(path: Path, clock: ManualClock, reader: Noting) -> Parts:
    return build_parts(path, user="ana", clock=clock, extractor=reader, embedder="hashed")


@pytest.fixture
def mem(parts: Parts) -> Iterator[Credenda]:
    with Credenda(parts, workers=False) as opened:
        yield opened


def _say(mem: Credenda, texts: list[str]) -> None:
    for text in texts:
        mem.remember(text)


def _count_units(parts: Parts, mem: Credenda, monkeypatch: pytest.MonkeyPatch) -> int:
    """Settle, and return the number of units that it committed."""
    units: list[str] = []
    real = type(parts.store).commit

    def count(store: object, user_id: str, work: Callable[..., object]) -> object:
        units.append(user_id)
        return real(store, user_id, work)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(parts.store), "commit", count)
        mem.settle()
    return len(units)


@pytest.mark.requirement("R-073")
def test_many_waiting_messages_share_their_units(mem: Credenda, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    _say(mem, ["Lid 0 is red"])
    alone = _count_units(parts, mem, monkeypatch)
    _say(mem, _MESSAGES)
    first = _count_units(parts, mem, monkeypatch)
    _say(mem, [text.replace("Jar", "Tin") for text in _MESSAGES])
    assert first * 8 < alone * len(_MESSAGES)
    assert _count_units(parts, mem, monkeypatch) <= first + 1
    assert mem.stats().total == 2 * len(_MESSAGES) + 1


@pytest.mark.requirement("R-071")
def test_a_message_whose_reading_fails_fails_alone(mem: Credenda, parts: Parts, reader: Noting) -> None:
    _say(mem, _MESSAGES[:6])

    def fail(text: str) -> None:
        if text == _MESSAGES[3]:
            raise ValueError(text)

    reader.before = fail
    run_due_jobs(parts)
    with parts.store.reader("ana") as rows:
        jobs = sorted(rows.jobs(JobFilter(kinds=frozenset({"extract"}))), key=lambda job: job.first)
    assert [(job.status, job.attempts) for job in jobs] == [
        ("failed" if place == 3 else "complete", 1) for place in range(6)
    ]
    reader.before = len
    mem.settle()
    assert {one.text for one in mem.list().items} == set(_MESSAGES[:6])


def test_words_deleted_while_others_are_read_give_no_memory(mem: Credenda, reader: Noting) -> None:
    said = [mem.remember(text).event_ids[0] for text in _MESSAGES[:4]]

    def delete(text: str) -> None:
        if text == _MESSAGES[2]:
            reader.before = len
            mem.delete(said[0])

    reader.before = delete
    mem.settle()
    assert {one.text for one in mem.list().items} == set(_MESSAGES[1:4])

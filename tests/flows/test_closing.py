"""A memory that cannot be opened or closed as it should be holds its file no longer.

That no connection stays open is checked after every test, in tests/conftest.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final

import pytest

from credenda import AsyncCredenda, Credenda, MemoryUnit
from credenda.model.claim import Claim, Turn
from credenda.providers.llm.client import ModelClient
from credenda.services.consolidation import find_pending
from credenda.testing import ScriptedModel
from tests.waiting import PATIENCE_SECONDS


class Cold:
    """An extractor that fails when it is to get ready."""

    def extract(self, turn: Turn) -> list[Claim]:
        assert turn
        return []

    def warm(self) -> None:
        raise RuntimeError("no rules here")


def test_a_memory_whose_worker_cannot_start_is_closed(path: Path) -> None:
    with pytest.raises(RuntimeError, match="no rules"):
        Credenda.open(path, user="ana", extractor=Cold())


def test_a_model_that_cannot_be_released_does_not_keep_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: ModelClient) -> None:
        raise RuntimeError("still busy")

    monkeypatch.setattr(ModelClient, "close", fail)
    memory = Credenda.open(path, user="ana", llm=ScriptedModel([]), workers=False)
    with pytest.raises(RuntimeError, match="still busy"):
        memory.close()


WALKS: Final[dict[str, Callable[[Credenda], object]]] = {
    "credenda.services.consolidation.is_candidate": lambda mem: find_pending(mem._parts, None, 0),  # noqa: SLF001 - named itself
    "credenda.services.llm_extraction.skip": lambda mem: mem.manage.extract(dry_run=True),
}


@pytest.mark.parametrize("place", WALKS)
def test_an_error_in_the_midst_of_a_walk_gives_the_reader_back_though_it_is_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """An error holds the frames that it came through, and a walk that stands still in one of them its reader."""

    def fail(*_: object) -> None:
        raise RuntimeError("no more")

    with Credenda.open(path, user="ana", llm=ScriptedModel([]), workers=False) as mem:
        mem.store(MemoryUnit(text="I live in Linz."))
        mem.remember("I like green tea.")
        monkeypatch.setattr(place, fail)
        with pytest.raises(RuntimeError, match="no more") as kept:
            WALKS[place](mem)
    assert kept.tb is not None


@pytest.mark.parametrize("first", ["goes", "opens"])
def test_a_memory_that_nobody_awaits_any_more_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """The caller goes while it is being opened, or just when it is open."""
    entered, released, made = Event(), Event(), Event()
    plain = Credenda.open

    def held(*given: object, **named: object) -> Credenda:
        entered.set()
        assert released.wait(PATIENCE_SECONDS), "nothing was released"
        memory = plain(*given, **named)  # type: ignore[arg-type]
        made.set()
        return memory

    monkeypatch.setattr(Credenda, "open", held)

    async def leave() -> None:
        async with AsyncCredenda.open(path, user="ana", workers=False):
            pytest.fail("opened for nobody")

    async def leaving() -> None:
        call = asyncio.create_task(leave())
        assert await asyncio.to_thread(entered.wait, 20)
        if first == "opens":
            released.set()
            assert made.wait(PATIENCE_SECONDS), "the loop stands still, so that the caller learns of nothing"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        released.set()

    asyncio.run(leaving())
    assert made.is_set()

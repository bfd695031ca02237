"""The coroutines: the same verbs, parameters and words as the client, in their stub too, and alive."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from functools import cached_property
from pathlib import Path
from threading import Event, current_thread, main_thread
from typing import TypeVar

import pytest

import generate_async
from credenda import AsyncCredenda, Credenda, Invalid, NotFound
from credenda.client_async import AsyncData, AsyncDirectory, AsyncInspect, AsyncItems, AsyncJobs, AsyncManage
from credenda.client_data import Data, Jobs
from credenda.client_directory import Directory, Items
from credenda.client_inspect import Inspect
from credenda.client_manage import Manage
from tests.waiting import PATIENCE_SECONDS, limit_waiting

T = TypeVar("T")
TWINS = [
    (Credenda, AsyncCredenda),
    (Manage, AsyncManage),
    (Data, AsyncData),
    (Inspect, AsyncInspect),
    (Jobs, AsyncJobs),
    (Directory, AsyncDirectory),
    (Items, AsyncItems),
]


def run(work: Coroutine[object, object, T]) -> T:
    async def wait() -> T:
        with limit_waiting("the end of all calls"):
            return await work
        raise AssertionError("cancelled")

    return asyncio.run(wait())


def verbs(owner: type) -> list[str]:
    told = (property, cached_property)
    return [name for name, value in vars(owner).items() if not name.startswith("_") and not isinstance(value, told)]


def test_the_file_is_what_the_generator_writes() -> None:
    written = generate_async.TARGET.read_text(encoding="utf-8")
    assert written == generate_async.render(), "run scripts/generate_async.py"


@pytest.mark.parametrize(("twin", "awaited"), TWINS)
def test_every_verb_has_its_twin_with_the_same_parameters_and_words(twin: type, awaited: type) -> None:
    assert verbs(awaited) == verbs(twin)
    for name in verbs(twin):
        plain, coroutine = getattr(twin, name), getattr(awaited, name)
        assert inspect.signature(plain).parameters == inspect.signature(coroutine).parameters
        assert coroutine.__doc__ == plain.__doc__
        if name not in {"open", "for_user"}:
            assert inspect.iscoroutinefunction(coroutine)
            assert inspect.signature(plain).return_annotation == inspect.signature(coroutine).return_annotation


def test_what_opens_a_memory_says_that_it_is_to_be_awaited_or_entered() -> None:
    for name in ("open", "for_user"):
        assert inspect.signature(getattr(AsyncCredenda, name)).return_annotation == "Opening"


def test_a_coroutine_is_named_after_its_own_class() -> None:
    assert AsyncManage.pin.__qualname__ == "AsyncManage.pin"
    assert AsyncManage.pin.__module__ == AsyncManage.__module__ == "credenda.client_async"


def test_properties_stay_properties() -> None:
    assert isinstance(vars(AsyncCredenda)["user"], property)


async def story(folder: Path) -> None:
    async with AsyncCredenda.open(folder / "memory.db", user="ana") as mem:
        assert mem.user == "ana"
        receipts = await asyncio.gather(*(mem.remember(f"My badge number is {n}.", session="s") for n in range(8)))
        assert len({receipt.event_ids for receipt in receipts}) == 8
        await mem.remember("I live in Linz.")
        await mem.settle(20.0)
        (memory,) = (await mem.list(attribute="residence")).items
        assert (await mem.manage.pin(memory.id)).pinned
        assert (await mem.search("Where do I live?", limit=5)).hits[0].quote == "I live in Linz."
        exported = await mem.data.export(folder / "a.jsonl")
        assert exported.rows["events"] == 9
        with pytest.raises(NotFound):
            await mem.get("nothing")
    copy = await AsyncCredenda.open(folder / "copy.db", user="ana", workers=False)
    async with copy:
        assert (await copy.data.import_(folder / "a.jsonl")).turns == 9
        assert (await copy.get(memory.id)).value == "Linz"
    await copy.close()


def test_a_whole_flow_through_coroutines(tmp_path: Path) -> None:
    run(story(tmp_path))


async def beside(folder: Path) -> list[bool]:
    """Ask which thread works while the loop goes on."""
    seen: list[bool] = []
    async with AsyncCredenda.open(folder / "memory.db", user="ana", workers=False) as mem:
        memory = mem._memory  # noqa: SLF001 - where the work is done is the point
        plain = memory.stats

        def stats() -> object:
            seen.append(current_thread() is main_thread())
            return plain()

        memory.stats = stats  # type: ignore[method-assign]
        await mem.stats()
    return seen


def test_work_is_done_beside_the_event_loop(tmp_path: Path) -> None:
    assert run(beside(tmp_path)) == [False]


async def refused(folder: Path) -> None:
    with pytest.raises(Invalid):
        async with AsyncCredenda.open(folder / "memory.db", user=" "):
            pytest.fail("opened for nobody")
    with pytest.raises(Invalid):
        await AsyncCredenda.open("mysql://x", user="ana")


def test_what_cannot_be_opened_raises_where_it_is_awaited(tmp_path: Path) -> None:
    run(refused(tmp_path))


async def cancelled(folder: Path) -> list[str]:
    """Cancel a call in its middle, then let its thread go on."""
    entered, released, done = Event(), Event(), Event()
    async with AsyncCredenda.open(folder / "memory.db", user="ana", workers=False) as mem:
        memory = mem._memory  # noqa: SLF001 - the call must be held where it works
        plain = memory.remember

        def held(content: str, **options: object) -> object:
            entered.set()
            assert released.wait(PATIENCE_SECONDS), "nothing was released"
            try:
                return plain(content, **options)  # type: ignore[arg-type]
            finally:
                done.set()

        memory.remember = held  # type: ignore[method-assign, assignment]
        call = asyncio.create_task(mem.remember("I live in Linz."))
        assert await asyncio.to_thread(entered.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        released.set()
        assert await asyncio.to_thread(done.wait, 20)
        await mem.settle()
        return [memory.value or "" for memory in (await mem.list()).items]


def test_a_cancelled_call_is_carried_out_all_the_same(tmp_path: Path) -> None:
    assert run(cancelled(tmp_path)) == ["Linz"]


async def acknowledged(folder: Path) -> None:
    """Leave by cancellation right after an acknowledgement."""
    async with AsyncCredenda.open(folder / "memory.db", user="ana", workers=False) as mem:
        await mem.remember("I live in Linz.")
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await mem.search("never asked")


def test_what_was_acknowledged_survives_the_cancelling_of_its_task(tmp_path: Path) -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(acknowledged(tmp_path))
    with Credenda.open(tmp_path / "memory.db", user="ana", workers=False) as mem:
        assert mem.search("Linz").hits[0].quote == "I live in Linz."


def test_a_stale_file_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "client_async.pyi"
    stale.write_text("# older\n", encoding="utf-8")
    monkeypatch.setattr(generate_async, "ROOT", tmp_path)
    monkeypatch.setattr(generate_async, "TARGET", stale)
    monkeypatch.setattr("sys.argv", ["generate_async.py", "--check"])
    assert generate_async.main() == 1
    assert stale.read_text("utf-8") == "# older\n"

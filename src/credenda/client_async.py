"""The public verbs as coroutines: `AsyncCredenda`. Each runs its twin in `Credenda` on a worker thread.

Type checkers read the signatures in `client_async.pyi`, which scripts/generate_async.py writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial, wraps
from inspect import isfunction, signature
from types import TracebackType
from typing import Any, Self, TypeVar

from credenda.client import Credenda
from credenda.client_data import Data, Jobs
from credenda.client_directory import Directory, Items
from credenda.client_inspect import Inspect
from credenda.client_manage import Manage

__all__ = [
    "AsyncCredenda",
    "AsyncData",
    "AsyncDirectory",
    "AsyncInspect",
    "AsyncItems",
    "AsyncJobs",
    "AsyncManage",
    "Opening",
]

C = TypeVar("C", bound=type)


class Opening:
    """A memory to be opened: await it, or use it in `async with`, which closes it at the end."""

    def __init__(self, start: Callable[[], Credenda]) -> None:
        """Take the function that opens the memory, without calling it."""
        self._start = start
        self._opened: AsyncCredenda | None = None

    async def _open(self) -> AsyncCredenda:
        made = Future[Credenda]()
        try:
            await asyncio.to_thread(lambda: made.set_result(self._start()))
            return AsyncCredenda(made.result())
        except BaseException:  # the caller is gone: close it as soon as it is open
            made.add_done_callback(lambda done: done.result().close())
            raise

    def __await__(self) -> Generator[object, None, AsyncCredenda]:
        """Open it; the caller closes it."""
        return self._open().__await__()

    async def __aenter__(self) -> AsyncCredenda:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)


def _make_coroutine(method: Callable[..., Any], owner: str) -> Callable[..., Any]:
    @wraps(method)
    async def call(self: Any, /, *args: Any, **given: Any) -> Any:  # noqa: ANN401 - those of the method
        return await asyncio.to_thread(getattr(self._memory, method.__name__), *args, **given)

    return _name_after(call, owner)


def _make_opening(method: Callable[..., Any], owner: str, *, of_class: bool) -> Callable[..., Any]:
    """Wrap a method that opens a memory: what it returns is awaited or entered."""

    @wraps(method)
    def call(self: Any, /, *args: Any, **given: Any) -> Opening:  # noqa: ANN401 - those of the method
        opener = Credenda if of_class else self._memory
        return Opening(partial(getattr(opener, method.__name__), *args, **given))

    call.__signature__ = signature(method).replace(return_annotation="Opening")  # type: ignore[attr-defined]
    return _name_after(call, owner)


def _make_getter(member: property, owner: str) -> Callable[..., Any]:
    getter: Any = member.fget

    @wraps(getter)
    def read(self: Any) -> Any:  # noqa: ANN401 - that of the property
        return getter(self._memory)

    return _name_after(read, owner)


def _name_after(call: Callable[..., Any], owner: str) -> Callable[..., Any]:
    call.__module__, call.__qualname__ = __name__, f"{owner}.{call.__name__}"
    return call


def _wrap_methods(twin: type) -> Callable[[C], C]:
    """Give a class the public methods and properties of its twin, in the same order and with the same words."""

    def wrap(mirrored: C) -> C:
        for name, member in vars(twin).items():
            if name.startswith("_"):
                continue
            function: Any = getattr(member, "__func__", member)
            if isinstance(member, property):
                setattr(mirrored, name, property(_make_getter(member, mirrored.__name__)))
            elif isinstance(member, classmethod):
                opening = _make_opening(function, mirrored.__name__, of_class=True)
                setattr(mirrored, name, classmethod(opening))
            elif isfunction(member):
                opens = member.__annotations__.get("return") == "Credenda"
                make = partial(_make_opening, of_class=False) if opens else _make_coroutine
                setattr(mirrored, name, make(member, mirrored.__name__))
        return mirrored

    return wrap


class _Twin:
    """Coroutines for the methods of an object."""

    def __init__(self, twin: Any) -> None:  # noqa: ANN401 - a memory or one of its groups
        self._memory = twin


@_wrap_methods(Credenda)
class AsyncCredenda(_Twin):
    """One tenant's memory for asynchronous programs: like `Credenda`, without blocking the event loop.

    A call that is cancelled while it runs still completes in its thread. Data is on disk, and stays there, once the
    `await` has returned. To repeat a cancelled `remember` without storing it twice, give it an `idempotency_key`.

    >>> async def talk(path):
    ...     async with AsyncCredenda.open(path, user="ana") as mem:
    ...         await mem.remember("I live in Linz.")
    ...         await mem.settle()
    ...         return (await mem.list(attribute="residence")).items[0].value
    >>> asyncio.run(talk(getfixture("tmp_path") / "memory.db"))
    'Linz'
    """

    def __init__(self, memory: Credenda) -> None:
        """Take an open memory; callers normally use `open`."""
        super().__init__(memory)
        self.manage = AsyncManage(memory.manage)
        self.data = AsyncData(memory.data)
        self.jobs = AsyncJobs(memory.jobs)
        self.inspect = AsyncInspect(memory.inspect)
        self.directory = AsyncDirectory(memory.directory)
        self.items = AsyncItems(memory.items)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._memory.close)


def _make_group(twin: type) -> Any:  # noqa: ANN401 - a class, whose signatures are in the stub
    members = {"__doc__": twin.__doc__, "__module__": __name__}
    return _wrap_methods(twin)(type(f"Async{twin.__name__}", (_Twin,), members))


AsyncManage = _make_group(Manage)
AsyncData = _make_group(Data)
AsyncJobs = _make_group(Jobs)
AsyncInspect = _make_group(Inspect)
AsyncDirectory = _make_group(Directory)
AsyncItems = _make_group(Items)

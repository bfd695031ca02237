"""`MemoryClient`: the methods of mem0's client of its platform, over a file on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, cast

from credenda.clock import Clock
from credenda.compat.mem0.memory import Memory
from credenda.compat.mem0.responses import Item
from credenda.errors import Invalid
from credenda.providers.embed.factory import Embedder

_PAGE_ITEMS: Final = 100
_EVERY: Final = 1_000_000


class MemoryClient:
    """mem0's `MemoryClient` without a server: nothing leaves this machine.

    Options come as keywords, or as an object with `model_dump` or a table. An option that has no meaning here is an
    error that names it, as in `Memory`.

    >>> client = MemoryClient(path=getfixture("tmp_path") / "memory.db")
    >>> [row["event"] for row in client.add("I live in Linz.", user_id="ana")["results"]]
    ['ADD']
    >>> [hit["memory"] for hit in client.search("Where do I live?", filters={"user_id": "ana"})["results"]]
    ['I live in Linz.']
    >>> client.users()["results"]
    [{'name': 'ana', 'type': 'user'}]
    >>> client.close()
    """

    def __init__(
        self,
        api_key: str | None = None,
        host: str | None = None,
        *,
        path: str | Path | None = None,
        embedder: str | Embedder | None = None,
        settings: Mapping[str, object] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Choose the file; None is the default file. `api_key` is not used, and a `host` raises `Invalid`."""
        del api_key
        if host is not None:
            raise Invalid("a host cannot be used", why="this client has no server", fix='give path="memory.db"')
        self._memory = Memory(path, embedder=embedder, settings=settings, clock=clock)

    def close(self) -> None:
        """Close every memory; closing twice has no effect."""
        self._memory.close()

    def add(self, messages: Any, options: object = None, **given: Any) -> Item:  # noqa: ANN401 - those of `Memory.add`
        """Store messages and return the changes."""
        wanted = _read_options(options, given)
        named: dict[str, Any] = dict(wanted.pop("filters", None) or ())
        return _call(self._memory.add, messages, **{**named, **wanted})

    def get(self, memory_id: str) -> Item | None:
        """Return the current version of a memory, or None if there is none."""
        return self._memory.get(memory_id)

    def get_all(self, options: object = None, **given: Any) -> Item:  # noqa: ANN401 - those of `Memory.get_all`
        """List current memories, newest first, in pages of `page_size` (100) from `page` 1 on."""
        wanted = _read_options(options, given)
        page, size = int(wanted.pop("page", None) or 1), int(wanted.pop("page_size", None) or _PAGE_ITEMS)
        if page < 1 or size < 1:
            raise Invalid("there is no such page", why="pages and their sizes count from 1", fix="leave them out")
        found = _call(self._memory.get_all, top_k=_EVERY, **wanted)["results"]
        last = page * size >= len(found)
        return {
            "count": len(found),
            "next": None if last else f"page={page + 1}",
            "previous": None if page == 1 else f"page={page - 1}",
            "results": found[(page - 1) * size : page * size],
        }

    def search(self, query: str, options: object = None, **given: Any) -> Item:  # noqa: ANN401 - those of `Memory.search`
        """Find the memories that answer a query, best first."""
        return _call(self._memory.search, query, **_read_options(options, given))

    def update(self, memory_id: str, options: object = None, **given: Any) -> Item:  # noqa: ANN401 - those of `Memory.update`
        """Correct a memory: set its text."""
        return _call(self._memory.update, memory_id, **_read_options(options, given))

    def delete(self, memory_id: str, delete_linked: bool = False) -> Item:  # noqa: FBT001, FBT002 - mem0's signature
        """Delete a memory with all its earlier versions, whatever `delete_linked` says: none of them may return."""
        del delete_linked
        return self._memory.delete(memory_id)

    def delete_all(self, options: object = None, **given: Any) -> Item:  # noqa: ANN401 - those of `Memory.delete_all`
        """Delete all data of a user, or all memories and messages of an agent or a run."""
        wanted = _read_options(options, given)
        named: dict[str, Any] = dict(wanted.pop("filters", None) or ())
        return _call(self._memory.delete_all, **{**named, **wanted})

    def history(self, memory_id: str) -> list[Item]:
        """Return the history of a memory, oldest first, without deleted text."""
        return self._memory.history(memory_id)

    def users(self) -> Item:
        """List the users, by name."""
        return {"results": [{"name": name, "type": "user"} for name in self._memory.list_users()]}

    def delete_users(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        app_id: str | None = None,
        run_id: str | None = None,
    ) -> Item:
        """Delete all data of a user, an agent or a run; without a name, those of every user."""
        if app_id is not None:
            raise Invalid("app_id cannot be used", why="there are no applications here", fix="name a user")
        named = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        targets: list[dict[str, str | None]] = (
            [named] if any(named.values()) else [{"user_id": name} for name in self._memory.list_users()]
        )
        for target in targets:
            self._memory.delete_all(**target)
        return {"message": "Entity deleted successfully."}

    def reset(self) -> Item:
        """Remove the file with all users and the record of deletions."""
        self._memory.reset()
        return {"message": "The client was reset."}

    def batch_update(self, memories: Sequence[Mapping[str, Any]]) -> Item:
        """Correct several memories, each `{"memory_id", "text"}`, in order; stops at the first that cannot be."""
        for one in memories:
            self.update(str(one.get("memory_id")), **{name: one[name] for name in one if name != "memory_id"})
        return {"message": f"{len(memories)} memories were updated."}

    def batch_delete(self, memories: Sequence[Mapping[str, Any]]) -> Item:
        """Delete several memories, each `{"memory_id"}`, in order; stops at the first that cannot be."""
        for one in memories:
            self.delete(str(one.get("memory_id")))
        return {"message": f"{len(memories)} memories were deleted."}


def _read_options(options: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call: those of an object or table, and the keywords, without unset ones."""
    dump = getattr(options, "model_dump", None)
    table: object = dump(exclude_unset=True) if callable(dump) else {} if options is None else options
    if not isinstance(table, Mapping):
        raise Invalid("the options are no table", why=f"they are a {type(options).__name__}", fix="give keywords")
    merged = {**cast("Mapping[str, Any]", table), **given}
    return {name: value for name, value in merged.items() if value is not None}


def _call(method: Callable[..., Item], *args: object, **given: object) -> Item:
    """Call a method of the memory; an argument that it does not have raises `Invalid`."""
    foreign = sorted(set(given) - set(signature(method).parameters))
    if foreign:
        raise Invalid(f"{foreign[0]} cannot be used", why="it has no meaning here", fix="leave it out")
    return method(*args, **given)


# `AsyncMemory` and `AsyncMemoryClient`: mem0's methods as coroutines, which run in threads.


M = TypeVar("M", Memory, MemoryClient)
P = ParamSpec("P")
T = TypeVar("T")


class _Wrapped(Generic[M]):
    """An object whose methods run those of a `Memory` in threads; `memory` is that one."""

    def __init__(self, memory: M) -> None:
        self.memory: Final = memory

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.memory.close)

    def close(self) -> None:
        """Close every memory; closing twice has no effect."""
        self.memory.close()


def _run_in_thread(
    method: Callable[Concatenate[M, P], T],
) -> Callable[Concatenate[_Wrapped[M], P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def run(self: _Wrapped[M], /, *args: P.args, **given: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.memory, *args, **given)

    return run


class AsyncMemory(_Wrapped[Memory]):
    """mem0's `AsyncMemory`: takes the arguments of `Memory`."""

    def __init__(self, *args: Any, **given: Any) -> None:  # noqa: ANN401 - those of `Memory`
        """Choose the file, as `Memory` does."""
        super().__init__(Memory(*args, **given))

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Make one from a table with `path`, `embedder` and `settings`."""
        return cls(**{name: config_dict[name] for name in Memory.check_config(config_dict)})

    add = _run_in_thread(Memory.add)
    search = _run_in_thread(Memory.search)
    get = _run_in_thread(Memory.get)
    get_all = _run_in_thread(Memory.get_all)
    update = _run_in_thread(Memory.update)
    delete = _run_in_thread(Memory.delete)
    delete_all = _run_in_thread(Memory.delete_all)
    history = _run_in_thread(Memory.history)
    reset = _run_in_thread(Memory.reset)


class AsyncMemoryClient(_Wrapped[MemoryClient]):
    """mem0's `AsyncMemoryClient`: takes the arguments of `MemoryClient`."""

    def __init__(self, *args: Any, **given: Any) -> None:  # noqa: ANN401 - those of `MemoryClient`
        """Choose the file, as `MemoryClient` does."""
        super().__init__(MemoryClient(*args, **given))

    add = _run_in_thread(MemoryClient.add)
    search = _run_in_thread(MemoryClient.search)
    get = _run_in_thread(MemoryClient.get)
    get_all = _run_in_thread(MemoryClient.get_all)
    update = _run_in_thread(MemoryClient.update)
    delete = _run_in_thread(MemoryClient.delete)
    delete_all = _run_in_thread(MemoryClient.delete_all)
    history = _run_in_thread(MemoryClient.history)
    reset = _run_in_thread(MemoryClient.reset)
    users = _run_in_thread(MemoryClient.users)
    delete_users = _run_in_thread(MemoryClient.delete_users)
    batch_update = _run_in_thread(MemoryClient.batch_update)
    batch_delete = _run_in_thread(MemoryClient.batch_delete)

"""`AsyncMemory` and `AsyncMemoryClient`: mem0's methods as coroutines, which run in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

from credenda.compat.mem0.client import MemoryClient
from credenda.compat.mem0.memory import Memory

__all__ = ["AsyncMemory", "AsyncMemoryClient"]

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

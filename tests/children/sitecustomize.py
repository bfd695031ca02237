"""Let a process that a test starts open the test's Postgres database in the place of a file; see `tests/backends.py`.

Python runs this module at its start, where its folder is on the path. It costs nothing until the process opens a
memory.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_WANTED = "credenda.bootstrap"


class _Loader(importlib.abc.Loader):
    """Loads the module, and then puts another function in the place of its `open_store`."""

    def __init__(self, inner: importlib.abc.Loader) -> None:
        self._inner = inner

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        open_store: Callable[..., Any] = module.open_store

        def open_instead(target: object, **given: Any) -> Any:  # noqa: ANN401 - as the function itself has it
            place = str(module.resolve_target(target))
            sys.path.insert(0, str(Path(__file__).parents[2]))
            from tests.registry import Registry, may_stand  # noqa: PLC0415 - only a process that opens a memory pays

            sys.path.pop(0)
            if may_stand(place, read_only=bool(given.get("read_only"))):
                registry = Registry(Path(os.environ["DATABASES_OF_TEST"]))
                if str(Path(place).absolute()) in registry.names() or not Path(place).exists():
                    place = registry.find(place)
            return open_store(place, **given)

        module.open_store = open_instead  # type: ignore[attr-defined]


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the module as others do, and gives it another loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _WANTED or path is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


if os.environ.get("DATABASES_OF_TEST"):
    sys.meta_path.insert(0, _Finder())

"""The library of the protocol, without what its packages load for those who build clients and web servers.

`import mcp.server.lowlevel` first runs the code of `mcp` and of `mcp.server`, which gather all that the library can do
under one name: a client, and a second way to write servers. A server on a pipe uses neither, and they were a tenth of
the processor time of its start. Here the code of these two packages waits until somebody asks them for a name that they
do not have yet; then it runs, and they are what they always were.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Final

__all__ = ["PACKAGES", "load_late"]

PACKAGES: Final = ("mcp", "mcp.server")
_RUNNING: Final = RLock()


def load_late(packages: tuple[str, ...] = PACKAGES) -> None:
    """Enter these packages, outer ones first, among the loaded ones; their code runs when a name of it is asked for.

    Leaves alone one that is loaded. Raises `ModuleNotFoundError` for one that is not installed.
    """
    for name in packages:
        if name in sys.modules:
            continue
        spec = find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"there is no package {name}", name=name)
        module = module_from_spec(spec)
        vars(module)["__getattr__"] = partial(_load_module, module)
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)


def _load_module(module: ModuleType, name: str) -> object:
    """Run the code of a package, once, and return what it was asked for (PEP 562)."""
    with _RUNNING:
        waiting = vars(module).pop("__getattr__", None)
        if waiting is not None and module.__spec__ is not None and module.__spec__.loader is not None:
            module.__spec__.loader.exec_module(module)
    return getattr(module, name)

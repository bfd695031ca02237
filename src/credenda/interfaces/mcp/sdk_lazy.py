"""Import the MCP SDK without the parts that a stdio server does not use.

`import mcp.server.lowlevel` first runs the code of `mcp` and of `mcp.server`, which import the whole SDK: a client, and
a second server API. A stdio server uses neither, and they took a tenth of the CPU time of its start. Here the code of
these two packages runs only when a name is requested that they do not have yet; afterwards they are complete.

The types of the protocol, in two revisions, are some hundred models of pydantic. Each builds its validator on first use
here instead of on import, where they took a sixth of the start.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Final

PACKAGES: Final = ("mcp", "mcp.server")
_RUNNING: Final = RLock()
_TYPES: Final = "mcp_types.methods"
_DEFAULTS: Final = ("pydantic._internal._config", "config_defaults")
_DEFER: Final = "defer_build"


def load_late(packages: tuple[str, ...] = PACKAGES) -> None:
    """Register these packages, outer ones first, as loaded; their code runs when one of their names is requested.

    Skips loaded packages. Raises `ModuleNotFoundError` for one that is not installed.
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
    with _defer_validators():
        import_module(_TYPES)


@contextmanager
def _defer_validators() -> Generator[None]:
    """Let models of pydantic that are defined meanwhile build their validators on first use.

    It sets a default that pydantic does not publish; where that is gone they are built at once.
    """
    module, name = _DEFAULTS
    defaults: dict[str, object] = getattr(import_module(module), name, {})
    before = defaults.get(_DEFER, False)
    defaults[_DEFER] = True
    try:
        yield
    finally:
        defaults[_DEFER] = before


def _load_module(module: ModuleType, name: str) -> object:
    """Run the code of a package, once, and return the requested name (PEP 562)."""
    with _RUNNING:
        waiting = vars(module).pop("__getattr__", None)
        if waiting is not None and module.__spec__ is not None and module.__spec__.loader is not None:
            module.__spec__.loader.exec_module(module)
    return getattr(module, name)

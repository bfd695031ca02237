"""Load the modules of a package on first use, so that importing a package stays cheap.

A package that many callers need only sometimes says `__getattr__ = load_on_use(__name__)` in its `__init__`. Callers
write `from credenda import services` and `services.delete.erase(…)`: the module `delete` is imported by that attribute
access (PEP 562), not when the caller is imported. A module that stands in no such package comes from `import_on_use`.
An import statement inside a function is not needed for this.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class _Deferred:
    """A module that is imported when an attribute of it is read."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401 - whatever the module holds
        return getattr(import_module(self._name), attribute)


def import_on_use(name: str) -> Any:  # noqa: ANN401 - a type checker reads the import beside it
    """Return a stand-in of a module, which imports the module when an attribute is read.

    Give type checkers the import itself: `if TYPE_CHECKING: from credenda import bootstrap`, and call this in `else`.
    """
    return _Deferred(name)


def load_on_use(package: str) -> Callable[[str], ModuleType]:
    """Return a module-level `__getattr__` that imports the submodule of the name asked for.

    Raises AttributeError for a name that is no module of the package, as Python expects.
    """

    def load(name: str) -> ModuleType:
        qualified = f"{package}.{name}"
        try:
            return import_module(qualified)
        except ModuleNotFoundError as error:
            if error.name != qualified:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return load


def load_runtime() -> Any:  # noqa: ANN401 - onnxruntime has no types
    """Load onnxruntime; unless it is told not to, it keeps a session file for telemetry in the temporary folder."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251 - the runtime reads it when it is loaded
    return import_module("onnxruntime")

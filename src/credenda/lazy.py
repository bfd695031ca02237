"""Load the modules of a package on first use, so that importing a package stays cheap.

A package that many callers need only sometimes says `__getattr__ = load_on_use(__name__)` in its `__init__`. Callers
write `from credenda import services` and `services.erase.erase(…)`: the module `erase` is imported by that attribute
access (PEP 562), not when the caller is imported. An import statement inside a function is not needed for this.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

__all__ = ["load_on_use"]


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

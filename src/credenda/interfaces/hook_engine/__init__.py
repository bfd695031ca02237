"""The other end of `credenda hook`: a process that holds a memory open files its messages and answers it."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.interfaces.hook_engine import listener as listener

__getattr__ = load_on_use(__name__)

"""Token counters."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.providers.tokens import factory as factory

__getattr__ = load_on_use(__name__)

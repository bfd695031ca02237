"""The in-memory search index of a tenant."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.index import cache as cache
    from credenda.index import quantize as quantize
    from credenda.index import resident as resident

__getattr__ = load_on_use(__name__)

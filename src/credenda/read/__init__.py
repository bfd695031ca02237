"""Turn a question into ranked hits: plan, retrieve, fuse, filter, score, pack."""

from typing import TYPE_CHECKING

from credenda.lazy import load_on_use

if TYPE_CHECKING:
    from credenda.read import context as context
    from credenda.read import history as history
    from credenda.read import search as search
    from credenda.read import visibility as visibility

__getattr__ = load_on_use(__name__)

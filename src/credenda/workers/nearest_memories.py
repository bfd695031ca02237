"""The memories nearest to a sentence by embedding, found in the in-memory index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from credenda import index as index_modules
from credenda.errors import LimitExceeded
from credenda.index.document_names import list_memory_ids
from credenda.runtime import Parts
from credenda.storage.store import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credenda.write.succession.nearness import Nearest

__all__ = ["make_nearest_finder"]

_NOMINATED: Final = 64
_KEPT: Final = 8


def make_nearest_finder(parts: Parts, reader: Reader, *, past: bool = False) -> Nearest:
    """Return a finder of at most eight current memory texts whose sign bits agree best with a vector.

    With `past`, it also finds memories that are no longer believed. It finds nothing without an index: in a tenant too
    large for one, or with another engine's vectors. It loads the index on its first use.
    """

    def find(vector: NDArray[np.float32]) -> list[str]:
        model_id = None if parts.embedder is None else parts.embedder.model_id
        try:
            index = parts.indexes.get(reader, model_id=model_id, store=parts.store_name)
        except LimitExceeded:
            return []
        if index.dims != len(vector):
            return []
        usable = index.is_memory & (
            (index.state == index_modules.resident.STATE_CURRENT)
            | (past & (index.state == index_modules.resident.STATE_PAST))
        )
        rows = index.likeliest(vector, index.nearest(vector, _NOMINATED, usable), _KEPT)
        found = reader.memories(list_memory_ids(index.codes[rows].tolist(), reader.tenant.tag))
        return list(dict.fromkeys(one.text for one in found))

    return find

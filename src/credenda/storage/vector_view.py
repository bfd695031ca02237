"""The vectors of a tenant, for searches that have no index in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["VectorView"]


class VectorView(Protocol):
    """The vectors of one tenant in a consistent view."""

    @property
    def is_indexed(self) -> bool:
        """Whether this backend has an index of vectors."""
        ...

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:
        """Return codes of documents whose vectors the index holds to be the nearest, and how far it has come.

        That is the number of the last vector that it knows (see `page`); ([], 0) without an index. The codes are
        candidates, to be compared by their stored vectors.
        """
        ...

    def page(self, model_id: str, after: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """Return (number, code, dims, bits, data) of the next vectors of a model after a number, in their order."""
        ...

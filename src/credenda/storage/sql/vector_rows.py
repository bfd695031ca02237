"""The vectors of a tenant in a backend without an index of them."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.storage.sql.run import StatementRunner

__all__ = ["SqlVectorView"]


class SqlVectorView:
    """A `VectorView` that runs named statements."""

    def __init__(self, run: StatementRunner) -> None:
        """Bind to a runner of statements for one tenant."""
        self._run = run

    @property
    def is_indexed(self) -> bool:
        """Whether this backend has an index of vectors."""
        return False

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:  # noqa: ARG002 - for an index
        """Return nothing: there is no index."""
        return [], 0

    def page(self, model_id: str, after: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """Return (number, code, dims, bits, data) of the next vectors of a model after a number, in their order."""
        return [tuple(row) for row in self._run("vector_page", model_id=model_id, after=after, limit=limit)]

"""Resident indexes of the tenants in use, caught up on every look. STUB; signatures will not change."""

from __future__ import annotations

from credenda import limits
from credenda.storage.store import Reader, Snapshot
from credenda.vectors.resident import ResidentIndex

__all__ = ["IndexCache"]


class IndexCache:
    """Least-recently-used indexes by (store, tenant, model); all methods may be called from any thread."""

    def __init__(
        self, *, tenants_max: int = limits.RESIDENT_TENANTS, bytes_max: int = limits.RESIDENT_BYTES
    ) -> None: ...

    def get(self, reader: Reader, *, model_id: str | None = None, store: str = "") -> ResidentIndex:
        """Return the tenant's index as of the reader's view or later. The result is never altered: search it freely.

        Raises `LimitExceeded` for a tenant of more than `limits.RESIDENT_DOCUMENTS` documents.
        """
        raise NotImplementedError

    def needs_saving(self, index: ResidentIndex) -> bool:
        """Say whether the index has moved so far since its last image that a new one is worth writing."""
        raise NotImplementedError

    def image(self, index: ResidentIndex) -> Snapshot:
        """Return the image to persist (name "index:<model or none>"), and count the index as saved."""
        raise NotImplementedError

    def drop(self, user_id: str, *, store: str = "") -> None:
        """Forget a tenant's indexes (erasure)."""
        raise NotImplementedError

"""The verbs of `mem.manage`. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from credenda.model.contest import ContestCase
from credenda.model.memory import Memory
from credenda.model.report import Resolution
from credenda.operations import keeping
from credenda.parts import Parts

__all__ = ["Manage"]


class Manage:
    """What happens to beliefs after they are held: `mem.manage`."""

    def __init__(self, parts: Parts) -> None:
        """Belong to an open memory."""
        self._parts = parts

    def contests(self) -> Sequence[ContestCase]:
        """List slots whose value cannot be decided, with their questions; open ones first."""
        return keeping.contests(self._parts)

    def resolve(
        self, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
    ) -> Resolution:
        """Answer a contest: keep one value, or give each its scope, such as {"consulting": "morning"}.

        The scope "default" means none. Raises `Invalid` for a value that is unknown or ambiguous, and lists the
        choices; `Conflict` for a contest that is resolved.
        """
        return keeping.resolve(self._parts, contest_id, keep=keep, scopes=scopes)

    def pin(self, id: str) -> Memory:
        """Keep a memory in every context."""
        return keeping.pin(self._parts, id, pinned=True)

    def unpin(self, id: str) -> Memory:
        """Take a memory's pin away."""
        return keeping.pin(self._parts, id, pinned=False)

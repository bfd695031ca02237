"""One run of the command line: how the memory is opened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["Session"]


@dataclass(slots=True)
class Session:
    """What the options of the program say."""

    db: str | None = None
    user: str | None = None
    json: bool = False
    read_only: bool = False
    tokenizer: str | None = None
    zone: tzinfo = UTC
    """Whose days are shown; the memory's own once it is open."""

    def open(self) -> Credenda:
        """Open the memory without background workers: what has to run, runs before the command ends."""
        from credenda.client import Credenda

        memory = Credenda.open(
            self.db, user=self.user, workers=False, read_only=self.read_only, tokenizer=self.tokenizer
        )
        self.zone = memory.zone
        return memory

"""One run of the command line: the program options, and how the memory is opened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credenda.client import Credenda

__all__ = ["Session"]


@dataclass(slots=True)
class Session:
    """The program options."""

    db: str | None = None
    user: str | None = None
    json: bool = False
    read_only: bool = False
    tokenizer: str | None = None
    zone: tzinfo = UTC
    """The time zone of displayed times; set from the memory when it opens."""

    def open(self) -> Credenda:
        """Open the memory without background workers; the command does all work itself before it ends."""
        from credenda.client import Credenda

        memory = Credenda.open(
            self.db, user=self.user, workers=False, read_only=self.read_only, tokenizer=self.tokenizer
        )
        self.zone = memory.zone
        return memory

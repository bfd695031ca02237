"""One run of the command line: the program options, and how the memory is opened."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import credenda
from credenda.config import get_default_user
from credenda.errors import Invalid
from credenda.lazy import import_on_use

if TYPE_CHECKING:
    from credenda import Credenda, bootstrap
    from credenda.runtime import Parts
else:
    bootstrap = import_on_use("credenda.bootstrap")

_PASSWORD: Final = re.compile(r"://[^/@?]*:[^@?]*@|\bpassword=")


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
        memory = credenda.Credenda.open(
            self.db, user=self.user, workers=False, read_only=self.read_only, tokenizer=self.tokenizer
        )
        self.zone = memory.zone
        return memory

    @contextmanager
    def open_parts(self) -> Generator[Parts]:
        """Open what a memory is made of, for work on many users, and release it at the end."""
        user = get_default_user() if self.user is None else self.user
        parts = bootstrap.build_parts(self.db, user=user, read_only=self.read_only, tokenizer=self.tokenizer)
        try:
            yield parts
        finally:
            parts.release()


def name_database(target: str | None) -> str:
    """Return a database as another program is told of it, in a file; raise `Invalid` for an address with a password."""
    place = bootstrap.resolve_target(target)
    if "://" not in place:
        return str(Path(place).absolute())
    if _PASSWORD.search(f"{place} {unquote(place)}"):
        raise Invalid(
            "the address of the database holds a password",
            why="it would stand in a file of the client, and in the list of processes",
            fix="put the password into ~/.pgpass, and leave it out of the address",
        )
    return place

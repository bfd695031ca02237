"""How the stores of a server's rows reach their tables: in a view, or in a transaction of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from credenda.storage.sql.statements import StatementRunner

T = TypeVar("T")


class ServerTables(ABC):
    """The part of a store that runs statements on the tables of a server. They name their user themselves."""

    @abstractmethod
    def _view_tables(self, user: str = "") -> AbstractContextManager[StatementRunner]:
        """Open a consistent view; `user` is the one whose rows are read where the table belongs to tenants."""

    @abstractmethod
    def _change_tables(self, work: Callable[[StatementRunner], T], user: str = "", *, alone: str = "") -> T:
        """Run a change in a transaction and return its result once it is durable; it may be run again.

        With `alone`, no other change of the same user and that name runs meanwhile, in any process.
        """

"""The ledger of erasures outside the database: a file, so that a backup of the server cannot take an erasure back.

The table `erasures` is in every backup as of its day. The file has what came since; `credenda erase-again` applies it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from credenda.errors import CredendaError
from credenda.model.doctor_finding import Finding
from credenda.storage.erasure_ledger import (
    ErasedTenant,
    add_to_ledger,
    list_damaged_ledgers,
    name_owner,
    read_ledger,
    remove_from_ledger,
)
from credenda.storage.tenant_transfer import TenantTransfer

_log: Final = logging.getLogger(__name__)


class LedgerFile:
    """The file, which need not exist yet."""

    def __init__(self, path: str) -> None:
        """Name it; raises `Invalid` for a name that does not end in `.erasures`."""
        self.path = path
        self._owner = name_owner(path)

    def add(self, entries: Iterable[ErasedTenant]) -> Mapping[str, str]:
        """Add the entries that it lacks, durably; return the path and the reason if that fails."""
        try:
            add_to_ledger(self._owner, entries)
        except CredendaError as error:
            return {self.path: str(error)}
        return {}

    def lift(self, tag: str) -> None:
        """Cancel an entry whose user was imported again on purpose; where that fails, `find_problems` tells."""
        try:
            remove_from_ledger(self._owner, tag)
        except CredendaError as error:
            _log.warning("an imported user is still in the ledger of erasures", extra={"code": error.code})

    def find_problems(self, store: TenantTransfer, *, repair: bool) -> list[Finding]:
        """Report erasures that it lacks, users that it lists and the database has, and damaged lines."""
        owed = self.add(store.erasures()) if repair else self._find_missing(store.erasures())
        found = [
            Finding(
                check="ledgers",
                detail=f"users erased here are not listed there yet: {reason}",
                where=place,
                fix="make it writable, then run `credenda doctor --repair`",
            )
            for place, reason in owed.items()
        ]
        found += [
            Finding(
                check="ledgers",
                detail="a damaged ledger of erasures was set aside; its valid lines were kept",
                where=place,
                fix="compare it with an intact copy if you have one, then delete this file",
            )
            for place in list_damaged_ledgers(self._owner)
        ]
        back = sum(store.user_of(tag) is not None for tag in read_ledger(self._owner, partial=True))
        if back:
            found.append(
                Finding(
                    check="ledgers",
                    detail=f"{back} users that it lists as erased are back: the database was restored from a backup",
                    where=self.path,
                    fix="run `credenda erase-again`",
                )
            )
        return found

    def _find_missing(self, entries: Iterable[ErasedTenant]) -> Mapping[str, str]:
        known = read_ledger(self._owner, partial=True)
        missing = sum(entry.tag not in known for entry in entries)
        return {self.path: f"{missing} are missing"} if missing else {}

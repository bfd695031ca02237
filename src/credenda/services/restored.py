"""Erase from a restored database whoever was erased since its backup was made, and repeat later deletions in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from credenda.errors import NotFound, Unavailable
from credenda.model.restored_report import RestoredReport
from credenda.model.retention_policy import LegalHold
from credenda.runtime import Parts
from credenda.services.restore_backup import delete_again
from credenda.storage.erasure_ledger import ErasedTenant, hash_tenant_name, locate_ledger, name_owner, read_ledger
from credenda.storage.store import Store, Writer

__all__ = ["read_ledgers", "repeat_erasures"]

_PAGE: Final = 256


def read_ledgers(paths: Iterable[str | Path]) -> dict[str, ErasedTenant]:
    """Read the entries of ledger files by tag.

    Raises `Invalid` for another kind of file, `NotFound` for a missing one, and `Corrupt` for a damaged one.
    """
    found: dict[str, ErasedTenant] = {}
    for path in paths:
        owner = name_owner(path)
        if not locate_ledger(owner).is_file():
            raise NotFound(f"there is no ledger of erasures at {path}", fix="check the path")
        found |= read_ledger(owner)
    return found


def repeat_erasures(parts: Parts, entries: Mapping[str, ErasedTenant], *, later: Store | None = None) -> RestoredReport:
    """Erase the users that the entries list, and with `later`, a newer state of the database, what is gone there.

    A user that only has the tag or only the name of an entry stays. Repeating it does nothing.
    """
    store = parts.store
    wanted = {**entries, **({} if later is None else {one.tag: one for one in later.erasures()})}
    store.take_over(wanted.values())
    erased = 0
    for entry in wanted.values():
        name = store.user_of(entry.tag)
        if name is not None and hash_tenant_name(entry.key, name) == entry.digest:
            _erase(parts, name)
            erased += 1
    deleted, held = (0, 0) if later is None else _delete(parts, later)
    return RestoredReport(listed=len(wanted), erased=erased, deleted=deleted, held=held)


def _erase(parts: Parts, user: str) -> None:
    if _has_hold(parts.store, user):  # it was lifted before the erasure, which a hold prevents
        _lift_hold(parts, user, "the user was erased after this backup was made")
    if not parts.store.erase(user).held:
        raise Unavailable("a user could not be erased", why="some of its data is left", fix="run this again")
    parts.indexes.drop(user, store=parts.store_name)


def _delete(parts: Parts, later: Store) -> tuple[int, int]:
    """Repeat the deletions of a newer state; return their number, and that of users whom a hold protects."""
    deleted, held, after = 0, 0, ""
    while page := parts.store.users(after=after, limit=_PAGE):
        for user in page:
            if _has_hold(parts.store, user):
                if _has_hold(later, user):
                    held += 1
                    continue
                _lift_hold(parts, user, "the hold was lifted after this backup was made")
            deleted += delete_again(later, parts.store, user, parts.clock.now_us())
            parts.indexes.drop(user, store=parts.store_name)
        after = page[-1]
    return deleted, held


def _has_hold(store: Store, user: str) -> bool:
    return any(hold.lifted_us is None for hold in store.rules(user).holds)


def _lift_hold(parts: Parts, user: str, reason: str) -> None:
    hold = LegalHold(reason="", set_us=0, lifted_us=parts.clock.now_us(), lifted_reason=reason)

    def lift(writer: Writer) -> None:
        writer.put(hold)

    parts.store.commit(user, lift)

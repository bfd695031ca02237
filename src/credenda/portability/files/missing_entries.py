"""Decide which of the entries that are missing from the files a person removed. Pure.

A deletion is permanent, so an entry counts as removed only if its page was read completely and is the version that the
last synchronisation left, without that entry. Every other missing entry waits for the user's decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda import limits
from credenda.portability.files.state import Base
from credenda.portability.files.types import Sides, Text

__all__ = ["Missing", "sort_missing"]

_FEW: Final = 2
"""Entries that may be removed from a page or folder of any size."""
_MOST: Final = 3
"""More than one entry in three of a page or folder counts as many."""

UNREAD: Final = "a page could not be read; nothing is deleted until it is repaired or removed"
BEFORE: Final = "missing since an earlier synchronisation"
NO_PAGE: Final = "their page is gone"
OTHER_VERSION: Final = "their page is not the version that the last synchronisation left"
MANY: Final = "many are missing at once"


@dataclass(slots=True)
class Missing:
    """Missing entries by local id: those that a person removed, and those that wait, with the reason."""

    removed: list[str] = field(default_factory=list[str])
    waiting: dict[str, str] = field(default_factory=dict[str, str])


def sort_missing(sides: Sides, gone: Sequence[str], base: Mapping[str, Base], names: Mapping[str, str]) -> Missing:
    """Sort missing entries; `base` has every entry of the last state by local id, `names` their ids in the files."""
    if sides.unread:
        return Missing(waiting=dict.fromkeys(gone, UNREAD))
    if sides.missing == "delete":
        return Missing(removed=list(gone))
    texts = {text.path: text for text in sides.texts}
    found = Missing()
    for local in gone:
        why = _find_doubt(sides, base[local], names[local], texts.get(base[local].path))
        if why:
            found.waiting[local] = why
        else:
            found.removed.append(local)
    fresh = [local for local in gone if not base[local].away]
    many = _find_many(sides, fresh, base)
    found.waiting |= {local: MANY for local in found.removed if local in many}
    found.removed = [local for local in found.removed if local not in many]
    return found


def _find_doubt(sides: Sides, base: Base, name: str, text: Text | None) -> str:
    """Return the reason why a missing entry may not have been removed by a person; "" if there is none."""
    if base.away:
        return BEFORE
    if name in sides.removed:  # another memory that shares the folder recorded the deletion
        return ""
    if text is None:
        return NO_PAGE
    return "" if text.page.footer == sides.state.footers.get(text.path, "") else OTHER_VERSION


def _find_many(sides: Sides, fresh: Sequence[str], base: Mapping[str, Base]) -> set[str]:
    """Return the missing entries that are too many at once, in the folder, a part of it, or a page."""
    if len(fresh) > limits.FILES_GONE_TOGETHER:
        return set(fresh)
    known = [local for local in base if local in sides.ours]
    parts = {local: "archive" if sides.ours[local].event else "pages" for local in known}
    pages = {local: base[local].path for local in known}
    return {
        *_find_crowded(fresh, dict.fromkeys(known, ""), all_of_them=True),
        *_find_crowded(fresh, parts, all_of_them=True),
        *_find_crowded(fresh, pages, all_of_them=False),
    }


def _find_crowded(fresh: Sequence[str], places: Mapping[str, str], *, all_of_them: bool) -> Iterator[str]:
    """Yield the missing entries of places that lost many; with `all_of_them`, also two if there were no more."""
    before, gone = Counter(places.values()), Counter(places[local] for local in fresh)
    for local in fresh:
        count, total = gone[places[local]], before[places[local]]
        if (count > _FEW and count * _MOST > total) or (all_of_them and 1 < count == total):
            yield local

"""Set aside pages that were read only in part, and name the entries that unread pages hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.portability.files.folder import ZEROS, Found
from credenda.portability.files.parse import Entered, Other
from credenda.portability.files.state import AWAY, Base, State, hash_text
from credenda.portability.files.types import Text, Tier

__all__ = ["set_aside_unread"]

_CUT_OFF: Final = "was cut off: its last line `<!--end-->` is gone, and so are entries; repair it, or add that line"
_BEHEADED: Final = "has lost its beginning: its front matter or title is gone, and so are entries; repair it"


def set_aside_unread(found: Found, state: State, key: bytes) -> None:
    """Set aside pages that were cut off, and hide every entry that was on an unread page and is on no other."""
    on: dict[str, list[tuple[str, Base]]] = {}
    for name, one in state.entries.items():
        if one.local != AWAY:
            on.setdefault(one.path, []).append((name, one))
    elsewhere = _list_entries(found, state, whole=True)
    for text in list(found.texts):
        known = on.get(text.path, ())
        there = {one.name: hash_text(key, one.text) for one in text.page.entries}
        lost = [name for name, one in known if there.get(name) != one.digest]
        why = ""
        if text.zeros and (lost or not text.page.whole or _has_foreign_zeros(text, known)):
            why = ZEROS
        elif not text.page.whole and any(name in there or name not in elsewhere for name in lost):
            why = _CUT_OFF
        elif not _has_beginning(text, state) and any(name not in there and name not in elsewhere for name in lost):
            why = _BEHEADED
        if why:
            found.texts.remove(text)
            found.troubles[text.path] = why
    for path, entries in on.items():
        if any(path == name or path.startswith(f"{name}/") for name in found.troubles):
            found.hidden |= {name for name, _ in entries}
    found.hidden -= _list_entries(found, state)


def _has_foreign_zeros(text: Text, known: Sequence[tuple[str, Base]]) -> bool:
    """Return whether a page has zero bytes outside entries that still are as an earlier version wrote them."""
    names = {name for name, _ in known}
    return any(
        "\x00" in line
        for one in text.page.blocks
        if not (isinstance(one, Entered) and one.name in names)
        for line in one.lines
    )


def _has_beginning(text: Text, state: State) -> bool:
    if text.tier is Tier.PAGES:
        return bool(text.about) or text.path not in state.pages.values()
    return any(isinstance(one, Other) and one.lines[0].startswith("# ") for one in text.page.blocks)


def _list_entries(found: Found, state: State, *, whole: bool = False) -> set[str]:
    """Return the ids on readable pages, without the copies on the page of the core block."""
    copies = {name for name, one in state.entries.items() if one.local in state.core}
    return {
        one.name
        for text in found.texts
        for one in text.page.entries
        if (text.page.whole or not whole) and not (text.tier is Tier.CORE and one.name in copies)
    }

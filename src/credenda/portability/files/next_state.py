"""Build the parts of the next common state, and of the report, from what the pages show now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final

from credenda.ids import parse_serial
from credenda.portability.files.folder import Found
from credenda.portability.files.memory_side import View
from credenda.portability.files.page_plan import Layout
from credenda.portability.files.state import Base, State, hash_text
from credenda.portability.files.three_way_diff import Plan
from credenda.portability.files.types import Tier
from credenda.text.normalize import normalise_name

__all__ = ["keep_bases", "list_pages", "list_pending", "map_bases", "map_ids"]

_LISTED_MAX: Final = 100
_PENDING_CHARACTERS: Final = 80


def map_ids(state: State, plan: Plan, after: View) -> dict[str, str]:
    """Return the ids in the files by the ids in the store, where they differ or are known."""
    here = {one.id for one in (*after.memories, *after.events)}
    bound = {name: one.local for name, one in state.entries.items()} | plan.bound
    return {local: name for name, local in bound.items() if local in here and name != local}


def list_pages(found: Found, layout: Layout, standing: Collection[str]) -> dict[str, str]:
    """Return the files of entities that exist; of two files that claimed one entity, the remaining one."""
    pages = [one for one in reversed(found.texts) if one.own and one.tier is Tier.PAGES and one.path in standing]
    left = {normalise_name(one.about): one.path for one in pages if normalise_name(one.about)}
    return left | {key: path for key, path in layout.pages.items() if path in {*found.troubles, *standing}}


def map_bases(layout: Layout, names: Mapping[str, str], failed: Collection[str], key: bytes) -> dict[str, Base]:
    """Return for every entry in a file the state that both sides now share."""
    return {
        names.get(one.local, one.local): Base(one.local, path, hash_text(key, one.text), one.held)
        for path, sheet in layout.sheets.items()
        if path not in failed and path != layout.core
        for one in sheet.entries
    }


def keep_bases(
    state: State, *, skipped: Collection[str], failed: Collection[str], away: Collection[str], stay: Collection[str]
) -> dict[str, Base]:
    """Return the state of entries that were not drawn: those that wait or are hidden, and those of failed pages."""
    return {
        name: replace(one, away=one.local in away)
        for name, one in state.entries.items()
        if one.local in skipped or (one.path in failed and one.local in stay)
    }


def list_pending(gone: Collection[str], lines: Mapping[str, str], state: State, view: View) -> list[str]:
    """List entries, and memories with the pages of their lines, with the beginnings of their texts."""
    texts = {one.id: one.text for one in (*view.memories, *view.events)}
    paths = {one.local: one.path for one in state.entries.values()} | dict(lines)
    gone = {*gone, *lines}
    listed = sorted((paths.get(local, ""), parse_serial(local), local) for local in gone if local in texts)
    return [f"{path}: {local} {_shorten(texts[local])}" for path, _, local in listed[:_LISTED_MAX]]


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _PENDING_CHARACTERS else f"{line[:_PENDING_CHARACTERS]}…"

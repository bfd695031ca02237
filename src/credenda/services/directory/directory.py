"""The verbs of the virtual directory: list, read, search, write, remove and move pages.

`MEMORY.md`, `index.md`, `consolidated/` and `archive/` are pages of beliefs; below `@DAY/` they are as they were
believed at the end of that day. All other paths are pages of programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded, NotFound
from credenda.model.browse import DirectoryEntry, DirectoryMatch, DirectoryPage, hash_page
from credenda.private import PrivateParts
from credenda.runtime import Parts
from credenda.services.directory.belief_pages import BeliefPage, apply_page_edit, load_belief_pages
from credenda.services.directory.paths import AS_OF, fold_page_name, is_reserved, split_page_path
from credenda.services.directory.stored_pages import StoredPage, load_pages, move_pages, remove_pages, write_page
from credenda.services.search import resolve_moment
from credenda.validation import check_text
from credenda.write.intake.validate import make_private_error

_MISSING: Final = "list the directory"


def _join_path(names: Iterable[str]) -> str:
    return "/".join(names)


def _load_beliefs(parts: Parts, names: tuple[str, ...]) -> tuple[Mapping[str, BeliefPage], str]:
    """Load the pages of beliefs that a path is among, and return the beginning that their paths have there."""
    if names and names[0].startswith(AS_OF):
        moment_us = resolve_moment(parts, names[0].removeprefix(AS_OF))
        return load_belief_pages(parts, moment_us), f"{names[0]}/"
    return load_belief_pages(parts), ""


def _load_texts(parts: Parts, names: tuple[str, ...]) -> dict[str, str]:
    """Load the texts of all pages that lie at or below a path."""
    path = _join_path(names)
    found: dict[str, str] = {}
    if not names or is_reserved(names):
        beliefs, begin = _load_beliefs(parts, names)
        found = {f"{begin}{name}": page.text for name, page in beliefs.items()}
    if not (names and is_reserved(names)):
        found |= {name: page.text for name, page in load_pages(parts).items()}
    return {name: found[name] for name in sorted(found) if not path or name == path or name.startswith(f"{path}/")}


def list_entries(parts: Parts, path: str, *, depth: int) -> list[DirectoryEntry]:
    """List the pages and folders below a path, down to a depth; raise `NotFound` for a path without any."""
    names = split_page_path(path)
    texts = _load_texts(parts, names)
    if names and not texts:
        raise NotFound(f"there is no {path}", fix=_MISSING)
    sizes: dict[tuple[str, ...], int] = {}
    pages: set[tuple[str, ...]] = set()
    for name, text in texts.items():
        inside = tuple(name.split("/"))
        pages.add(inside)
        for end in range(len(names) + 1, min(len(inside), len(names) + depth) + 1):
            sizes[inside[:end]] = sizes.get(inside[:end], 0) + len(text.encode())
    if names in pages:
        return [DirectoryEntry(_join_path(names), False, len(texts[_join_path(names)].encode()))]  # noqa: FBT003 - a row
    return [DirectoryEntry(_join_path(one), one not in pages, size) for one, size in sorted(sizes.items())]


def read_page(parts: Parts, path: str) -> DirectoryPage:
    """Return a page; raise `NotFound` for a path without one."""
    names = split_page_path(path)
    if is_reserved(names):
        beliefs, begin = _load_beliefs(parts, names)
        page = beliefs.get(_join_path(names).removeprefix(begin))
        if page is not None:
            return _to_page(_join_path(names), page.text, writable=page.writable and not begin)
    else:
        stored = load_pages(parts, _join_path(names)).get(_join_path(names)) if names else None
        if stored is not None:
            return _to_page(stored.path, stored.text)
    raise NotFound(f"there is no page {path}", fix=_MISSING)


def _to_page(path: str, text: str, *, writable: bool = True) -> DirectoryPage:
    return DirectoryPage(path, text, hash_page(text), writable)


def write_text(parts: Parts, path: str, text: str, *, version: str | None) -> DirectoryPage:
    """Write a page and return it as it stands then.

    `version` is the one that was read, "" for a new page, None for any. Raises `Conflict` for another version.
    """
    names = split_page_path(path)
    path = _join_path(names)
    text = _cut_page(path, check_text(text, "text")) if text else ""
    if is_reserved(names):
        return _write_beliefs(parts, names, text, version)
    stored = load_pages(parts)
    old = stored.get(path)
    _check_version(path, None if old is None else old.text, version)
    if old is None:
        _check_free(names, stored)
    write_page(parts, old or StoredPage(path), text)
    return read_page(parts, path)


def _cut_page(path: str, text: str) -> str:
    """Return a page without its private parts; raises `Invalid` for one that is open to the end, or all there is."""
    parts = PrivateParts()
    kept = parts.cut(text)
    if parts.is_open:
        raise Invalid(
            f"{path} has a private part without an end",
            why="the rest of the page would be lost with it",
            fix="close it with </private>",
        )
    if text.strip() and not kept.strip():
        raise make_private_error("the page")
    return kept


def _write_beliefs(parts: Parts, names: tuple[str, ...], text: str, version: str | None) -> DirectoryPage:
    path = _join_path(names)
    beliefs, begin = _load_beliefs(parts, names)
    page = beliefs.get(path)
    if page is None or begin:
        raise Invalid(
            f"{path} cannot be written",
            why="the past does not change" if begin else "this name belongs to the pages of beliefs, or to people",
            fix="write to another path",
        )
    _check_version(path, page.text, version)
    apply_page_edit(parts, page, text)
    after = load_belief_pages(parts).get(path)
    return _to_page(path, after.text if after else "")


def _check_version(path: str, text: str | None, version: str | None) -> None:
    """Raise `Conflict` unless a page has the expected version."""
    if version is not None and version != ("" if text is None else hash_page(text)):
        why = "there is no such page any more" if text is None else "its text differs from the version that was given"
        raise Conflict(f"{path} has changed", why=why, fix="read it again, and repeat the change")


def _check_free(names: tuple[str, ...], stored: Mapping[str, StoredPage]) -> None:
    """Refuse a new path that is a folder, lies below a page, or equals another path on some system."""
    if not names:
        raise Invalid("the directory itself is not a page", fix='give a path like "notes/a.md"')
    folded = _join_path(map(fold_page_name, names))
    for other in stored:
        taken = _join_path(map(fold_page_name, other.split("/")))
        if taken == folded or taken.startswith(f"{folded}/") or folded.startswith(f"{taken}/"):
            raise Conflict(f"{_join_path(names)} is taken", why=f"there is {other}", fix="choose another path")
    if len(stored) >= limits.PAGES:
        raise LimitExceeded("there are too many pages", why=f"at most {limits.PAGES:,} are kept", fix="remove some")


def remove_page(parts: Parts, path: str, *, version: str | None) -> None:
    """Remove a page, or a folder with its pages, and forget the statements; raise `NotFound` if there is none."""
    names = split_page_path(path)
    if is_reserved(names):
        raise Invalid(
            f"{path} cannot be removed", why="it is made from beliefs", fix="remove lines, or forget a memory"
        )
    found = _find_below(load_pages(parts), names)
    if not found:
        raise NotFound(f"there is no {path}", fix=_MISSING)
    if version is not None:
        _check_version(path, found[0].text if found[0].path == _join_path(names) else None, version)
    remove_pages(parts, found)


def _find_below(stored: Mapping[str, StoredPage], names: tuple[str, ...]) -> list[StoredPage]:
    path = _join_path(names)
    return [one for name, one in stored.items() if not path or name == path or name.startswith(f"{path}/")]


def move_page(parts: Parts, old_path: str, new_path: str) -> None:
    """Move a page, or a folder with its pages; never overwrite."""
    old, new = split_page_path(old_path), split_page_path(new_path)
    if is_reserved(old) or is_reserved(new) or not old:
        raise Invalid(f"{old_path} cannot be moved to {new_path}", why="pages of beliefs stay where they are")
    stored = load_pages(parts)
    found = _find_below(stored, old)
    if not found:
        raise NotFound(f"there is no {old_path}", fix=_MISSING)
    begin = _join_path(old)
    moves = {_join_path(new) + one.path[len(begin) :]: one for one in found}
    rest = {name: one for name, one in stored.items() if one not in found}
    for path in moves:
        _check_free(split_page_path(path), rest)
    move_pages(parts, moves)


def search_lines(
    parts: Parts, pattern: str, *, path: str, ignore_case: bool, regex: bool, limit: int
) -> list[DirectoryMatch]:
    """Return the lines that contain a text, or match a regular expression, in order of path and line."""
    source = check_text(pattern, "pattern")
    try:
        found = re.compile(source if regex else re.escape(source), re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise Invalid(
            "the pattern is no regular expression", why=str(error), fix="correct it, or search a text"
        ) from error
    matches: list[DirectoryMatch] = []
    for name, text in _load_texts(parts, split_page_path(path)).items():
        for number, line in enumerate(text.split("\n"), 1):
            if found.search(line):
                matches.append(DirectoryMatch(name, number, line))
                if len(matches) >= limit:
                    return matches
    return matches

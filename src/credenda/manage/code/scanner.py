"""Walks over a folder and reads what its code declares. Not pure: it touches the disk.

Nothing outside the folder is read: links are named and never followed. `.gitignore` files are respected from the folder
down, and `.git` is never entered; ignore files above the folder, and those of the person, do not count.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.manage.code.ignore import Pattern, ignored, read_patterns
from credenda.manage.code.manifests import is_manifest, read_manifest
from credenda.manage.code.outline import Outline, language_of, outline
from credenda.manage.code.scan_result import Survey, Surveyed
from credenda.paths import kind_of

__all__ = ["checked_root", "exists_inside", "survey"]

FILES_MAX: Final = 20_000
"""Most files of one folder that are looked at."""
FILE_BYTES: Final = 1 << 20
"""Longest file whose declarations are read; a longer one is named."""
_SNIFFED: Final = 8_192
_FOLDERS: Final = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})


def checked_root(path: str | Path) -> Path:
    """Return a folder as an absolute path without links; raises `Invalid` or `NotFound`, and reads nothing."""
    if not str(path).strip() or "\x00" in str(path):
        raise Invalid("no folder is named", why="the path is empty", fix="name the folder that holds the code")
    root = Path(os.path.realpath(path))
    there = kind_of(root)
    if there is None:
        raise NotFound(f"there is no folder {path}", fix="check the path")
    if there != "folder":
        raise Invalid(f"{path} is no folder", why="it is a file", fix="name the folder that holds it")
    if root == root.parent:
        raise Invalid("this would read the whole machine", why=f"{path} is the root", fix="name one project's folder")
    return root


def exists_inside(root: str, path: str) -> bool | None:
    """Say whether a path is there; None where it lies outside the root, as written or by a link on its way."""
    normal = os.path.normpath(path)  # as written: a link is looked at, not followed
    if normal != root and not normal.startswith(f"{root}{os.sep}"):
        return None
    parent = os.path.realpath(os.path.dirname(normal))  # noqa: PTH120
    if root not in (normal, parent) and not parent.startswith(f"{root}{os.sep}"):
        return None
    try:
        os.lstat(normal)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return None
    return True


def survey(root: Path, *, files_max: int = FILES_MAX) -> Survey:
    """Read a folder, in order of its names; what cannot be read is told in `problems`."""
    found = Survey(root=str(root))
    for path, full in _walk(root, found):
        if len(found.paths) >= files_max:
            found.whole = False
            found.problems.append(f"more than {files_max:,} files: the rest was not looked at")
            break
        found.paths.append(path)
        _take(path, full, found)
    return found


def _walk(root: Path, found: Survey) -> Iterator[tuple[str, str]]:
    """Yield the files that git would not ignore, as (path from the root, full path)."""
    waiting: list[tuple[str, tuple[Pattern, ...]]] = [("", ())]
    while waiting:
        base, above = waiting.pop()
        folder = os.path.join(root, base) if base else str(root)  # noqa: PTH118 - one join for each of many files
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(f"{base or '.'}: {error.strerror}")
            found.whole = False
            continue
        patterns = (*above, *_patterns(entries, base, found))
        below: list[tuple[str, tuple[Pattern, ...]]] = []
        for entry in entries:
            path = f"{base}{entry.name}"
            if not _printable(path):
                found.problems.append(f"{base}: a name that is no text")
            elif entry.is_symlink():
                if not ignored(path, folder=False, patterns=patterns):
                    found.paths.append(path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _FOLDERS and not ignored(path, folder=True, patterns=patterns):
                    found.folders.add(path)
                    below.append((f"{path}/", patterns))
            elif entry.is_file(follow_symlinks=False) and not ignored(path, folder=False, patterns=patterns):
                yield path, entry.path
        waiting += reversed(below)


def _printable(name: str) -> bool:
    return name.isprintable()


def _patterns(entries: list[os.DirEntry[str]], base: str, found: Survey) -> list[Pattern]:
    for entry in entries:
        if entry.name == ".gitignore" and entry.is_file(follow_symlinks=False):
            text = _text(entry.path, f"{base}.gitignore", found)
            return read_patterns(text or "", base)
    return []


def _take(path: str, full: str, found: Survey) -> None:
    raw = _bytes(full, path, found)
    if raw is None:
        return
    if b"\x00" in raw[:_SNIFFED]:
        found.binary += 1
        return
    text = raw.decode("utf-8", "replace")
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    declared = outline(path, text) if len(raw) <= FILE_BYTES else Outline(language=language_of(path))
    if declared.problem:
        found.problems.append(f"{path}: {declared.problem}")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    found.files.append(Surveyed(path=path, digest=digest, lines=lines, outline=declared))
    if is_manifest(path):
        manifest = read_manifest(path, text)
        found.manifests.append(manifest)
        if manifest.problem:
            found.problems.append(f"{path}: {manifest.problem}")


def _text(full: str, path: str, found: Survey) -> str | None:
    raw = _bytes(full, path, found)
    return None if raw is None else raw.decode("utf-8", "replace")


def _bytes(full: str, path: str, found: Survey) -> bytes | None:
    """Read a file without following a link that took its place, and without waiting for one that is no file."""
    try:
        handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as opened:
            size = os.fstat(opened.fileno())
            if not stat.S_ISREG(size.st_mode):
                return None
            if size.st_size > FILE_BYTES:
                found.problems.append(f"{path}: {size.st_size:,} bytes are more than the {FILE_BYTES:,} that are read")
                return None
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        found.problems.append(f"{path}: {error.strerror}")
        return None

"""Scan a folder and outline its files: the only module of the package that reads the disk.

Nothing outside the folder is read; links are listed and never followed. `.gitignore` files inside the folder apply, and
`.git` is never entered. Ignore files above the folder and in the user's configuration do not apply.

Not pure: it touches the disk.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from credenda.errors import Invalid, NotFound
from credenda.manage.code.outline import (
    IgnorePattern,
    Outline,
    ScannedFile,
    ScanResult,
    detect_language,
    is_ignored,
    is_manifest,
    parse_manifest,
    parse_outline,
    parse_patterns,
)
from credenda.paths import find_path_kind

FILES_MAX: Final = 20_000
"""Maximum number of files scanned in one folder."""
FILE_BYTES: Final = 1 << 20
"""Maximum size of a file that is outlined; a larger one is listed only."""
_SNIFFED: Final = 8_192
_FOLDERS: Final = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})


def check_root(path: str | Path) -> Path:
    """Return a folder as an absolute path without links; raises `Invalid` or `NotFound`. Reads no file."""
    if not str(path).strip() or "\x00" in str(path):
        raise Invalid("no folder is named", why="the path is empty", fix="name the folder that holds the code")
    root = Path(os.path.realpath(path))
    there = find_path_kind(root)
    if there is None:
        raise NotFound(f"there is no folder {path}", fix="check the path")
    if there != "folder":
        raise Invalid(f"{path} is not a folder", why="it is a file", fix="name the folder that holds it")
    if root == root.parent:
        raise Invalid("this would read the whole machine", why=f"{path} is the root", fix="name one project's folder")
    return root


def check_exists(root: str, path: str) -> bool | None:
    """Return whether a path exists; None if it lies outside the root, as written or through a link."""
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


def scan_folder(root: Path, *, files_max: int = FILES_MAX) -> ScanResult:
    """Scan a folder, in order of names; unreadable files are reported in `problems`."""
    found = ScanResult(root=str(root))
    for path, full in _walk(root, found):
        if len(found.paths) >= files_max:
            found.whole = False
            found.problems.append(f"more than {files_max:,} files: the rest was not scanned")
            break
        found.paths.append(path)
        _scan_file(path, full, found)
    return found


def _walk(root: Path, found: ScanResult) -> Iterator[tuple[str, str]]:
    """Yield the files that git would not ignore, as (path from the root, full path)."""
    waiting: list[tuple[str, tuple[IgnorePattern, ...]]] = [("", ())]
    while waiting:
        base, above = waiting.pop()
        folder = os.path.join(root, base) if base else str(root)  # noqa: PTH118 - one join for each of many files
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(f"{base or '.'}: {error.strerror}")
            found.whole = False
            continue
        patterns = (*above, *_load_patterns(entries, base, found))
        below: list[tuple[str, tuple[IgnorePattern, ...]]] = []
        for entry in entries:
            path = f"{base}{entry.name}"
            if not path.isprintable():
                found.problems.append(f"{base}: a name that is not printable")
            elif entry.is_symlink():
                if not is_ignored(path, folder=False, patterns=patterns):
                    found.paths.append(path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _FOLDERS and not is_ignored(path, folder=True, patterns=patterns):
                    found.folders.add(path)
                    below.append((f"{path}/", patterns))
            elif entry.is_file(follow_symlinks=False) and not is_ignored(path, folder=False, patterns=patterns):
                yield path, entry.path
        waiting += reversed(below)


def _load_patterns(entries: list[os.DirEntry[str]], base: str, found: ScanResult) -> list[IgnorePattern]:
    for entry in entries:
        if entry.name == ".gitignore" and entry.is_file(follow_symlinks=False):
            path = f"{base}.gitignore"
            raw = _read_bytes(entry.path, path, found)
            text = None if raw is None else raw.decode("utf-8", "replace")
            return parse_patterns(text or "", base)
    return []


def _scan_file(path: str, full: str, found: ScanResult) -> None:
    raw = _read_bytes(full, path, found)
    if raw is None:
        return
    if b"\x00" in raw[:_SNIFFED]:
        found.binary += 1
        return
    text = raw.decode("utf-8", "replace")
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    declared = parse_outline(path, text) if len(raw) <= FILE_BYTES else Outline(language=detect_language(path))
    if declared.problem:
        found.problems.append(f"{path}: {declared.problem}")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    found.files.append(ScannedFile(path=path, digest=digest, lines=lines, outline=declared))
    if is_manifest(path):
        manifest = parse_manifest(path, text)
        found.manifests.append(manifest)
        if manifest.problem:
            found.problems.append(f"{path}: {manifest.problem}")


def _read_bytes(full: str, path: str, found: ScanResult) -> bytes | None:
    """Read a file without following a link that replaced it, and without blocking on a special file."""
    try:
        handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as opened:
            size = os.fstat(opened.fileno())
            if not stat.S_ISREG(size.st_mode):
                return None
            if size.st_size > FILE_BYTES:
                found.problems.append(f"{path}: {size.st_size:,} bytes exceed the limit of {FILE_BYTES:,}")
                return None
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        found.problems.append(f"{path}: {error.strerror}")
        return None

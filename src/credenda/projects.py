"""Names of projects: the git remote of a folder, so that worktrees and clones of a repository share one name.

Only the standard library's small modules are imported, and no program is started: hooks of agents call this for every
prompt. Nothing in a folder can switch anything on; its git configuration only gives the name.
"""

from __future__ import annotations

import os
import re
from typing import Final

_CONFIG_BYTES: Final = 65_536
_LEVELS: Final = 64
_LENGTH: Final = 200
_SECTION: Final = re.compile(r'^\[\s*(\w+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_URL: Final = re.compile(r"^url\s*=\s*(.+)$", re.IGNORECASE)
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>[^/:]+)(?::\d+)?/(?P<path>.+)$", re.IGNORECASE)
_SCP: Final = re.compile(r"^(?:[^/@:]+@)?(?P<host>[^/:@]{2,}):(?!//)(?P<path>.+)$")
_ORIGIN: Final = "origin"


def find_project(folder: str, remote: str = "") -> str:
    """Return the name of the project of a folder: host and path of its git remote, else the path of the repository.

    Worktrees have the name of their repository. `remote` is an address that a transcript notes, for a folder that is
    no repository here. "" outside of a repository, and for one that cannot be read.

    >>> find_project("/"), find_project("/", "https://github.com/acme/app.git")
    ('', 'github.com/acme/app')
    """
    try:
        common = _find_repository(os.path.abspath(folder)) if folder else ""
        if not common:
            return _name_remote({_ORIGIN: remote})[:_LENGTH]
        return (_name_remote(_read_remotes(os.path.join(common, "config"))) or _name_folder(common))[:_LENGTH]
    except (OSError, ValueError):
        return ""


def _find_repository(folder: str) -> str:
    """Return the folder of git's data that the repository's worktrees share; "" without one."""
    for _ in range(_LEVELS):
        place = os.path.join(folder, ".git")
        if os.path.isdir(place):
            return place
        if os.path.isfile(place):
            # Return the shared data of a worktree, or those of a submodule, from the file that stands for the
            # folder.
            key, _, named = _read(place).partition(":")
            if key.strip() != "gitdir" or not named.strip():
                return ""
            own = os.path.normpath(os.path.join(folder, named.strip()))
            shared = os.path.join(own, "commondir")
            return os.path.normpath(os.path.join(own, _read(shared).strip())) if os.path.isfile(shared) else own
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return ""


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_CONFIG_BYTES).decode("utf-8", "replace")


def _read_remotes(path: str) -> dict[str, str]:
    """Return the addresses of the remotes by name, in their order; of several addresses the first."""
    found: dict[str, str] = {}
    remote = ""
    for raw in (_read(path) if os.path.isfile(path) else "").splitlines():
        line = raw.strip()
        if head := _SECTION.match(line):
            remote = head[2] or "" if head[1].casefold() == "remote" else ""
        elif remote and (url := _URL.match(line)):
            found.setdefault(remote, url[1].strip().strip('"'))
    return found


def _name_remote(remotes: dict[str, str]) -> str:
    """Return host and path of the remote "origin", else of the first; "" without one.

    >>> _name_remote({"origin": "https://ana:secret@GitHub.com/acme/app.git"})
    'github.com/acme/app'
    >>> _name_remote({"origin": "git@github.com:acme/app.git"})
    'github.com/acme/app'
    """
    url = remotes.get(_ORIGIN) or next(iter(remotes.values()), "")
    found = _SCHEME.match(url) or _SCP.match(url)
    if found is None:
        return ""
    path = found["path"].strip("/").removesuffix(".git")
    return f"{found['host'].casefold()}/{path}" if path else ""


def _name_folder(common: str) -> str:
    """Return the path of the repository whose data these are."""
    folder = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return folder.removesuffix(".git")

"""The hosts, in pinned versions from npm, installed once into the user's cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.waiting import PATIENCE_SECONDS


class Package(NamedTuple):
    """A package of npm, its version, and the program in it."""

    name: str
    version: str
    program: str


PACKAGES: Final[Mapping[str, Package]] = {
    "claude-code": Package("@anthropic-ai/claude-code", "2.1.197", "claude"),
    "codex": Package("@openai/codex", "0.171.0", "codex"),
    "copilot": Package("@github/copilot", "1.0.102", "copilot"),
    "gemini": Package("@google/gemini-cli", "0.61.0", "gemini"),
    "opencode": Package("opencode-ai", "1.18.33", "opencode"),
    "qwen": Package("@qwen-code/qwen-code", "0.15.10", "qwen"),
}
"""The versions run on Node 20."""
_UNREACHED: Final = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "ECONNRESET")
"""Codes of npm for a registry that cannot be reached."""


def find_program(host: str) -> Path:
    """Return the program of a host, which is installed if it is not there.

    Skips the tests where npm is missing or cannot reach its registry; any other failure of it fails them.
    """
    package = PACKAGES[host]
    folder = _find_cache() / f"{host}-{package.version}"
    program = folder / "node_modules" / ".bin" / package.program
    with _lock(folder.with_suffix(".lock")):
        if not program.exists():
            _install(package, folder)
    return program


def _find_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "credenda-tests" / "hosts"


@contextmanager
def _lock(path: Path) -> Generator[None]:
    """Keep other processes of the tests from installing the same."""
    import fcntl  # noqa: PLC0415 - not on Windows, where no host is driven

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(package: Package, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"{package.name} is not in {folder}, and there is no npm to install it")
    draft = folder.with_suffix(".part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    (draft / "package.json").write_text('{"private": true}')
    options = ["--no-audit", "--no-fund", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
    command = [npm, "install", *options, f"{package.name}@{package.version}"]
    done = subprocess.run(command, cwd=draft, capture_output=True, text=True, check=False, timeout=2 * PATIENCE_SECONDS)
    if done.returncode and any(code in done.stderr for code in _UNREACHED):
        pytest.skip(f"{package.name} is not in {folder}, and npm cannot reach its registry")
    assert done.returncode == 0, f"npm could not install {package.name}@{package.version}:\n{done.stderr[-2_000:]}"
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)

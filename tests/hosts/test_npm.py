"""The installation of hosts: once, into the cache, and no failure but a registry out of reach is passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from .npm import PACKAGES, find_program

PACKAGE = PACKAGES["codex"]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in the place of npm, which a test writes."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return program


def _write(npm: Path, lines: str) -> None:
    npm.write_text(f"#!/bin/sh\n{lines}\n")
    npm.chmod(0o755)


def test_a_host_is_installed_once_in_its_pinned_version(npm: Path, tmp_path: Path) -> None:
    _write(npm, f'echo "$@" >> {tmp_path}/calls; mkdir -p node_modules/.bin; touch node_modules/.bin/{PACKAGE.program}')
    first = find_program("codex")
    assert first.is_relative_to(tmp_path / "cache")
    assert first.exists()
    assert find_program("codex") == first
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.endswith(f"{PACKAGE.name}@{PACKAGE.version}")


def test_a_registry_out_of_reach_skips_with_one_line(npm: Path) -> None:
    _write(npm, "echo 'npm error code ENOTFOUND' >&2; exit 1")
    with pytest.raises(pytest.skip.Exception, match="npm cannot reach its registry") as skipped:
        find_program("codex")
    assert "\n" not in str(skipped.value)


@pytest.mark.parametrize("code", ["ETARGET", "E404", "ENOSPC", "EACCES"])
def test_any_other_failure_of_npm_fails(npm: Path, code: str) -> None:
    _write(npm, f"echo 'npm error code {code}' >&2; exit 1")
    with pytest.raises(AssertionError, match=code):
        find_program("codex")


def test_an_installation_that_broke_off_is_begun_anew(npm: Path) -> None:
    _write(npm, "mkdir -p node_modules/.bin; touch node_modules/.bin/half; echo 'npm error code ENOSPC' >&2; exit 1")
    with pytest.raises(AssertionError, match="ENOSPC"):
        find_program("codex")
    _write(npm, f"mkdir -p node_modules/.bin; touch node_modules/.bin/{PACKAGE.program}")
    assert sorted(path.name for path in find_program("codex").parent.iterdir()) == [PACKAGE.program]

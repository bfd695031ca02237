"""The script that makes the environment never changes one that others may use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_demo_installs_no_more_than_everybody_has(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for name in ("pyproject.toml", "constraints.txt", "scripts/_setup"):
        shutil.copy(ROOT / name, tmp_path / name)
    found = subprocess.run(
        ["sh", tmp_path / "scripts" / "_setup", "--demo"],  # noqa: S607 - the shell of the machine
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHON": sys.executable, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull},
    )
    assert found.returncode == 1  # there is no index here
    assert "setup: installing credenda …" in found.stderr


def test_an_environment_behind_a_link_is_not_cleared(tmp_path: Path) -> None:
    shared, project = tmp_path / "shared", tmp_path / "project"
    (project / "scripts").mkdir(parents=True)
    (shared / "lib").mkdir(parents=True)
    kept = shared / "lib" / "kept.txt"
    kept.write_text("in use")
    for name in ("pyproject.toml", "constraints.txt", "scripts/_setup"):
        shutil.copy(ROOT / name, project / name)
    (project / ".venv").symlink_to(shared)
    found = subprocess.run(
        ["sh", project / "scripts" / "_setup"],  # noqa: S607 - the shell of the machine
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "is a link" in found.stderr
    assert kept.read_text() == "in use"
    assert sorted(one.name for one in shared.iterdir()) == ["lib"]

"""The script that makes the environment never changes one that others may use."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


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

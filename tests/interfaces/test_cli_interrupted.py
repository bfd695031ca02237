"""Ctrl-C while the program still loads its modules ends it as it does later: with one line and exit code 130."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS

from .terminal import environment

_INTERRUPT = """
import importlib.abc, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_IMPORT"]:
            sys.meta_path.remove(self)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
            sys.stderr.write("reached: ")
            sys.stderr.flush()
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""
PROGRAM = Path(sys.executable).with_name("credenda")
MODULES = (
    "credenda.interfaces",
    "credenda.interfaces.cli.main",
    "click",
    "credenda.config",
    "sqlite3",
    "credenda.write.reconcile_job",
)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("command", [[sys.executable, "-m", "credenda"], [str(PROGRAM)]], ids=["module", "program"])
def test_an_interrupt_under_any_import_is_one_line(tmp_path: Path, command: list[str], module: str) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip("the package is not installed here")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(_INTERRUPT, "utf-8")
    env = environment(PYTHONPATH=str(hooks), INTERRUPTED_IMPORT=module)
    given = [*command, "--db", str(tmp_path / "memory.db"), "--user", "ana", "remember", "I live in Linz."]
    result = subprocess.run(given, capture_output=True, env=env, timeout=PATIENCE_SECONDS, check=False)
    assert (result.returncode, result.stdout) == (130, b"")
    assert result.stderr.split() == [b"reached:", b"interrupted"]

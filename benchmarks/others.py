"""Other memories beside this one, as pip installs them: packages, size, and a first message without model or server."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_MEGABYTE: Final = 1_000_000
_SECONDS: Final = 1_200
OTHERS: Final[dict[str, tuple[str, str]]] = {
    "credenda": (
        str(_ROOT),
        """
from credenda import Credenda
with Credenda.open('memory.db', user='ana') as mem:
    mem.remember('I live in Oslo.')
    mem.settle()
    print(mem.search('Where do I live?').hits[0].text)
""",
    ),
    "mem0ai": ("mem0ai", "from mem0 import Memory\nprint(Memory().add('I live in Oslo.', user_id='ana'))"),
    "graphiti-core": (
        "graphiti-core",
        "from graphiti_core import Graphiti\nGraphiti('bolt://localhost:7687', 'neo4j', 'secret')",
    ),
    "basic-memory": ("basic-memory", ""),  # its programs write pages as they are given
    "hindsight-api": ("hindsight-api", "import hindsight_api"),
}
"""Its requirement, and the shortest program of its documentation that keeps a sentence."""


def run_others(names: tuple[str, ...], note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Install each in an environment of its own and keep one sentence, without keys; needs a package index."""
    return [_measure(name, note) for name in names or OTHERS]


def _measure(name: str, note: Callable[[str], None]) -> dict[str, Any]:
    requirement, program = OTHERS[name]
    with tempfile.TemporaryDirectory(prefix="credenda-others-") as folder:
        place = Path(folder)
        note(f"{name}: installing")
        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        installed = _run(place, python, "-m", "pip", "install", "-q", requirement)
        if installed.returncode:
            return {"name": name, "error": _last_line(installed.stderr)}
        said = _run(place, python, "-c", program) if program else None
        return {
            "name": name,
            "packages": len(json.loads(_run(place, python, "-m", "pip", "list", "--format", "json").stdout)) - 1,
            "megabytes": round(sum(_list_sizes(place / "venv")) / _MEGABYTE),
            "first_message": "" if said is None else _last_line(said.stderr if said.returncode else said.stdout),
        }


def _list_sizes(folder: Path) -> Iterator[int]:
    return (path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _run(place: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    bare["HOME"] = str(place)
    return subprocess.run(  # noqa: S603 - programs of this table
        command, cwd=place, env=bare, capture_output=True, text=True, timeout=_SECONDS, check=False
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]

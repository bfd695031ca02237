"""Each file of the folder of examples runs, offline, and prints what its text promises."""

from __future__ import annotations

import runpy
import socket
import tempfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LINES_MAX = 80
PRINTED = {
    "chat_loop": ["agent: I remember nothing about that.", "I'm allergic to peanuts.", "  employer: Microsoft"],
    "import_chats": [
        "imported 156 turns of 52 conversations",
        "imported again: 156 turns skipped",
        "1 February 2025: user: employer: Google, told 2025-01-",
        "31 December 2025: user: employer: Microsoft, told 2025-06-02; before: Google",
        "homes: ['Linz', 'Graz']",
    ],
    "notes_vault": [
        "from the files: 1 corrected, 1 remembered",
        "  allergy: cashews",
        "  residence: Linz",
        "  ## Previously",
        "  - I left Google, I'm at Microsoft now.",
    ],
    "several_users": [
        "ben: user: residence: Oslo, told ",
        "ben asks for a salary: []",
        "ben opens a memory of ana: not_found",
        " 0 found",
        "memories of ana after the erasure: 0",
        "memories of ben after the erasure: 1",
    ],
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_runs_offline_and_leaves_nothing_behind(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("an example opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for line in PRINTED[name]:
        assert line in printed
    assert list(tmp_path.iterdir()) == []


def test_every_example_is_tested_listed_and_short() -> None:
    files = sorted(EXAMPLES.glob("*.py"))
    assert [file.stem for file in files] == sorted(PRINTED)
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"[`{file.name}`]({file.name})" in page for file in files)
    assert all(len(file.read_text(encoding="utf-8").splitlines()) <= LINES_MAX for file in files)


def test_an_example_imports_only_the_public_package() -> None:
    for file in EXAMPLES.glob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        imports = [line for line in lines if line.startswith(("import credenda", "from credenda"))]
        assert all(line.startswith("from credenda import") for line in imports), file.name
        assert imports

"""The package is on no index: no error may name a command that would install whoever has that name there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from credenda.install_hint import format_install

ROOT: Final = Path(__file__).resolve().parents[2]
INDEX: Final = re.compile(r"install[\w.\s-]* [\"']?credenda(?![\w./-])")


@pytest.mark.parametrize("command", ['pip install "credenda[mcp]"', "pip install credenda", 'reinstall "credenda[x]"'])
def test_a_command_that_asks_an_index_is_seen(command: str) -> None:
    assert INDEX.search(command)


@pytest.mark.parametrize("folder", ["src", "scripts", "packages"])
def test_no_source_names_the_package_as_one_of_an_index(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".toml", ".html", ".json"}
        for hit in INDEX.finditer(path.read_text("utf-8"))
    ]
    assert not found


@pytest.mark.parametrize("extra", ["local", "parse", "all"])
def test_an_extra_with_models_names_their_folder(extra: str) -> None:
    assert format_install(extra).endswith(f' ./packages/credenda-models ".[{extra}]"')
    needed = (ROOT / "pyproject.toml").read_text("utf-8")
    assert re.search(rf"^{extra} = \[[^]]*credenda(?:-models|\[[^]]*local)", needed, re.MULTILINE)

"""The entry that `credenda install` writes starts a server on the memory that the command line uses."""

from pathlib import Path

import pytest

from .test_install import Person


def test_the_database_and_the_user_of_the_environment_go_into_the_entry(tmp_path: Path) -> None:
    ana = Person(tmp_path)
    ana.env |= {"CREDENDA_DB": str(tmp_path / "of-env.db"), "CREDENDA_USER": "ana"}
    ana.run("cursor")
    assert ana.entry("cursor")["args"][-5:] == ["--db", str(tmp_path / "of-env.db"), "--user", "ana", "mcp"]
    ana.run("cursor", before=("--user", "bob"))
    assert ana.entry("cursor")["args"][-3:] == ["--user", "bob", "mcp"]


def test_an_entry_that_could_not_start_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = Person(tmp_path)

    def missing(_: str) -> None:
        return None

    monkeypatch.setattr("credenda.interfaces.cli.agent_processes.find_spec", missing)
    result = ana.run("cursor", code=2)
    assert 'pip install ".[mcp]"' in result.stderr
    assert not ana.file("cursor").exists()

"""The project of a folder, from its git configuration alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda.model.event import is_bound_to_project
from credenda.model.memory import MemoryType
from credenda.projects import find_project


def make(folder: Path, config: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config)
    return folder


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/app.git", "github.com/acme/app"),
        ("https://ana:hunter77@GitHub.com/acme/app", "github.com/acme/app"),
        ("git@github.com:acme/app.git", "github.com/acme/app"),
        ("ssh://git@example.com:2222/acme/app.git/", "example.com/acme/app"),
        ("git://example.com/app", "example.com/app"),
    ],
)
def test_one_remote_in_every_form_is_one_project(tmp_path: Path, url: str, name: str) -> None:
    folder = make(tmp_path / "x", f'[core]\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs\n')
    assert find_project(str(folder)) == name
    (folder / "a" / "b").mkdir(parents=True)
    assert find_project(str(folder / "a" / "b")) == name


def test_origin_goes_before_others_and_a_repository_without_one_has_its_path(tmp_path: Path) -> None:
    both = '[remote "fork"]\nurl = git@example.com:me/app\n[remote "origin"]\nurl = git@example.com:acme/app\n'
    assert find_project(str(make(tmp_path / "two", both))) == "example.com/acme/app"
    assert find_project(str(make(tmp_path / "none", "[core]\n"))) == str(tmp_path / "none")


@pytest.mark.parametrize("config", ["", "garbage [[[", '[remote "origin"]\nurl = /srv/git/app', "\x00" * 100_000])
def test_a_strange_configuration_gives_the_path(tmp_path: Path, config: str) -> None:
    assert find_project(str(make(tmp_path / "x", config))) == str(tmp_path / "x")


def test_no_repository_is_no_project(tmp_path: Path) -> None:
    assert find_project("") == ""
    assert find_project("/nowhere/at/all") == ""
    (tmp_path / ".git").write_text("not a pointer")
    assert find_project(str(tmp_path)) == ""


@pytest.mark.parametrize(
    ("entity", "kind", "text", "bound"),
    [
        ("user", MemoryType.PREFERENCE, "I prefer tabs.", False),
        ("user", MemoryType.PREFERENCE, "I prefer tabs in this repo.", True),
        ("user", MemoryType.FACT, "I live in Graz.", False),
        ("user", MemoryType.DECISION, "We decided to use Postgres.", True),
        ("staging cluster", MemoryType.FACT, "The staging cluster is in Frankfurt.", True),
        (None, MemoryType.PROCEDURE, "Run make lint first.", True),
    ],
)
def test_what_is_bound_to_its_project(entity: str | None, kind: MemoryType, text: str, *, bound: bool) -> None:
    assert is_bound_to_project(entity, kind, text) == bound

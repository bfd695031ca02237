"""The command line answers a wrong or unfinished command with what helps."""

from pathlib import Path

import pytest

from .terminal import Terminal


@pytest.fixture
def ana(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.mark.parametrize("group", [("files",), ("bench",), ("files", "--user", "bob")])
def test_a_group_without_a_command_shows_its_help(group: tuple[str, ...], ana: Terminal) -> None:
    result = ana.run(*group, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"Usage: credenda {group[0]} ")
    assert len(result.stderr.splitlines()) > 5


def test_with_json_a_group_without_a_command_is_one_json_error(ana: Terminal) -> None:
    result = ana.run("--json", "files", code=2)
    (line,) = result.stderr.splitlines()
    assert '"code": "usage"' in line
    assert "a command is missing: sync" in line


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (("serch", "peanuts"), "`search`"),
        (("Remember", "a"), "`remember`"),
        (("files", "snc"), "`sync`"),
        (("bench", "locmo"), "`locomo`"),
        (("search", "a", "--limt", "3"), "--limit"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(given: tuple[str, ...], meant: str, ana: Terminal) -> None:
    line = ana.error(*given, code=2)
    assert "Did you mean" in line
    assert meant in line


def test_a_name_that_is_near_to_none_is_answered_without_a_guess(ana: Terminal) -> None:
    assert "Did you mean" not in ana.error("xyzzy", code=2)

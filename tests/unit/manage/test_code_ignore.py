"""`.gitignore` as git reads it: the same answers as `git check-ignore` where git is there, and a table without it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from credenda.manage.code_outline import is_ignored, parse_rules

CASES = [
    ("*.o", ["a.o", "x/a.o", "a.oo"]),
    ("/build", ["build/a", "x/build/a", "build2/a"]),
    ("build/", ["build/a", "x/build/a", "build"]),
    ("doc/*.txt", ["doc/a.txt", "doc/x/a.txt", "x/doc/a.txt"]),
    ("**/logs", ["logs/a", "x/logs/a", "x/y/logs/a"]),
    ("logs/**", ["logs/a", "logs/x/a", "x/logs/a"]),
    ("a/**/b", ["a/b", "a/x/b", "a/x/y/b", "ab"]),
    ("*.log\n!keep.log", ["a.log", "keep.log", "x/keep.log"]),
    ("out/\n!out/keep", ["out/keep", "out/a"]),
    ("file[0-9].c", ["file1.c", "filex.c"]),
    ("file[!0-9].c", ["file1.c", "filex.c"]),
    ("a?c", ["abc", "ac", "a/c"]),
    ("\\#hash\n\\!bang", ["#hash", "!bang"]),
    ("trailing   \nkept\\ ", ["trailing", "kept ", "kept"]),
    ("# comment\n\n", ["# comment"]),
    ("foo*bar", ["fooxbar", "foo/bar", "foobar"]),
    ("a[", ["a["]),
    ("[]]x", ["]x", "x"]),
    ("x**y", ["xzy", "x/y"]),
    ("/*\n!/src", ["src/a", "other/a", "b"]),
    ("a\\*b", ["a*b", "axb"]),
    ("*\n!/src", ["src/a", "src"]),
    ("*.log\n!x/", ["x/a.log", "x/b"]),
]


def excluded(path: str, text: str) -> bool:
    """Walk down as the survey does: what lies under an ignored folder is never looked at."""
    rules = [parse_rules(text)]
    parts = path.split("/")
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    return any(is_ignored(one, folder=True, rules=rules) for one in above) or is_ignored(
        path, folder=False, rules=rules
    )


@pytest.mark.requirement("E-005")
@pytest.mark.skipif(shutil.which("git") is None, reason="git says what is right here")
def test_every_answer_is_that_of_git(tmp_path: Path) -> None:
    git = shutil.which("git") or ""
    for place, (text, paths) in enumerate(CASES):
        folder = tmp_path / str(place)
        folder.mkdir()
        subprocess.run([git, "init", "-q", str(folder)], check=True)
        (folder / ".gitignore").write_text(text, "utf-8")
        for path in paths:
            command = [git, "-C", str(folder), "-c", "core.excludesFile=", "check-ignore", "-q", "--no-index", path]
            said = subprocess.run(command, check=False).returncode == 0
            assert excluded(path, text) == said, (text, path)


def test_a_pattern_of_a_lower_folder_holds_below_it_and_comes_last() -> None:
    rules = [parse_rules("*.log"), parse_rules("!a.log\n/b", "sub/")]
    assert is_ignored("a.log", folder=False, rules=rules)
    assert not is_ignored("sub/a.log", folder=False, rules=rules)
    assert is_ignored("sub/b", folder=False, rules=rules)
    assert not is_ignored("sub/x/b", folder=False, rules=rules)

"""The manifest checker says no to each kind of mistake it exists for."""

from pathlib import Path

import pytest

import manifest

CLAIM = 'R-074 = { title = "old values keep their time" }\n'
PROOF = "import pytest\n\n@pytest.mark.requirement({ids})\ndef test_it() -> None: ...\n"


def problems(text: str, source: str) -> list[str]:
    return manifest.problems_of(text, {"tests/test_it.py": source})


def proof(ids: str) -> str:
    return PROOF.replace("{ids}", ids)


def test_agreement_is_silent() -> None:
    assert problems(CLAIM, proof('"R-074"')) == []


def test_the_empty_manifest_agrees_with_unmarked_tests() -> None:
    assert problems("", "def test_it() -> None: ...\n") == []


def test_a_claim_without_a_test_is_named() -> None:
    assert problems(CLAIM, "") == ["requirements.toml: R-074 is claimed, but no test names it"]


def test_an_unclaimed_id_is_named_with_its_place() -> None:
    assert problems("", proof('"R-075"')) == ["tests/test_it.py:3: R-075 is not in requirements.toml"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('R-74 = { title = "x" }', "'R-74' is not one id"),
        ('Q-074 = { title = "x" }', "'Q-074' is not one id"),
        ('R-0744 = { title = "x" }', "'R-0744' is not one id"),
        ('"R-074..R-080" = { title = "x" }', "'R-074..R-080' is not one id"),
        ('R-074-R-080 = { title = "x" }', "'R-074-R-080' is not one id"),
        ('"R-074, R-075" = { title = "x" }', "'R-074, R-075' is not one id"),
        ("R-074 = { }", "R-074 needs a title"),
        ('R-074 = { title = " " }', "R-074 needs a title"),
        ('R-074 = "a title"', "R-074 needs a title"),
        ('R-074 = { title = "x", note = "y" }', "R-074 has unknown fields ['note']"),
        ('R-074 = { title = "x", gap = "" }', "R-074 has an empty gap"),
        ('R-074 = { title = "x"', "requirements.toml: "),
    ],
)
def test_a_malformed_entry_is_refused(line: str, complaint: str) -> None:
    _, found = manifest.read_manifest(line)
    assert any(complaint in problem for problem in found)


@pytest.mark.parametrize("second", [CLAIM, '"R-074" = { title = "again" }\n', '[R-074]\ntitle = "again"\n'])
def test_a_doubled_entry_is_refused(second: str) -> None:
    assert problems(CLAIM + second, proof('"R-074"')) == ["requirements.toml: R-074 is listed 2 times"]


@pytest.mark.parametrize(
    "ids",
    [
        '"R-74"',
        '"R-074..R-080"',
        '"R-074-R-080"',
        '"R-074", "r-075"',
        "IDS",
        '*["R-074"]',
        "74",
        '"R-074", gap=1',
        "",
    ],
)
def test_a_mark_that_is_not_a_list_of_single_ids_is_refused(ids: str) -> None:
    _, found = manifest.source_namings("tests/test_it.py", proof(ids))
    assert found


def test_an_id_twice_in_one_mark_is_refused() -> None:
    assert problems(CLAIM, proof('"R-074", "R-074"')) == ["tests/test_it.py:3: R-074 is named twice in one mark"]


def test_a_bare_mark_is_refused() -> None:
    bare = "import pytest\n\n@pytest.mark.requirement\ndef test_it() -> None: ...\n"
    assert problems("", bare) == ["tests/test_it.py: a requirement mark without ids"]


@pytest.mark.parametrize("thing", ["def helper() -> None: ...", "class Helper: ..."])
def test_a_mark_on_what_is_no_test_is_refused(thing: str) -> None:
    source = f'import pytest\n\n@pytest.mark.requirement("R-074")\n{thing}\n'
    assert len(problems(CLAIM, source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        'import pytest\npytestmark = pytest.mark.requirement("R-074")\n',
        'from pytest import mark\n@mark.requirement("R-074")\nclass TestIt: ...\n',
        'import pytest\nCASE = pytest.param(1, marks=[pytest.mark.requirement("R-074")])\n',
    ],
)
def test_a_mark_counts_wherever_pytest_would_read_it(source: str) -> None:
    assert problems(CLAIM, source) == []


def test_only_files_that_pytest_collects_are_read(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("test_a.py", "b_test.py", "c.py"):
        (tmp_path / "tests" / name).write_text("", encoding="utf-8")
    assert list(manifest.sources_under(tmp_path / "tests")) == ["tests/b_test.py", "tests/test_a.py"]

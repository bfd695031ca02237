"""The claimed requirements and the tests that prove them agree."""

import re
from pathlib import Path

import manifest

TESTS = Path(__file__).resolve().parent
ROWS = 460
"""The rows of the three systems: each is claimed here, or listed with its reason in the documentation."""


def test_every_claimed_requirement_has_a_test_and_every_test_names_a_claimed_one() -> None:
    text = (TESTS / "requirements.toml").read_text(encoding="utf-8")
    assert manifest.problems_of(text, manifest.sources_under(TESTS)) == []


def test_every_row_that_is_not_claimed_stands_in_the_table_of_reasons() -> None:
    claimed, _ = manifest.read_manifest((TESTS / "requirements.toml").read_text(encoding="utf-8"))
    page = (TESTS.parent / "docs/reference/promises.md").read_text(encoding="utf-8")
    _, _, table = page.partition("## Rows of the three systems that are not claimed")
    listed: list[str] = []
    for first in re.findall(r"^\| ([A-Z]-\d{3}.*?) \|", table, re.MULTILINE):
        for letter, begin, end in re.findall(r"([A-Z])-(\d{3})(?: to [A-Z]-(\d{3}))?", first):
            listed += (f"{letter}-{number:03}" for number in range(int(begin), int(end or begin) + 1))
    assert len(listed) == len(set(listed))
    assert claimed.isdisjoint(listed)
    assert len(claimed) + len(listed) == ROWS

"""The claimed requirements and the tests that prove them agree."""

from pathlib import Path

import manifest

TESTS = Path(__file__).resolve().parent


def test_every_claimed_requirement_has_a_test_and_every_test_names_a_claimed_one() -> None:
    text = (TESTS / "requirements.toml").read_text(encoding="utf-8")
    assert manifest.problems_of(text, manifest.sources_under(TESTS)) == []

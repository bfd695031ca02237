"""Pages of the docs that are written by scripts are what the scripts write."""

from __future__ import annotations

import docs_settings
from credenda.config import setting_docs


def test_the_settings_page_is_fresh() -> None:
    written = docs_settings.TARGET.read_text(encoding="utf-8")
    assert written == docs_settings.render(), "run scripts/docs_settings.py"


def test_every_setting_is_on_the_page_with_its_default() -> None:
    page = docs_settings.render()
    for name, default, meaning in setting_docs():
        assert f"| `{name}` | `CREDENDA_{name.upper()}` | {docs_settings.shown(default)} | {meaning} |" in page

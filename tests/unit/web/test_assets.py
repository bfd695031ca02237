"""The files that browsers load: those of others are unchanged, and all of them are small."""

from __future__ import annotations

import gzip
import json
import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest

from credenda.interfaces.web.render import ASSETS, link_asset, read_asset

VENDORED = {
    "htmx.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
    "hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
}
"""Of htmx.org 4.0.1, from npm."""
TEMPLATES = Path(str(files("credenda.interfaces.web"))) / "templates"


@pytest.mark.parametrize("name", VENDORED)
def test_a_vendored_file_is_the_one_that_was_published(name: str) -> None:
    assert sha256(read_asset(name)).hexdigest() == VENDORED[name]


def test_all_scripts_together_are_below_100_kb_compressed() -> None:
    scripts = [name for name, media in ASSETS.items() if media == "text/javascript"]
    assert sum(len(gzip.compress(read_asset(name))) for name in scripts) < 100_000


def test_no_file_of_ours_names_another_host() -> None:
    for name in set(ASSETS) - VENDORED.keys():
        text = read_asset(name).decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z]+\.", text), name


def test_the_address_of_a_file_changes_with_its_content() -> None:
    for name in ASSETS:
        assert link_asset(name) == f"/static/{name}?v={sha256(read_asset(name)).hexdigest()[:12]}"


def test_htmx_writes_no_style_and_asks_no_other_host() -> None:
    layout = (TEMPLATES / "layout.html").read_text("utf-8")
    found = re.search(r'name="htmx-config" content=\'([^\']+)\'', layout)
    assert found is not None
    config = json.loads(found[1])
    assert config["includeIndicatorCSS"] is False


def test_no_template_marks_text_as_safe_or_has_code_of_its_own() -> None:
    for template in TEMPLATES.glob("*.html"):
        text = template.read_text("utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape", text), template.name
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|hx-on|hx-vals=.js", text), (
            template.name
        )

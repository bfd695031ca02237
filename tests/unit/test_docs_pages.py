"""The Markdown pages: their links resolve, and the index of the documentation reaches all of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCED = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NUMBERED = re.compile(r"^(\d{4})-[a-z0-9-]+\.md$")


def without_code(page: Path) -> str:
    """Return the text of a page with its code blocks blanked, line numbers unchanged."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, formed as GitHub forms them."""
    heads = re.findall(r"^#+ (.+?)\s*$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def targets(page: Path) -> list[tuple[str, str]]:
    """Return the (path, anchor) of each relative link of a page."""
    links = LINK.findall(CODE.sub("", without_code(page)))
    return [(path, anchor) for path, _, anchor in (link.partition("#") for link in links if "://" not in link)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_of_a_page_resolves(page: Path) -> None:
    broken: list[str] = []
    for path, anchor in targets(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}" if anchor else path)
    assert broken == []


def test_every_page_is_reachable_from_the_index() -> None:
    index = DOCS / "README.md"
    reached, waiting = {index}, [index]
    while waiting:
        page = waiting.pop()
        for path, _ in targets(page):
            target = (page.parent / path).resolve()
            if target.suffix == ".md" and target.is_file() and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert sorted(page.relative_to(DOCS).as_posix() for page in set(DOCS.rglob("*.md")) - reached) == []


def test_the_index_of_decisions_lists_each_page_under_its_title() -> None:
    folder = DOCS / "decisions"
    listed = re.findall(
        r"^\| \[(\d{4})\]\(([^)]+)\) \| (.+?) \|$", (folder / "README.md").read_text("utf-8"), re.MULTILINE
    )
    found: list[tuple[str, str, str]] = []
    for page in sorted(folder.glob("[0-9]*.md")):
        number = NUMBERED.match(page.name)
        title = page.read_text("utf-8").partition("\n")[0]
        assert number, page.name
        assert title.startswith(f"# {number[1]}"), page.name
        found.append((number[1], page.name, title.removeprefix(f"# {number[1]}").removeprefix(".").strip()))
    assert listed == found
    assert [int(number) for number, _, _ in found] == list(range(1, len(found) + 1))

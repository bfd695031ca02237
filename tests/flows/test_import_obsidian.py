"""Vaults of Obsidian and basic-memory: observations, relations, links as they are seen, front matter as it comes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.model.event import Role, Source
from credenda.portability.importers.format import TextLine, read_front, read_tags

from .conftest import Events
from .exports import zipped

NOTE = """---
title: Coffee brewing
type: note
tags: [coffee, "pour over"]
permalink: notes/coffee-brewing
created: 2024-05-06
---
# Coffee brewing

I wrote this after [[Talk with Ben|the talk]] at [[Café#Evening]]. ![[cup.png]] %%private%% #daily

## Observations
- [method] Pour over extracts more flavor #brewing #v60 (with a paper filter)
- [decision] We decided to use the [[Chemex]] at home
- [ ] buy filters
- [x] buy beans
- [link](https://example.org)

## Relations
- relates_to [[Tea brewing]]
- part of [[Kitchen|the kitchen]] (since May)

```python
- [method] not an observation
x = "[[not a link]]"
```
"""


def noted(path: Path, text: str = NOTE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_observations_and_relations_are_statements_and_the_rest_is_prose(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    report = mem.data.import_(noted(tmp_path / "coffee.md"))
    assert (report.format, report.problems) == ("obsidian", ())
    assert [event.text for event in events()] == [
        "# Coffee brewing\n\nI wrote this after the talk at Café. #daily",
        "Pour over extracts more flavor (with a paper filter)",
        "We decided to use the Chemex at home",
        "## Observations\n- [ ] buy filters\n- [x] buy beans\n- [link](https://example.org)",
        "Coffee brewing relates to Tea brewing",
        "Coffee brewing part of the kitchen (since May)",
        '```python\n- [method] not an observation\nx = "[[not a link]]"\n```',
    ]
    prose, method, decision, *_ = events()
    assert {event.occurred_at for event in events()} == {datetime(2024, 5, 6, tzinfo=UTC)}
    assert {(event.role, event.source, event.trust) for event in events()} == {(Role.DOCUMENT, Source.INGEST, 0.5)}
    assert prose.tags == ("coffee", "pour", "over", "daily")
    assert method.tags == ("coffee", "pour", "over", "brewing", "v60")
    assert method.metadata["category"] == "method"
    assert method.metadata["permalink"] == "notes/coffee-brewing"
    assert method.metadata["headings"] == ["Coffee brewing", "Observations"]
    mem.settle()
    types = {memory.text: memory.type for memory in mem.list(limit=50).items}
    assert types["Pour over extracts more flavor (with a paper filter)"] == "fact"
    assert types[decision.text] == "decision"
    assert mem.search("flavor", tags=["v60"]).hits


def test_a_vault_is_walked_in_order_without_what_is_hidden_or_thrown_away(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    vault = tmp_path / "vault"
    noted(vault / "b.md", "Second, see [[a]].")
    noted(vault / "a.md", "First.")
    noted(vault / "deep" / "c.md", "Third.")
    noted(vault / ".obsidian" / "x.md", "Hidden.")
    noted(vault / ".trash" / "y.md", "Thrown away.")
    noted(vault / "picture.png", "no note")
    (vault / "loop").symlink_to(vault, target_is_directory=True)
    report = mem.data.import_(vault)
    assert (report.format, report.turns) == ("obsidian", 3)
    assert report.problems == ("loop: it is a link, and links are not followed",)
    assert [event.text for event in events()] == ["First.", "Second, see a.", "Third."]
    again = mem.data.import_(vault)
    assert (again.turns, again.skipped) == (0, 3)
    noted(vault / "a.md", "First.\n\nAnd more.")
    assert (mem.data.import_(vault).turns, len(events())) == (1, 4)


def test_a_folder_of_plain_markdown_and_one_of_text_are_read_too(mem: Credenda, tmp_path: Path) -> None:
    noted(tmp_path / "plain" / "a.md", "# A\n\nOne.")
    noted(tmp_path / "plain" / "b.txt", "Not this.")
    report = mem.data.import_(tmp_path / "plain")
    assert (report.format, report.turns) == ("markdown", 1)
    assert mem.data.import_(tmp_path / "plain", format="text").turns == 1


def test_a_vault_in_a_zip_is_read_without_unpacking(mem: Credenda, tmp_path: Path) -> None:
    path = zipped(tmp_path / "vault.zip", ("vault/a.md", NOTE.encode()), ("vault/.trash/b.md", b"[[gone]]"))
    report = mem.data.import_(path)
    assert (report.format, report.turns, report.problems) == ("obsidian", 7, ())
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".md"] == []


@pytest.mark.parametrize(
    "case",
    [
        ("- likes [[Tea]]", ["a likes Tea"]),
        ("* [preference] Tea, not coffee", ["Tea, not coffee"]),
        ("- [method] #only #tags", ["- [method] #only #tags"]),
        ("- see [[A]] and [[B]]", ["- see A and B"]),
        ("[[#^block]] stays readable", ["block stays readable"]),
        ("Broken [[link and %%comment", ["Broken [[link and %%comment"]),
        ("# Only [[a]] heading", ["# Only a heading"]),
        ("# Facts\n- [fact] Water is wet", ["Water is wet"]),
        ("![[only.png]]", []),
        ("so " + "[[" * 50_000, ["so " + "[[" * 50_000]),
    ],
)
def test_items_and_links_at_their_edges(
    mem: Credenda, tmp_path: Path, events: Events, case: tuple[str, list[str]]
) -> None:
    page, texts = case
    report = mem.data.import_(noted(tmp_path / "a.md", page), format="obsidian")
    assert report.problems == ()
    assert [event.text for event in events()] == texts


def test_front_matter_is_read_with_tolerance() -> None:
    text = """title: "Ana: a life"
# a comment
tags:
  - one
  - "#two"
aliases: []
nested:
  key: value
Created: 2024-05-06
list: [ 'a', b ]
: nothing
just words"""
    front = read_front(TextLine(number, line) for number, line in enumerate(text.split("\n"), 2))
    assert front["title"][1] == ["Ana: a life"]
    assert read_tags(front["tags"][1]) == ("one", "two")
    assert front["created"] == (10, ["2024-05-06"])
    assert front["list"][1] == ["a", "b"]
    assert not {"aliases", "missing"} & set(front)
    assert len(read_tags(f"tag{number}" for number in range(99))) == 32
    assert read_tags(["x" * 300, "fine"]) == ("fine",)

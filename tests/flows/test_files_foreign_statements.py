"""What others write that is no statement of the user gives no memory, and stays in its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda

from .foreign_folders import put, sync, take_picture


@pytest.mark.parametrize(
    "text",
    [
        "```python\nI like lead.\n\nI own a mill.\n```",
        "~~~\nI like lead.\n~~~",
        "- \n  ```\n  I like lead.\n  ```",
        "{{date}} I like lead.",
        "# <% tp.file.title %>\n\n<% tp.file.cursor() %> I like lead.",
        "- [x] I like lead.",
        "* [ ] call Omar\n  I like lead.\n  - I own a mill.",
        "[ ] I like lead.",
        "- TODO sell the mill",
        "- [-] I like lead.\n- [/] I own a mill.",
        "> I like lead.\n> I own a mill.",
        "> I like lead.\nand I own a mill.",
        "> [!quote] Omar\n> I like lead.",
        "- > I like lead.",
        "- [[Lead works|I like lead.]]",
        "[I like lead.](https://example.org/lead), ![[I own a mill.png]]",
        "https://example.org/I-like-lead",
        "<https://example.org/lead>",
    ],
)
@pytest.mark.parametrize("name", ["me.md", "archive/2026-02-03.md"])
def test_what_is_no_statement_stays_and_is_not_remembered(mem: Credenda, tmp_path: Path, text: str, name: str) -> None:
    place = tmp_path / "theirs"
    put(place, name, f"# Mine\n\nI like figs.\n\n{text}\n\nI play chess.  \n")
    before = take_picture(place)
    assert sync(mem, place).remembered == 2
    assert sorted(one.text for one in mem.list(limit=50).items) == ["I like figs.", "I play chess."]
    assert mem.stats().events == 2
    assert {one: take_picture(place)[one] for one in before} == before
    assert not sync(mem, place).changed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{{date}}\nI like figs.\n", "I like figs."),
        ("I like figs.\n> I like lead.\n", "I like figs."),
        ("- I like figs.\n  - [ ] buy some\n    soon\n", "I like figs."),
        ("- I like figs.\n\n  ```\n  lead\n  ```\n", "I like figs."),
        ("I like figs.\n<https://example.org>\n", "I like figs."),
        ("I like [figs](https://example.org).\n", "I like [figs](https://example.org)."),
    ],
)
def test_a_statement_beside_something_else_is_remembered(mem: Credenda, tmp_path: Path, text: str, wanted: str) -> None:
    path = put(tmp_path / "theirs", "me.md", text)
    sync(mem, tmp_path / "theirs")
    assert [one.text for one in mem.list(limit=50).items] == [wanted]
    assert not sync(mem, tmp_path / "theirs").changed
    assert path.read_text() == text


@pytest.mark.parametrize("name", ["persona.md", "SOUL.md", "agent/AGENTS.md"])
def test_what_an_assistant_is_told_of_itself_is_not_remembered(mem: Credenda, tmp_path: Path, name: str) -> None:
    place = tmp_path / "theirs"
    put(place, name, "# Who\n\nYou are Orla, a calm helper. Keep your voice low.\n\nThe user lives in Brest.\n")
    sync(mem, place)
    assert not [one.text for one in mem.list(limit=50).items if "Orla" in one.text or "voice" in one.text]
    assert [one for one in mem.list(limit=50).items if "Brest" in one.text]


@pytest.mark.parametrize(
    "line", ["- [preference] I like rye. #food #daily/bread", "- 08:15 I like rye.", "08:15 - I like rye."]
)
def test_labels_hours_and_tags_of_a_line_are_no_part_of_what_it_says(mem: Credenda, tmp_path: Path, line: str) -> None:
    place = tmp_path / "theirs"
    put(place, "me.md", f"{line}\n\n- I play chess.\n")
    sync(mem, place)
    assert sorted(one.text for one in mem.list(limit=50).items) == ["I like rye.", "I play chess."]
    other = tmp_path / "others"
    put(other, ".tombstones.jsonl", '"I like figs."\n')
    put(other, "me.md", line.replace("rye", "figs"))
    sync(mem, other)
    assert "figs" not in {one.value for one in mem.list(limit=50).items}

"""Plain text and Markdown: blocks as events, with their headings and dates, by content, whatever their encoding."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from credenda import Credenda, limits
from credenda.errors import Invalid
from credenda.model.event import Role, Source
from credenda.portability.importers import format as blocks
from credenda.portability.importers import notes as text_format

from .conftest import Events

MAY_6 = datetime(2024, 5, 6, tzinfo=UTC)
PAGE = """---
title: "House rules"
date: 2024-05-06
tags: [a, b]
---
# Rules

## Quiet hours

No music after ten.
Guests are told.

```sh
first

# not a heading
```

Kitchen ###
===========

## Bins ##
- green on Monday
- blue on Friday

***

#hashtag is no heading
"""


def written(path: Path, text: str | bytes, when: datetime = MAY_6) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (when.timestamp(), when.timestamp()))
    return path


@pytest.mark.requirement("E-030")
def test_text_becomes_blocks_of_a_document(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(tmp_path / "notes.txt", "\ufeffFirst block,\r\ntwo lines.\r\n\r\n\r\n  Second.  \n\n---\n")
    report = mem.data.import_(path)
    assert (report.format, report.turns, report.problems) == ("text", 2, ())
    first, second = events()
    assert (first.text, second.text) == ("First block,\ntwo lines.", "  Second.")
    assert (first.role, first.source, first.trust) == (Role.DOCUMENT, Source.INGEST, 0.5)
    assert first.occurred_at == MAY_6
    assert first.metadata == {"document": "notes.txt"}
    assert first.session == f"file:{path.as_posix()}"
    assert mem.search("second").hits


def test_markdown_knows_its_headings_title_and_date(mem: Credenda, tmp_path: Path, events: Events) -> None:
    report = mem.data.import_(written(tmp_path / "rules.md", PAGE, datetime(2025, 1, 1, tzinfo=UTC)))
    assert (report.format, report.problems) == ("markdown", ())
    found = [(event.text, event.metadata["headings"]) for event in events()]
    assert found == [
        ("# Rules\n\n## Quiet hours\n\nNo music after ten.\nGuests are told.", ["Rules", "Quiet hours"]),
        ("```sh\nfirst\n\n# not a heading\n```", ["Rules", "Quiet hours"]),
        ("Kitchen ###\n===========", ["Rules", "Quiet hours"]),
        ("## Bins ##\n- green on Monday\n- blue on Friday", ["Rules", "Bins"]),
        ("#hashtag is no heading", ["Rules", "Bins"]),
    ]
    assert {event.metadata["title"] for event in events()} == {"House rules"}
    assert {event.occurred_at for event in events()} == {MAY_6}


@pytest.mark.parametrize(
    "case",
    [
        ("---\nno end\n\nof it", ["---\nno end", "of it"]),
        ("---\ndate: last week\n---\nHello", ["Hello"]),
        ("# Title\ntext", ["# Title\ntext"]),
        ("# Only\n## Headings", ["# Only\n## Headings"]),
        ("# One\ntext\n# Two\n# Three\nmore", ["# One\ntext", "# Two\n# Three\nmore"]),
        ("~~~~\n~~~\n\nstill code", ["~~~~\n~~~\n\nstill code"]),
        ("```\na\n``` b\n\n```\n\nafter", ["```\na\n``` b\n\n```", "after"]),
        ("\n\n***\n\n", []),
        ("---\n" + "x: 1\n" * 300, ["---\n" + "x: 1\n" * 299 + "x: 1"]),
    ],
)
def test_markdown_at_its_edges(mem: Credenda, tmp_path: Path, events: Events, case: tuple[str, list[str]]) -> None:
    page, texts = case
    report = mem.data.import_(written(tmp_path / "a.md", page))
    assert [problem[:20] for problem in report.problems] == (["line 2: its date is "] if "last week" in page else [])
    assert [event.text for event in events()] == texts
    assert all(event.occurred_at == MAY_6 for event in events())


def test_the_same_words_are_taken_in_once_wherever_they_stand(mem: Credenda, tmp_path: Path) -> None:
    first = mem.data.import_(written(tmp_path / "a.md", "# A\n\nOne.\n\nTwo.\n"))
    moved = mem.data.import_(written(tmp_path / "b.txt", "Two.\n\nThree.\n", datetime(2025, 2, 2, tzinfo=UTC)))
    assert (first.turns, moved.turns, moved.skipped) == (2, 1, 1)
    again = mem.data.import_(written(tmp_path / "a.md", "# A\n\nOne.\n\nTwo.\n", datetime(2025, 2, 3, tzinfo=UTC)))
    assert (again.turns, again.skipped, again.problems) == (0, 2, ())


def test_long_blocks_and_lines_are_cut_to_fit(mem: Credenda, tmp_path: Path, events: Events) -> None:
    line = "word " * 80_000
    report = mem.data.import_(written(tmp_path / "long.txt", f"{line}\n\n" + "short line\n" * 40_000))
    assert report.problems == ()
    found = events()
    assert len(found) == report.turns == 4
    assert max(len(event.text.encode()) for event in found) <= limits.EVENT_TEXT_BYTES
    assert "".join(event.text for event in found[:2]).split() == line.split()
    assert sum(event.text.count("short line") for event in found[2:]) == 40_000


def test_a_block_of_wide_letters_without_spaces_fits_too(
    mem: Credenda, tmp_path: Path, events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (blocks, text_format):
        monkeypatch.setattr(module, "BLOCK_CHARACTERS_MAX", 1_000)
    mem.data.import_(written(tmp_path / "wide.txt", "".join(map(chr, range(0x20000, 0x20000 + 2_500)))))
    assert [len(event.text) for event in events()] == [1_000, 1_000, 500]


def test_another_encoding_is_a_clear_problem_and_not_a_crash(mem: Credenda, tmp_path: Path, events: Events) -> None:
    body = "Zürich\nBern\n\nOlten\n\nGenève\n".encode("latin-1")
    report = mem.data.import_(written(tmp_path / "latin.txt", body))
    assert report.problems == tuple(f"line {n}: not UTF-8 text; save the file as UTF-8" for n in (1, 6))
    assert [event.text for event in events()] == ["Bern", "Olten"]


@pytest.mark.parametrize(
    "data", [b"SQLite format 3\x00" + bytes(99), "Rules\n".encode("utf-16")], ids=["database", "wide"]
)
def test_a_file_that_is_no_text_is_refused(mem: Credenda, tmp_path: Path, events: Events, data: bytes) -> None:
    with pytest.raises(Invalid, match=r"is not UTF-8 text"):
        mem.data.import_(written(tmp_path / "notes.md", data), format="markdown")
    written(tmp_path / "rules.md", "No music after ten.")
    report = mem.data.import_(tmp_path)
    (problem,) = report.problems
    assert problem.startswith("notes.md: ")
    assert [event.text for event in events()] == ["No music after ten."]


def test_gzip_is_seen_through_and_the_ending_below_it_counts(mem: Credenda, tmp_path: Path) -> None:
    path = written(tmp_path / "page.md.gz", gzip.compress(b"# A\n\nOne.\n"))
    assert mem.data.import_(path).format == "markdown"
    named = written(tmp_path / "page.unknown", gzip.compress(b"Plain words."))
    assert mem.data.import_(named, format="text").turns == 1


def test_a_file_can_be_taken_out_again_by_its_session(mem: Credenda, tmp_path: Path, events: Events) -> None:
    path = written(tmp_path / "a.txt", "One.\n\nTwo.\n")
    mem.data.import_(path)
    mem.settle()
    mem.delete_where(session=events()[0].session)
    assert mem.search("two").hits == ()

"""Control characters in a text or name do not keep a page from being synchronised."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import Credenda, MemoryUnit
from credenda.portability.files.parse import read_item, to_file_text, write_item
from credenda.write.intake import validate

from .test_files import active, add_line, edit, page, snapshot

TEXTS = (
    "zero \x00 inside",
    "\x00",
    "bell\x07 and \x1b[31m red",
    "del\x7f c1\x9b",
    "<\\u0000> as letters \x00",
    "a\u2028b",
)


@given(st.text(st.sampled_from("ab <\\u01f>-!\n\x00\x01\x0c\x1f\x85\u2028")))
def test_any_text_reads_back_as_it_was(text: str) -> None:
    lines = write_item(text)
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for line in lines for letter in line)
    assert read_item(lines) == to_file_text(text)


def test_texts_and_names_with_control_characters_are_synchronised(mem: Credenda, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for number, text in enumerate(TEXTS):
        mem.store(MemoryUnit(text=f"{number}: {text}", entity=f"Zed\x00{number}", attribute="a", value=text[:9] + "!"))
    mem.remember([{"role": "assistant", "name": "Bo\x00t", "content": "Nothing \x00 to do."}])
    mem.settle()
    before = active(mem)
    assert mem.data.sync_files(vault).left_alone == ()
    files = snapshot(vault)
    assert not [name for name, data in files.items() if b"\x00" in data and name.endswith(".md")]
    for _ in range(2):
        report = mem.data.sync_files(vault)
        assert (report.changed, report.left_alone, report.deleted) == (False, (), 0)
    (vault / ".credenda/sync.json").unlink()
    report = mem.data.sync_files(vault)
    assert (report.remembered, report.contested, report.deleted) == (0, 0, 0)
    assert active(mem) == before
    assert snapshot(vault) == files


@pytest.mark.sqlite_file  # a file of an earlier version has zero bytes; Postgres never stored one
@pytest.mark.parametrize("damaged", [False, True])
def test_a_page_with_zero_bytes_of_an_earlier_version_is_read(
    mem: Credenda, *, tmp_path: Path, damaged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions stored zero bytes, wrote them to pages as they were, and then never read the page."""
    monkeypatch.setattr(validate, "_CONTROLS", re.compile("(?!)"))
    vault = tmp_path / "vault"
    mem.store(MemoryUnit(text="zero \x00 inside"))
    assert "zero \x00 inside" in active(mem)
    mem.store(MemoryUnit(text="I own a cello."))
    mem.data.sync_files(vault)
    notes = page(vault, "consolidated/notes.md")
    edit(notes, "<\\u0000>", "\x00")
    if damaged:
        notes.write_bytes(notes.read_bytes().replace(b"cello", b"\x00" * 5))
    else:
        add_line(notes, "- I play chess.")
    report = mem.data.sync_files(vault)
    assert bool(report.left_alone) is damaged
    assert (report.deleted, report.corrected) == (0, 0)
    assert ("I play chess." in active(mem)) is not damaged
    assert (b"\x00" in notes.read_bytes()) is damaged

"""Folders that nobody would think of: no byte of theirs is lost, and a dry run says what the run does."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from credenda import Credenda
from credenda.testing import ManualClock

from .foreign_folders import sync, take_picture

WORDS = st.sampled_from(
    (
        "I like figs.",
        "I live in Nantes.",
        "I moved to Brest.",
        "User works at Hooli.",
        "The sky is green.",
        "- [ ] call",
    )
)
LINES = st.one_of(
    WORDS,
    WORDS.map("- {}".format),
    WORDS.map("{}   ".format),
    st.sampled_from(
        (
            *("", "  ", "---", "# A", "## 2026-01-02", "## Now", "#### 10:00 user", "```", "title: x", "entity: Ben"),
            *("<!-- mine -->", "<!--m {}-->", "<!--m", "-->", "> [!note]", "\t- deep", "| a |", "***", "\\", "[[x|y]]"),
        )
    ),
    st.text(max_size=12).filter(lambda text: "\n" not in text),
)


def join(lines: list[str], ending: str, end: str, mark: str) -> str:
    return mark + ending.join(lines) + end


PAGES = st.builds(
    join,
    st.lists(LINES, max_size=12),
    st.sampled_from(("\n", "\r\n")),
    st.sampled_from(("", "\n", "\r\n")),
    st.sampled_from(("", "\ufeff")),
)
NAMES = st.sampled_from(
    (
        *("MEMORY.md", "index.md", "persona.md", "consolidated/user.md", "archive/2026-03-01.md", "memory.md"),
        *("archive/2026-01-05.md", "Daily/2026-02-03.md", "deep/er/note.md", "notes.md", "archive/notes.md"),
        *(".tombstones.jsonl", "x.txt"),
    )
)


@settings(
    max_examples=6,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
@given(
    st.dictionaries(NAMES, st.one_of(PAGES, st.binary(max_size=40)), min_size=1, max_size=6),
    st.dictionaries(NAMES, PAGES, max_size=2),
)
def test_no_generated_folder_loses_a_byte(files: dict[str, str | bytes], later: dict[str, str]) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        with Credenda.open(place / "m.db", user="ana", clock=ManualClock("2026-03-01T09:00:00Z"), workers=False) as mem:
            mem.remember("I play chess. Always answer in German.")
            mem.settle()
            theirs = place / "theirs"
            theirs.mkdir()
            for changes in filter(None, (files, later)):
                for name, text in changes.items():
                    path = theirs / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    if b"credenda" not in (path.read_bytes() if path.exists() else b""):
                        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
                before = {name: seen for name, seen in take_picture(theirs).items() if name in {**files, **later}}
                before = {name: seen for name, seen in before.items() if b"<!--end-->" not in bytes(str(seen), "utf-8")}
                sync(mem, theirs)
                now = take_picture(theirs)
                assert {name: now.get(name) for name in before} == before
                assert not mem.data.sync_files(theirs).changed
                assert take_picture(theirs) == now
    finally:
        shutil.rmtree(place)

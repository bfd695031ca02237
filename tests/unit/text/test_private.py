"""What is cut as private, and what is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.private import PrivateParts, cut_private, cut_private_fields, has_private
from credenda.text.spoken import extract_spoken

PIECES = st.sampled_from(
    ["<private>", "</private>", "<PRIVATE a='b'>", "<private", "</private", "<pri", "vate>", ">", " ", "\n", "tea", "`"]
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I like tea.", "I like tea."),
        ("Tea <private>zorkmid</private> and jam", "Tea  and jam"),
        ("Tea <Private>zorkmid</PRIVATE> and jam", "Tea  and jam"),
        ("Tea\n<private>\nzorkmid\n</private>\nand jam", "Tea\n\nand jam"),
        ("<private>zorkmid</private> tea <private>zorkmid</private>", "tea"),
        ("Tea <private reason='a > b' x=\"<\">zorkmid</private > jam", "Tea  jam"),
        ("Tea <private\n  class=x\n>zorkmid</private> jam", "Tea  jam"),
        ("Tea <private/>zorkmid", "Tea"),
        ("Tea <private>zorkmid", "Tea"),
        ("Tea <private>a <private>b</private> zorkmid</private> jam", "Tea  jam"),
        ("Tea <private>a <private>b</private> zorkmid", "Tea"),
        ("pass<private>zorkmid</private>word", "pass word"),
        ("<pri<private>x</private>vate>tea</private>", "<pri vate>tea</private>"),
        ("I call it `<private>zorkmid</private>` there", "I call it ` ` there"),
        ("```\n<private>\nzorkmid\n```\ntea", "```"),
        ("<private>zorkmid</private>", ""),
        ("Tea < private >zorkmid</ private > jam", "Tea  jam"),
        ("Tea <  PRIVATE>zorkmid< / private> jam", "Tea  jam"),
        ("Tea <private\\n>zorkmid</private> jam", "Tea  jam"),
        ("Is public < private, or x < private && y > z?", "Is public < private, or x < private && y > z?"),
        ("<\u200bprivate>tea \uff1cprivate\uff1ejam", "<\u200bprivate>tea \uff1cprivate\uff1ejam"),
        ("Tea </private> jam", "Tea </private> jam"),
        (
            "A <private-key> and a <privateer> &lt;private&gt; tea",
            "A <private-key> and a <privateer> &lt;private&gt; tea",
        ),
        ("<private>zorkmid</privateer> zorkmid", ""),
    ],
)
def test_private_parts_are_cut_and_the_rest_stays(text: str, kept: str) -> None:
    assert cut_private(text) == kept
    assert has_private(text) == (text != kept)
    assert cut_private(kept) == kept


@given(st.lists(PIECES, max_size=30).map("".join))
def test_cutting_twice_cuts_no_more_than_once(text: str) -> None:
    once = cut_private(text)
    assert cut_private(once) == once


@given(st.lists(PIECES, max_size=20).map("".join))
def test_lines_are_cut_as_the_whole_text_is(text: str) -> None:
    if any(one in text for one in ("<private\n", "</private\n")):  # a tag over two lines is read by its first
        return
    parts = PrivateParts()
    lines = "".join("".join(parts.cut(line).split()) for line in text.split("\n"))
    assert lines == "".join(cut_private(text).split())


@pytest.mark.parametrize(
    "piece",
    [
        *("<private>", "<private", "</private>", "</private ", "<private>x</private>", "<", "<private ", "<private\n"),
        *("</", "< ", " ", "< private", "< private > ", "</ private "),
    ],
)
def test_a_million_characters_take_no_longer_than_their_number(piece: str) -> None:
    def measure(count: int) -> float:
        text = piece * (count // len(piece))
        begun = time.process_time()
        extract_spoken(text)
        cut_private(text)
        return time.process_time() - begun

    measure(10_000)
    small, large = measure(100_000), measure(1_000_000)
    assert large < 60 * small + 1.0  # a quadratic one takes 100 times as long


def test_a_private_name_takes_its_value_along_at_any_depth() -> None:
    given = {"a": [{"<private>z</private>": "z", "b <private>z": ("<private>z</private>tea", 7)}], "": None}
    assert cut_private_fields(given) == {"a": [{"b": ["tea", 7]}], "": None}

"""Text that wants to cost much."""

import subprocess
import sys

import pytest

from credenda import limits
from credenda.clock import cpu_seconds
from credenda.write.extract.voices import act_of, find_unread, own_sentences, split_clauses, straighten
from tests.waiting import PATIENCE_SECONDS

MEGABYTE = limits.EVENT_TEXT_BYTES
HOSTILE = {
    "one word": "a" * MEGABYTE,
    "subjects": "I " * (MEGABYTE // 2),
    "stops": "." * MEGABYTE,
    "lines": "\n" * MEGABYTE,
    "blanks": " " * MEGABYTE,
    "fences": "```\n" * (MEGABYTE // 4),
    "quotes": "> a\n" * (MEGABYTE // 4),
    "lists": "I like " + "a, b and c, " * (MEGABYTE // 12),
    "suppositions": ("what if I " * 58 + ". ") * (MEGABYTE // 590),
    "openings": ("so " * 190 + ". ") * (MEGABYTE // 572),
    "roles": ("I'm actually a " + "b " * 280 + ". ") * (MEGABYTE // 577),
    "orders": ("ignore " + "all previous " * 45 + ". ") * (MEGABYTE // 594),
    "capitals": ("Ab Cd " * 95 + "is x. ") * (MEGABYTE // 576),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_of_hostile_text_takes_seconds_at_most(text: str) -> None:
    began = cpu_seconds()
    sentences = [straighten(text[start:stop]) for start, stop in own_sentences(text)]
    assert len(sentences) <= 256
    for sentence in sentences:
        act_of(sentence)
        split_clauses(sentence)
    find_unread(text)
    assert cpu_seconds() - began < 4.5


def test_importing_the_package_reads_no_data() -> None:
    code = (
        "import sys, credenda.write.extract; assert 'tomllib' not in sys.modules;"
        "import credenda.write.facts.claims; from credenda.write.extract.voices import load_table;"
        "assert load_table.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_SECONDS)


def test_a_run_on_sentence_is_cut_where_its_author_begins_anew() -> None:
    filler = ("the shelves in the hall are still full of old boxes " * 6).strip()
    text = f"{filler}, and I live in Porto, but {filler}, can you help me sort them, and I have asthma."
    assert len(text) > 600
    assert [text[start:stop][:30].strip(" ,") for start, stop in own_sentences(text)] == [
        "the shelves in the hall are st",
        "I live in Porto, but the shelv",
        "can you help me sort them",
        "I have asthma.",
    ]
    assert find_unread(text) == []


def test_long_sentences_side_by_side_are_one_unread_part() -> None:
    long = "stone walked on " * 50
    assert find_unread(f"I live in Porto. {long}. {long}. I have asthma.") == [(17, 17 + 2 * len(long) + 3)]

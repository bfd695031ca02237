"""Spans, bounds, and text that wants to hurt."""

import subprocess
import sys

import pytest

from credenda import limits
from credenda.clock import cpu_seconds
from tests.waiting import PATIENCE_SECONDS

from .build import event, hear

FACTS = "I live in Porto. I work at Initech. I speak Basque. I like jazz. I play go. I have asthma. I'm vegan."
CLAIMS_MAX = 256
"""A message is parsed up to its 256th sentence."""
MEGABYTE = limits.EVENT_TEXT_BYTES


@pytest.mark.requirement("R-046")
def test_all_facts_of_a_message_are_claimed_in_order() -> None:
    claims = hear(FACTS)
    assert len(claims) == FACTS.count(".") > 5
    assert [claim.span.start for claim in claims] == sorted(claim.span.start for claim in claims)


@pytest.mark.requirement("R-046")
@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "...", "😂", "?", "I", "my", "the", "I am", "No,", "Don't forget that"]
)
def test_nothing_to_say_is_a_full_answer(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-017")
@pytest.mark.parametrize(
    "text",
    [
        FACTS,
        "Hi!! 😀 I live in São Paulo… and  I’m a nurse.\r\n\r\n* I like tea\n* I play chess",
        "  \tI prefer   aisle seats,\nalways.  Thanks.",
        "“I know.” I work at Żabka. 我住在柏林。I speak Polish.",
    ],
)
def test_a_span_points_at_the_very_words(text: str) -> None:
    source = event(text)
    claims = hear(text)
    assert claims
    for claim in claims:
        assert source.text[claim.span.start : claim.span.stop] == claim.text == claim.text.strip()
        assert claim.span.event_id == source.id


@pytest.mark.requirement("D-005")
def test_confidence_and_importance_lie_between_zero_and_one() -> None:
    for claim in hear(FACTS) + hear("What if I were rich? I may go to Rome. My sister said she works at Bosch."):
        assert 0 <= claim.confidence <= 1
        assert 0 <= claim.importance <= 1


def test_the_same_turn_gives_the_same_claims() -> None:
    assert hear(FACTS) == hear(FACTS)


HOSTILE = {
    "one word": "a" * MEGABYTE,
    "subjects": "I " * (MEGABYTE // 2),
    "stops": "." * MEGABYTE,
    "lines": "\n" * MEGABYTE,
    "blanks": " " * MEGABYTE,
    "fences": "```\n" * (MEGABYTE // 4),
    "quotes": "> a\n" * (MEGABYTE // 4),
    "lists": "I like " + "a, b and c, " * (MEGABYTE // 12),
    "negations": "I do " + "not " * (MEGABYTE // 5),
    "possessives": ("my " + "x's " * 140 + "is y. ") * (MEGABYTE // 570),
    "suppositions": ("what if I " * 58 + ". ") * (MEGABYTE // 590),
    "adverbs": ("I " + "always " * 80 + "go. ") * (MEGABYTE // 570),
    "openings": ("so " * 190 + ". ") * (MEGABYTE // 572),
    "dates": ("in may 3 of " * 48 + ". ") * (MEGABYTE // 578),
    "roles": ("I'm actually a " + "b " * 280 + ". ") * (MEGABYTE // 577),
    "steps": ("To do x, " + "run y, then " * 45 + "z. ") * (MEGABYTE // 552),
    "orders": ("ignore " + "all previous " * 45 + ". ") * (MEGABYTE // 594),
    "capitals": ("Ab Cd " * 95 + "is x. ") * (MEGABYTE // 576),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_megabyte_of_hostile_text_takes_seconds_at_most(text: str) -> None:
    began = cpu_seconds()
    assert len(hear(text)) <= CLAIMS_MAX
    assert cpu_seconds() - began < 4.5


def test_importing_the_package_reads_no_data_and_compiles_little() -> None:
    code = (
        "import sys, credenda.write.extract; assert 'tomllib' not in sys.modules;"
        "import credenda.write.extract.rules as rules; from credenda.write.extract.lexicon import load_table;"
        "rules.RulesExtractor(); assert load_table.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_SECONDS)


def test_a_run_on_sentence_is_read_where_its_author_begins_anew() -> None:
    filler = "the shelves in the hall are still full of old boxes " * 6
    text = f"{filler.strip()}, and I live in Porto, but {filler.strip()}, can you help me sort them, and I have asthma."
    assert len(text) > 600
    assert {(one.attribute, one.value) for one in hear(text) if one.attribute} >= {
        ("residence", "Porto"),
        ("condition", "asthma"),
    }

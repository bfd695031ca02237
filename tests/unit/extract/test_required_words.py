"""The texts that are looked for before an expression is tried: no sentence that it matches may lack them all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from credenda.write.extract.lexicon import load_table
from credenda.write.extract.patterns import Gate, compile_macros, in_lower_case

from .holding import always_holds


def _guarded() -> Iterator[tuple[str, re.Pattern[str], Sequence[str]]]:
    acts, tails, voices = load_table("acts"), load_table("tails"), load_table("voices")
    for number, entry in enumerate(acts["act"]):
        if "has" in entry:
            for match in entry["match"]:
                yield f"act {number} {match[:40]}", compile_macros(match, acts["macros"]), entry["has"]
    yield "transient", re.compile(acts["transient"]["match"], re.IGNORECASE), acts["transient"]["has"]
    yield "scene", re.compile(voices["scene"]["start"], re.IGNORECASE), voices["scene"]["has"]
    for name in ("lead", "whole", "back", "forward"):
        yield f"material {name}", re.compile(voices["material"][name], re.IGNORECASE), voices["material"]["has"]
    yield "bare", re.compile(tails["bare"], re.IGNORECASE), tails["bare_has"]
    foreign = load_table("foreign")
    yield "now", re.compile(foreign["now"], re.IGNORECASE), foreign["now_has"]
    yield from _guarded_beside()
    for number, match in enumerate(voices["code"]["holds"]):
        yield f"code {number}", re.compile(match), voices["code"]["has"]
    for entry in tails["contraction"]:
        has = [entry["has"]] if isinstance(entry["has"], str) else entry["has"]
        yield f"short form {entry['from'][:40]}", re.compile(entry["from"], re.IGNORECASE), has


def _guarded_beside() -> Iterator[tuple[str, re.Pattern[str], Sequence[str]]]:
    acts = load_table("acts")
    yield "hedge", re.compile(acts["hedge"]["match"], re.IGNORECASE), acts["hedge"]["has"]
    said, lasting = load_table("as_said"), load_table("instructions")["lasting"]
    for name, has in said["has"].items():
        yield name, re.compile(said[name], re.IGNORECASE), has
    yield "lasting", re.compile(lasting["match"], re.IGNORECASE), lasting["has"]
    for name, entry in load_table("imagined").items():
        if "has" in entry:
            yield f"imagined {name}", re.compile(entry["match"], re.IGNORECASE), entry["has"]


_GUARDED = {name: (expression, has) for name, expression, has in _guarded()}


@pytest.mark.parametrize("name", _GUARDED)
def test_no_match_lacks_every_text_that_is_looked_for_first(name: str) -> None:
    expression, has = _GUARDED[name]
    assert always_holds(expression, has), f"add to `has` what a match of {expression.pattern} holds"


@pytest.mark.parametrize(
    ("expression", "has", "holds"),
    [
        (r"\b(?:tea|coffee)\b", ["tea", "coff"], True),
        (r"\b(?:tea|coffee|water)\b", ["tea", "coff"], False),
        (r"what (?:if|about) (?:i|my) ", ["what if", "about my", "about i"], True),
        (r"(?:green )?tea", ["green "], False),
        (r"(?:red|green)+ tea", ["en tea", "ed tea"], True),
        (r"[a-z]+", ["a"], False),
        (r"\w+ tea", [" tea"], True),
    ],
)
def test_the_check_knows_what_a_match_must_hold(expression: str, has: list[str], holds: bool) -> None:  # noqa: FBT001
    assert always_holds(re.compile(expression, re.IGNORECASE), has) is holds


@pytest.mark.parametrize("text", ["PLEASE go on", "please", "Été venu", "été", "Anna said so", "anna said so", "no"])
def test_a_gate_opens_where_one_of_its_shapes_matches(text: str) -> None:
    for shapes in (
        [r"^(?P<word>please|\S+ go)\b", r"^\w+É\b|^été"],
        [r"^(?P<who>(?-i:[A-Z])\w+) said\b"],
    ):
        compiled = [re.compile(one, re.IGNORECASE) for one in shapes]
        assert Gate(compiled).opens(text) is any(one.match(text) is not None for one in compiled)


def test_an_expression_in_lower_case_keeps_what_follows_a_backslash() -> None:
    shape = re.compile(r"(?P<day>\D+) AM\b\S*", re.IGNORECASE)
    assert in_lower_case(shape).pattern == r"(?:\D+) am\b\S*"

"""Laying out the core, and comparing rewrites: pure."""

from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.manage.core import (
    CoreLimits,
    RewriteRecord,
    build_core,
    choose_identity,
    diff_rewrites,
    has_changed,
)
from credenda.model.core import CoreLine, CoreMemory, Section
from credenda.model.memory import Memory, MemoryType, Stance, Status
from credenda.text.fence import TokenBudget, estimate_tokens


def held(number: int, text: str = "A note.", **more: object) -> Memory:
    plain: dict[str, object] = {"type": MemoryType.FACT, "version": 1, "created_us": number, "recorded_us": number}
    return Memory(id=f"m{number}-abcde1", text=text, **(plain | more))  # type: ignore[arg-type]


def line(number: int, version: int = 1, section: Section = Section.PINNED) -> CoreLine:
    text = f"line {number} of version {version}"
    return CoreLine(section=section, memory_id=f"m{number}-abcde1", version=version, text=text)


@pytest.mark.requirement("S-045")
@given(
    st.lists(st.tuples(st.sampled_from(Section), st.text(max_size=300))),
    st.integers(1, 400),
    st.integers(1, 30),
)
def test_no_words_whatever_break_the_cap(texts: list[tuple[Section, str]], tokens: int, lines: int) -> None:
    candidates = [
        CoreMemory(section, held(n, text, entity="user", attribute="name")) for n, (section, text) in enumerate(texts)
    ]
    laid = build_core(candidates, {}, CoreLimits(budget=TokenBudget(tokens), lines=lines, zone=UTC))
    assert laid.tokens == estimate_tokens(laid.text)
    if laid.lines:
        assert laid.tokens <= tokens
        assert len(laid.text.splitlines()) <= lines
    shown = {one.memory_id for one in laid.lines}
    said = {one.memory.text for one in candidates if one.memory.id in shown}
    firm = {one.memory.id for one in candidates if one.section is not Section.RECALLED and one.memory.text not in said}
    assert shown | set(laid.left_out) >= firm
    assert not shown & set(laid.left_out)
    assert all(not line.text.startswith("<") for line in laid.lines)


@given(st.permutations(range(8)))
def test_the_block_does_not_depend_on_the_order_of_what_fits(order: list[int]) -> None:
    made = [CoreMemory(Section.RECALLED, held(n, f"Note {n}.")) for n in range(8)]
    cap = CoreLimits(budget=TokenBudget(1_000), lines=100, zone=UTC)
    assert build_core([made[n] for n in order], {}, cap).text == build_core(made, {}, cap).text


def test_a_memory_stands_once_under_the_first_reason() -> None:
    one = held(1, entity="user", attribute="name")
    sections = [Section.RECALLED, Section.IDENTITY, Section.PINNED]
    laid = build_core(
        [CoreMemory(section, one) for section in sections], {}, CoreLimits(budget=TokenBudget(900), lines=90, zone=UTC)
    )
    assert [found.section for found in laid.lines] == [Section.PINNED]
    assert laid.left_out == ()


def test_a_line_that_does_not_fit_makes_way_for_a_shorter_one() -> None:
    long, short = held(1, "word " * 80), held(2, "Short.")
    candidates = [CoreMemory(Section.PINNED, long), CoreMemory(Section.PINNED, short)]
    laid = build_core(candidates, {}, CoreLimits(budget=TokenBudget(80), lines=40, zone=UTC))
    assert [found.memory_id for found in laid.lines] == [short.id]
    assert laid.left_out == (long.id,)


def test_rewrites_are_compared_by_memory_and_version() -> None:
    diff = diff_rewrites([line(1), line(2), line(3)], [line(2), line(3, 2), line(4)])
    assert [one.memory_id[:2] for one in diff.added] == ["m4"]
    assert [one.memory_id[:2] for one in diff.removed] == ["m1"]
    assert [(old.version, new.version) for old, new in diff.reworded] == [(1, 2)]
    assert not diff_rewrites([line(1)], [line(1)])
    assert not diff_rewrites([line(1)], [replace(line(1), version=2)])
    assert diff_rewrites([line(1)], [line(1, section=Section.RECALLED)]).reworded


def test_nothing_is_no_rewrite_of_nothing() -> None:
    assert not has_changed(None, [])
    assert has_changed(None, [line(1)])
    last = RewriteRecord(at_us=1, lines=((Section.PINNED, "m1-abcde1", 1),))
    assert not has_changed(last, [line(1)])
    assert has_changed(last, [])
    assert has_changed(last, [line(1, 2)])


@pytest.mark.parametrize(
    "more",
    [
        {"status": Status.CHALLENGED},
        {"contested": True},
        {"stance": Stance.PLANNED},
        {"stance": Stance.NEGATED},
        {"scope": "at work"},
        {"speaker": "ben"},
        {"entity": "ben"},
        {"attribute": "shoe_size"},
        {"provisional": True},
        {"text": ""},
    ],
)
def test_only_what_is_settled_about_the_user_is_identity(more: dict[str, object]) -> None:
    plain: dict[str, object] = {"text": "My name is Ana.", "entity": "user", "attribute": "name"}
    assert choose_identity([held(1, **plain)])  # type: ignore[arg-type]
    assert not choose_identity([held(1, **(plain | more))])  # type: ignore[arg-type]

"""Ids are short, say what they name, and are foreign in any other tenant."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.errors import Invalid, LimitExceeded, NotFound
from credenda.ids import (
    IdKind,
    draw_fraction,
    draw_key,
    draw_tag,
    draw_unused_tag,
    format_id,
    parse_id,
    parse_id_number,
    parse_id_numbers,
)

TAG = "3fa9c2"


@given(st.sampled_from(IdKind), st.integers(1, 10**18 - 1))
def test_an_id_is_read_as_it_was_written(kind: IdKind, number: int) -> None:
    name = format_id(kind, number, TAG)
    assert parse_id(name, TAG) == parse_id(f" {name}\n", TAG) == (kind, number)
    assert parse_id_number(name, kind, TAG) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "m",
        "m42",
        "42-3fa9c2",
        "x42-3fa9c2",
        "M42-3fa9c2",
        "m42-3FA9C2",
        "m042-3fa9c2",
        "m0-3fa9c2",
        "m-1-3fa9c2",
        "m4\N{FULLWIDTH DIGIT TWO}-3fa9c2",
        "m٤-3fa9c2",
        "m42_3fa9c2",
        "m42-3fa9c2x",
        "m42-3fa9c2\nm43-3fa9c2",
        "m42-3fa9c3",
        "m1000000000000000000-3fa9c2",
        "m42-" + "a" * 10_000,
        "'; DROP TABLE memories; --",
    ],
)
@pytest.mark.requirement("R-201")
def test_malformed_and_foreign_ids_look_the_same_from_outside(text: str) -> None:
    with pytest.raises(NotFound) as caught:
        parse_id(text, TAG)
    assert caught.value.why == "no event or memory of this user has that id"
    assert len(str(caught.value)) < 300


LIKE_IDS = [
    "m1-3fa9c2",
    "m42-3fa9c2",
    " m7-3fa9c2",
    "m1-3fa9c2,m2-3fa9c2",
    "e1-3fa9c2",
    "m01-3fa9c2",
    "m1-3fa9c3",
    "",
    7,
]


@given(st.lists(st.sampled_from(LIKE_IDS), max_size=4), st.sampled_from([TAG, "", "3fa9c"]))
def test_ids_are_read_together_as_they_are_one_by_one(ids: list[str], tag: str) -> None:
    def read(numbers: Callable[[], list[int]]) -> list[int] | str:
        try:
            return numbers()
        except (Invalid, NotFound) as error:
            return str(error)

    assert read(lambda: parse_id_numbers(ids, IdKind.MEMORY, tag)) == read(
        lambda: [parse_id_number(text, IdKind.MEMORY, tag) for text in ids]
    )


def test_a_tenant_that_never_wrote_has_no_ids() -> None:
    with pytest.raises(NotFound):
        parse_id("m1-3fa9c2", "")
    with pytest.raises(NotFound):
        parse_id("m1-", "")


@pytest.mark.parametrize("kind", list(IdKind))
def test_an_id_of_another_kind_is_refused_with_both_kinds_named(kind: IdKind) -> None:
    other = next(one for one in IdKind if one is not kind)
    with pytest.raises(NotFound, match=kind.name.lower()) as caught:
        parse_id_number(format_id(other, 5, TAG), kind, TAG)
    assert other.name.lower() in caught.value.why


def test_tags_keys_and_jitter_are_drawn_anew() -> None:
    tags = {draw_tag() for _ in range(200)}
    assert len(tags) > 190
    assert all(len(tag) == 6 and tag[-1].isdigit() and set(tag) <= set("0123456789abcdef") for tag in tags)
    assert len({draw_key() for _ in range(20)}) == 20
    assert {len(draw_key()) for _ in range(5)} == {32}
    drawn = [draw_fraction() for _ in range(200)]
    assert all(0 <= fraction < 1 for fraction in drawn)
    assert len(set(drawn)) > 190


def test_a_tag_is_drawn_until_one_is_free_and_not_for_ever() -> None:
    asked: list[str] = []

    def claim(tag: str) -> bool:
        asked.append(tag)
        return len(asked) == 5

    assert draw_unused_tag(claim) == asked[4]
    with pytest.raises(LimitExceeded, match="belong to other users"):
        draw_unused_tag(lambda tag: asked.append(tag) is not None)
    assert len(asked) == 5 + 1_000

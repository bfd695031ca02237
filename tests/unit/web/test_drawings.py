"""Drawings: what they show, that their tables say the same, and that a hostile text stays text."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.clock import DAY_US, SECOND_US
from credenda.interfaces.web.drawings import (
    Axis,
    Curve,
    CurvePoint,
    Drawing,
    Version,
    draw_curves,
    draw_lanes,
    draw_terms,
    find_ticks,
    shorten,
)

NOW = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp()) * SECOND_US
HOSTILE = "<script>alert(1)</script>\"' onload=x \u202e\ud800\x00&amp; " + "x" * 300_000


def lane(
    label: str, status: str, held: int, until: int | None = None, *, true: tuple[int, int | None] = (0, None)
) -> Version:
    """A version held from so many days before now, until so many, and true likewise."""
    return Version(
        label=label,
        status=status,
        recorded_us=NOW - held * DAY_US,
        expired_us=None if until is None else NOW - until * DAY_US,
        valid_from_us=NOW - true[0] * DAY_US,
        valid_until_us=None if true[1] is None else NOW - true[1] * DAY_US,
    )


def parse(drawing: Drawing) -> ET.Element:
    """Read the SVG as XML, which it must be."""
    return ET.fromstring(str(drawing.svg))  # noqa: S314 - our own


def find(root: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in root.iter() if name in one.get("class", "").split()]


def percent(element: ET.Element, key: str) -> float:
    return float(element.attrib[key].removesuffix("%"))


def draw_all(text: str) -> list[Drawing]:
    return [
        draw_lanes([lane(text, "active", 3)], now_us=NOW),
        draw_terms({text: 0.5}, 0.5),
        draw_curves([0, 30], [Curve(label=text, values=(1.0, 0.5))], [CurvePoint(label=text, days=3, score=0.4)]),
    ]


@pytest.mark.parametrize("drawing", draw_all("Linz"), ids=lambda one: one.title)
def test_a_drawing_has_a_role_a_name_a_description_and_the_same_data_as_a_table(drawing: Drawing) -> None:
    root = parse(drawing)
    assert root.get("role") == "img"
    assert [root[0].tag, root[1].tag] == ["title", "desc"]
    assert root[0].text == drawing.title
    assert root[1].text
    assert drawing.rows
    assert {len(row.cells) for row in drawing.rows} == {len(drawing.head)}
    assert any("Linz" in cell for row in drawing.rows for cell in row.cells)


@pytest.mark.parametrize("drawing", draw_all("Linz"), ids=lambda one: one.title)
def test_a_drawing_has_neither_script_nor_inline_style(drawing: Drawing) -> None:
    for element in parse(drawing).iter():
        assert element.tag in {"svg", "title", "desc", "text", "line", "rect", "circle", "polyline", "path"}
        assert not {"style", "fill", "stroke", "href", "id"} & element.attrib.keys()
        assert not any(key.startswith("on") for key in element.attrib)


@pytest.mark.parametrize("drawing", draw_all(HOSTILE), ids=lambda one: one.title)
def test_a_hostile_text_is_a_short_text_and_nothing_else(drawing: Drawing) -> None:
    svg = str(drawing.svg)
    assert "<script" not in svg
    assert len(svg) < 20_000
    assert not re.search("[\u202e\ud800\x00]", svg)
    svg.encode()
    for row in drawing.rows:
        for cell in row.cells:
            cell.encode()
            assert len(cell) <= 200
    assert "&lt;script" in svg


@given(st.text(max_size=80), st.integers(1, 30))
def test_a_short_text_is_one_visible_line_within_its_length(text: str, most: int) -> None:
    found = shorten(text, most)
    assert 1 <= len(found) <= most
    assert found.isprintable()
    assert found == found.strip()


def test_lanes_place_a_version_in_both_times() -> None:
    root = parse(draw_lanes([lane("Graz", "superseded", 10, 5, true=(100, 50)), lane("Linz", "active", 5)], now_us=NOW))
    bars = find(root, "bar")
    assert len(bars) == 4
    true_old, _, held_old, held_new = bars
    assert percent(true_old, "x") == pytest.approx(2 / 104 * 100, abs=0.1)
    assert percent(true_old, "width") == pytest.approx(50 / 104 * 100, abs=0.1)
    assert percent(held_old, "x") + percent(held_old, "width") == pytest.approx(percent(held_new, "x"), abs=0.1)
    assert "open" in held_new.attrib["class"]
    assert "open" not in held_old.attrib["class"]
    assert {one.attrib["class"].split()[1] for one in bars} == {"status-superseded", "status-active"}


def test_a_corrected_value_has_no_time_in_the_world() -> None:
    wrong = replace(lane("Graz", "superseded", 10, 5, true=(100, 50)), was_true=False)
    drawing = draw_lanes([wrong, lane("Linz", "active", 5)], now_us=NOW)
    assert len(find(parse(drawing), "bar")) == 3
    assert len(find(parse(drawing), "label")) == 3
    assert drawing.rows[0].cells[2:4] == ("–", "–")
    assert drawing.rows[1].cells[2] != "–"


def test_lanes_draw_the_newest_and_the_table_has_all() -> None:
    drawing = draw_lanes([lane(f"value {n}", "superseded", 100 - n, 99 - n) for n in range(40)], now_us=NOW)
    assert drawing.left_out == 16
    assert len(drawing.rows) == 40
    assert "value 39" in drawing.svg
    assert "value 3:" not in drawing.svg


def test_a_moment_is_seen_as_a_bar_inside_the_drawing() -> None:
    bars = find(parse(draw_lanes([lane("a", "active", 0), lane("b", "active", 900, 900)], now_us=NOW)), "bar")
    for bar in bars:
        assert percent(bar, "width") >= 0.6
        assert percent(bar, "x") + percent(bar, "width") <= 100.01


def test_terms_go_right_where_they_add_and_left_where_they_take() -> None:
    root = parse(draw_terms({"words": 0.6, "doubt": -0.2}, 0.4))
    words, doubt, total = find(root, "bar")
    zero = percent(find(root, "axis")[0], "x1")
    assert percent(words, "x") == pytest.approx(zero, abs=0.01)
    assert percent(doubt, "x") + percent(doubt, "width") == pytest.approx(zero, abs=0.02)
    assert percent(words, "width") == pytest.approx(3 * percent(doubt, "width"), abs=0.1)
    assert percent(words, "width") + percent(doubt, "width") == pytest.approx(52, abs=0.1)
    assert [one.attrib["class"] for one in (words, doubt, total)] == ["bar adds", "bar takes", "bar sum"]


@pytest.mark.parametrize("terms", [{}, {"a": 0.0}, {"a": -0.5}])
def test_terms_without_anything_to_add_are_drawn(terms: dict[str, float]) -> None:
    assert len(find(parse(draw_terms(terms, sum(terms.values()))), "bar")) == len(terms) + 1


def test_curves_fall_and_memories_lie_on_them() -> None:
    curve = Curve(label="huber", values=(1.0, 0.5, 0.25), colour=2)
    drawing = draw_curves([0, 30, 60], [curve], [CurvePoint(label="m1", days=30, score=0.5, layer="working")])
    root = parse(drawing)
    line = find(root, "curve")[0]
    at = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    assert [y for _, y in at] == [0.0, 130.0, 195.0]
    dot = find(root, "point")[0]
    assert percent(dot, "cx") == pytest.approx(at[1][0], abs=0.01)
    assert float(dot.attrib["cy"]) == at[1][1] + 10
    assert drawing.rows[0].cells == ("huber", "1.00", "0.50", "0.25")


@pytest.mark.parametrize("zone", [UTC, ZoneInfo("Europe/Vienna"), ZoneInfo("Pacific/Auckland")], ids=str)
@pytest.mark.parametrize("days", [0.00001, 0.001, 0.02, 0.3, 1, 3, 20, 90, 400, 4_000, 80_000, 600_000])
def test_ticks_are_few_ascending_and_inside(days: float, zone: ZoneInfo) -> None:
    axis = Axis(NOW - int(days * DAY_US), NOW)
    found = find_ticks(axis, zone)
    assert len(found) <= 4
    assert [one.at_us for one in found] == sorted(one.at_us for one in found)
    assert all(axis.start_us <= one.at_us <= axis.end_us for one in found)


def test_ticks_are_round_in_the_zone_of_the_person() -> None:
    end = int((datetime(2026, 5, 4, tzinfo=UTC) + timedelta(hours=1)).timestamp()) * SECOND_US
    found = find_ticks(Axis(end - 3 * DAY_US, end), ZoneInfo("Europe/Vienna"))
    assert [one.label for one in found] == ["2026-05-02", "2026-05-03", "2026-05-04"]
    assert found[0].at_us == int(datetime(2026, 5, 1, 22, tzinfo=UTC).timestamp()) * SECOND_US

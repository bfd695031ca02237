"""Growth as a number and as a picture."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from benchmarks import cli
from benchmarks.stats import fit_exponent, plot_svg

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_exponent_is_the_power_that_a_figure_grows_with(power: float) -> None:
    line = [(size, 3.0 * size**power) for size in (1_000, 10_000, 100_000)]
    assert fit_exponent(line) == pytest.approx(power, abs=1e-3)


@pytest.mark.parametrize("line", [[], [(1_000, 2.0)], [(1_000, 2.0), (1_000, 3.0)]])
def test_one_size_shows_no_growth(line: list[tuple[int, float]]) -> None:
    assert fit_exponent(line) is None


def test_a_picture_has_a_line_for_each_thing_that_was_measured() -> None:
    lines = {"search <ours>": [(100_000, 5.0), (1_000, 1.0)], "scan": [(1_000, 0.02)], "none": []}
    root = ET.fromstring(plot_svg(lines, title="Time & size", unit="ms"))  # noqa: S314 - our own text
    assert len(root.findall(f"{_SVG}polyline")) == 2
    assert len(root.findall(f"{_SVG}circle")) == 3
    shown = [text.text for text in root.findall(f"{_SVG}text")]
    assert {"Time & size", "search <ours>", "scan", "1,000", "100,000", "0.01 ms"} <= set(shown)
    points = root.findall(f"{_SVG}polyline")[0].attrib["points"].split()
    left, right = (tuple(map(float, point.split(","))) for point in points)
    assert left[0] < right[0]
    assert left[1] > right[1], "more time stands higher"


def test_a_single_point_is_drawn_too() -> None:
    assert "<circle" in plot_svg({"search": [(1_000, 1.0)]}, title="t", unit="ms")


def test_a_picture_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli.bench, ["latency", "--plot", str(tmp_path / "missing" / "plot.svg")])
    assert done.exit_code == 2
    assert "does not exist" in done.output

"""Figures from samples: percentiles, and a readable line for each. Pure."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict

from credenda.errors import Invalid


class Spread(TypedDict):
    """A distribution of times, in milliseconds."""

    n: int
    median_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float


def find_percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the least value that `share` of all values do not exceed.

    >>> find_percentile([4.0, 1.0, 3.0, 2.0], 0.5)
    2.0
    """
    if not values:
        raise ValueError("no values to rank")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def compute_median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two in the middle.

    >>> compute_median([4.0, 1.0, 3.0, 2.0])
    2.5
    """
    if not values:
        raise ValueError("no values to rank")
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread_ms(seconds: Sequence[float]) -> Spread:
    """Summarise durations given in seconds."""
    return {
        "n": len(seconds),
        "median_ms": round(compute_median(seconds) * 1_000, 4),
        "p95_ms": round(find_percentile(seconds, 0.95) * 1_000, 4),
        "p99_ms": round(find_percentile(seconds, 0.99) * 1_000, 4),
        "max_ms": round(max(seconds) * 1_000, 4),
    }


def compute_ratio(one: Spread, other: Spread) -> float:
    """Return the ratio of the first median to the second."""
    return round(one["median_ms"] / other["median_ms"], 3)


# The growth of a figure with the size of the store, as an exponent and as a plot. Pure.


Line = Sequence[tuple[int, float]]
"""Points (size, figure), both above zero."""

_WIDTH: Final = 640
_HEIGHT: Final = 400
_LEFT: Final = 60
_RIGHT: Final = 150
_TOP: Final = 30
_BOTTOM: Final = 50
_COLOURS: Final = ("#1b6ca8", "#c1552b", "#3c8d40", "#7a4fa3")
_TEXT: Final = 'font-family="sans-serif" font-size="12"'


def fit_exponent(line: Line) -> float | None:
    """Return the slope of the least-squares line through the logarithms; None for fewer than two sizes.

    1 is proportional growth, 0 is constant.

    >>> fit_exponent([(1_000, 2.0), (10_000, 4.0), (100_000, 8.0)])
    0.301
    """
    points = [(math.log(size), math.log(figure)) for size, figure in line]
    mean_x = sum(x for x, _ in points) / max(1, len(points))
    mean_y = sum(y for _, y in points) / max(1, len(points))
    wide = sum((x - mean_x) ** 2 for x, _ in points)
    if not wide:
        return None
    return round(sum((x - mean_x) * (y - mean_y) for x, y in points) / wide, 3)


def plot_svg(lines: Mapping[str, Line], *, title: str, unit: str) -> str:
    """Plot lines over sizes, both axes logarithmic, as an SVG document; leave out lines without points."""
    drawn = {name: sorted(line) for name, line in lines.items() if line}
    sizes = sorted({size for line in drawn.values() for size, _ in line})
    low, high = _find_decades([figure for line in drawn.values() for _, figure in line])
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(size: int) -> float:
        return _LEFT + (math.log10(size) - first) / ((last - first) or 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(figure: float) -> float:
        return _TOP + (high - math.log10(figure)) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [f'<text x="{_LEFT}" y="18" {_TEXT}>{escape(title)}</text>']
    for power in range(low, high + 1):
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(10**power):.1f}" y2="{y(10**power):.1f}" stroke="#ddd"/>'
        )
        parts.append(f'<text x="8" y="{y(10**power) + 4:.1f}" {_TEXT}>{10.0**power:g} {escape(unit)}</text>')
    parts += [f'<text x="{x(size) - 15:.1f}" y="{_HEIGHT - 25}" {_TEXT}>{size:,}</text>' for size in sizes]
    for (name, line), colour in zip(drawn.items(), _COLOURS, strict=False):
        points = " ".join(f"{x(size):.1f},{y(figure):.1f}" for size, figure in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(size):.1f}" cy="{y(figure):.1f}" r="3" fill="{colour}"/>' for size, figure in line]
        end = y(line[-1][1]) + 4
        parts.append(f'<text x="{_WIDTH - _RIGHT + 8}" y="{end:.1f}" fill="{colour}" {_TEXT}>{escape(name)}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def _find_decades(figures: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that enclose all figures."""
    low, high = math.floor(math.log10(min(figures))), math.ceil(math.log10(max(figures)))
    return low, max(high, low + 1)


# The targets of benchmarks, printed with the measured figures, met or not.


class Verdict(TypedDict):
    """A target and its figure; `met` is None when the figure was not measured in this run."""

    what: str
    bar: float
    measured: float | None
    met: bool | None


class _Bar(NamedTuple):
    what: str
    path: str
    """The path of the figure in the document, with `/` between keys."""
    most: float | None = None
    least: float | None = None


_BARS: Final = (
    _Bar("commits of one ack", "write/commits_per_ack", most=1.0),
    _Bar("ack, median as a multiple of a bare insert, worker off", "write/ratio_worker_off", most=1.2),
    _Bar("ack, median as a multiple of a bare insert, worker busy", "write/ratio_worker_busy", most=1.5),
    _Bar("ack p99 in ms, worker busy", "write/ack_worker_busy/p99_ms", most=10.0),
    _Bar("ack p99 in ms, worker busy, 2 ms between calls", "write/ack_worker_busy_paced/p99_ms", most=10.0),
    _Bar("search of 10,000 as a multiple of a bare query of its rarer words", "search/10000/ratio_to_bare", most=7.0),
    _Bar("search of 10,000 as a multiple of a bare query of all its words", "search/10000/ratio_to_full", most=0.2),
    _Bar("search of 10,000 in ms, median", "search/10000/search/median_ms", most=2.0),
    *(_Bar(f"hit@10 of {size:,}", f"search/{size}/hit_at_10", least=0.97) for size in (1_000, 10_000, 100_000)),
    _Bar("search of 100,000 in ms of CPU, median", "search/100000/search_cpu/median_ms", most=5.0),
    _Bar("search of 1,000,000 in ms, median", "search/1000000/search/median_ms", most=30.0),
    _Bar("growth of a search from 10,000 to 100,000", "growth/from_10k_to_100k", most=2.7),
    _Bar("MB of a process that searched 100,000 messages", "search/100000/opening/rss_mb", most=250.0),
    _Bar("search among other users as a multiple of alone", "tenants/ratio", most=1.2),
    _Bar("bytes on disk of a stored memory", "disk_bytes_per_stored_memory", most=2_500.0),
    _Bar("resident bytes of a document", "search/10000/resident_bytes_per_document", most=160.0),
    _Bar("CPU seconds of `import credenda`", "start/import_cpu_s", most=0.05),
    _Bar("CPU seconds of `credenda search`", "start/one_shot_search_cpu_s", most=0.45),
    _Bar("CPU seconds of `credenda mcp` to its first list of tools", "start/mcp_first_list_cpu_s", most=1.0),
)


_OF_CHANGES: Final = (
    _Bar("deciding a claim that contradicts, in ms of CPU, p95", "check/contradicts/p95_ms", most=5.0),
)


def check_targets(document: Mapping[str, Any]) -> list[Verdict]:
    """Compare the figures of the latency benchmark with the targets."""
    return [_check_target(bar, document) for bar in _BARS]


def check_contradiction_targets(document: Mapping[str, Any]) -> list[Verdict]:
    """Compare the figures of the contradiction benchmark with the targets, which apply to 100,000 memories."""
    return [_check_target(bar, document) for bar in _OF_CHANGES]


def _check_target(bar: _Bar, document: Mapping[str, Any]) -> Verdict:
    figure: Any = document
    for key in bar.path.split("/"):
        figure = _get_child(figure, key)
    limit = bar.most if bar.most is not None else bar.least
    assert limit is not None  # noqa: S101 - each bar has one of the two
    if figure is None:
        return {"what": bar.what, "bar": limit, "measured": None, "met": None}
    met = figure <= limit if bar.most is not None else figure >= limit
    return {"what": bar.what, "bar": limit, "measured": float(figure), "met": bool(met)}


def _get_child(node: Any, key: str) -> Any:  # noqa: ANN401 - parsed JSON
    return node.get(key) if isinstance(node, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]


# Read JSON Lines files of benchmarks.


_GZIP: Final = b"\x1f\x8b"


def read_numbered_lines(path: Path, *, may_be_empty: bool = False) -> list[tuple[int, Any]]:
    """Read JSON Lines, gzipped or not, with line numbers; raise `Invalid` naming the malformed line.

    A file without lines is refused as well, unless it `may_be_empty`, because its figures would mean nothing.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw.startswith(_GZIP) else raw).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise Invalid(f"cannot read {path}", why=str(error), fix="give a JSON Lines file, .gz or plain") from error
    found = [(number, _read(path, number, line)) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not (found or may_be_empty):
        raise Invalid(f"{path} has no lines", why="there is nothing to measure", fix="give a file with some")
    return found


def _read(path: Path, number: int, line: str) -> Any:  # noqa: ANN401 - foreign JSON
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"line {number} of {path} is not JSON", why=str(error), fix="repair the line") from error

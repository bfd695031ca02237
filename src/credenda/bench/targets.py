"""The targets of benchmarks, printed with the measured figures, met or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypedDict

__all__ = ["Verdict", "check_contradiction_targets", "check_targets"]


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

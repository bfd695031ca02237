"""The overview: what waits for a person, what was learned and changed lately, and below whether the memory works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from credenda.clock import seconds
from credenda.interfaces.web.changes import list_latest_changes
from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.browse import Browse
from credenda.model.memory import Layer, Memory, Stance, Status, is_dreamed

_SLOW_SECONDS = 60.0
"""A message that has waited so long is shown as a fault."""
_CONTESTS = 3
_LEARNED = 8
_CHANGES = 6


def load(view: View) -> Mapping[str, object]:
    """Load counts, the oldest unread message, the probe, open contests, and the newest memories."""
    stats = view.call("stats")
    browsed: Browse = view.call("browse", status="active", limit=4 * _LEARNED)
    contests = [one for one in view.call("contests") if one.state == "open"]
    statuses = {one.value: stats.memories.get(one.value, 0) for one in Status}
    return {
        "oldest_unread_seconds": stats.oldest_unread_seconds,
        "is_slow": stats.oldest_unread_seconds > _SLOW_SECONDS,
        "waiting": stats.waiting,
        "probe": view.memories.describe_probe(),
        "stats": stats,
        "statuses": statuses,
        "layers": {one.value: browsed.facets["layer"].get(one.value, 0) for one in Layer},
        "types": browsed.facets["type"],
        "counted": browsed.counted,
        "never_used": browsed.never_used,
        "contests": contests[:_CONTESTS],
        "open_contests": len(contests),
        "disk_bytes": view.memories.measure_disk() if view.may("doctor") else None,
        "cost_usd": view.call("costs").cost_usd,
        "newest": _find_newest(browsed),
        "said": browsed.said,
        "held_back": stats.memories.get(Status.CANDIDATE.value, 0),
        "latest": list_latest_changes(view, _CHANGES),
    }


def _find_newest(browsed: Browse) -> Sequence[Memory]:
    """Return the newest memories, by the time at which each was said.

    A card or a bridge repeats other memories, and nobody holds a supposition.
    """
    stated = [one for one in browsed.items if one.stance is not Stance.HYPOTHETICAL and not is_dreamed(one)]
    stated.sort(key=lambda one: browsed.said.get(one.id, one.created_at), reverse=True)
    return stated[:_LEARNED]


def describe(_: View, data: Mapping[str, Any]) -> Mapping[str, object]:
    """Say how long ago the probe ran, and how much all counts are."""
    probe = data["probe"]
    return {
        "probe_age_seconds": None if probe is None else max(0.0, seconds() - probe.at_seconds),
        "most": max(1, *data["statuses"].values(), *data["layers"].values()),
    }


PAGE = Page(name="overview", path="/", title="Overview", operation="stats", load=load, draw=describe)

"""The overview: whether the memory works, what waits for a person, and what is in it."""

from __future__ import annotations

from collections.abc import Mapping

from credenda.interfaces.web.page import Page
from credenda.interfaces.web.view import View
from credenda.model.memory import Status

__all__ = ["PAGE"]

_SLOW_SECONDS = 60.0
"""A message that has waited so long is shown as a fault."""


def load(view: View) -> Mapping[str, object]:
    """Load counts, the oldest unread message, the probe, and the newest memories."""
    stats = view.call("stats")
    return {
        "stats": stats,
        "is_slow": stats.oldest_unread_seconds > _SLOW_SECONDS,
        "probe": view.memories.describe_probe(),
        "statuses": [(one.value, stats.memories.get(one.value, 0)) for one in Status],
        "newest": view.call("list", limit=8).items,
    }


PAGE = Page(name="overview", path="/", title="Overview", operation="stats", load=load)

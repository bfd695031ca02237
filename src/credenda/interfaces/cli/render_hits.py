"""Text output of search results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from credenda.interfaces.cli.layout import Screen, escape_controls
from credenda.interfaces.cli.render_beliefs import describe_status
from credenda.model.query import Hit, SearchResult

__all__ = ["format_terms", "render_results"]

_NOTHING: Final = 0.0005
_SHOWN_CHARACTERS: Final = 400
"""Longest text of a hit, so that ten hits fit on a screen."""


def render_results(screen: Screen, found: SearchResult) -> str:
    """Show hits, best first, or that nothing relevant is known."""
    lines: list[str] = []
    if found.abstained or not found.hits:
        lines.append("Nothing relevant is known.")
    if found.nearest:
        lines.append(screen.dim("Nearest texts, which probably do not answer:"))
    lines += [_render_hit(screen, rank, hit) for rank, hit in enumerate(found.hits or found.nearest, 1)]
    count = len(found.hits)
    lines.append(screen.dim(f"{count} {'hit' if count == 1 else 'hits'} in {found.took_ms:.1f} ms"))
    return "\n".join(lines)


def _render_hit(screen: Screen, rank: int, hit: Hit) -> str:
    place = f"{rank:>2}  {hit.score:.2f}  "
    margin = " " * len(place)
    flags = f"  [{', '.join(sorted(hit.flags))}]" if hit.flags else ""
    text = screen.fill(_shorten(escape_controls(hit.text)), place, margin)
    lines = [f"{text}{screen.warn(flags)}", screen.dim(screen.fill(_describe_source(screen, hit), margin))]
    if hit.terms:
        lines.append(screen.dim(screen.fill(f"terms: {format_terms(hit.terms)}", margin)))
    return "\n".join(lines)


def _shorten(text: str) -> str:
    """Shorten a long passage, at a word boundary if possible; `--json` shows the whole."""
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    start, space, last = text[:_SHOWN_CHARACTERS].rpartition(" ")
    return f"{start if space and len(last) < _SHOWN_CHARACTERS // 4 else text[:_SHOWN_CHARACTERS]}…"


def _describe_source(screen: Screen, hit: Hit) -> str:
    """Describe the kind and source of a hit in one line."""
    if hit.memory is not None:
        parts = [hit.id, hit.memory.type.value, describe_status(hit.memory)]
        parts += [f"from {screen.day(event.occurred_at)} ({event.id})" for event in hit.evidence[-1:]]
        parts += [f"“{escape_controls(_shorten(hit.quote))}”" if hit.quote not in hit.text else ""]
    elif hit.event is not None:
        who = "you" if hit.event.speaker == "user" else escape_controls(hit.event.speaker)
        parts = [hit.id, f"{who}, {screen.day(hit.event.occurred_at)}", hit.event.session]
    else:
        parts = [hit.id, hit.kind]
    return " · ".join(part for part in parts if part)


def format_terms(summands: Mapping[str, float]) -> str:
    """Write the nonzero terms of a score, the largest first."""
    counted = [term for term in summands.items() if abs(term[1]) >= _NOTHING]
    ranked = sorted(counted, key=lambda term: -abs(term[1]))
    return " + ".join(f"{name} {value:.3f}" for name, value in ranked).replace("+ -", "− ")

"""Recognise new lines of pages that are not ours: moved from another page, or held already; the rest is new. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from credenda.portability.files.state import Added, Line, Sides, Tier, hash_line, is_closed
from credenda.text.normalize import normalise_text


def bind_quoted(
    sides: Sides, quoted: Sequence[Added], read: dict[str, dict[str, Line]]
) -> tuple[list[Added], set[str]]:
    """Return the lines to remember, and the memories whose words stand in a line; the lines known go to `read`."""
    gone = {
        name: line
        for path, found in sides.lines.items()
        for name, line in found.items()
        if not is_closed(path, sides.closed) and name not in read.get(path, {})
    }
    held = {normalise_text(mine.text): local for local, mine in sides.ours.items() if mine.held and not mine.event}
    left: dict[tuple[str, str], Added] = {}
    standing: set[str] = set()
    for one in quoted:
        path, name = one.spot.path, hash_line(one.text)
        local = None if one.tier is Tier.ARCHIVE else held.get(normalise_text(one.text))
        if name in gone:
            read[path][name] = gone[name]._replace(away=False)
        elif local is not None:
            read[path][name] = Line()
            standing.add(local)
        else:
            left.setdefault((path, name), one)
    return list(left.values()), standing

"""Pages of other programs and of people: whose a page is, and the day of each of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from credenda.clock import parse_time
from credenda.errors import Invalid
from credenda.portability.files.folder import Found
from credenda.portability.files.parse import COMMENT, Other, Said, keep_statements
from credenda.portability.files.render import CORE, fold_name
from credenda.portability.files.state import State, Text, Tier

_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.*)")
_DAY: Final = re.compile(r"(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)")
_NAMED: Final = re.compile(r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?!\d)")
_TIME: Final = re.compile(r"(?:[^\w]{0,3})(\d{1,2}):(\d{2})(?!\d)")
_LEAD: Final = re.compile(r"(?:\[\[)?(?:[^\W\d_]{2,12}[.,]?[ \t]+)?(?=\d{4}[-_.])")
"""What may stand before the day in a heading: the name of the weekday, and the beginning of a link."""
_FIRST_SEEN: Final = re.compile(r'"first_seen"\s*:\s*"([^"]{10,40})"')
_DATES: Final = ("date", "created", "created_at")


def recognise_own(found: Found, state: State, *, by_agent: bool) -> None:
    """Take a page without marks and without lines for ours if the last run wrote one there: it was emptied.

    In the pages of others only statements count as lines from here on.
    An agent that writes the folder reads its main page at each start, so that the core block goes to the end of that.
    """
    written = {*state.footers, *(one.path for one in state.entries.values())}
    for number, text in enumerate(found.texts):
        bare = not any(isinstance(one, Said) for one in text.page.blocks)
        if not text.own and by_agent and text.path == CORE:
            found.texts[number] = text._replace(own=True, tier=Tier.CORE)
        elif not text.own and bare and text.path in written:
            found.texts[number] = text._replace(own=True)
        if (text := found.texts[number]).theirs:
            found.texts[number] = text._replace(page=keep_statements(text.page, text.path))


def list_foreign(found: Found, state: State) -> frozenset[str]:
    """Return the folded paths of the files that are not ours, among them unread ones that no run wrote."""
    written = {*state.footers, *(one.path for one in state.entries.values()), found.index}
    unread = (path for path in found.troubles if path not in written)
    return frozenset(map(fold_name, (*(one.path for one in found.texts if not one.own), *unread)))


def find_days_of_lines(text: Text, zone: tzinfo, now_us: int) -> dict[int, str]:
    """Return the day or time of the lines of a page, by block.

    It is that of the comment or of the heading above, of the name of the page, or of its front matter; a heading of a
    time is one of the day above. A day to come is none on which something was said.
    """
    front = {name.casefold(): value.strip("\"' ") for name, value in text.page.front.items()}
    named = _NAMED.match(text.path.rpartition("/")[2])
    written = ["-".join(named.group(1, 3, 4))] if named else []
    written += [front[name] for name in _DATES if name in front]
    above = [(0, day) for day in written if _is_past(day, zone, now_us)][:1]
    found: dict[int, str] = {}
    noted = ""
    for number, block in enumerate(text.page.blocks):
        if isinstance(block, Said):
            said = noted or (above[-1][1] if above else "")
            found |= {number: said} if said else {}
        comment = COMMENT.fullmatch(block.lines[0]) if isinstance(block, Other) else None
        seen = _FIRST_SEEN.search(comment[2]) if comment else None
        noted = seen[1] if seen and _is_past(seen[1], zone, now_us) else ""
        if isinstance(block, Other) and (heading := _HEADING.match(block.lines[0])):
            above = [one for one in above if one[0] < len(heading[1])]
            day = above[-1][1] if above else ""
            above += [(len(heading[1]), one) for one in _read_heading(heading[2], day) if _is_past(one, zone, now_us)]
    return found


def _read_heading(title: str, day: str) -> Iterator[str]:
    lead = _LEAD.match(title)
    if lead and (found := _DAY.match(title, lead.end())):
        yield "-".join(found.groups())
    elif day and (found := _TIME.match(title)):
        yield f"{day[:10]}T{int(found[1]):02}:{found[2]}"


def _is_past(moment: str, zone: tzinfo, now_us: int) -> bool:
    try:
        return parse_time(moment, zone) <= now_us
    except Invalid:
        return False

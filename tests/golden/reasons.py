"""The kind of a reason text: what a replay keeps of it, so that its wording may change."""

import re
import tomllib
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("reasons.toml")
_CONTEST = re.compile(r" \(k\d+-[0-9a-f]{6}\)$")
_Rows = list[tuple[re.Pattern[str], str]]


class UnknownReason(Exception):  # noqa: N818 - it is named for what happened
    """A reason text that no row of the table covers."""


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)


@cache
def _table() -> tuple[_Rows, _Rows]:
    document: dict[str, dict[str, str]] = tomllib.loads(TABLE.read_text("utf-8"))
    texts, details = ([(_pattern(text), kind) for text, kind in document[part].items()] for part in ("text", "detail"))
    return texts, details


def _matched(text: str, rows: _Rows) -> str | None:
    return next((kind for pattern, kind in rows if pattern.fullmatch(text)), None)


@cache
def kind_of(reason: str) -> str:
    """Return the kind of a reason; raise `UnknownReason` where no row of the table matches it.

    >>> kind_of("“Bonn” replaces “Graz”, which was true until then; a new state of the same kind (a, b)")
    'changed+state'
    """
    text = _CONTEST.sub("", reason)
    if not text:
        return ""
    texts, details = _table()
    head, sign, tail = text.rpartition("; ")
    detail = _matched(tail, details) if sign else None
    if detail is not None:
        return f"{kind_of(head)}+{detail}"
    for cut in range(len(text)):  # the words that a detail quotes may hold the separator
        if text.startswith("; ", cut) and (detail := _matched(text[cut + 2 :], details)) is not None:
            return f"{kind_of(text[:cut])}+{detail}"
    found = _matched(text, texts)
    if found is None:
        raise UnknownReason(f"no row of {TABLE.name} covers the reason {text!r}: add or edit its row")
    return found

"""Match paths against `.gitignore` patterns, by the rules of gitignore(5). Pure.

A pattern is matched against the path relative to the folder of its file. The last matching pattern decides. A file in
an ignored folder cannot be re-included, because the walk never enters that folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["IgnorePattern", "is_ignored", "parse_patterns"]

_LINES_MAX: Final = 5_000
_PATTERN_CHARACTERS: Final = 512


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of a `.gitignore`; `base` is the folder of that file with a trailing slash, "" for the root."""

    base: str
    matcher: re.Pattern[str]
    negated: bool
    folders_only: bool


def parse_patterns(text: str, base: str = "") -> list[IgnorePattern]:
    """Parse a `.gitignore`; blank, comment and invalid lines are skipped.

    >>> is_ignored("build/x.o", folder=False, patterns=parse_patterns("*.o"))
    True
    """
    found: list[IgnorePattern] = []
    for line in text.removeprefix("\ufeff").split("\n")[:_LINES_MAX]:
        pattern = _parse_line(line.removesuffix("\r"), base)
        if pattern is not None:
            found.append(pattern)
    return found


def _parse_line(line: str, base: str) -> IgnorePattern | None:
    body = _strip_trailing_spaces(line)
    if not body or body.startswith("#") or len(body) > _PATTERN_CHARACTERS:
        return None
    negated = body.startswith("!")
    body = body[1:] if negated else body
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    if not body or (body.endswith("\\") and not body.endswith("\\\\")):
        return None
    anchored = "/" in body
    expression = _translate_pattern(body.removeprefix("/"))
    if expression is None:
        return None
    prefix = "" if anchored else "(?:.*/)?"
    return IgnorePattern(base, re.compile(f"{prefix}{expression}", re.DOTALL), negated, folders_only)


def _strip_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    slashes = len(stripped) - len(stripped.rstrip("\\"))
    return f"{stripped} " if slashes % 2 and len(stripped) < len(line) else stripped


def _translate_pattern(body: str) -> str | None:
    """Translate a pattern to a regular expression; None for an unclosed bracket, which matches nothing."""
    pieces: list[str] = []
    at = 0
    while at < len(body):
        sign = body[at]
        if sign == "*":
            piece, at = _translate_stars(body, at)
        elif sign == "?":
            piece, at = "[^/]", at + 1
        elif sign == "[":
            found = _translate_bracket(body, at)
            if found is None:
                return None
            piece, at = found
        elif sign == "\\" and at + 1 < len(body):
            piece, at = re.escape(body[at + 1]), at + 2
        else:
            piece, at = re.escape(sign), at + 1
        pieces.append(piece)
    return "".join(pieces)


def _translate_stars(body: str, at: int) -> tuple[str, int]:
    """Translate a run of stars; two stars between slashes match any number of folders."""
    stop = at
    while stop < len(body) and body[stop] == "*":
        stop += 1
    begins = at == 0 or body[at - 1] == "/"
    if stop - at == 2 and begins and stop == len(body):  # noqa: PLR2004 - two stars
        return ".+" if at else ".*", stop
    if stop - at == 2 and begins and body[stop] == "/":  # noqa: PLR2004 - two stars
        return "(?:.*/)?", stop + 1
    return "[^/]*", stop


def _translate_bracket(body: str, at: int) -> tuple[str, int] | None:
    start = at + 1
    negated = start < len(body) and body[start] in "!^"
    start += negated
    stop = start + 1  # a closing bracket in first place is a member
    while stop < len(body) and body[stop] != "]":
        stop += 2 if body[stop] == "\\" else 1
    if stop >= len(body):
        return None
    members = body[start:stop].replace("[", "\\[").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
    members = f"\\{members}" if members.startswith(("^", "]")) else members
    expression = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression, stop + 1


def is_ignored(path: str, *, folder: bool, patterns: Sequence[IgnorePattern] | Iterable[IgnorePattern]) -> bool:
    """Return whether the last matching pattern excludes a path, given from the root with slashes."""
    out = False
    for pattern in patterns:
        if pattern.folders_only and not folder:
            continue
        if path.startswith(pattern.base) and pattern.matcher.fullmatch(path, len(pattern.base)):
            out = not pattern.negated
    return out

"""Parse a free-text answer to a contest, such as "morning when consulting, else afternoon". Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from credenda.text.normalize import normalise_name

__all__ = ["DEFAULT_SCOPE", "is_every_value", "parse_scopes"]

DEFAULT_SCOPE: Final = "default"
"""The name of "no scope" in an answer."""
_ANSWER_CHARACTERS: Final = 2_000
_CONDITION: Final = r"(?:when|whenever|if|while|during|for|at|on|in|with|as)\b"
_CLAUSE: Final = re.compile(
    rf"(?P<value>\S[^,;]{{0,200}}?)\s+(?P<scope>{_CONDITION}\s+\S[^,;]{{0,200}})", re.IGNORECASE
)
_TURNED: Final = re.compile(
    rf"(?P<scope>{_CONDITION}\s+[^,;:]{{1,200}})\s*[,:]\s*(?P<value>[^,;:]{{1,200}})", re.IGNORECASE
)
_ELSE: Final = re.compile(
    r"\s*[,;.]?\s*\b(?:and |but )?(?:else|otherwise|in all other cases|everywhere else|the rest of the time)\b[,:]?\s*",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"^(?:for|at|on|in|during|when|while)\s+(?=\w+$|the\s+\w+$)", re.IGNORECASE)
"""The preposition before a one-word scope: "for consulting" and "when consulting" are the scope "consulting"."""
_EVERY: Final = frozenset({"both", "both of them", "both hold", "keep both", "all", "all of them", "keep all"})


def is_every_value(answer: str) -> bool:
    """Return whether an answer says that all values hold, such as "both".

    >>> is_every_value("Both of them."), is_every_value("morning")
    (True, False)
    """
    return normalise_name(answer.strip().rstrip(".!")) in _EVERY


def parse_scopes(answer: str) -> Mapping[str, str] | None:
    """Parse an answer that assigns values to scopes and a default; None for any other answer.

    >>> parse_scopes("morning when consulting, else afternoon")
    {'consulting': 'morning', 'default': 'afternoon'}
    >>> parse_scopes("when I travel: tea; otherwise coffee")
    {'when I travel': 'tea', 'default': 'coffee'}
    >>> parse_scopes("morning") is None
    True
    """
    found = _ELSE.split(answer.strip().rstrip(".")) if len(answer) <= _ANSWER_CHARACTERS else []
    if len(found) != 2 or not found[0].strip() or not found[1].strip():  # noqa: PLR2004 - before and after "else"
        return None
    clauses = _parse_clauses(found[0])
    if not clauses:
        return None
    scopes = {_strip_scope(scope): value.strip() for scope, value in clauses}
    if len({normalise_name(scope) for scope in scopes}) < len(clauses):
        return None
    return {**scopes, DEFAULT_SCOPE: found[1].strip()}


def _parse_clauses(text: str) -> list[tuple[str, str]]:
    """Return (scope, value) of every clause, or nothing if any clause has another form."""
    turned = [_TURNED.fullmatch(part.strip()) for part in text.split(";")]
    if all(turned):
        return [(one["scope"], one["value"]) for one in turned if one]
    plain = [_CLAUSE.fullmatch(part.strip()) for part in re.split(r"[,;]\s*(?:and\s+)?", text)]
    return [(one["scope"], one["value"]) for one in plain if one] if all(plain) else []


def _strip_scope(words: str) -> str:
    return _BARE.sub("", words.strip(), count=1)

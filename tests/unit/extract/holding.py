"""Whether every match of an expression holds one of some texts, read off the parsed expression."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

__all__ = ["always_holds"]

_PARSER: Final[Any] = importlib.import_module("re._parser")
_MANY: Final = 4_000
_TAIL: Final = 60
_EMPTY: Final = frozenset({""})
_SPACE: Final = frozenset({" "})
"""Sentences are read with single spaces."""


class _Part(NamedTuple):
    """Whether a part of an expression must hold a text, and all that it can be (None where that is unbounded)."""

    holds: bool
    texts: frozenset[str] | None


def always_holds(expression: re.Pattern[str], has: Iterable[str]) -> bool:
    """Say whether every match holds at least one of the texts, case aside; False also where that cannot be told."""
    marks = tuple(has)
    return _sequence(_PARSER.parse(expression.pattern, expression.flags & ~re.UNICODE), marks).holds


def _sequence(items: Iterable[Any], marks: tuple[str, ...]) -> _Part:
    run, whole, holds = _EMPTY, True, False
    for operation, value in items:
        part = _part(str(operation), value, marks)
        holds = holds or part.holds
        if str(operation) == "ASSERT":
            ahead = _sequence(value[1], marks).texts if value[0] == 1 else None
            holds = holds or _all_hold((head + tail for head in run for tail in ahead or _EMPTY), marks)
        if part.texts is None or len(run) * len(part.texts) > _MANY:
            run, whole = _EMPTY if part.texts is None else part.texts, False
        else:
            run = frozenset(head[-_TAIL:] + tail for head in run for tail in part.texts)
        holds = holds or _all_hold(run, marks)
        if str(operation) in {"MAX_REPEAT", "MIN_REPEAT"} and value[1] != 1:
            run, whole = _last(part), False
    return _Part(holds, run if whole else None)


def _all_hold(texts: Iterable[str], marks: tuple[str, ...]) -> bool:
    return all(any(mark in text for mark in marks) for text in texts)


def _last(part: _Part) -> frozenset[str]:
    return _EMPTY if part.texts is None or "" in part.texts else part.texts


def _part(operation: str, value: Any, marks: tuple[str, ...]) -> _Part:  # noqa: ANN401 - the parser of `re` has no types
    match operation:
        case "LITERAL" | "IN":
            return _Part(holds=False, texts=_letters([(operation, value)] if operation == "LITERAL" else value))
        case "AT" | "ASSERT_NOT":
            return _Part(holds=False, texts=_EMPTY)
        case "ASSERT":
            return _Part(_sequence(value[1], marks).holds, _EMPTY)
        case "SUBPATTERN":
            return _sequence(value[3], marks)
        case "BRANCH":
            return _branch([_sequence(choice, marks) for choice in value[1]])
        case _:
            return _repeated(operation, value, marks)


def _letters(value: Any) -> frozenset[str] | None:  # noqa: ANN401
    kinds = {str(kind) for kind, _ in value}
    if kinds == {"LITERAL"}:
        return frozenset(chr(one).lower() for _, one in value)
    return _SPACE if [str(one) for _, one in value] == ["CATEGORY_SPACE"] else None


def _branch(choices: list[_Part]) -> _Part:
    open_ones = [choice for choice in choices if not choice.holds]
    bounded = [choice.texts for choice in choices if choice.texts is not None]
    texts = frozenset[str]().union(*bounded) if len(bounded) == len(choices) else None
    return _Part(not open_ones, texts)


def _repeated(operation: str, value: Any, marks: tuple[str, ...]) -> _Part:  # noqa: ANN401
    if operation not in {"MAX_REPEAT", "MIN_REPEAT"}:
        return _Part(holds=False, texts=None)
    least, most, inner = value[0], value[1], _sequence(value[2], marks)
    if least == 0:
        once = None if inner.texts is None or most != 1 else inner.texts | _EMPTY
        return _Part(holds=False, texts=once)
    return inner

"""Parse a model's answer strictly into proposals, rejections and problems. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar, cast

from credenda import limits
from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance

__all__ = ["Answer", "Proposal", "Rejection", "read_answer"]

Choice = TypeVar("Choice", bound=StrEnum)
_TYPES: Final = frozenset(MemoryType) - {MemoryType.NARRATIVE}
_MOVES: Final = frozenset(UpdateKind) - {UpdateKind.RETRACT}
_REASONS: Final = frozenset({"hypothetical", "role_play", "sarcastic", "other_person", "transient", "not_said"})
_TEXTS: Final = ("entity", "attribute", "value", "prior", "scope", "known")
_FIELDS: Final = frozenset(
    {"quote", "type", *_TEXTS, "cardinality", "stance", "move", "confidence", "importance"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One claim as the model wrote it, before any check. The numbers lie in [0, 1]."""

    quote: str
    type: MemoryType
    entity: str | None
    attribute: str | None
    value: str | None
    prior: str | None
    scope: str | None
    cardinality: Cardinality
    stance: Stance
    move: UpdateKind
    known: str | None
    confidence: float
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A claim of the rules that the model rejects, and its reason."""

    reading: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The parsed parts of an answer; `problems` describes the others to the model.

    `readable` is False if the answer is not the requested document.
    """

    proposals: tuple[Proposal, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    problems: tuple[str, ...] = ()
    readable: bool = True


def read_answer(text: str) -> Answer:
    """Parse an answer; a part that violates the schema becomes a problem."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(problems=("the answer is not a JSON document",), readable=False)
    if not isinstance(document, dict) or not isinstance(document.get("claims"), list):  # pyright: ignore[reportUnknownMemberType] - foreign JSON
        return Answer(problems=('the answer is not an object with a list "claims"',), readable=False)
    found = cast("dict[str, Any]", document)
    claims: list[Any] = found["claims"]
    listed: Any = found.get("rejected", [])
    rejected = cast("list[Any]", listed) if isinstance(listed, list) else []
    problems: list[str] = [f"there is no {name!r} beside the claims" for name in found.keys() - {"claims", "rejected"}]
    if len(claims) > limits.CLAIMS_PER_TURN:
        problems.append(f"{len(claims)} claims are too many: give the {limits.CLAIMS_PER_TURN} that matter most")
    proposals: list[Proposal] = []
    for at, one in enumerate(claims[: limits.CLAIMS_PER_TURN], 1):
        try:
            proposals.append(_proposal(one))
        except ValueError as error:
            problems.append(f"claim {at}: {error}")
    rejections = [Rejection(reading=one["reading"], why=one["why"]) for one in rejected if _rejects(one)]
    return Answer(proposals=tuple(proposals), rejections=tuple(rejections), problems=tuple(problems))


def _rejects(one: Any) -> bool:  # noqa: ANN401 - foreign JSON
    if not isinstance(one, dict):
        return False
    given = cast("dict[str, Any]", one)
    return isinstance(given.get("reading"), str) and given.get("why") in _REASONS


def _proposal(one: Any) -> Proposal:  # noqa: ANN401 - foreign JSON
    if not isinstance(one, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - one kind of complaint about foreign JSON
    given = cast("dict[str, Any]", one)
    if odd := sorted(given.keys() ^ _FIELDS):
        raise ValueError(f"its fields are not those asked for: {', '.join(map(str, odd))[:200]}")
    quote = given["quote"]
    if not isinstance(quote, str) or not quote.strip():
        raise ValueError("quote must be words of the message")
    texts = {name: _text(given, name) for name in _TEXTS}
    return Proposal(
        quote=quote,
        **texts,
        type=_choice(given, "type", MemoryType, _TYPES),
        cardinality=_choice(given, "cardinality", Cardinality, frozenset(Cardinality)),
        stance=_choice(given, "stance", Stance, frozenset(Stance)),
        move=_choice(given, "move", UpdateKind, _MOVES),
        confidence=_fraction(given, "confidence"),
        importance=_fraction(given, "importance"),
    )


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given[name]
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > limits.NAME_CHARACTERS:
        raise ValueError(f"{name} must be a short text or null")
    return value.strip() or None


def _choice(given: Mapping[str, Any], name: str, kind: type[Choice], allowed: frozenset[Choice]) -> Choice:
    value = given[name]
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(sorted(allowed))}")
    return kind(value)


def _fraction(given: Mapping[str, Any], name: str) -> float:
    value = given[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1")
    return float(value)

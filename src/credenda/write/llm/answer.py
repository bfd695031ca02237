"""Parse proposed claims strictly: those of a model's answer, and those that a calling agent passes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from credenda import limits
from credenda.model.memory import Stance

__all__ = ["PAST", "STANCES", "Answer", "Effect", "Proposal", "parse_proposal", "read_answer"]

PAST: Final = "past"
"""The stance of a value that was true once."""
STANCES: Final = (*(one.value for one in Stance), PAST)
_TEXTS: Final = ("turn", "entity", "attribute", "value", "scope")
_WORDINGS: Final = ("statement", "key")
_FIELDS: Final = frozenset({"quote", *_TEXTS, *_WORDINGS, "stance", "effect"})
_EFFECT: Final = re.compile(r"\s*(?P<effect>\w+)\s+(?P<target>\S+)\s*")


class Effect(StrEnum):
    """The effect of a claim on a known memory that it names."""

    REPEATS = "repeats"
    REPLACES = "replaces"
    """The memory was true until now; of a plan or consideration, the claim settles it."""
    CORRECTS = "corrects"
    """The memory was wrong."""
    ENDS = "ends"
    """The memory is no longer true, and nothing takes its place."""
    CONTRADICTS = "contradicts"
    """Both cannot be true, and the text does not say which is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One claim as it was proposed, before any check.

    `turn` names the message that says it, "" for any; `target` names the memory that `effect` is about. `statement` is
    the claim as a line that stands alone, and `key` names its slot in words.
    """

    quote: str
    turn: str = ""
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None
    scope: str | None = None
    statement: str | None = None
    key: str | None = None
    stance: Stance = Stance.ASSERTED
    past: bool = False
    effect: Effect | None = None
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The parsed parts of an answer.

    `proposals` has None in the place of a claim without the requested form, so that c1, c2 … stay the same claims.
    `readable` is False if the answer is not the requested document; `more` is True if the model has further claims.
    """

    proposals: tuple[Proposal | None, ...] = ()
    more: bool = False
    readable: bool = True


def read_answer(text: str) -> Answer:
    """Parse an answer."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return Answer(readable=False)
    if not isinstance(document, dict) or not isinstance(document.get("claims"), list):  # pyright: ignore[reportUnknownMemberType] - foreign JSON
        return Answer(readable=False)
    found = cast("dict[str, Any]", document)
    claims: list[Any] = found["claims"]
    return Answer(proposals=tuple(map(_try_parse, claims)), more=bool(claims) and found.get("more") is True)


def _try_parse(claim: object) -> Proposal | None:
    try:
        return parse_proposal(claim)
    except ValueError:
        return None


def parse_proposal(claim: object) -> Proposal:
    """Parse one claim; only `quote` is required. Raises `ValueError` naming the fault."""
    if not isinstance(claim, Mapping):
        raise ValueError("it is not a table")  # noqa: TRY004 - one kind of complaint about foreign JSON
    given = cast("Mapping[str, Any]", claim)
    if unknown := sorted(map(str, given.keys() - _FIELDS)):
        raise ValueError(f"it has no field {unknown[0][:64]!r}")
    quote = given.get("quote")
    if not isinstance(quote, str) or not quote.strip():
        raise ValueError("quote must be words of the message")
    stance = given.get("stance") or Stance.ASSERTED.value
    if stance not in STANCES:
        raise ValueError(f"stance must be one of {', '.join(STANCES)}")
    texts = {name: _parse_text(given, name) for name in _TEXTS}
    wordings = {name: " ".join((_parse_text(given, name) or "").split()) or None for name in _WORDINGS}
    effect, target = _parse_effect(given.get("effect"))
    return Proposal(
        quote=quote,
        **texts | {"turn": texts["turn"] or ""},  # pyright: ignore[reportArgumentType] - never None
        **wordings,
        stance=Stance.ASSERTED if stance == PAST else Stance(stance),
        past=stance == PAST,
        effect=effect,
        target=target,
    )


def _parse_text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > limits.NAME_CHARACTERS:
        raise ValueError(f"{name} must be a text of at most {limits.NAME_CHARACTERS} characters")
    return value.strip() or None


def _parse_effect(given: object) -> tuple[Effect | None, str]:
    """Parse "replaces k3"."""
    if given is None or given == "":
        return None, ""
    found = _EFFECT.fullmatch(given) if isinstance(given, str) else None
    if found is None or found["effect"] not in frozenset(Effect):
        raise ValueError(f"effect must be one of {', '.join(Effect)}, and the name of a known memory")
    return Effect(found["effect"]), found["target"]

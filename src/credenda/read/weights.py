"""The data files of the read phase as typed values: weights with provenance, and patterns of questions. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from credenda.text.tokens import tokenize

_ANYONE: Final = r"(?:i|we|you|the user|user|[\w.-]+(?: [\w.-]+)?)"
_WHO: Final = f"(?P<who>{_ANYONE})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """Weights of the fused relevance, in standard deviations over a query's candidates."""

    words: float
    session: float
    length: float
    length_tokens: int
    question: float
    when: float
    count: float
    speaker: float
    speaker_fit: tuple[float, float]
    slot: float
    time: float
    belief: float
    governs: float
    passages: float
    back: float
    ahead: float
    words_ahead: float
    words_second: float
    brief: int
    late: float = 0.0
    """Late interaction, only in talk between persons (`read/late.py`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Weights of importance, retention, feedback and recency; `recency` is for a recency_weight of 0.3."""

    importance: float
    retention: float
    feedback: float
    recency: float
    half_life_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights of one embedding model: `meaning` and `likeness` in the fused relevance, the others in the logistic.

    `meaning` weighs the cosine with the neighbours' share, `likeness` without it. A calibration without `cosine` is for
    words alone.
    """

    base: float
    coverage: float
    scarce: float = 0.0
    rarest: float = 0.0
    size: float = 0.0
    above: float = 0.0
    nearer: float = 0.0
    strange: float = 0.0
    broad: float = 0.0
    cosine: float = 0.0
    cosine_floor: float = 1.0
    lead: float = 0.0
    meaning: float = 0.0
    likeness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """All numbers of the read phase."""

    relevance: Relevance
    standing: Standing
    rrf_k: int
    cosine_part: float
    slot_logit: float
    missing_logit: float
    scant_logit: float
    falloff: float
    engines: Mapping[str, Calibration]
    curve: tuple[float, float] = (0.0, 1.0)
    """Base and slope of the curve that turns the logit of an answer into that of its probability."""

    def engine(self, model_id: str | None) -> Calibration:
        """Return the calibration whose name is part of the model id; `None` means words alone."""
        if model_id is None:
            return self.engines["words"]
        names = (name for name in self.engines if name in model_id.lower())
        return self.engines[next(names, "other")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotAsk:
    """Patterns of the questions about some attributes; each matches a whole folded question."""

    attributes: tuple[str, ...]
    patterns: tuple[str, ...]

    @property
    def asks(self) -> tuple[re.Pattern[str], ...]:
        """The compiled patterns; compiled at first use, because most are never needed."""
        return _compile_patterns(self.patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Patterns of questions for slots, times, people and answer types."""

    ambiguous_names: frozenset[str]
    cues: Mapping[str, re.Pattern[str]]
    answers: Mapping[str, re.Pattern[str]]
    nouns: Mapping[str, tuple[str, ...]]
    slots: tuple[SlotAsk, ...]
    about: re.Pattern[str]
    """Matches a question whose words before `about` are no part of what it asks for."""
    user: re.Pattern[str]
    changes: re.Pattern[str]
    """Matches a question for what changed, without the times that it names."""
    plans: re.Pattern[str]
    profile: tuple[str, ...]
    """Attributes in the order of an answer about the user as a whole; `relative` stands for those of relatives."""
    plain: frozenset[str]
    """Words that a question about a group may have beside that: "who is in my family"."""
    mine: frozenset[str]
    kin: frozenset[str]
    """Terms of the groups of persons and animals."""
    groups: Mapping[str, tuple[str, ...]]
    """The terms of the members of each group, by the term of the group."""
    any_slot: re.Pattern[str]
    """Matches if any pattern of `slots` does; most questions match none."""


def _read_table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("credenda.read").joinpath("data", name).read_text(encoding="utf-8"))


@cache
def load_weights() -> Weights:
    """Read `data/weights.toml`."""
    table = _read_table("weights.toml")
    relevance = table["relevance"]
    low, high = relevance.pop("speaker_fit")
    calibration = table["calibration"]
    return Weights(
        relevance=Relevance(**relevance, speaker_fit=(low, high)),
        standing=Standing(**table["standing"]),
        rrf_k=table["rrf"]["k"],
        cosine_part=table["rrf"]["cosine_part"],
        slot_logit=calibration.pop("slot"),
        missing_logit=calibration.pop("missing"),
        scant_logit=calibration.pop("scant"),
        falloff=calibration.pop("falloff"),
        engines={name: Calibration(**numbers) for name, numbers in calibration.items()},
    )


@cache
def load_talk_weights() -> Weights:
    """Return the weights for talk between persons whose token vectors are compared: table [talk] over the others."""
    usual, table = load_weights(), _read_table("weights.toml")["talk"]
    base, slope = table.pop("curve")
    cosines = {name: table.pop(name) for name in ("meaning", "likeness")}
    engines = {name: replace(engine, **cosines) for name, engine in usual.engines.items()}
    return replace(usual, relevance=replace(usual.relevance, **table), engines=engines, curve=(base, slope))


@cache
def load_questions() -> Questions:
    """Read `data/questions.toml`."""
    table = _read_table("questions.toml")
    entries: list[dict[str, list[str]]] = table["slot"]
    nouns: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        for noun in entry["nouns"]:
            nouns[noun] = tuple(dict.fromkeys((*nouns.get(noun, ()), *entry["attributes"])))
    return Questions(
        ambiguous_names=frozenset(table["ambiguous_names"]),
        cues={name: re.compile(pattern) for name, pattern in table["cues"].items()},
        answers={name: re.compile(pattern) for name, pattern in table["answers"].items()},
        nouns=nouns,
        slots=tuple(
            SlotAsk(
                attributes=tuple(entry["attributes"]),
                patterns=tuple(_build_slot_pattern(ask, _WHO) for ask in entry["asks"]),
            )
            for entry in entries
        ),
        about=re.compile(table["about"]["frame"], re.IGNORECASE),
        user=re.compile(table["about"]["user"], re.IGNORECASE),
        changes=re.compile(table["whole"]["changes"]),
        plans=re.compile(table["whole"]["plans"]),
        profile=tuple(table["whole"]["profile"]),
        plain=frozenset(table["whole"]["plain"]),
        mine=frozenset(table["whole"]["mine"]),
        kin=frozenset(tokenize(name)[0] for name in table["whole"]["kin"]),
        groups={
            tokenize(name)[0]: tuple(
                term
                for term in dict.fromkeys(term for word in words for term in tokenize(word))
                if term not in tokenize(name)
            )
            for name, words in table["groups"].items()
        },
        any_slot=re.compile("|".join(_build_slot_pattern(ask, _ANYONE) for entry in entries for ask in entry["asks"])),
    )


def _build_slot_pattern(ask: str, who: str) -> str:
    return ask.replace("{who}", who)


@cache
def _compile_patterns(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))

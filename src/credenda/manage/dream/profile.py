"""Choose and word the facts of a profile: short values of named attributes, one line an attribute. Pure.

A profile holds what a stranger would ask about a person or thing. Values that repeat a clause, episodes, plans and
activities of the moment stay in their memories.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.manage.dream.eligible_facts import is_eligible_fact, rank_fact
from credenda.model.attributes import TASTES, get_attribute, is_valid_value
from credenda.model.memory import Cardinality, Memory, Stance
from credenda.text.documents import format_yearly_day
from credenda.text.normalize import is_same_value, normalise_value

__all__ = ["ProfileLine", "is_profile_fact", "write_profile"]

_FIRST: Final = (
    *("preferred_name", "name", "pronouns", "age", "birthday", "residence", "origin", "nationality", "job_title"),
    *("employer", "school", "degree", "field_of_study", "spouse", "wife", "husband", "partner", "girlfriend"),
    *("boyfriend", "child", "son", "daughter", "mother", "father", "brother", "sister", "dog", "cat", "allergy"),
    *("intolerance", "condition", "medication", "diet", "spoken_language", "native_language"),
)
"""Attributes that a profile begins with, in order; the others follow by importance."""
_RANK: Final = {name: place for place, name in enumerate(_FIRST)}
_LEFT_OUT: Final = frozenset(
    "event experience milestone considering plan wish instruction date deadline appointment trait question problem"  # noqa: SIM905
    " issue point opinion task story reason thing part topic thought answer example feeling tip has does doing"
    " habit likes_to used_to formerly happening staying_at".split()
)
"""Attributes of episodes, plans, talk and activities, and those that hold whatever a clause says."""
_TASTES: Final = TASTES | {"likes", "eats", "drinks"}
"""Attributes whose denials belong into a profile, beside those that can hurt."""
_TOOLS: Final = "uses"
"""What somebody uses, unless another attribute says as what: "Language: Python"."""
_VALUES_MAX: Final = 6
"""Values of one line."""
_ACRONYM: Final = 2
_WORDS_MAX: Final = 6
_ROLE_WORDS_MAX: Final = 12
_TEXT_WORDS_MAX: Final = 15
_VAGUE: Final = re.compile(
    r"^(?:this|that|these|those|either|both|such|different|various|several|some|many|other|another|certain|new|in|for|at"
    r"|on|with|from|to|by|of|about|as|when|while|how|what|ones?)\b|^(?-i:[a-z]+ly)$"
    r"|\b(?:i|me|my|mine|you|your|it|its|them|they|their|we|our|us|he|she|him|her|this|these|those|and can)\b"
    r"|[?!:;()\"\u201c\u201d]"
    r"|^(?:is|are|was|were|has|have|every\w*|any\w*)\b|\bmore$|\bsuch as\b|^[\d.,]+$",
    re.IGNORECASE,
)
"""Values that lean on their sentence."""
_ARTICLE: Final = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_OWN: Final = re.compile(r"\b(?:i|me|my|you|your|we|our|us)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One line of a profile, and the memories behind it."""

    text: str
    facts: tuple[Memory, ...]


def is_profile_fact(memory: Memory) -> bool:
    """Return whether a memory belongs into a profile: a short valid value, or a short sentence about its entity."""
    if not is_eligible_fact(memory):
        return False
    if not memory.attribute:
        return len(memory.text.split()) <= _TEXT_WORDS_MAX and "?" not in memory.text and not _OWN.search(memory.text)
    name, value = memory.attribute, memory.value or ""
    schema = get_attribute(name)
    if name in _LEFT_OUT or name.startswith("former_") or not is_valid_value(name, value):
        return False
    told_by_denial = name in _TASTES or (schema.hurts and schema.cardinality is Cardinality.SET)
    if memory.stance is Stance.NEGATED and not told_by_denial:
        return False
    if normalise_value(value) == name.replace("_", " "):
        return False
    plain = schema.kind == "text"
    short = len(value.split()) <= (_WORDS_MAX if plain else _ROLE_WORDS_MAX)
    return short and _VAGUE.search(value) is None and not (plain and value.lower().startswith("the "))


def write_profile(facts: Iterable[Memory]) -> list[ProfileLine]:
    """Word facts as the lines of a profile, the first ones first; equal values of one attribute are one value."""
    grouped: dict[tuple[str, str], list[Memory]] = {}
    ranked = sorted(facts, key=rank_fact)
    named = [one for one in ranked if one.attribute not in {None, _TOOLS}]
    for one in ranked:
        if one.attribute == _TOOLS and any(_is_covered(one, other) for other in named):
            continue
        grouped.setdefault((one.attribute or "", "" if one.attribute else one.id), []).append(one)
    lines = [_word_values(some) if some[0].attribute else _word_text(some[0]) for some in grouped.values()]
    return sorted(lines, key=_rank_line)


def _rank_line(line: ProfileLine) -> tuple[int, tuple[float, int]]:
    return _RANK.get(line.facts[0].attribute or "", len(_RANK)), min(map(rank_fact, line.facts))


def _word_text(memory: Memory) -> ProfileLine:
    return ProfileLine(f"- {' '.join(memory.text.split())} [{memory.id}]", (memory,))


def _word_values(facts: Sequence[Memory]) -> ProfileLine:
    """Word the values of one attribute: the newest first where only one can hold, the most important ones else."""
    name = facts[0].attribute or ""
    if get_attribute(name).cardinality is Cardinality.SINGLE:
        facts = sorted(facts, key=lambda one: -(one.valid_from_us or one.created_us))
    merged: list[list[Memory]] = []
    for one in facts:
        same = next((some for some in merged if _is_covered(one, some[0]) or _is_covered(some[0], one)), None)
        if same is None:
            merged.append([one])
        else:
            same.insert(0 if _is_covered(same[0], one) else len(same), one)
    shown = merged[:_VALUES_MAX]
    told = tuple(one for some in shown for one in some)
    label = name.upper() if len(name) <= _ACRONYM else f"{name[:1].upper()}{name[1:]}".replace("_", " ")
    values = ", ".join(_word_value(some[0]) for some in shown)
    return ProfileLine(f"- {label}: {values} [{', '.join(one.id for one in told)}]", told)


def _is_covered(one: Memory, other: Memory) -> bool:
    """Return whether another value says the same, or the same more exactly: "Flask" is covered by "Flask 2.3"."""
    if (one.stance is Stance.NEGATED) is not (other.stance is Stance.NEGATED):
        return False
    words, its = normalise_value(one.value or "").split(), normalise_value(other.value or "").split()
    return is_same_value(one.value, other.value) or (bool(words) and its[: len(words)] == words)


def _word_value(memory: Memory) -> str:
    value = format_yearly_day(_ARTICLE.sub("", " ".join((memory.value or "").split())))
    return f"not {value}" if memory.stance is Stance.NEGATED else value

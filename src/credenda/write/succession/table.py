"""Word lists of change cues, topics and states, from `data/succession.toml`. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from credenda.text.tokens import tokenize
from credenda.write.extract.lexicon import lexicon, occurs

__all__ = ["Table", "state_in", "states_in", "table", "term"]

_LISTS: Final = frozenset({"alone", "exclusive"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_VERB: Final = frozenset({"past", "participle", "third", "gerund"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Patterns by name, words by topic, and exclusive states by family."""

    change: Mapping[str, re.Pattern[str]]
    end: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str]
    gone: re.Pattern[str]
    went: re.Pattern[str]
    small: frozenset[str]
    means: frozenset[str]
    frames: frozenset[tuple[str, str]]
    veto: Mapping[str, re.Pattern[str]]
    filler: frozenset[str]
    light: frozenset[str]
    heads: frozenset[str]
    topics: Mapping[str, str]
    kinds: Mapping[str, str]
    alone: frozenset[str]
    exclusive: frozenset[str]
    named_kinds: frozenset[str]
    states: Mapping[str, Mapping[str, re.Pattern[str]]]
    families: Mapping[str, frozenset[str]]
    dead: re.Pattern[str]
    dead_ends: frozenset[str]
    gathering: frozenset[str]
    vague: frozenset[str]
    related: tuple[frozenset[str], ...]
    hints: frozenset[str]
    marks: tuple[str, ...]
    matters: Mapping[str, tuple[str, ...]]
    looked_for: Mapping[str, tuple[str, ...]]

    def other_matter(self, one: str, other: str) -> bool:
        """Return whether two attributes are known to have different topics."""
        if one == other or not (_is_known(one) and _is_known(other)):
            return False
        return not any(one in group and other in group for group in self.related)

    def may_turn(self, sentence: str) -> bool:
        """Return whether a sentence may have a change or ending cue. Cheap."""
        return not self.hints.isdisjoint(_WORD.findall(sentence.lower()))


def _is_known(name: str) -> bool:
    words = lexicon()
    return name in {"date", *words.kin} or name in words.attributes


@cache
def term(word: str) -> str:
    """Return the stem of a lower-case word for comparison: "took" and "takes" are "take".

    >>> term("took"), term("grants"), term("deploys") == term("deploy")
    ('take', 'grant', True)
    """
    bare = word.removesuffix("'s").removesuffix("\u2019s")
    form = lexicon().forms.get(bare)
    if form is not None and form.kinds & _VERB:
        bare = form.base
    found = tokenize(bare)
    return found[0] if len(found) == 1 else bare


@lru_cache(maxsize=64)
def states_in(lower: str) -> Mapping[str, tuple[tuple[str, int], ...]]:
    """Return, by family, the states that a lower-case sentence names, with their positions."""
    if not occurs(table().marks, lower):
        return {}
    found = {family: state_in(family, lower) for family in table().states}
    return {family: states for family, states in found.items() if states}


@lru_cache(maxsize=512)
def state_in(family: str, lower: str) -> tuple[tuple[str, int], ...]:
    """Return the states of one family that a lower-case sentence names, with their positions."""
    found = ((name, one.search(lower)) for name, one in table().states[family].items())
    return tuple((name, one.start()) for name, one in found if one is not None)


def _terms(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(term, words))


@cache
def table() -> Table:
    """Load the table; cached."""
    data: dict[str, Any] = tomllib.loads((files("credenda.write") / "data" / "succession.toml").read_text("utf-8"))
    kinds: dict[str, Any] = data["kinds"]
    words, slots, parting = data["words"], data["slots"], data["departure"]
    change = {**data["change"], "gone": parting["gone"], "went": parting["went"]}
    known = {word: name for name, listed in kinds.items() if name not in _LISTS for word in listed}
    matters = {f"#{name}": tuple(listed) for name, listed in data["topics"].items()} | {
        f"#{name}": (*kinds[name], name) for name in kinds["alone"]
    }
    topics = {term(word): f"#{name}" for name, listed in data["topics"].items() for word in listed}
    return Table(
        change=_compiled(change),
        end=re.compile(data["end"]["stopped"]),
        before=re.compile(parting["before"]),
        after=re.compile(parting["after"]),
        gone=re.compile(parting["gone"]),
        small=frozenset(parting["small"]),
        means=_terms(parting["means"]),
        went=re.compile(rf"^(?:'s)?\s*(?:(?:{parting['verbs']})\s+){{0,3}}{parting['went']}"),
        frames=frozenset((term(verb), led) for verb, _, led in (one.partition(" ") for one in parting["frames"])),
        veto=_compiled(data["veto"]),
        filler=frozenset(words["filler"]),
        light=_terms(words["light"]) | frozenset(words["light"]),
        heads=_terms(words["heads"]) | {topics[one] for one in _terms(words["heads"]) if one in topics},
        topics=topics,
        kinds=known,
        alone=frozenset(kinds["alone"]),
        exclusive=frozenset(f"kind:{name}" for name in kinds["exclusive"]),
        named_kinds=frozenset(lexicon().categories.values()) - kinds.keys(),
        states={family: _compiled(states) for family, states in data["states"].items()},
        families={family: frozenset(listed) for family, listed in data["family"].items()},
        dead=re.compile(data["dead"]["words"]),
        dead_ends=frozenset(data["dead"]["ends"]),
        gathering=frozenset(slots["gathering"]),
        vague=frozenset(slots["vague"]),
        related=tuple(map(frozenset, slots["related"])),
        hints=frozenset(data["hints"]["words"]),
        marks=tuple(data["marks"]["states"]),
        matters=matters,
        looked_for={family: tuple(listed) for family, listed in data["looked_for"].items()},
    )


def _compiled(entries: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(text) for name, text in entries.items()}

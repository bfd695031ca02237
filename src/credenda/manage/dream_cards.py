"""Dream step 3: one card for each entity with many facts, rewritten when its facts change. Pure.

The numbers are engram's (E-068): the 50 entities with the most facts, at least five and at most 50 facts, 400 words,
importance .8, layer semantic; trust .4 is that of a dream (E-039). Unlike engram's, a card is upserted: there is one
for each entity, and a run without changes writes none (D-029). It is a profile of at most a dozen lines, each with the
ids of its memories.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.clock import DAY_US
from credenda.ids import parse_serial
from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.attributes import TASTES, get_attribute, is_valid_value
from credenda.model.change import Add, Change, Supersede, end_memory
from credenda.model.event import TRUST, Source
from credenda.model.memory import (
    CARD,
    DREAMER,
    Cardinality,
    Draft,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Stance,
    Status,
    is_dreamed,
)
from credenda.model.statement import ENGLISH, choose_word, name_attribute
from credenda.text.normalize import detect_language, is_same_value, normalise_name, normalise_text, normalise_value
from credenda.text.passages import format_yearly_day

# Choose and order the facts that a dream may use. Pure.


INSTRUCTION: Final = "instruction"
_MEANT: Final = frozenset({Stance.ASSERTED, Stance.NEGATED, Stance.REPORTED})
_SURE: Final = 0.4
"""Below this confidence a search hides a memory, and a card leaves it out."""


def is_eligible_fact(memory: Memory) -> bool:
    """Return whether a dream may use a memory."""
    plain = memory.status is Status.ACTIVE and not memory.contested and not memory.provisional
    meant = memory.stance in _MEANT and memory.confidence >= _SURE and memory.expires_us is None
    kept = memory.layer is not Layer.CODEBASE and memory.attribute != INSTRUCTION
    return plain and meant and kept and bool(memory.entity and memory.text) and not is_dreamed(memory)


def rank_fact(memory: Memory) -> tuple[float, int]:
    """Sort facts by their base importance, then by age; neither changes from run to run."""
    return -memory.base_importance, parse_serial(memory.id)


def hash_facts(facts: Iterable[Memory], maker: str) -> str:
    """Hash the ids of some facts and the maker (32 hex digits); equal hashes give equal results.

    It covers ids alone, so that it retains nothing of deleted text.
    """
    return hashlib.blake2b("\x00".join((maker, *(one.id for one in facts))).encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class EntityFacts:
    """An entity and its most important facts."""

    name: str
    facts: list[Memory] = field(default_factory=list[Memory])
    count: int = 0


@dataclass(slots=True)
class FactIndex:
    """Facts by entity; keeps only the most important facts in memory.

    `keep` chooses the facts; with `by_slot` the slots of one sentence are several facts.
    """

    most: int
    keep: Callable[[Memory], bool] = is_eligible_fact
    by_slot: bool = False
    _entities: dict[str, EntityFacts] = field(default_factory=dict[str, EntityFacts])

    def put(self, memory: Memory) -> None:
        """Add a memory, if a dream may use it."""
        if not self.keep(memory) or memory.entity is None:
            return
        about = self._entities.setdefault(normalise_name(memory.entity), EntityFacts(memory.entity))
        about.count += 1
        about.facts.append(memory)
        if len(about.facts) > 4 * self.most:
            about.facts = self._choose(about.facts)

    def entities(self, least: int, most: int) -> Iterator[tuple[str, EntityFacts]]:
        """Yield the `most` entities with the most facts that have at least `least`, by normalised name."""
        known = sorted(self._entities.items(), key=lambda one: (-one[1].count, one[0]))
        for key, about in known[:most]:
            facts = self._choose(about.facts)
            if len(facts) >= least:
                yield key, EntityFacts(about.name, facts, about.count)

    def _choose(self, facts: Iterable[Memory]) -> list[Memory]:
        """Return the most important facts, each text once, or each slot and value."""
        told: dict[tuple[str | None, ...], Memory] = {}
        for one in sorted(facts, key=rank_fact):
            slot = (one.attribute, one.value, one.scope) if self.by_slot else ()
            told.setdefault((normalise_text(one.text), *slot), one)
        return list(told.values())[: self.most]


# Choose and word the facts of a profile: short values of named attributes, one line an attribute. Pure.


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
    language = _choose_language(ranked)
    lines = [
        _word_values(some, language)
        if some[0].attribute
        else ProfileLine(f"- {' '.join(some[0].text.split())} [{some[0].id}]", (some[0],))
        for some in grouped.values()
    ]
    return sorted(
        lines, key=lambda line: (_RANK.get(line.facts[0].attribute or "", len(_RANK)), min(map(rank_fact, line.facts)))
    )


def _choose_language(facts: Iterable[Memory]) -> str:
    """Return the language of most facts."""
    counts = Counter(detect_language(one.text) for one in facts)
    return max(counts, key=lambda language: counts[language], default=ENGLISH)


def _word_values(facts: Sequence[Memory], language: str) -> ProfileLine:
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
    named = name_attribute(name, language)
    label = name.upper() if len(name) <= _ACRONYM else f"{named[:1].upper()}{named[1:]}"
    values = ", ".join(_word_value(some[0], language) for some in shown)
    return ProfileLine(f"- {label}: {values} [{', '.join(one.id for one in told)}]", told)


def _is_covered(one: Memory, other: Memory) -> bool:
    """Return whether another value says the same, or the same more exactly: "Flask" is covered by "Flask 2.3"."""
    if (one.stance is Stance.NEGATED) is not (other.stance is Stance.NEGATED):
        return False
    words, its = normalise_value(one.value or "").split(), normalise_value(other.value or "").split()
    return is_same_value(one.value, other.value) or (bool(words) and its[: len(words)] == words)


def _word_value(memory: Memory, language: str) -> str:
    value = format_yearly_day(_ARTICLE.sub("", " ".join((memory.value or "").split())))
    return f"{choose_word(language, 'not')} {value}" if memory.stance is Stance.NEGATED else value


_CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
_REFUSED: Final = frozenset({Status.FORGOTTEN, Status.INVALIDATED})
RULES: Final = "rules-1"
"""The maker of a card written without a model."""
_USER: Final = "user"
_FORM: Final = "card-2"
"""The version of the card format; a new version rewrites every card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRules:
    """The limits of cards (E-068)."""

    entities: int = 50
    facts_least: int = 5
    facts_most: int = 50
    words_most: int = 400
    lines_most: int = 12
    importance: float = 0.8


@dataclass(frozen=True, slots=True)
class CardText:
    """The text of a card, the memories it was made from, in order, and its maker."""

    name: str
    text: str
    facts: tuple[Memory, ...]
    maker: str = RULES


@dataclass(frozen=True, slots=True)
class CardHistory:
    """The cards of one entity: the current one, and whether the user rejected the last one."""

    standing: Memory | None
    refused: bool

    @classmethod
    def of(cls, cards: Iterable[Memory]) -> CardHistory:
        """Evaluate all cards of an entity, whatever their status."""
        newest = sorted(cards, key=lambda card: (card.created_us, card.id), reverse=True)
        standing = next((card for card in newest if card.status in _CURRENT), None)
        last = next((card for card in newest if card.status is not Status.DELETED), None)
        return cls(standing, refused=standing is None and last is not None and last.status in _REFUSED)


def choose_card_facts(about: EntityFacts, rules: CardRules) -> list[Memory]:
    """Choose the facts of a card, in the order of its lines, within its limits of lines, words and characters."""
    head = format_card_head(about.name)
    words, room = rules.words_most, MEMORY_TEXT_CHARACTERS - len(head) - 1
    kept: list[Memory] = []
    for line in write_profile(about.facts[: rules.facts_most])[: rules.lines_most - 1]:
        words, room = words - len(line.text.split()), room - len(line.text) - 1
        if words < 0 or room < 0:
            break
        kept += line.facts
    return kept


def format_card_head(name: str, language: str = ENGLISH) -> str:
    """Return the first line of a card.

    >>> format_card_head("user"), format_card_head("user", "de")
    ('About the user:', 'Über den Nutzer:')
    """
    owner = choose_word(language, "the user") if normalise_name(name) == _USER else " ".join(name.split())
    return f"{choose_word(language, 'About')} {owner}:"


def write_fact_list(name: str, facts: Sequence[Memory]) -> CardText:
    """Write a card as a profile of its facts."""
    lines = [line.text for line in write_profile(facts)]
    return CardText(name, "\n".join([format_card_head(name, _choose_language(facts)), *lines]), tuple(facts))


def is_current(deck: CardHistory, facts: Sequence[Memory], *, model: bool) -> bool:
    """Return whether the current card was made from exactly these facts; a `model` may rewrite a rule-made one."""
    if deck.standing is None:
        return False
    made = deck.standing.metadata
    return made.get("digest") == hash_facts(facts, _FORM) and not (model and made.get("maker") == RULES)


def decide_card(written: CardText, deck: CardHistory, rules: CardRules, now_us: int) -> list[Change]:
    """Add a card and supersede the current one; nothing if the user rejected the last one."""
    if deck.refused:
        return []
    key = f"new:card {normalise_name(written.name)}"
    reason = f"summarises {len(written.facts)} memories"
    changes: list[Change] = [Add(key=key, draft=_draft_card(written, rules, now_us), support=(), reason=reason)]
    if deck.standing is not None:
        changes.append(_supersede_card(deck.standing, key, now_us))
    return changes


def _draft_card(written: CardText, rules: CardRules, now_us: int) -> Draft:
    cites = [fact.id for fact in written.facts]
    return Draft(
        text=written.text,
        type=MemoryType.FACT,
        entity=written.name,
        attribute=CARD,
        speaker=DREAMER,
        importance=rules.importance,
        layer=Layer.SEMANTIC,
        valid_from_us=now_us,
        trust=TRUST[Source.DREAM],
        metadata={"cites": cites, "digest": hash_facts(written.facts, _FORM), "maker": written.maker},
    )


def _supersede_card(card: Memory, successor: str | None, now_us: int) -> Supersede:
    reason = "rewritten" if successor else "too few facts are left"
    return end_memory(card, now_us, reason, successor, relation=Relation.REFINED)


def end_unsupported_cards(cards: Iterable[Memory], entities: Iterable[str], now_us: int) -> list[Change]:
    """End the cards of entities with too few facts; `entities` are the normalised names of those that keep a card."""
    kept = frozenset(entities)
    standing = (card for card in cards if card.status in _CURRENT)
    return [_supersede_card(card, None, now_us) for card in standing if normalise_name(card.entity or "") not in kept]


# Dream step 2: choose the clusters to merge (E-067); the consolidation judge decides about them.


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRules:
    """The limits of a cluster: the minimum cosine of neighbours, and the minimum number of memories (E-067)."""

    cosine: float = 0.80
    least: int = 5


# Dream step 7: the retention of operational logs. The journal and the change log are never pruned.


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneRules:
    """Days for which rows are kept, and rows that one transaction removes from each log.

    An impression affects importance only while it is kept. With E-072's 90 days, a memory used daily until four months
    ago would lose half its importance, so a year is kept (decision 0028). Finished jobs are kept for E-072's 90 days.
    """

    impressions_days: int = 365
    jobs_days: int = 90
    rows_per_batch: int = 500

    def before_us(self, now_us: int) -> tuple[int, int]:
        """Return the times before which impressions and jobs are removed."""
        return now_us - self.impressions_days * DAY_US, now_us - self.jobs_days * DAY_US

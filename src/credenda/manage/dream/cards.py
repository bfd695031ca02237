"""Dream step 3: one card for each entity with many facts, rewritten when its facts change. Pure.

The numbers are engram's (E-068): the 50 entities with the most facts, at least five and at most 50 facts, 400 words,
importance .8, layer semantic; trust .4 is that of a dream (E-039). Unlike engram's, a card is upserted: there is one
for each entity, and a run without changes writes none (D-029). It is a profile of at most a dozen lines, each with the
ids of its memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.manage.dream.eligible_facts import EntityFacts, hash_facts
from credenda.manage.dream.profile import write_profile
from credenda.model.change import Add, Change, Supersede
from credenda.model.derived import CARD, DREAMER
from credenda.model.event import TRUST, Source
from credenda.model.memory import Draft, Layer, Memory, MemoryType, Relation, Status
from credenda.text.normalize import normalise_name

__all__ = [
    "RULES",
    "CardHistory",
    "CardRules",
    "CardText",
    "choose_card_facts",
    "decide_card",
    "end_unsupported_cards",
    "is_current",
    "write_fact_list",
]

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


def format_card_head(name: str) -> str:
    """Return the first line of a card."""
    return f"About {'the user' if normalise_name(name) == _USER else ' '.join(name.split())}:"


def write_fact_list(name: str, facts: Sequence[Memory]) -> CardText:
    """Write a card as a profile of its facts."""
    lines = [line.text for line in write_profile(facts)]
    return CardText(name, "\n".join([format_card_head(name), *lines]), tuple(facts))


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
    return Supersede(
        memory_id=card.id, successor=successor, relation=Relation.REFINED, valid_until_us=now_us, reason=reason
    )


def end_unsupported_cards(cards: Iterable[Memory], entities: Iterable[str], now_us: int) -> list[Change]:
    """End the cards of entities with too few facts; `entities` are the normalised names of those that keep a card."""
    kept = frozenset(entities)
    standing = (card for card in cards if card.status in _CURRENT)
    return [_supersede_card(card, None, now_us) for card in standing if normalise_name(card.entity or "") not in kept]

"""Step 3: write a card for each entity with many facts, replacing the earlier card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from credenda.manage.dream.cards import (
    CardHistory,
    CardRules,
    choose_card_facts,
    decide_card,
    end_unsupported_cards,
    is_current,
    write_fact_list,
)
from credenda.manage.dream.eligible_facts import EntityFacts, FactIndex
from credenda.manage.dream.profile import is_profile_fact
from credenda.model.change import Change, Supersede
from credenda.model.derived import CARD, is_dreamed
from credenda.model.dream import DreamStep
from credenda.model.memory import Memory
from credenda.services.dream.index_derived import prepare_vectors
from credenda.services.dream.llm import Mind
from credenda.services.dream.step_context import Night
from credenda.storage.store import MemoryFilter
from credenda.text.counts import count_noun
from credenda.text.normalize import normalise_attribute, normalise_name

__all__ = ["run_cards"]

_CAUSE = "cards"


def run_cards(night: Night, rules: CardRules | None = None) -> DreamStep:
    """Write the cards whose facts have changed and end those with too few facts; each in its own commit."""
    bounds = rules or CardRules()
    shelf = FactIndex(bounds.facts_most, keep=is_profile_fact, by_slot=True)
    for batch in night.held():
        for memory in batch:
            shelf.put(memory)
    decks = _read_cards(night)
    desk = _Desk(night, Mind(night), bounds)
    kept: set[str] = set()
    for key, about in shelf.entities(bounds.facts_least, bounds.entities):
        kept.add(key)
        desk.write(about, CardHistory.of(decks.get(key, ())))
    desk.end([card for deck in decks.values() for card in deck], kept)
    if desk.mind.trouble:
        desk.told.append(f"{desk.mind.trouble[0].upper()}{desk.mind.trouble[1:]}; rules wrote the remaining cards.")
    return DreamStep(name=_CAUSE, told=tuple(desk.told), counts=dict(desk.counts), changes=tuple(desk.changes))


def _read_cards(night: Night) -> dict[str, list[Memory]]:
    """Return all cards by the normal name of their entity."""
    found = night.see(lambda reader: reader.find(MemoryFilter(attribute=normalise_attribute(CARD))))
    decks: dict[str, list[Memory]] = {}
    for card in filter(is_dreamed, found):
        decks.setdefault(normalise_name(card.entity or ""), []).append(card)
    return decks


@dataclass(slots=True)
class _Desk:
    """Writes the cards of one run and counts the results."""

    night: Night
    mind: Mind
    rules: CardRules
    changes: list[Change] = field(default_factory=list[Change])
    told: list[str] = field(default_factory=list[str])
    counts: Counter[str] = field(default_factory=Counter[str])

    def write(self, about: EntityFacts, deck: CardHistory) -> None:
        """Write the card of an entity, unless it is up to date or the user removed it."""
        facts = choose_card_facts(about, self.rules)
        model = not self.mind.absent
        if deck.refused or is_current(deck, facts, model=model):
            self.counts["refused" if deck.refused else "unchanged"] += 1
            return
        asked = self.mind.card(about.name, facts, self.rules) if model else None
        if asked is None and is_current(deck, facts, model=False):
            self.counts["unchanged"] += 1
            return
        changes = decide_card(asked or write_fact_list(about.name, facts), deck, self.rules, self.night.now_us)
        seen = {one.id: one for one in (*facts, *((deck.standing,) if deck.standing else ()))}
        if self.night.forbids(changes) or not self._file(changes, seen):
            self.counts["left"] += 1
            return
        what = "written" if deck.standing is None else "rewritten"
        self.counts[what] += 1
        self.told.append(f"The card of {about.name} {self._done(what)}, from {count_noun(len(facts), 'memory')}.")

    def end(self, held: Sequence[Memory], kept: set[str]) -> None:
        """End the cards of entities that no longer qualify."""
        by_id = {card.id: card for card in held}
        ended = end_unsupported_cards(held, kept, self.night.now_us)
        names = [change.memory_id for change in ended if isinstance(change, Supersede)]
        if names and self._file(ended, {one: by_id[one] for one in names}):
            self.counts["ended"] += len(names)
            done = self._done("taken away")
            self.told += [f"The card of {by_id[one].entity} {done}: too few memories are left." for one in names]

    def _file(self, changes: Sequence[Change], seen: dict[str, Memory]) -> bool:
        """Apply changes, or only count them in a dry run; return False if a memory has changed meanwhile."""
        then = prepare_vectors(self.night, changes)
        done = self.night.dry_run or self.night.commit(changes, seen, cause=_CAUSE, then=then)
        self.changes += changes if done else ()
        return done

    def _done(self, what: str) -> str:
        return f"would be {what}" if self.night.dry_run else f"was {what}"

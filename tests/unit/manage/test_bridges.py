"""Which pairs of entities a model is asked about."""

import pytest

from credenda.manage.dream_cards import EntityFacts
from credenda.manage.dream_probe import BridgeRules, EntityPair, nominate_pairs


@pytest.mark.requirement("E-069")
def test_pairs_are_near_but_not_the_same_and_the_nearest_come_first() -> None:
    rules = BridgeRules()
    assert (rules.facts_least, rules.max_per_run, rules.importance) == (3, 5, 0.6)
    cosines = (0.74, 0.75, 0.8, 0.9, 0.91)
    pairs = [EntityPair(cosine, f"one {cosine}", f"other {cosine}") for cosine in cosines]
    abouts = {name: EntityFacts(name) for pair in pairs for name in (pair.one, pair.other)}
    assert [pair.cosine for pair in nominate_pairs(pairs, abouts, rules)] == [0.9, 0.8, 0.75]

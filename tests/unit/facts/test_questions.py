from __future__ import annotations

import pytest

from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.providers.tagger import TaggingReader
from credenda.write.facts.extractor import ReadingExtractor


@pytest.mark.parametrize("text", ["Am I allergic to walnuts?", "So do we have a dog?", "Did I live in Porto?"])
def test_who_asks_for_a_fact_of_their_own_states_none(text: str) -> None:
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0)
    assert ReadingExtractor(TaggingReader()).extract(Turn(event=event)) == []

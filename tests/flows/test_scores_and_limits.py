"""A score says how sure a hit is, whatever the number of hits that are shown."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

SAYINGS = (
    "I like soup number {}.",
    "My dog {} likes to run in the park.",
    "Yesterday {} people came to the party in Linz.",
    "I live in Linz, house {}.",
)
LIMITS = (1, 2, 3, 5, 10, 19, 20, 21, 30, 50)


@pytest.fixture(scope="module")
def mem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Credenda]:
    clock = ManualClock("2026-03-01T09:00:00Z")
    path = tmp_path_factory.mktemp("limits") / "m.db"
    with Credenda.open(path, user="ana", clock=clock, embedder="hashed", workers=False) as opened:
        for n in range(60):
            opened.remember(SAYINGS[n % len(SAYINGS)].format(n))
            clock.advance(timedelta(hours=7))
        opened.settle(60)
        yield opened


@pytest.mark.parametrize("profile", ["default", "recall", "evidence"])
@pytest.mark.parametrize("query", ["soup", "Where do I live?", "park party", "what is Linz like", "run dog 5"])
def test_a_score_and_a_place_do_not_depend_on_the_limit(query: str, profile: str, mem: Credenda) -> None:
    found = {
        limit: [
            (hit.id, hit.score) for hit in mem.search(query, limit=limit, profile=profile, record_access=False).hits
        ]
        for limit in LIMITS
    }
    assert found[50]
    for limit in LIMITS:
        assert found[limit] == found[50][:limit]


def test_further_hits_repeat_no_event_of_a_memory_that_is_shown(mem: Credenda) -> None:
    hits = mem.search("soup Linz dog party", limit=50, record_access=False).hits
    sources = {event.id for hit in hits for event in hit.evidence}
    assert len({hit.id for hit in hits}) == len(hits) > 20
    assert not sources & {hit.id for hit in hits if hit.kind == "event"}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)

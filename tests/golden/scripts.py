"""Short stories told through the public verbs, and searches over a small fixed store."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from .canonical import every_memory, state_form
from .product import Credenda, ManualClock, Memory, MemoryUnit

_START = "2026-03-02T09:00:00Z"
_STORED = 30
_SCORE_DIGITS = 6


class _Teller:
    """A tenant and its clock: each saying comes a day after the one before."""

    def __init__(self, memory: Credenda, clock: ManualClock) -> None:
        self.memory = memory
        self._clock = clock

    def say(self, *texts: str, days: float = 1) -> None:
        for text in texts:
            self._clock.advance(timedelta(days=days))
            self.memory.remember(text)
            self.memory.settle()

    def wait(self, days: float) -> None:
        self._clock.advance(timedelta(days=days))

    def about(self, word: str) -> Memory:
        """Return the newest memory with this word."""
        return next(one for one in every_memory(self.memory)[::-1] if word in one.text)


def _correct_and_forget(told: _Teller) -> None:
    told.say("I live in Graz.", "My sister works at Bosch.", "I drink my coffee black.")
    told.memory.correct(told.about("Graz").id, value="Linz")
    told.memory.forget(told.about("Bosch").id, reason="golden: no longer wanted")
    told.memory.forget(told.about("coffee").id)
    told.memory.restore(told.about("coffee").id)
    told.say("I live in Vienna now.")


def _delete(told: _Teller) -> None:
    told.say("I work at Acme.", "I left Acme and work at Initech now.", "I play chess and I play the piano.")
    told.memory.delete(told.about("Initech").id)
    told.memory.delete(told.about("piano").id)
    told.say("I work at Initech.")


def _contest(told: _Teller) -> None:
    told.say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.")
    told.say("I prefer evening meetings.")
    for case in told.memory.manage.contests():
        told.memory.manage.resolve(case.id, keep="morning")
    told.say("I prefer afternoon meetings.")


def _scopes(told: _Teller) -> None:
    told.say("I prefer tea.", "I prefer coffee.", "I prefer tea.", "I prefer coffee.")
    for case in told.memory.manage.contests():
        told.memory.manage.resolve(case.id, scopes={"when I travel": case.values[0], "default": case.values[-1]})


def _undo(told: _Teller) -> None:
    told.say("I drive a Golf.", "I sold the Golf and drive a Mazda now.", "I live in Rome.", "I moved to Turin.")
    for change in told.memory.why(told.about("Golf").id).changes[::-1]:
        if change.kind.value == "supersede":
            told.memory.manage.undo(change.id)
            break


def _by_hand(told: _Teller) -> None:
    told.say("I am allergic to peanuts.", "Our database is Postgres.", "We decided to use Rust.")
    told.memory.manage.pin(told.about("peanuts").id)
    told.memory.manage.unpin(told.about("peanuts").id)
    told.memory.manage.set_status(told.about("Postgres").id, "challenged")
    told.memory.manage.set_status(told.about("Postgres").id, "active", reason="golden: seen in the settings")
    told.memory.feedback(told.about("Rust").id, useful=True)


def _stored(told: _Teller) -> None:
    unit = MemoryUnit(text="Lives in Linz.", entity="user", attribute="residence", value="Linz", pinned=True)
    told.memory.store(unit)
    told.memory.store(MemoryUnit(text="Saw a heron at the weir.", layer="episodic", importance=0.2))
    told.memory.store(MemoryUnit(text="Saw a fox at the quarry.", layer="working", source="ingest", importance=0.1))
    told.memory.store(MemoryUnit(text="Lives in Wels.", entity="user", attribute="residence", value="Wels"))
    for _ in range(3):
        told.wait(45)
        told.memory.manage.schedule(run=True)


def _consolidate(told: _Teller) -> None:
    told.say("I live in Graz.", "I live in Linz now.", "My favourite tea is Assam.", "Assam is the tea I like best.")
    told.say("No, my dentist is Dr. Ito, not Dr. Keller.", "My brother Jonas lives in Kiel.", "Jonas moved to Bonn.")
    told.memory.manage.consolidate(force=True)
    told.wait(200)
    told.memory.manage.dream()


def _retract(told: _Teller) -> None:
    told.say("I live in Oslo.", "I moved to Bergen.", "Never mind, ignore that.", days=0.001)
    told.say("If I won the lottery, I would buy a boat.", "Maybe I will learn Dutch.", "I am learning Dutch now.")
    told.say("In 2019 I lived in Leeds.", "My phone number is 555 1234.", "My phone number is 555 9876.")


STORIES: Sequence[Callable[[_Teller], None]] = (
    _correct_and_forget,
    _delete,
    _contest,
    _scopes,
    _undo,
    _by_hand,
    _stored,
    _consolidate,
    _retract,
)


def told(path: Path) -> Iterator[tuple[Callable[[_Teller], None], object]]:
    """Tell each story to a tenant of its own and yield what is believed at its end."""
    for story in STORIES:
        clock = ManualClock(_START)
        with Credenda.open(
            path, user=story.__name__, embedder="none", llm="none", workers=False, clock=clock
        ) as memory:
            story(_Teller(memory, clock))
            yield story, state_form(memory)


def searched(path: Path, rows: Sequence[dict[str, Any]]) -> list[object]:
    """Say some pairs to one tenant, day by day, and return what each search finds."""
    clock = ManualClock(_START)
    with Credenda.open(path, user="search", embedder="none", llm="none", workers=False, clock=clock) as memory:
        teller = _Teller(memory, clock)
        for row in rows[:_STORED]:
            teller.say(row["old"], row["new"])
        places = {one.id: place for place, one in enumerate(every_memory(memory))}
        queries = [row["query"] for row in rows[:_STORED] if "query" in row]
        found = [_found(memory, places, query) for query in [*queries, "Who won the world cup?", "bank", "?"]]
        for query in queries[:8]:
            found.append(_found(memory, places, query, include=("superseded", "low_confidence")))
            found.append(_found(memory, places, query, as_of="2026-03-20T00:00:00Z", profile="evidence"))
            found.append(_found(memory, places, query, kinds=("memory",), mode="facts_only", recency_weight=0.9))
            # Room for all: the random tags of ids count as tokens, and a tight budget would make the replay random.
            found.append(memory.context(query, token_budget=4_000).text)
        return found


def _found(memory: Credenda, places: dict[str, int], query: str, **options: Any) -> object:  # noqa: ANN401 - handed on
    result = memory.search(query, limit=10, record_access=False, **options)
    hits = [
        [places.get(hit.id, hit.quote), hit.kind, round(hit.score, _SCORE_DIGITS), sorted(hit.flags)]
        for hit in result.hits
    ]
    return {"query": query, "hits": hits, "abstained": result.abstained}

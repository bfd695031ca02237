"""Whether the newest of two values of one exact slot comes first: `python -m benchmarks newest`.

Half of the facts are changed once, by a plain second statement. After all are read, each changed fact is asked for by
its slot, in other words than the statements. A question counts as right if the new value stands in a hit before the
old one, or without it. Names, values and the order come from a seed.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from credenda import Credenda

Note = Callable[[str], None]


class Frame(NamedTuple):
    """A slot: its first statement, the later one, and the question. `{who}` and `{value}` are filled in."""

    said: str
    later: str
    asked: str
    values: Sequence[str]


class Fact(NamedTuple):
    """One slot of a person with its first value, and its second one if it changes."""

    frame: Frame
    who: str
    old: str
    new: str


_CITIES: Final = "Leeds Graz Porto Turin Lille Gdansk Malmo Bergen Ghent Split Tartu Cork Bilbao Trento Lugano".split()  # noqa: SIM905
_FIRMS: Final = "Nordlicht Acmera Veltrix Sunforge Quillon Tarnova Brightloom Kestrelo Ombrix Pallasade".split()  # noqa: SIM905
_ROLES: Final = "nurse baker plumber teacher lawyer chemist florist pilot translator carpenter".split()  # noqa: SIM905
_CARS: Final = ("Fiat Panda", "Skoda Octavia", "Volvo V60", "Dacia Duster", "Mazda CX-5", "Opel Corsa", "Seat Ibiza")
_TEAMS: Final = "Ajax Benfica Celtic Lazio Sevilla Basel Rapid Brugge Malmo Porto".split()  # noqa: SIM905
FRAMES: Final = (
    Frame("{who} lives in {value}.", "{who} lives in {value} now.", "Where does {who} live?", _CITIES),
    Frame("{who} works at {value}.", "{who} works at {value} now.", "Who employs {who}?", _FIRMS),
    Frame("{who} is a {value}.", "{who} is now a {value}.", "What is {who}'s job?", _ROLES),
    Frame("{who} drives a {value}.", "{who} drives a {value} now.", "Which car does {who} drive?", _CARS),
    Frame(
        "{who}'s favourite team is {value}.",
        "{who}'s favourite team is {value} now.",
        "What team is {who}'s favourite?",
        _TEAMS,
    ),
)
_FIRST: Final = "Ada Bo Cleo Dov Edda Finn Gil Hana Ivo Juna Kai Lea Milo Nora Otis Pia Quin Rosa Sven Tara".split()  # noqa: SIM905
_SYLLABLES: Final = "bar dok fel gru hin jov kel lim mar nor pes rin sol tav ul ver wim yan zor".split()  # noqa: SIM905
_LIMIT: Final = 10
_SETTLE_SECONDS: Final = 7_200.0


def make_facts(count: int, *, seed: int) -> list[Fact]:
    """Return facts of different people; every second one has another later value."""
    draw, facts, people = random.Random(seed), list[Fact](), list(_list_people(seed))
    for number in range(count):
        frame = FRAMES[number % len(FRAMES)]
        old, new = draw.sample(frame.values, 2)
        facts.append(Fact(frame, people[number // len(FRAMES)], old, new if number % 2 else ""))
    return facts


def _list_people(seed: int) -> Iterator[str]:
    """Yield different names of two words."""
    draw = random.Random(seed + 1)
    surnames = [(one + two).capitalize() for one in _SYLLABLES for two in _SYLLABLES]
    names = [f"{first} {last}" for first in _FIRST for last in surnames]
    yield from draw.sample(names, len(names))


def run_newest(sizes: Sequence[int], *, embedder: str, seed: int, note: Note) -> dict[str, Any]:
    """Return for each number of facts how often the newest value came first."""
    rows: list[dict[str, Any]] = []
    for size in sizes:
        note(f"{size} facts")
        rows.append({"facts": size, **_measure(make_facts(size, seed=seed), embedder=embedder, seed=seed)})
    return {"embedder": embedder, "seed": seed, "sizes": rows}


def _measure(facts: Sequence[Fact], *, embedder: str, seed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"embedder": embedder}
        with Credenda.open(Path(folder) / "newest.db", user="ana", workers=False, settings=settings) as mem:
            _tell(mem, facts, seed)
            changed = [fact for fact in facts if fact.new]
            right = [_is_newest_first(mem, fact) for fact in changed]
            retired = mem.stats().memories.get("superseded", 0)
    return {"changed": len(right), "newest_first": sum(right), "share": sum(right) / len(right), "retired": retired}


def _tell(mem: Credenda, facts: Sequence[Fact], seed: int) -> None:
    """Remember all first statements in a random order, then all later ones."""
    draw = random.Random(seed + 2)
    first = [fact.frame.said.format(who=fact.who, value=fact.old) for fact in facts]
    later = [fact.frame.later.format(who=fact.who, value=fact.new) for fact in facts if fact.new]
    for texts in (first, later):
        for text in draw.sample(texts, len(texts)):
            mem.remember(text)
        mem.settle(_SETTLE_SECONDS)


def _is_newest_first(mem: Credenda, fact: Fact) -> bool:
    hits = mem.search(fact.frame.asked.format(who=fact.who), limit=_LIMIT).hits
    for hit in hits:
        if fact.who in hit.quote and (fact.new in hit.quote or fact.old in hit.quote):
            return fact.new in hit.quote
    return False

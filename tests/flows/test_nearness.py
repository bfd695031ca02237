"""How near in meaning two sentences are bears on what is believed, where an engine is there that tells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from credenda import Credenda, CredendaError
from credenda.errors import Unavailable
from credenda.write.succession.weights import near_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

OLD, NEW = "Our build tool is Maven.", "We migrated the build to Gradle."
TRAIN, BICYCLE = "I commute by train.", "Nowadays a bicycle takes me everywhere instead."


class Engine:
    """Finds all texts that name a build near, and others far from them; keeps what it was given, call by call."""

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id
        self.dims = 64
        self.given: list[str] = []
        self.calls: list[list[str]] = []
        self.broken = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise Unavailable("no engine", why="it is out of order", fix="mend it")
        self.given += texts
        self.calls.append(list(texts))
        made = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(made, texts, strict=True):
            row[0 if "build" in text else 1] = 1.0
        return made


@pytest.fixture
def engine() -> Engine:
    return Engine(near_weights().model)


def told(path: Path, engine: Engine, *texts: str) -> Iterator[str]:
    with Credenda.open(path, user="ana", embedder=engine, workers=False) as mem:
        for text in texts:
            mem.remember(text)
            mem.settle()
        yield from (one.text for one in mem.list().items)


@pytest.mark.requirement("R-074")
def test_a_near_memory_is_replaced_and_the_reason_named(tmp_path: Path, engine: Engine) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        mem.remember(OLD)
        mem.settle()
        old = mem.list().items[0]
        mem.remember(NEW)
        mem.settle()
        assert OLD not in {one.text for one in mem.list().items}
        assert "build" in str(mem.why(old.id))


@pytest.mark.requirement("R-074")
def test_both_said_before_either_is_read_come_out_alike(tmp_path: Path, engine: Engine) -> None:
    """What earlier turns of one job claim is compared as well."""
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        mem.remember([{"role": "user", "content": OLD}, {"role": "user", "content": NEW}])
        mem.settle()
        assert OLD not in {one.text for one in mem.list().items}


@pytest.mark.requirement("R-074")
def test_the_cosines_of_another_engine_are_not_taken_for_these(tmp_path: Path) -> None:
    other = Engine("another-1")
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=other, workers=False) as mem:
        mem.remember(TRAIN)
        mem.settle()
        asked = len(other.given)
        mem.remember(BICYCLE)
        mem.settle()
        assert other.given[asked:] == [BICYCLE]  # for its own vector, and for nothing else
        assert TRAIN in {one.text for one in mem.list().items}


@pytest.mark.requirement("R-074")
def test_vectors_that_are_stored_are_not_made_again(tmp_path: Path, engine: Engine) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        mem.remember(OLD)
        mem.settle()
        asked = len(engine.calls)
        mem.remember(NEW)
        mem.settle()
        assert engine.calls[asked] == [NEW]  # all that deciding asked for


@pytest.mark.requirement("R-074")
def test_an_engine_that_is_out_of_order_keeps_nothing_from_being_believed(tmp_path: Path, engine: Engine) -> None:
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        mem.remember(OLD)
        mem.settle()
        engine.broken = True
        mem.remember(NEW)
        with contextlib.suppress(CredendaError):
            mem.settle()
        assert NEW in {one.text for one in mem.list().items}


@pytest.mark.requirement("R-074")
def test_rebuilding_from_the_log_asks_no_engine(tmp_path: Path, engine: Engine) -> None:
    held = sorted(told(tmp_path / "m.db", engine, OLD, NEW))
    with Credenda.open(tmp_path / "m.db", user="ana", embedder="none", workers=False) as mem:
        assert sorted(one.text for one in mem.list().items) == held
        mem.data.rebuild()
        assert sorted(one.text for one in mem.list().items) == held


class Rides(Engine):
    """Finds what tells of a ride near to one another, as an engine would, though no word is shared."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        made = super().embed(texts)
        for row, text in zip(made, texts, strict=True):
            if any(word in text for word in ("commute", "bicycle")):
                row[:2] = 0.0
                row[2] = 1.0
        return made


@pytest.mark.requirement("R-074")
def test_what_is_told_in_other_words_is_found_by_its_meaning(tmp_path: Path) -> None:
    """No word of the old memory is in the new one; without the engine, or far in meaning, nothing is replaced."""
    others = ("The office is on the third floor.", "Our cat is called Minka.")
    for engine, stays in ((Rides(near_weights().model), False), (Engine("another-1"), True)):
        held = list(told(tmp_path / f"{engine.model_id}.db", engine, *others, TRAIN, BICYCLE))
        assert (TRAIN in held) is stays
        assert {BICYCLE, *others} <= set(held)


@pytest.mark.requirement("R-074")
def test_reading_anew_finds_again_what_was_found_by_its_meaning(tmp_path: Path) -> None:
    engine = Rides(near_weights().model)
    assert TRAIN not in set(told(tmp_path / "m.db", engine, TRAIN, BICYCLE))
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        assert mem.data.rebuild(reextract=True).differences == ()
        assert TRAIN not in {one.text for one in mem.list().items}


@pytest.mark.requirement("R-074")
def test_another_speakers_memory_is_not_replaced_however_near(tmp_path: Path) -> None:
    engine = Rides(near_weights().model)
    with Credenda.open(tmp_path / "m.db", user="ana", embedder=engine, workers=False) as mem:
        mem.remember([{"role": "person", "name": "Bo", "content": TRAIN}])
        mem.settle()
        before = {one.text for one in mem.list().items}
        mem.remember(BICYCLE)
        mem.settle()
        assert before
        assert before <= {one.text for one in mem.list().items}

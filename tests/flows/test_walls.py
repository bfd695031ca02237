"""The live probe of the walls: silent on a sound store, and it names each verb that lets a stranger read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.model.memory import MemoryUnit
from credenda.runtime import Parts
from credenda.services import stats
from credenda.services.stats import PROBES
from credenda.storage.sql.server_rows import TenantQueries
from credenda.storage.store import Reader, Store


@pytest.fixture
def full(mem: Credenda, say: Callable[..., None]) -> Credenda:
    say("I live in Graz.", "I moved to Linz.", "My dog is called Rex.")
    mem.store(MemoryUnit(text="Prefers tea", type="preference", entity="user", attribute="drink", value="tea"))
    mem.settle()
    mem.search("Where do I live?")
    mem.feedback(mem.list().items[0].id, useful=True)
    return mem


@pytest.fixture
def parts(path: Path) -> Iterator[Parts]:
    made = build_parts(path, user="ana", read_only=True)
    yield made
    made.release()


def list_leaks(memory: Credenda) -> list[str]:
    return [finding.where for finding in memory.data.doctor().findings if finding.check == "walls"]


@pytest.mark.requirement("R-202")
def test_a_sound_store_has_no_leak_and_the_probe_writes_nothing(full: Credenda, parts: Parts) -> None:
    report = full.data.doctor()
    assert "walls" in report.checks
    assert report.ok
    assert parts.store.users(limit=10) == ["ana"]


def test_every_verb_that_leaks_is_named(full: Credenda, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that takes every stranger for Ana fails with every verb that reads rows."""
    kind = type(parts.store)
    honest = kind.reader

    def careless(store: Store, user_id: str, **_: object) -> object:
        return honest(store, "ana" if user_id in PROBES else user_id)

    monkeypatch.setattr(kind, "reader", careless)
    found = set(list_leaks(full))
    empty = {
        "authors",
        "contests",
        "runs",
        "occasions",
        "vectors",
        "vector_data",
        "by_vector.page",
        "by_vector.nearest",
        "recalled",
    }
    assert found >= stats.READS.keys() - empty


@pytest.mark.parametrize("verb", ["find_events", "find", "changes", "jobs"])
def test_one_verb_that_leaks_is_named_alone(
    full: Credenda, parts: Parts, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    with parts.store.reader("ana") as reader:
        stolen = stats.READS[verb](reader, stats.take_sample(reader, ""))
    kind: type[Reader] = type(reader)

    def leak(*_: object) -> object:
        return stolen

    monkeypatch.setattr(kind, verb, leak)
    monkeypatch.setattr(stats, "READS", {verb: stats.READS[verb]})
    assert list_leaks(full) == [verb]


def test_what_a_store_tells_by_the_name_of_a_user_is_probed_too(
    full: Credenda, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(parts.store)
    honest = kind.dump
    assert issubclass(kind, TenantQueries)

    def leak(store: Store, _: str) -> object:
        return honest(store, "ana")

    monkeypatch.setattr(kind, "dump", leak)
    assert list_leaks(full) == ["dump"]

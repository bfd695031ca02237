"""The cache: loads, builds, catches up, drops, and never alters what a search holds."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from credenda import limits
from credenda.errors import Corrupt, LimitExceeded
from credenda.index.cache import IndexCache, name_snapshot
from credenda.index.resident import ResidentIndex
from credenda.storage.store import Delta, IndexPosition

from .build import MODEL, FakeStore, event, folded, vector
from .test_resident import picture


def filled(count: int = 12) -> FakeStore:
    documents = [event(number, f"green tea {number}") for number in range(1, count + 1)]
    return FakeStore(documents, [vector(document.code) for document in documents])


def test_an_index_is_built_and_kept() -> None:
    store, cache = filled(), IndexCache()
    index = cache.get(store.reader(), model_id=MODEL)
    assert picture(index) == picture(folded(*store.documents, vectors=store.vectors))
    asked = store.deltas
    assert cache.get(store.reader(), model_id=MODEL) is index
    assert store.deltas == asked  # the heads have not moved, so nothing is read


def test_new_rows_come_in_a_new_version() -> None:
    store, cache = filled(), IndexCache()
    old = cache.get(store.reader(), model_id=MODEL)
    before = picture(old)
    store.documents += [event(number, "train") for number in range(50, 58)]
    new = cache.get(store.reader(), model_id=MODEL)
    assert len(new) == 20
    assert picture(old) == before
    assert picture(new) == picture(folded(*store.documents, vectors=store.vectors))


def test_models_stores_and_reborn_tenants_are_kept_apart() -> None:
    store, cache = filled(), IndexCache()
    plain = cache.get(store.reader())
    assert not plain.has_vector.any()
    assert cache.get(store.reader(), model_id=MODEL) is not plain
    assert cache.get(store.reader(), store="backup.db") is not plain
    store.tenant = replace(store.tenant, tag="fffff2")
    assert cache.get(store.reader()) is not plain


def test_an_image_is_loaded_and_caught_up() -> None:
    store, cache = filled(), IndexCache()
    image = cache.image(cache.get(store.reader(), model_id=MODEL), store.tenant.tag)
    assert image.name == name_snapshot(MODEL, store.tenant.tag) == f"index:toy-70:{store.tenant.tag}"
    store.blobs[image.name] = image.blobs
    store.documents.append(event(30, "train"))
    store.deltas = 0
    index = IndexCache().get(store.reader(), model_id=MODEL)
    assert store.deltas == 2
    assert picture(index) == picture(folded(*store.documents, vectors=store.vectors))


def test_an_index_of_another_generation_is_built_again() -> None:
    store, cache = filled(), IndexCache()
    old = cache.get(store.reader(), model_id=MODEL)
    image = cache.image(old, store.tenant.tag)
    store.blobs[image.name] = image.blobs
    store.documents[:] = [event(number, f"black coffee {number}") for number in range(1, 13)]
    store.generation = 1
    index = cache.get(store.reader(), model_id=MODEL)
    assert picture(index) == picture(folded(*store.documents, vectors=store.vectors)) != picture(old)
    assert picture(IndexCache().get(store.reader(), model_id=MODEL)) == picture(index)


def test_an_index_whose_rows_went_back_is_built_again() -> None:
    store, cache = filled(), IndexCache()
    cache.get(store.reader(), model_id=MODEL)
    del store.documents[8:], store.vectors[8:]
    index = cache.get(store.reader(), model_id=MODEL)
    assert picture(index) == picture(folded(*store.documents, vectors=store.vectors))


def test_an_index_whose_last_row_is_another_one_is_built_again() -> None:
    store, cache = filled(), IndexCache()
    cache.get(store.reader())
    store.documents[10:] = [event(number, f"black coffee {number}") for number in range(60, 70)]
    assert picture(cache.get(store.reader())) == picture(folded(*store.documents))


def test_a_view_that_is_older_than_the_index_gets_the_index() -> None:
    store, cache = filled(), IndexCache()
    older = FakeStore(store.documents[:5], store.vectors[:5])
    older.views = -10
    index = cache.get(store.reader(), model_id=MODEL)
    assert cache.get(older.reader(), model_id=MODEL) is index
    assert cache.get(store.reader(), model_id=MODEL) is index


@pytest.mark.parametrize("at", [0, 10, 40, -1])
def test_a_damaged_image_is_rebuilt(at: int) -> None:
    store, cache = filled(), IndexCache()
    image = cache.image(cache.get(store.reader(), model_id=MODEL), store.tenant.tag)
    whole = bytearray(b"".join(image.blobs))
    whole[at] ^= 1
    store.blobs[image.name] = (bytes(whole),)
    index = IndexCache().get(store.reader(), model_id=MODEL)
    assert picture(index) == picture(folded(*store.documents, vectors=store.vectors))


def test_an_image_of_another_tenant_is_not_taken() -> None:
    store, cache = filled(), IndexCache()
    image = cache.image(cache.get(store.reader(), model_id=MODEL), "aaaaa1")
    store.blobs[image.name] = image.blobs
    store.tenant = replace(store.tenant, tag="bbbbb2")
    store.documents[:] = [event(1, "another life")]
    store.vectors.clear()
    assert picture(IndexCache().get(store.reader(), model_id=MODEL)) == picture(folded(*store.documents))


def test_an_image_of_another_model_is_rebuilt() -> None:
    store, cache = filled(), IndexCache()
    store.blobs[name_snapshot(MODEL, store.tenant.tag)] = cache.image(cache.get(store.reader())).blobs
    index = IndexCache().get(store.reader(), model_id=MODEL)
    assert index.has_vector.all()


def test_saving_is_due_when_the_index_has_moved_far() -> None:
    store, cache = FakeStore([event(number, "tea") for number in range(1, 256)]), IndexCache()
    index = cache.get(store.reader())
    assert not cache.needs_saving(index)
    store.documents += [event(number, "train") for number in range(300, 320)]
    index = cache.get(store.reader())
    assert cache.needs_saving(index)
    cache.image(index)
    assert not cache.needs_saving(index)
    store.documents += [event(number, "train") for number in range(400, 660)]
    grown = cache.get(store.reader())
    assert not cache.needs_saving(grown)
    store.documents += [event(number, "train") for number in range(700, 730)]
    assert cache.needs_saving(cache.get(store.reader()))


def test_the_least_recently_used_is_dropped_first() -> None:
    cache, readers = IndexCache(tenants_max=2), [filled(3) for _ in range(3)]
    for number, store in enumerate(readers):
        store.tenant = replace(store.tenant, user_id=f"u{number}")
    first, second = (cache.get(store.reader()) for store in readers[:2])
    assert cache.get(readers[0].reader()) is first
    cache.get(readers[2].reader())
    assert cache.get(readers[0].reader()) is first
    assert cache.get(readers[1].reader()) is not second


def test_memory_is_bounded_but_the_one_in_use_stays() -> None:
    cache, stores = IndexCache(bytes_max=1), [filled(3), filled(4)]
    stores[1].tenant = replace(stores[1].tenant, user_id="bo")
    first = cache.get(stores[0].reader())
    assert cache.get(stores[0].reader()) is first
    cache.get(stores[1].reader())
    assert cache.get(stores[0].reader()) is not first


def test_what_is_held_is_looked_at_without_building() -> None:
    store, cache = filled(), IndexCache()
    assert cache.held(store.reader(), model_id=MODEL) is None
    assert store.deltas == 0
    index = cache.get(store.reader(), model_id=MODEL)
    store.documents.append(event(40, "late"))
    assert cache.held(store.reader(), model_id=MODEL) is index
    assert cache.held(store.reader()) is None


def test_an_erased_tenant_is_dropped() -> None:
    store, cache = filled(), IndexCache()
    index = cache.get(store.reader())
    cache.drop("bo")
    cache.drop("ana", store="backup.db")
    assert cache.get(store.reader()) is index
    cache.drop("ana")
    assert cache.get(store.reader()) is not index


def test_too_large_a_tenant_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RESIDENT_DOCUMENTS", 10)
    assert len(IndexCache().get(filled(10).reader())) == 10
    store, cache = filled(11), IndexCache()
    with pytest.raises(LimitExceeded):
        cache.get(store.reader())
    asked = store.deltas
    with pytest.raises(LimitExceeded):
        cache.get(store.reader())
    assert store.deltas == asked


def test_heads_that_never_rest_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless(FakeStore):
        @property
        def heads(self) -> IndexPosition:
            return IndexPosition(event=1 << 40)

        def delta(self, heads: IndexPosition, model_id: str | None, limit: int = 10_000) -> Delta:
            there = super().delta(heads, model_id, limit).heads
            return Delta(heads=IndexPosition(max(there.event, heads.event) + 1))

    monkeypatch.setattr("credenda.index.cache._DELTAS_MAX", 50)
    with pytest.raises(Corrupt):
        IndexCache().get(Restless().reader())


def test_searches_go_on_while_others_fold() -> None:
    store, cache = filled(200), IndexCache()
    store.step = 10_000
    cache.get(store.reader(), model_id=MODEL)
    problems: list[str] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            index = cache.get(store.reader(), model_id=MODEL)
            count, scores = len(index), index.lexical(["tea"])
            if scores.shape != (count,) or np.count_nonzero(scores) != count:
                problems.append(f"{np.count_nonzero(scores)} of {count} rows found")
            if len(index.spread(scores)) != count or len(index.nearest(np.ones(70, np.float32), 5)) != 5:
                problems.append("a neighbour is missing")

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(201, 1_201, 5):
        store.documents.extend(event(number + more, f"green tea {number}") for more in range(5))
        cache.get(store.reader(), model_id=MODEL)
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []
    final = cache.get(store.reader(), model_id=MODEL)
    assert picture(final) == picture(folded(*store.documents, vectors=store.vectors))


def test_a_failed_read_leaves_the_cache_usable() -> None:
    store, cache = filled(), IndexCache()
    good = cache.get(store.reader(), model_id=MODEL)
    sound = list(store.documents)
    store.documents.append(event(99, "late"))
    store.vectors.append(vector(event(99, "").code, [1.0, 2.0]))
    with pytest.raises(Corrupt):
        cache.get(store.reader(), model_id=MODEL)
    store.vectors.pop()
    assert picture(good) == picture(folded(*sound, vectors=store.vectors))
    after: ResidentIndex = cache.get(store.reader(), model_id=MODEL)
    assert len(after) == 13

"""Images: what is read back answers alike, and the slightest damage is noticed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credenda import limits
from credenda.index import snapshot
from credenda.index.resident import ResidentIndex
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition

from .build import documents_strategy, event, folded, inflated, memory, vector
from .test_resident import picture


def sample() -> ResidentIndex:
    return folded(
        event(1, "green tea in Linz"),
        event(2, "東京都", session="t"),
        memory(1, "likes tea", state="past"),
        vectors=[vector(event(1, "").code), vector(memory(1, "").code)],
    )


@settings(max_examples=100, deadline=None)
@given(documents_strategy())
def test_an_image_answers_like_the_index(documents: list[Document]) -> None:
    index = folded(*documents, vectors=[vector(document.code) for document in documents[::2]])
    again = ResidentIndex.from_blobs(index.to_blobs())
    assert picture(again) == picture(index)
    assert (again.heads, again.model_id, again.dims) == (index.heads, index.model_id, index.dims)


def test_a_loaded_index_folds_on() -> None:
    more = Delta(
        heads=IndexPosition(5, 5, 5),
        documents=(event(3, "train", speaker="Bo"), memory(1, "likes coffee")),
        states=((event(2, "").code, DocumentState.GONE),),
        vectors=(vector(event(3, "").code), vector(event(1, "").code)),
    )
    index, again = sample(), ResidentIndex.from_blobs(sample().to_blobs())
    index.fold(more)
    again.fold(more)
    assert picture(again) == picture(index)
    assert again.unsaved == 5


def test_images_come_in_pieces_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SNAPSHOT_BLOB_BYTES", 100)
    blobs = sample().to_blobs()
    assert len(blobs) > 1
    assert max(map(len, blobs)) <= 100
    assert picture(ResidentIndex.from_blobs(blobs)) == picture(sample())


def test_no_word_of_a_text_is_in_an_image() -> None:
    whole = inflated(folded(event(1, "xylophone concert"), memory(1, "plays bassoon")).to_blobs())
    for word in ("xylophon", "concert", "bassoon", "play"):
        assert word.encode() not in whole


@given(st.data())
def test_every_flipped_byte_is_noticed(data: st.DataObject) -> None:
    whole = b"".join(sample().to_blobs())
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    with pytest.raises(ValueError, match="index snapshot"):
        ResidentIndex.from_blobs([flipped])


@pytest.mark.parametrize("keep", [0, 5, 15, 16, 200, -1])
def test_a_torn_image_is_noticed(keep: int) -> None:
    with pytest.raises(ValueError, match="index snapshot"):
        ResidentIndex.from_blobs([b"".join(sample().to_blobs())[:keep]])


@pytest.mark.parametrize("version", ["IMAGE_VERSION", "TOKENIZER"])
def test_an_image_of_another_version_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = sample().to_blobs()
    monkeypatch.setattr(snapshot, version, 99)
    with pytest.raises(ValueError, match="another version"):
        ResidentIndex.from_blobs(blobs)


def test_pieces_in_the_wrong_order_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SNAPSHOT_BLOB_BYTES", 100)
    with pytest.raises(ValueError, match="index snapshot"):
        ResidentIndex.from_blobs(sample().to_blobs()[::-1])


def test_an_empty_index_has_an_image_too() -> None:
    again = ResidentIndex.from_blobs(ResidentIndex().to_blobs())
    assert len(again) == 0
    assert again.model_id is None
    again.fold(Delta(heads=IndexPosition(1), documents=(event(1, "tea"),)))
    assert np.count_nonzero(again.lexical(["tea"])) == 1

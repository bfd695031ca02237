"""The hashed embedder: the same everywhere, aware of spelling, and fit for sign bits."""

import subprocess
import sys

import numpy as np
import pytest

from credenda.errors import Invalid
from credenda.providers.embed.hashed import HashedEmbedder

PROGRAM = """
import numpy
from credenda.providers.embed.hashed import HashedEmbedder
print(HashedEmbedder().embed(["Green tea in Linz", "", "\\u6771\\u4eac\\u90fd"]).tobytes().hex())
"""


def test_vectors_are_the_same_in_every_process() -> None:
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        there = np.frombuffer(bytes.fromhex(done.stdout.strip()), np.float32).reshape(3, 384)
        assert np.array_equal(there, HashedEmbedder().embed(["Green tea in Linz", "", "東京都"]))


def test_vectors_are_the_same_in_every_version() -> None:
    vector = HashedEmbedder().embed(["Green tea in Linz"])[0]
    assert vector[:4].tolist() == pytest.approx([-0.09945, 0.04261, 0.07432, -0.04175], abs=1e-5)


def test_case_order_and_repetition_do_not_matter() -> None:
    one, other = HashedEmbedder().embed(["Green TEA, green tea", "tea green"])
    assert np.allclose(one, other, atol=1e-6)


def test_words_that_share_their_spelling_are_near() -> None:
    linz, linzer, graz = HashedEmbedder().embed(["Linz", "Linzer", "Graz"])
    assert float(linz @ linzer) > 0.2
    assert abs(float(linz @ graz)) < 0.2


def test_text_without_words_has_a_vector_of_its_own() -> None:
    empty, marks, tea = HashedEmbedder().embed(["", "?! --", "green tea"])
    assert np.array_equal(empty, marks)
    assert abs(float(empty @ tea)) < 0.2


def test_a_text_of_stop_words_is_not_an_empty_one() -> None:
    empty, said = HashedEmbedder().embed(["", "who is it"])
    assert abs(float(empty @ said)) < 0.5


def test_sign_bits_tell_texts_apart() -> None:
    vectors = HashedEmbedder().embed([f"word{number} thing{number * 3} place{number * 7}" for number in range(200)])
    set_share = (vectors > 0).mean(axis=1)
    assert set_share.min() > 0.35
    assert set_share.max() < 0.65


def test_too_few_dimensions_are_refused() -> None:
    with pytest.raises(Invalid, match="too few"):
        HashedEmbedder(8)

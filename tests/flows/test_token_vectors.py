"""Vectors of tokens are made, compared, moved and removed with the vector of their text."""

from pathlib import Path

import numpy as np
import pytest

from credenda import Credenda
from credenda.providers.embed.minilm import MiniLmEmbedder

TALK = [
    {"role": "person", "name": "Ann", "content": "I love painting lakes in watercolour."},
    {"role": "person", "name": "Bob", "content": "Nice! My marathon is on Sunday."},
    {"role": "person", "name": "Ann", "content": "Good luck with your run."},
    {"role": "person", "name": "Bob", "content": "Thanks. What do you paint next?"},
]
TOKENS = MiniLmEmbedder().token_model_id


def opened(path: Path, user: str = "ana", **settings: object) -> Credenda:
    return Credenda.open(path, user=user, embedder="minilm", workers=False, settings=settings)


def tell(mem: Credenda) -> None:
    mem.remember(TALK, session="s1")
    mem.settle()


def count(mem: Credenda) -> int:
    return mem.stats().vectors_by_model.get(TOKENS, 0)


def test_one_encoding_gives_the_vector_and_the_tokens_of_a_text() -> None:
    model = MiniLmEmbedder()
    texts = ["Ann paints lakes.", "", "word " * 300]
    whole, tokens = model.embed_tokens(texts)
    assert np.array_equal(whole, model.embed(texts))
    assert [len(one.vectors) for one in tokens] == [len(one.spans) for one in tokens]
    assert (len(tokens[1].vectors), len(tokens[2].vectors)) == (1, 128)
    assert [texts[0][start:stop] for start, stop in tokens[0].spans] == ["Ann", "paints", "lakes", "."]
    assert np.allclose(np.linalg.norm(tokens[0].vectors, axis=1), 1, atol=1e-5)


@pytest.mark.requirement("C-019")
def test_talk_between_persons_is_ordered_by_its_tokens_and_explained(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as mem:
        tell(mem)
        hits = mem.search("What does Ann paint?", explain=True).hits
    assert "watercolour" in hits[0].quote
    assert len({round(hit.terms["late"], 3) for hit in hits}) > 1
    assert all(hit.terms["speaker"] in (0, 2.5) for hit in hits)


def test_without_token_vectors_none_are_stored_or_compared(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", token_vectors=False) as mem:
        tell(mem)
        hits = mem.search("What does Ann paint?", explain=True).hits
        assert count(mem) == 0
        assert hits
        assert all("late" not in hit.terms for hit in hits)


def test_a_chat_with_an_assistant_keeps_its_own_weights(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as mem:
        mem.remember("Which paint dries fast?", session="s1")
        mem.remember([{"role": "assistant", "content": "Acrylic paint dries within the hour."}], session="s1")
        mem.settle()
        assert all("late" not in hit.terms for hit in mem.search("acrylic paint", explain=True).hits)


def test_a_store_without_token_vectors_gets_them_by_reembedding(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path, token_vectors=False) as mem:
        tell(mem)
    with opened(path) as mem:
        before = mem.search("What does Ann paint?", explain=True).hits
        assert "watercolour" in before[0].text
        report = mem.data.reembed()
        assert report.embedded == count(mem) > 0
        assert mem.data.reembed().embedded == 0
        assert mem.stats().foreign_vectors == 0
        assert "late" in mem.search("What does Ann paint?", explain=True).hits[0].terms
        assert mem.data.doctor().ok


def test_a_long_text_has_no_token_vectors(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as mem:
        mem.remember([{"role": "person", "name": "Ann", "content": "A long story goes on and on. " * 30}])
        mem.settle()
        made = mem.stats().vectors_by_model
        assert sum(made.values()) > count(mem)
        assert mem.data.reembed().embedded == 0


def test_deleted_words_leave_no_token_vector(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as mem:
        tell(mem)
        before = count(mem)
        (hit, *_) = mem.search("watercolour").hits
        event = hit.id if hit.event else hit.evidence[0].id
        mem.delete(event)
        mem.settle()
        assert count(mem) < before
        assert mem.data.doctor().ok
        assert not any("watercolour" in one.text for one in mem.search("What does Ann paint?").hits)


def test_an_erased_user_leaves_no_token_vector(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as mem:
        tell(mem)
        assert count(mem)
        assert mem.erase(confirm="ana").remaining_matches == 0
    with opened(path) as mem:
        assert count(mem) == 0
    assert TOKENS.encode() not in path.read_bytes()


def test_token_vectors_are_exported_and_imported(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as mem:
        tell(mem)
        before = count(mem)
        mem.data.export(tmp_path / "ana.jsonl")
    with opened(tmp_path / "other.db") as mem:
        mem.data.import_(tmp_path / "ana.jsonl")
        mem.settle()
        assert count(mem) == before
        assert "late" in mem.search("What does Ann paint?", explain=True).hits[0].terms

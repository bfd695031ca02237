"""Index derived memories: their vector, which no job of the write phase adds, and their first retention score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from credenda.errors import Unavailable
from credenda.index.document_names import name_memory_document
from credenda.model.change import Add, Change
from credenda.services.dream.step_context import Night
from credenda.services.usage import rescore_retention
from credenda.storage.store import Vector, Writer
from credenda.write.apply import Applied
from credenda.write.indexing.embed import MissingVector, embed

__all__ = ["prepare_vectors"]


def prepare_vectors(night: Night, changes: Sequence[Change]) -> Callable[[Writer, Applied], None] | None:
    """Embed the texts of new memories, outside any transaction, and return the function that stores the vectors.

    Without an embedder, or if it is unavailable, only words find these memories.
    """
    added = [one for one in changes if isinstance(one, Add)]
    if not added or night.dry_run:
        return None
    vectors = _embed_texts(night, [one.draft.text for one in added])

    def file(writer: Writer, applied: Applied) -> None:
        ids = [applied.ids[one.key] for one in added]
        for name, made in zip(ids, vectors, strict=False):
            for vector in made:
                writer.put(vector._replace(code=name_memory_document(name, writer.tenant.tag)))
        rescore_retention(night.parts, writer, ids)

    return file


def _embed_texts(night: Night, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
    """Embed texts, in their order; [] if that is not possible."""
    embedder = night.parts.embedder
    if embedder is None:
        return []
    wanted = [MissingVector(place, text) for place, text in enumerate(texts)]
    try:
        return embed(embedder, wanted, night.parts.settings.vector_bits, tokens=night.parts.token_embedder)
    except Unavailable:
        return []

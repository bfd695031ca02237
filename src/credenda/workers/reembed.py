"""Vectors of another model for all documents, in addition to the existing ones or in their place."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Final

from credenda.ids import IdKind, parse_id_number
from credenda.providers.embed.protocol import Embedder, TokenEmbedder
from credenda.runtime import Parts
from credenda.storage.store import EventFilter, Job, VectorRemoval
from credenda.write.indexing.embed import EMBED, embed, find_missing_vectors, store_vectors

_EVENTS_A_STEP: Final = 256
"""Events whose texts are embedded together: the more there are, the more of them have equal length and run at once."""
_TEXTS_A_COMMIT: Final = 512
"""Most texts embedded at once: their tokens take 16 MB, and a commit takes some hundredths of a second."""
_MORE_BITS_THAN_ANY: Final = 64
"""No vector is this precise, so that each counts as missing."""


def embed_missing(
    parts: Parts,
    embedder: Embedder,
    progress: Callable[[int, int | None], None] | None = None,
    *,
    again: bool = False,
    dry_run: bool = False,
) -> int:
    """Embed every document without a vector of this model, in short commits, and return their number.

    It deletes nothing: searches continue with the model that the memory was opened with. After an interruption the next
    call continues from there. `progress` gets the number of finished events and the total. With `again` documents that
    have a vector get a new one in its place; a dry run only counts them.
    """
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find_events(EventFilter(newest_first=True, redacted=True, limit=1))
        newest = parse_id_number(found[0].id, IdKind.EVENT, reader.tenant.tag) if found else 0
    count = 0
    for first in range(1, newest + 1, _EVENTS_A_STEP):
        last = min(first + _EVENTS_A_STEP - 1, newest)
        count += _embed_step(parts, embedder, Job(kind=EMBED, first=first, last=last), again=again, dry_run=dry_run)
        if progress is not None:
            progress(last, newest)
    return count


def drop_other_models(parts: Parts, embedder: Embedder) -> None:
    """Delete the vectors of all models but this one, in short commits; an interruption leaves the rest of them."""
    kept = {embedder.model_id, *([embedder.token_model_id] if isinstance(embedder, TokenEmbedder) else [])}
    with parts.store.reader(parts.user_id) as reader:
        found = {name: count for name, count in reader.counts().vectors_by_model.items() if name not in kept}
    for model_id, count in found.items():
        row = VectorRemoval(model_id=model_id, at_us=parts.clock.now_us(), limit=_TEXTS_A_COMMIT)
        for _ in range(0, count, _TEXTS_A_COMMIT):
            parts.store.commit(parts.user_id, lambda writer, row=row: writer.put(row))
    if found:
        parts.store.renew_indexes(parts.user_id)


def _embed_step(parts: Parts, embedder: Embedder, range_of_events: Job, *, again: bool, dry_run: bool) -> int:
    tokens = embedder if isinstance(embedder, TokenEmbedder) and parts.settings.token_vectors else None
    least_bits = _MORE_BITS_THAN_ANY if again else 0
    with parts.store.reader(parts.user_id) as reader:
        name = tokens.token_model_id if tokens else None
        wanted = find_missing_vectors(reader, [range_of_events], embedder.model_id, least_bits=least_bits, tokens=name)
        tag = reader.tenant.tag
    for start in range(0, 0 if dry_run else len(wanted), _TEXTS_A_COMMIT):
        portion = wanted[start : start + _TEXTS_A_COMMIT]
        vectors = list(chain.from_iterable(embed(embedder, portion, parts.settings.vector_bits, tokens=tokens)))
        parts.store.commit(
            parts.user_id,
            lambda writer, vectors=vectors: store_vectors(writer, [range_of_events], vectors, of=tag, last=False),
        )
    return len(wanted)

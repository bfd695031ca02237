"""Embed all texts again with another model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from credenda import model as model_modules
from credenda import workers
from credenda.errors import Invalid
from credenda.providers.embed.factory import open_embedder
from credenda.runtime import Parts

if TYPE_CHECKING:
    pass

__all__ = ["reembed"]


def reembed(
    parts: Parts,
    model: str | None = None,
    *,
    clear_existing: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> model_modules.report.ReembedReport:
    """Embed every text with a model, by default the configured one; raises `Invalid` if there is none."""
    embedder = parts.embedder if model is None else open_embedder(model, parts.settings)
    if embedder is None:
        raise Invalid("there is no model to embed with", why="words alone are searched", fix='name one, like "minilm"')

    embedded = workers.reembed.embed_missing(parts, embedder, progress, again=clear_existing, dry_run=dry_run)
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    return model_modules.report.ReembedReport(
        model_id=embedder.model_id,
        embedded=embedded,
        vectors_by_model=counts.vectors_by_model,
        dry_run=dry_run,
        in_use=parts.embedder is not None and parts.embedder.model_id == embedder.model_id,
    )

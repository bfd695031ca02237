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
    drop_others: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> model_modules.report.ReembedReport:
    """Embed every text with a model, by default the configured one; raises `Invalid` if there is none.

    With `drop_others` the vectors of other models are deleted then; raises `Invalid` unless the model is in use.
    """
    embedder = parts.embedder if model is None else open_embedder(model, parts.settings)
    if embedder is None:
        raise Invalid("there is no model to embed with", why="words alone are searched", fix='name one, like "minilm"')
    in_use = parts.embedder is not None and parts.embedder.model_id == embedder.model_id
    if drop_others and not in_use:
        raise Invalid(
            "the vectors in use cannot be deleted",
            why=f"searches do not use {embedder.model_id} yet",
            fix="open the memory with that model, and delete the others then",
        )
    embedded = workers.reembed.embed_missing(parts, embedder, progress, again=clear_existing, dry_run=dry_run)
    if drop_others and not dry_run:
        workers.reembed.drop_other_models(parts, embedder)
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    return model_modules.report.ReembedReport(
        model_id=embedder.model_id,
        embedded=embedded,
        vectors_by_model=counts.vectors_by_model,
        dry_run=dry_run,
        in_use=in_use,
    )

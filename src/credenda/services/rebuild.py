"""Rebuild the beliefs from the change log, or from the journal with the current rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from credenda import model as model_modules
from credenda import services, workers
from credenda.errors import Corrupt, Invalid
from credenda.manage.rebuild import LogDifferences, compare_with_log, repair_rows
from credenda.model.evaluation import RebuildDifference, RebuildReport
from credenda.model.report import Finding
from credenda.providers.embed.factory import open_embedder
from credenda.runtime import Parts
from credenda.text.recalled_block import count_noun

_LOG_CHECKS: Final = frozenset(
    {
        *("change_numbers", "change_rows"),
        *("journal_numbers", "journal_rows", "journal_chain", "journal_text", "file"),
    }
)
"""Checks that must pass before a rebuild from the journal and the log."""
_NAMED: Final = 5
_VECTORS: Final = "vector_checksums"


def rebuild(parts: Parts, *, reextract: bool = False, model: bool = False, dry_run: bool = False) -> RebuildReport:
    """Rebuild memories, evidence and contests from the change log, and replace the rows that differ.

    All differences are replaced in one transaction, while searches continue; an interruption changes nothing. Indexes
    are rebuilt. With `reextract` the beliefs are derived from the journal instead, by rules or by the `model`. Raises
    `Corrupt`, and changes nothing, if the journal or log is damaged.
    """
    if model and not reextract:
        raise Invalid("a model can only be used with reextract", fix="add reextract (--reextract)")
    # Raise `Corrupt` if the journal or log is damaged: the rows may then be the only remaining copy.
    wrong = [one for one in parts.store.check(parts.user_id) if one.check in _LOG_CHECKS]
    if wrong:
        raise Corrupt(
            "nothing can be rebuilt from a damaged log",
            why=f"{wrong[0].check}: {wrong[0].detail}",
            fix="restore a backup; nothing was changed",
        )
    if reextract:
        return services.restore_from_files.reextract(parts, dry_run=dry_run, model=model)
    with parts.store.reader(parts.user_id) as reader:
        found = compare_with_log(reader)
    if not dry_run:
        put_right(parts, found)
        check_rows(parts, repair=True)
        parts.store.renew_indexes(parts.user_id)
        parts.indexes.drop(parts.user_id, store=parts.store_name)
    return RebuildReport(
        reextract=False,
        dry_run=dry_run,
        compared=found.compared,
        differences=tuple(_list_differences(found)),
        applied=bool(found) and not dry_run,
        unexplained=found.unexplained,
        redacted=found.redacted,
        unsupported=found.unsupported,
    )


def check_rows(parts: Parts, *, repair: bool) -> list[Finding]:
    """Verify the file and the rows; the repair makes damaged vectors again, if there is a model to embed with."""
    findings = parts.store.check(parts.user_id, repair=repair)
    if parts.embedder is not None and any(one.check == _VECTORS and one.repaired for one in findings):
        workers.handlers.embed_missing(parts, parts.embedder)
    return findings


def put_right(parts: Parts, found: LogDifferences) -> int:
    """Replace the rows that differ from the change log; return how many."""
    if not found:
        return 0
    now_us = parts.clock.now_us()
    with parts.active_calls:
        return parts.store.commit(parts.user_id, lambda writer: repair_rows(writer, found, now_us))


def _list_differences(found: LogDifferences) -> list[RebuildDifference]:
    reason = "the rows differ from the change log"
    return [
        *(
            RebuildDifference(id=name, what="refold", fields=names, reason=reason)
            for name, names in found.memories.items()
        ),
        *(RebuildDifference(id=name, what="refold", fields=("contest",), reason=reason) for name in found.contests),
    ]


def log_findings(parts: Parts, *, repair: bool) -> list[Finding]:
    """Replay the change log and compare it with the rows; repair the rows if requested and the log is sound."""
    with parts.store.reader(parts.user_id) as reader:
        found = compare_with_log(reader)
    findings: list[Finding] = []
    if found:
        names = [*found.memories, *found.contests]
        fields = sorted(
            {name for names in found.memories.values() for name in names} | ({"contest"} if found.contests else set())
        )
        sound = repair and not any(one.check in _LOG_CHECKS for one in parts.store.check(parts.user_id))
        if sound:
            put_right(parts, found)
            parts.indexes.drop(parts.user_id, store=parts.store_name)
        findings.append(
            Finding(
                check="change_fold",
                detail=f"{count_noun(len(names), 'row', 'differs')} from the change log in {', '.join(fields)}",
                repaired=sound,
                where=", ".join([*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])]),
                fix="run `credenda rebuild` to rebuild them from the change log",
            )
        )
    lost = [one for one in found.unexplained if one.startswith("k")]
    if lost:
        findings.append(
            Finding(
                check="change_log",
                detail=f"{count_noun(len(lost), 'contest')} that no change in the log explains",
                where=", ".join(lost[:_NAMED]),
                fix="restore a backup; they were not changed",
            )
        )
    return findings


# Embed all texts again with another model.


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
    embedded = workers.handlers.embed_missing(parts, embedder, progress, again=clear_existing, dry_run=dry_run)
    if drop_others and not dry_run:
        workers.handlers.drop_other_models(parts, embedder)
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    return model_modules.report.ReembedReport(
        model_id=embedder.model_id,
        embedded=embedded,
        vectors_by_model=counts.vectors_by_model,
        dry_run=dry_run,
        in_use=in_use,
    )

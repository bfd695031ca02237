"""Verification of one tenant's rows in Postgres: the journal with its chain, and derived rows with their sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from credenda.storage.damage import IMPOSSIBLE, compute_checksum, is_sound_vector, name_document
from credenda.storage.postgres.archive import dump_rows
from credenda.storage.postgres.connections import Session
from credenda.storage.postgres.words import is_agreeing, rebuild_words
from credenda.storage.sql import row_checks
from credenda.storage.sql.row_checks import CHECKS, RESTORE, check_journal_chain, report_damaged, run_check
from credenda.storage.sql.run import StatementRunner
from credenda.storage.sql.table_rows import TABLES
from credenda.storage.store import Finding, TenantRecord
from credenda.storage.tenant_transfer import DamagedRow

__all__ = ["check_rows", "repair_rows"]

_TOMBSTONE_CHARACTERS: Final = 8
_WORDS: Final = Finding(
    check="full_text",
    detail="the table of words differs from the rows it is derived from",
    where="the words of this user",
    fix="run `credenda doctor --repair`, which makes it afresh",
)


def check_rows(session: Session, run: StatementRunner, tenant: TenantRecord) -> list[Finding]:
    """Return all findings; an empty list means that all checks passed."""
    findings = _complete("rows", _check_cells(session, tenant))
    findings += _complete("journal_chain", check_journal_chain(run, tenant))
    for name in CHECKS:
        findings += _complete(name, run_check(name, _bind_checks(run)))
    return findings + _complete("full_text", iter([] if is_agreeing(session, run, tenant.user_id) else [_WORDS]))


def repair_rows(run: StatementRunner, findings: Iterable[Finding]) -> list[Finding]:
    """Delete or make afresh the derived rows that findings name, inside the caller's transaction."""
    found = list(findings)
    if _WORDS in found:
        rebuild_words(run)
        found[found.index(_WORDS)] = replace(_WORDS, repaired=True)
    return row_checks.repair_rows(lambda name: _repair(run, name), _bind_checks(run), found)


def _repair(run: StatementRunner, name: str) -> None:
    if name == "drop_altered_vectors":
        for row in _list_altered_vectors(run):
            run("drop_vector", model_id=row[1], code=row[0])
    else:
        run(name, at_us=0)


def _complete(check: str, found: Iterator[Finding]) -> list[Finding]:
    """Collect the findings of a check; damage that ends the check is one of them."""
    done: list[Finding] = []
    try:
        for finding in found:
            done.append(finding)  # noqa: PERF402 - those before the damage are kept
    except IMPOSSIBLE as error:
        detail = f"this check could not be completed ({type(error).__name__})"
        done.append(Finding(check=check, detail=detail, where="the database", fix=RESTORE))
    return done


def _check_cells(session: Session, tenant: TenantRecord) -> Iterator[Finding]:
    """Find the rows that cannot be decoded; vectors have a check with a repair."""
    damaged: list[DamagedRow] = []
    for _ in dump_rows(session, tenant.user_id, [one for one in TABLES if one != "embeddings"], damaged):
        pass
    yield from report_damaged(damaged)


def _bind_checks(run: StatementRunner) -> Callable[[str], Iterable[str]]:
    """Return what names the rows that a check finds wrong; checksums are computed here, not in the database."""

    def name_rows(check: str) -> Iterable[str]:
        if check == "vector_checksums":
            return [name_document(row[0]) for row in _list_altered_vectors(run)]
        if check == "tombstone_checksums":
            return [
                f"tombstone {row['digest'].hex()[:_TOMBSTONE_CHARACTERS].upper()}"
                for row in run("tombstone_cells")
                if row["checksum"] != compute_checksum(*tuple(row)[:-1])
            ]
        return [str(row[0]) for row in run(f"check_{check}")]

    return name_rows


def _list_altered_vectors(run: StatementRunner) -> list[tuple[int, str]]:
    return [(row[0], row[1]) for row in run("vector_cells") if not is_sound_vector(*row)]

"""Checks of one tenant's rows: whether derived rows agree with their sources, and the journal with its chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda.storage.damage import SAVE_THE_REST
from credenda.storage.sql.journal import GENESIS, compute_chain_link, compute_content_hmac
from credenda.storage.sql.run import StatementRunner
from credenda.storage.store import Finding, TenantRecord
from credenda.storage.tenant_transfer import DamagedRow

__all__ = [
    "CHECKS",
    "RESTORE",
    "NameRows",
    "RowCheck",
    "check_journal_chain",
    "name_first",
    "repair_rows",
    "report_damaged",
    "run_check",
]

_SHOWN: Final = 5
"""The number of rows that a finding names; the others are counted."""
RESTORE: Final = "restore an earlier backup, and keep the file to find the lost rows"
_ROW_CHECKS: Final = {"events": "journal_rows", "passages": "journal_rows", "changes": "change_rows"}
_REBUILD: Final = "run `credenda rebuild`, which restores it from the change log"
_REPAIR: Final = "run `credenda doctor --repair`, which deletes them"

NameRows = Callable[[str], Iterable[str]]
"""Returns the names of the rows that a check finds wrong."""


class RowCheck(NamedTuple):
    """A check for invalid rows: their description, and the fix. The statement `check_NAME` names the rows.

    The statements `repair` delete rows that are derived or no longer of use; they never change the journal or the log.
    """

    what: str
    fix: str
    repair: tuple[str, ...] = ()


CHECKS: Final[Mapping[str, RowCheck]] = {
    "current_version": RowCheck("memories without exactly one current version", _REBUILD),
    "evidence": RowCheck(
        "pieces of evidence of a missing memory or event",
        f"{_REBUILD}; `credenda doctor --repair` deletes evidence of missing memories",
        ("drop_lost_evidence",),
    ),
    "successor": RowCheck("memories superseded by a missing one", _REBUILD),
    "contests": RowCheck("contests of a missing memory", _REBUILD),
    "change_log": RowCheck("memories that no change in the log explains", RESTORE),
    "change_numbers": RowCheck("gaps in the log, where changes are missing", RESTORE),
    "journal_numbers": RowCheck("gaps in the journal, where events are missing", RESTORE),
    "passages": RowCheck("passages of missing events", _REPAIR, ("drop_lost_passages",)),
    "vectors": RowCheck("vectors of missing or redacted documents", _REPAIR, ("keep_vector_head", "drop_lost_vectors")),
    "accesses": RowCheck("impressions of missing memories", _REPAIR, ("drop_lost_accesses",)),
    "jobs": RowCheck("jobs for missing events", _REPAIR, ("drop_lost_jobs",)),
    "vector_checksums": RowCheck(
        "vectors that do not match their length or checksum",
        "run `credenda doctor --repair`, which makes them again",
        ("keep_vector_head", "drop_altered_vectors"),
    ),
    "tombstone_checksums": RowCheck(
        "tombstones that do not match their checksum, so that a deleted text may be stated again", RESTORE
    ),
    "dead_jobs": RowCheck(
        "jobs gave up after too many attempts", "see `credenda stats`; their messages are stored verbatim"
    ),
}


def run_check(name: str, name_rows: NameRows) -> Iterator[Finding]:
    """Yield the finding of a check, if it names any row."""
    check = CHECKS[name]
    found = list(name_rows(name))
    if found:
        yield Finding(check=name, detail=f"{len(found)} {check.what}", where=name_first(found), fix=check.fix)


def name_first(names: Sequence[str]) -> str:
    """Return the first of some names."""
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])


def report_damaged(damaged: Sequence[DamagedRow]) -> Iterator[Finding]:
    """Yield a finding for each table with rows that cannot be decoded."""
    for table in dict.fromkeys(one.table for one in damaged):
        names = [one.key for one in damaged if one.table == table]
        yield Finding(
            check=_ROW_CHECKS.get(table, "rows"),
            detail=f"{len(names)} rows of {table} cannot be read",
            where=f"{table}: {name_first(names)}",
            fix=SAVE_THE_REST,
        )


def repair_rows(run: Callable[[str], object], name_rows: NameRows, findings: Iterable[Finding]) -> list[Finding]:
    """Delete the derived rows that findings name, inside the caller's transaction; return the findings after that.

    A finding that the repair cannot fix is found once more and stays unrepaired.
    """
    done: list[Finding] = []
    for finding in findings:
        check = CHECKS.get(finding.check)
        if check is None or not check.repair:
            done.append(finding)
            continue
        for statement in check.repair:
            run(statement)
        left = next(run_check(finding.check, name_rows), None)
        done.append(replace(finding, repaired=True) if left is None else left)
    return done


def check_journal_chain(run: StatementRunner, tenant: TenantRecord) -> Iterator[Finding]:
    """Yield the first break of the journal's chain, and every event whose text is not what was recorded."""
    previous = GENESIS
    for row in run("journal_links"):
        emptied = row["redacted_at"] is not None and not row["text"]  # it has lost the names that its link covers
        if not emptied and compute_chain_link(previous, dict(row)) != row["chain_hash"]:
            yield Finding(
                check="journal_chain",
                detail=f"the chain of the journal breaks at event {row['id']}",
                where=f"e{row['id']}",
                fix=RESTORE,
            )
            return
        if row["redacted_at"] is None and compute_content_hmac(tenant.key, row["text"]) != row["content_hmac"]:
            yield Finding(
                check="journal_text",
                detail=f"the text of event {row['id']} is not what was recorded",
                where=f"e{row['id']}",
                fix=RESTORE,
            )
        previous = row["chain_hash"]

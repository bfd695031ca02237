"""Removal of a deleted memory's words from the change log."""

from __future__ import annotations

from collections.abc import Iterable

from credenda.model.contest import ContestCase
from credenda.model.memory import Memory
from credenda.storage import rows
from credenda.storage.sqlite.replay_rows import StatementRunner
from credenda.text.normalize import normalise_attribute, normalise_name

__all__ = ["redact_log"]


def redact_log(run: StatementRunner, number: int, memory: Memory, contests: Iterable[ContestCase]) -> None:
    """Keep only the wordless part of a memory's entries, and nothing of entries about contests of its slot.

    The caller logs afterwards what remains of those contests.
    """
    for row in run("changes_of_memories", low=number, high=number + 1).fetchall():
        run("redact_change", id=row["id"], delta=rows.remove_words_from_delta(row["delta"]))
    run("redact_contest_log", public_id=memory.id)
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    for contest in contests:
        if (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == pair:
            run("redact_contest_log", public_id=contest.id)

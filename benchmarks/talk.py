"""How right the beliefs from real conversations are: `credenda bench talk`.

Each conversation is stored whole, turn by turn, for a user of its own, with `remember` and `settle`; the result is read
with `list`, `why` and `search` and counted against gold that a careful reader wrote (`talk_gold`, `talk_figures`).
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.locomo import Conversation, find_turns, load_conversations, store_conversation
from benchmarks.talk_figures import Answer, Gold, StoredMemory, Tally, compute_figures, count_talk, load_gold
from credenda import Credenda, CredendaError, Invalid
from credenda.model.job import JobState
from credenda.model.memory import Memory

Note = Callable[[str], None]
_STATUSES: Final = ("active", "challenged", "superseded", "merged")
_PAGE: Final = 50
_HITS: Final = 10


def run_talk(
    data: Path,
    gold: Path,
    *,
    names: Sequence[str] = (),
    embedder: str = "auto",
    llm: str | None = None,
    note: Note,
) -> dict[str, object]:
    """Store the conversations that have gold in the folder `gold`, and return the document of `bench talk --json`.

    `names` limits the run to these conversations. Raise `Invalid` if no conversation has gold.
    """
    pairs = load_pairs(data, gold, names)
    tallies: dict[str, Tally] = {}
    for conversation, wanted in pairs:
        note(f"{conversation.name}: {len(conversation.turns)} turns, {len(wanted.claims)} gold claims")
        with open_store(conversation, embedder, llm) as memory:
            store_conversation(memory, conversation)
            _check_jobs(memory, conversation.name)
            tallies[conversation.name] = count_memories(memory, conversation, wanted)
    return make_document(pairs, tallies, embedder=embedder, llm=llm or "none")


def _check_jobs(memory: Credenda, name: str) -> None:
    """Raise `CredendaError` if a job failed: the verbatim memories of its messages would be counted as extracted."""
    failed = memory.jobs.list(state=JobState.DEAD, limit=1).items
    if failed:
        raise CredendaError(
            f"{failed[0].kind} failed in {name}: {failed[0].error}",
            why="the figures would count memories that no extractor made",
            fix="mend the extractor, and count again",
        )


def load_pairs(data: Path, gold: Path, names: Sequence[str]) -> list[tuple[Conversation, Gold]]:
    """Load the conversations that have gold; raise `Invalid` if there are none."""
    pairs = [
        (conversation, found)
        for conversation in load_conversations(data)
        if (not names or conversation.name in names) and (found := load_gold(gold, conversation.name)) is not None
    ]
    if not pairs:
        what = f"no conversation of {data} has gold in {gold}"
        raise Invalid(what, why="nothing could be counted", fix="name files as NAME.claims.jsonl")
    return pairs


@contextmanager
def open_store(conversation: Conversation, embedder: str, llm: object) -> Generator[Credenda]:
    """Open a new store for one conversation, and delete it afterwards."""
    with tempfile.TemporaryDirectory(prefix="credenda-bench-") as folder:
        path = Path(folder) / "memory.db"
        with Credenda.open(path, user=conversation.name, embedder=embedder, llm=llm, workers=False) as memory:
            yield memory


def make_document(
    pairs: Sequence[tuple[Conversation, Gold]], tallies: Mapping[str, Tally], *, embedder: str, llm: str
) -> dict[str, object]:
    """Return the document of `--json` from the counts of each conversation."""
    total = sum((tally.counts for tally in tallies.values()), Counter[str]())
    return {
        "embedder": embedder,
        "llm": llm,
        "turns": sum(len(conversation.turns) for conversation, _ in pairs if conversation.name in tallies),
        "figures": compute_figures(total),
        "conversations": {name: compute_figures(tally.counts) for name, tally in tallies.items()},
        "retirements": [{"conv": name} | row for name, tally in tallies.items() for row in tally.retirements],
        "unsupported": [{"conv": name} | row for name, tally in tallies.items() for row in tally.unsupported],
        "missed": [{"conv": name} | row for name, tally in tallies.items() for row in tally.missed],
        "lost_clauses": [{"conv": name} | row for name, tally in tallies.items() for row in tally.lost_clauses],
    }


def count_memories(memory: Credenda, conversation: Conversation, gold: Gold) -> Tally:
    """Count the memories of a stored conversation against its gold."""
    held = _list_memories(memory)
    return count_talk(gold, held, conversation.turns, lambda question: _search(memory, question))


def _search(memory: Credenda, question: str) -> Answer:
    result = memory.search(question, limit=_HITS, record_access=False)
    return Answer(
        texts=tuple(hit.quote for hit in result.hits),
        memories=tuple(hit.memory is not None for hit in result.hits),
        turns=frozenset(find_turns(result.hits)),
        abstained=result.abstained,
    )


def _list_memories(memory: Credenda) -> list[StoredMemory]:
    found: list[StoredMemory] = []
    for status in _STATUSES:
        cursor: str | None = None
        while True:
            page = memory.list(status=status, limit=_PAGE, cursor=cursor)
            found += [_describe(memory, one) for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
    return found


def _describe(memory: Credenda, one: Memory) -> StoredMemory:
    why = memory.why(one.id)
    return StoredMemory(
        id=one.id,
        status=one.status.value,
        entity=one.entity or "",
        attribute=one.attribute or "",
        value=one.value or "",
        text=one.text,
        stance=one.stance.value,
        confidence=one.confidence or 0.0,
        superseded_by=one.superseded_by,
        turns=tuple(event.external_id for event, _, _ in why.evidence if event.external_id is not None),
        reason=next((change.reason for change in reversed(why.changes) if change.memory_id == one.id), ""),
    )

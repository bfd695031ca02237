"""Whatever a memory has been through, its copy exports the same bytes."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credenda import Conflict, Credenda, MemoryUnit, NotFound, bootstrap
from credenda.model.change import ContestCase, ContestState
from credenda.storage.store import Access, Job, JobStatus, Redaction, Snapshot, Tombstone, Vector, Writer
from credenda.testing import ManualClock

words = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(lambda text: text.strip())
names = st.text(st.characters(categories=("L",)), min_size=1, max_size=8)
sayings = st.one_of(
    words,
    st.sampled_from(
        ["I live in Linz.", "I moved to Graz.", "I prefer tea.", "I prefer coffee.", "I'm allergic to peanuts."]
    ),
    st.integers(2, 5).map(lambda count: "\n\n".join(f"w{place} " * 150 for place in range(count))),
)


@dataclass(frozen=True)
class Deed:
    """One call, and with what."""

    kind: str
    text: str = ""
    value: str = "x"
    number: int = 0


deeds = st.one_of(
    st.builds(Deed, kind=st.just("say"), text=sayings),
    st.builds(Deed, kind=st.just("hold"), text=words, value=names),
    st.builds(Deed, kind=st.sampled_from(["settle", "look"])),
    st.builds(Deed, kind=st.sampled_from(["forget", "delete", "unsay", "pin", "useful"]), number=st.integers(0, 20)),
)


def do(mem: Credenda, deed: Deed, said: list[str]) -> None:
    """Carry out one deed; what the memory refuses is no matter here."""
    memories = mem.list(status=None, limit=50).items
    memory_id = memories[deed.number % len(memories)].id if memories else ""
    match deed.kind:
        case "say":
            said += mem.remember(deed.text, session="s", metadata={"said": deed.text}).event_ids
        case "hold":
            mem.store(MemoryUnit(text=deed.text, entity="user", attribute="drink", value=deed.value))
        case "settle":
            mem.settle()
        case "look":
            mem.search("Where do I live?", session="s")
        case "forget" if memories:
            mem.forget(memory_id)
        case "delete" if memories:
            mem.delete(memory_id)
        case "unsay" if said:
            mem.delete(said[deed.number % len(said)])
        case "pin" if memories:
            mem.manage.pin(memory_id)
        case "useful" if memories:
            mem.feedback(memory_id, useful=True)
        case _:
            pass


def twice(folder: Path, mem: Credenda, clock: ManualClock) -> tuple[bytes, bytes]:
    """Export a memory, and a copy made of that export."""
    first, second = folder / "first.jsonl.gz", folder / "second.jsonl.gz"
    mem.data.export(first)
    with Credenda.open(folder / "copy.db", user="ana", clock=clock, workers=False) as copy:
        copy.data.import_(first)
        assert copy.data.doctor().ok == mem.data.doctor().ok
        copy.data.export(second)
    return first.read_bytes(), second.read_bytes()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(story=st.lists(deeds, max_size=12), embedder=st.sampled_from(["none", "hashed"]))
def test_any_story_survives_the_journey(story: list[Deed], embedder: str) -> None:
    clock = ManualClock("2026-03-01")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opened = Credenda.open(folder / "a.db", user="ana", clock=clock, embedder=embedder, workers=False)
        with opened as mem:
            said: list[str] = []
            for deed in story:
                try:
                    do(mem, deed, said)
                except (Conflict, NotFound):
                    continue
                finally:
                    clock.advance(timedelta(days=1))
            first, second = twice(folder, mem, clock)
        assert first == second


def beside(writer: Writer, said: str, numbers: list[int]) -> None:
    """File what no public call makes by itself: jobs in every state, vectors of two models, contests, a redaction."""
    first, second, third = [*numbers, 1, 2, 3][:3]
    for place, status in enumerate(JobStatus):
        leased = status is JobStatus.PROCESSING
        job = Job(
            kind=said,
            first=1,
            last=1,
            status=status,
            attempts=abs(first) % 9,
            error=said,
            lease_owner="host:1:x" if leased else "",
            lease_until_us=7 if leased else 0,
            idempotency_key=f"{said}{place}",
        )
        writer.put(job)
    for model in ("tiny", said):
        for code in {1 << 12, 2 << 12}:
            data = bytes([abs(second) % 256] * 4)
            writer.put(Vector(code=code, model_id=model, dims=2, bits=16, scale=1.0 / 3.0, data=data))
    writer.put(Tombstone(digest=bytes(range(32)), kind="text", normaliser=1, created_us=third))
    writer.put(Snapshot(name="index:none", blobs=(b"left behind",)))
    for state in ContestState:
        contest = ContestCase(
            id="",
            speaker="user",
            entity=said,
            attribute="drink",
            scope=None,
            type_class="belief",
            values=(said, "ä"),
            memory_ids=(),
            state=state,
            question=f"{said}?",
            opened_us=first,
            scopes={"default": said},
        )
        writer.put(contest)


@settings(max_examples=20, deadline=None)
@given(said=words, numbers=st.lists(st.integers(-(1 << 62), 1 << 62), max_size=3), blank=st.booleans())
def test_any_rows_survive_the_journey(said: str, numbers: list[int], *, blank: bool) -> None:
    clock = ManualClock("2026-03-01")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Credenda.open(folder / "a.db", user="ana", clock=clock, embedder="none", workers=False) as mem:
            kept = mem.store(MemoryUnit(text="I prefer tea", entity="user", attribute="drink", value="tea"))
            gone = mem.remember("words " * 400).event_ids[0]
            shown = Access(memory_id=kept.id, session=said, day=3, at_us=9, shown=1, useful=-1)
            with closing(bootstrap.open_store(folder / "a.db", clock=clock)) as store:
                store.commit("ana", lambda writer: beside(writer, said, numbers))
                store.commit("ana", lambda writer: writer.put(shown))
                if blank:
                    store.commit("ana", lambda writer: writer.put(Redaction(id=gone, at_us=5)))
            first, second = twice(folder, mem, clock)
        assert first == second
        with closing(bootstrap.open_store(folder / "copy.db")) as copy, copy.reader("ana") as reader:
            assert reader.snapshot("index:none") == ()

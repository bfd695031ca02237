"""Two tenants in one store never meet, whatever the operation: each method and each kind of row, one by one."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import get_args

import pytest

from credenda import ids
from credenda.current_call import use_author
from credenda.errors import LimitExceeded, NotFound
from credenda.model.change import ChangeKind, Support
from credenda.model.claim import Span
from credenda.model.core import Item, ItemRemoval
from credenda.model.evaluation import JUDGED
from credenda.model.governance import LegalHold, RetentionPolicy
from credenda.model.job import DutyRun
from credenda.model.memory import Status
from credenda.storage.sql.reader import TaskProgress, UsageView
from credenda.storage.store import (
    Access,
    ChangeFilter,
    EventFilter,
    IndexPosition,
    Job,
    JobFilter,
    JobStatus,
    MemoryFilter,
    Prune,
    Reader,
    Redaction,
    ReplayedRows,
    Retention,
    Rewording,
    Row,
    SchedulerLease,
    Snapshot,
    Spend,
    Store,
    Surprise,
    Tombstone,
    VectorCopies,
    VectorRemoval,
    VectorView,
    Watermark,
    Writer,
    pack_code,
)
from credenda.storage.transfer import TenantTransfer

from .build import ANA, BEN, add, because, contested, current, ended, held, logged, put, said, see, vector

ANA_DIGEST, BEN_DIGEST = b"a" * 32, b"b" * 32


@dataclass(frozen=True, slots=True)
class Holdings:
    """What one tenant has filed; `mark` is a word that only its rows hold."""

    mark: str
    event: str
    memory: str
    change: str
    contest: str
    job: str


def furnish(store: Store, user_id: str, mark: str, digest: bytes) -> Holdings:
    """File one of everything; everything bears the mark."""
    with use_author(mark):
        return _furnish(store, user_id, mark, digest)


def _furnish(store: Store, user_id: str, mark: str, digest: bytes) -> Holdings:
    (event,) = put(store, user_id, said(f"The word is {mark}.", session=mark, topic=mark))
    memory, other = add(
        store, user_id, held(f"Knows {mark}.", entity=mark, attribute=mark, value=mark), held(f"More {mark}.")
    )
    put(store, user_id, because(memory, event), ended(current(store, user_id, other), superseded_by=memory))
    rows: list[Row] = [
        logged(ChangeKind.PIN, memory, reason=mark, cause=event),
        contested(memory, other, question=mark, values=(mark,)),
        Job(kind="extract", first=1, last=1, idempotency_key=mark, error=mark),
        vector(pack_code(1, memory=False), mark[:4].encode()),
        Tombstone(digest=digest, kind="text", normaliser=1, created_us=1),
        Access(memory_id=memory, session=mark, day=1, at_us=1, shown=1, useful=1),
        Access(memory_id=memory, session=mark, day=2, at_us=2, shown=1),
        Snapshot(name="words", blobs=(mark.encode(),)),
        Retention(scores={memory: 0.5}),
        Surprise(memory_id=memory, score=0.5, importance=0.5),
        Watermark(name=mark, value=7, at_us=1),
        DutyRun(name=mark, started_us=1, took_us=1, result=mark),
    ]
    change, contest, job, *_ = put(store, user_id, *rows)
    return Holdings(mark=mark, event=event, memory=memory, change=change, contest=contest, job=job)


@pytest.fixture
def both(store: Store) -> tuple[Store, Holdings, Holdings]:
    """Ana and Ben hold as much of everything, under the same numbers."""
    return store, furnish(store, ANA, "anaword", ANA_DIGEST), furnish(store, BEN, "benword", BEN_DIGEST)


def everything(reader: Reader) -> str:
    """Everything that a tenant may read, as one text."""
    codes = [pack_code(n, memory=flag) for n in (1, 2) for flag in (False, True)]
    memories = reader.find(MemoryFilter())
    ids = [memory.id for memory in memories]
    answers = (
        reader.find_events(EventFilter(redacted=True)),
        memories,
        reader.find(MemoryFilter(known_at_us=1 << 60)),
        reader.versions(ids),
        reader.evidence(memory_ids=ids),
        reader.authors(
            [event.id for event in reader.find_events(EventFilter())],
            [change.id for change in reader.changes(ChangeFilter())],
        ),
        reader.changes(ChangeFilter()),
        reader.contests(),
        reader.delta(IndexPosition(), "tiny"),
        reader.nominate(["anaword", "benword", "word"], 50),
        reader.vectors(codes, "tiny"),
        reader.vector_data(codes, "tiny"),
        reader.by_vector.page("tiny", 0, 99),
        reader.by_vector.nearest("tiny", (1.0,), 9),
        reader.tombstoned([ANA_DIGEST, BEN_DIGEST]),
        reader.snapshot("words"),
        reader.jobs(JobFilter()),
        reader.counts(),
        reader.count_fields(MemoryFilter(), most=50, unused_before_us=1 << 60),
        reader.usage.accesses(ids),
        reader.usage.recalled(0, 1 << 30, 50),
        reader.usage.regards(ids),
        reader.usage.occasions(),
        reader.duties.prunable(1 << 60, 1 << 60),
        reader.usage.active_days(),
        reader.duties.runs(),
        reader.duties.count_waiting({"extract", "embed"}),
        reader.duties.leases(0),
        reader.duties.watermark("anaword") if reader.tenant.user_id == ANA else reader.duties.watermark("benword"),
    )
    return repr(answers)


BY_FOREIGN_ID: dict[str, Callable[[Reader, Holdings], object]] = {
    "events": lambda reader, ben: reader.events([ben.event]),
    "memories": lambda reader, ben: reader.memories([ben.memory]),
    "memories known at": lambda reader, ben: reader.memories([ben.memory], known_at_us=1 << 60),
    "versions": lambda reader, ben: reader.versions([ben.memory]),
    "evidence of memories": lambda reader, ben: reader.evidence(memory_ids=[ben.memory]),
    "evidence of events": lambda reader, ben: reader.evidence(event_ids=[ben.event]),
    "authors of events": lambda reader, ben: reader.authors([ben.event], []),
    "authors of changes": lambda reader, ben: reader.authors([], [ben.change]),
    "changes": lambda reader, ben: reader.changes(ChangeFilter(memory_ids=(ben.memory,))),
    "contests": lambda reader, ben: reader.contests(id=ben.contest),
    "jobs": lambda reader, ben: reader.jobs(JobFilter(id=ben.job)),
    "accesses": lambda reader, ben: reader.usage.accesses([ben.memory]),
    "regards": lambda reader, ben: reader.usage.regards([ben.memory]),
}

BY_FOREIGN_WORD: dict[str, Callable[[Reader, Holdings], object]] = {
    "find_events of a session": lambda reader, ben: reader.find_events(EventFilter(session=ben.mark)),
    "find_events of a topic": lambda reader, ben: reader.find_events(EventFilter(topic=ben.mark, redacted=True)),
    "find of a pair": lambda reader, ben: reader.find(MemoryFilter(pair=(ben.mark, ben.mark))),
    "find of an entity": lambda reader, ben: reader.find(MemoryFilter(entity=ben.mark)),
    "find of a text": lambda reader, ben: reader.find(MemoryFilter(same_text_as=f"Knows {ben.mark}.")),
    "find as known": lambda reader, ben: reader.find(MemoryFilter(attribute=ben.mark, known_at_us=1 << 60)),
    "changes of a cause": lambda reader, ben: reader.changes(ChangeFilter(cause=ben.event)),
    "nominate": lambda reader, ben: reader.nominate([ben.mark], 50),
    "search_memories": lambda reader, ben: reader.search_memories([ben.mark], 50),
    "tombstoned": lambda reader, _: reader.tombstoned([BEN_DIGEST]),
    "watermark": lambda reader, ben: reader.duties.watermark(ben.mark),
    "occasions": lambda reader, ben: [one for one in reader.usage.occasions() if one[0] == ben.mark],
    "jobs of a key": lambda reader, ben: reader.jobs(JobFilter(key=ben.mark)),
}


@pytest.mark.requirement("R-139", "R-201", "R-202")
@pytest.mark.parametrize("call", list(BY_FOREIGN_ID))
def test_a_foreign_id_is_not_found(both: tuple[Store, Holdings, Holdings], call: str) -> None:
    store, _, ben = both
    with pytest.raises(NotFound):
        see(store, ANA, lambda reader: BY_FOREIGN_ID[call](reader, ben))


@pytest.mark.requirement("R-139", "R-201", "R-202")
@pytest.mark.parametrize("call", list(BY_FOREIGN_WORD))
def test_a_foreign_word_finds_nothing(both: tuple[Store, Holdings, Holdings], call: str) -> None:
    store, _, ben = both
    assert not see(store, ANA, lambda reader: BY_FOREIGN_WORD[call](reader, ben))
    assert see(store, BEN, lambda reader: BY_FOREIGN_WORD[call](reader, ben))


@pytest.mark.requirement("R-139", "R-201", "R-202")
def test_all_that_a_tenant_can_read_is_its_own(both: tuple[Store, Holdings, Holdings]) -> None:
    store, ana, ben = both
    for user_id, own, foreign in ((ANA, ana, ben), (BEN, ben, ana)):
        text = see(store, user_id, everything)
        assert own.mark in text
        assert foreign.mark not in text
        assert foreign.mark[:4].encode().hex() not in text
        assert foreign.event.partition("-")[2] not in text


@pytest.mark.requirement("R-139", "R-201", "R-202")
def test_how_far_a_tenant_has_come_is_its_own(store: Store) -> None:
    furnish(store, ANA, "anaword", ANA_DIGEST)
    put(store, ANA, Watermark(name=JUDGED, value=7, at_us=1))
    assert see(store, ANA, grown) == (IndexPosition(event=1, change=3, vector=1), True)
    assert see(store, BEN, grown) == (IndexPosition(), False)
    furnish(store, BEN, "benword", BEN_DIGEST)
    assert see(store, BEN, grown) == (IndexPosition(event=1, change=3, vector=1), False)
    assert store.commit(BEN, lambda writer: (writer.put(said("One more.")), grown(writer))[1][0].event) == 2


def test_the_author_of_a_row_is_the_member_who_wrote_it(store: Store) -> None:
    mine = furnish(store, ANA, "anaword", ANA_DIGEST)
    by_owner = put(store, ANA, said("By nobody else."), logged(ChangeKind.PIN, mine.memory))
    assert see(store, ANA, lambda reader: reader.authors([mine.event, by_owner[0]], [mine.change, by_owner[1]])) == {
        mine.event: "anaword",
        mine.change: "anaword",
    }


def grown(reader: Reader) -> tuple[IndexPosition, bool]:
    """How far the logs have grown, and whether anything was judged."""
    return reader.duties.heads, reader.usage.judged


def members(protocol: type) -> set[str]:
    """Name what a protocol asks of a backend."""
    return {name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")}


HISTORY = {"taken", "lineage"}
"""A time of the process, and a checksum from which nothing can be read."""


def test_every_method_of_a_reader_is_in_the_tables_above() -> None:
    named = {call.partition(" ")[0] for call in (*BY_FOREIGN_ID, *BY_FOREIGN_WORD)}
    beyond_ids = {"delta", "vectors", "vector_data", "snapshot", "counts", "count_fields"}
    beyond_ids |= {"active_days", "recalled", "runs", "leases", "prunable", "page", "nearest", "count_waiting"}
    own = members(Reader) - {"tenant", "usage", "duties", "by_vector"}
    own |= members(UsageView) | members(TaskProgress) | members(VectorView)
    assert own == named | beyond_ids | {"heads", "judged", "is_indexed"} | HISTORY
    source = inspect.getsource(everything)
    assert all(re.search(rf"reader\.(?:usage\.|duties\.|by_vector\.)?{name}\(", source) for name in beyond_ids)


@pytest.mark.parametrize("protocol", [Reader, Writer, Store, TenantTransfer, UsageView, TaskProgress, VectorView])
def test_a_protocol_has_twenty_methods_at_most(protocol: type) -> None:
    methods = {name for name in members(protocol) if inspect.isfunction(getattr(protocol, name))}
    assert len(methods) <= 20


WRITES: dict[str, Callable[[Holdings, Holdings], Row]] = {
    "Memory": lambda _, ben: held("Stolen.", id=ben.memory, version=2),
    "Memory's successor": lambda _, ben: held("Stolen.", superseded_by=ben.memory),
    "ChangeRecord": lambda _, ben: logged(ChangeKind.CONFIRM, ben.memory),
    "Evidence for a memory": lambda ana, ben: because(ben.memory, ana.event),
    "Evidence from an event": lambda ana, ben: because(ana.memory, ben.event),
    "ContestCase": lambda ana, ben: contested(ana.memory, id=ben.contest),
    "ContestCase's members": lambda ana, ben: contested(ana.memory, ben.memory),
    "Job": lambda _, ben: Job(id=ben.job, kind="extract", status=JobStatus.COMPLETE),
    "Redaction of an event": lambda _, ben: Redaction(id=ben.event, at_us=1),
    "Redaction of a memory": lambda _, ben: Redaction(id=ben.memory, at_us=1),
    "Rewording": lambda _, ben: Rewording(id=ben.memory, at_us=1, texts={}),
    "ChangeRecord's support": lambda ana, ben: logged(
        ChangeKind.CONFIRM, ana.memory, support=(Support(Span(ben.event, 0, 1), b"x"),)
    ),
    f"{ReplayedRows.__name__} of a memory": lambda _, ben: ReplayedRows(versions=(held("Stolen.", id=ben.memory),)),
    f"{ReplayedRows.__name__} of a contest": lambda ana, ben: ReplayedRows(
        contest=contested(ana.memory, id=ben.contest)
    ),
    "Retention": lambda _, ben: Retention(scores={ben.memory: 0.1}),
    "Surprise": lambda _, ben: Surprise(memory_id=ben.memory, score=0.1, importance=0.1),
    "Item of a memory": lambda _, ben: Item(space="s", key="k", value="1", source=ben.memory, updated_us=1),
    "Item of an event": lambda _, ben: Item(space="s", key="k", value="1", source=ben.event, updated_us=1),
    "Access": lambda _, ben: Access(memory_id=ben.memory, session="s", day=1, at_us=1, shown=1),
}

UNNAMED: dict[str, Callable[[Holdings, Holdings], Row]] = {
    "LegalHold": lambda _, __: LegalHold(reason="case", set_us=1),
    "LegalHold that is lifted": lambda _, __: LegalHold(reason="", set_us=0, lifted_us=2, lifted_reason="closed"),
    "RetentionPolicy": lambda _, __: RetentionPolicy(topic="work", days=3),
    "RetentionPolicy that is taken away": lambda _, __: RetentionPolicy(topic="work", days=0),
    "NewEvent": lambda _, ben: said("Mine.", session=ben.mark, external_id=ben.event),
    "Vector": lambda _ana, _ben: vector(pack_code(1, memory=False), b"ana!"),
    "VectorCopies": lambda _ana, _ben: VectorCopies(
        model_id="tiny", head=9, vectors=[(pack_code(1, memory=False), (1.0,))]
    ),
    "VectorRemoval": lambda _ana, _ben: VectorRemoval(model_id="tiny", at_us=1, limit=100),
    "Tombstone": lambda _ana, _ben: Tombstone(digest=BEN_DIGEST, kind="text", normaliser=1, created_us=1),
    "Snapshot": lambda _ana, _ben: Snapshot(name="words", blobs=(b"ana",)),
    "Job": lambda _, ben: Job(kind="extract", idempotency_key=ben.mark),
    "DutyRun": lambda _, ben: DutyRun(name=ben.mark, started_us=9, took_us=9, result="ana"),
    SchedulerLease.__name__: lambda _ana, _ben: SchedulerLease(owner="ana", now_us=1, until_us=9),
    "Prune": lambda _ana, _ben: Prune(showings_before_us=1 << 60, jobs_before_us=1 << 60, limit=100),
    "Spend": lambda _, ben: Spend(day=1, operation=ben.mark, model_id=ben.mark, tokens_in=5, calls=1),
    "Watermark": lambda _, ben: Watermark(name=ben.mark, value=9, at_us=1),
    "Item": lambda _, ben: Item(space=ben.mark, key=ben.mark, value="9", updated_us=1),
    "ItemRemoval": lambda _, ben: ItemRemoval(space=ben.mark),
}


@pytest.mark.requirement("R-139", "R-201", "R-202")
@pytest.mark.parametrize("row", list(WRITES))
def test_a_row_that_names_a_foreign_id_is_refused(both: tuple[Store, Holdings, Holdings], row: str) -> None:
    store, ana, ben = both
    before = see(store, BEN, everything)
    with pytest.raises(NotFound):
        put(store, ANA, WRITES[row](ana, ben))
    assert see(store, BEN, everything) == before


@pytest.mark.requirement("D-010", "R-201")
@pytest.mark.parametrize("row", list(UNNAMED))
def test_a_row_under_a_foreign_key_stays_in_its_tenant(both: tuple[Store, Holdings, Holdings], row: str) -> None:
    store, ana, ben = both
    before = see(store, BEN, everything)
    put(store, ANA, UNNAMED[row](ana, ben))
    assert see(store, BEN, everything) == before


def test_every_kind_of_row_is_in_the_tables_above() -> None:
    named = {row.replace("'", " ").partition(" ")[0] for row in (*WRITES, *UNNAMED)}
    assert {kind.__name__ for kind in get_args(Row)} == named


def test_what_one_tenant_does_moves_nothing_of_the_other(both: tuple[Store, Holdings, Holdings]) -> None:
    store, ana, ben = both
    before = see(store, BEN, everything)
    put(
        store,
        ANA,
        ended(current(store, ANA, ana.memory), Status.FORGOTTEN),
        logged(ChangeKind.FORGET, ana.memory),
        contested(ana.memory, id=ana.contest),
        replace(Job(kind="extract"), id=ana.job, status=JobStatus.DEAD),
        Redaction(id=ana.event, at_us=1),
        Redaction(id=ana.memory, at_us=1),
    )
    assert see(store, BEN, everything) == before
    assert store.check(BEN) == []
    assert ben.mark in before


@pytest.mark.requirement("R-201")
@pytest.mark.parametrize("user_id", ["Ana", "ana ", "aná", "ANA", " ", "ana'--", "%", "*", "a" * 256])
def test_names_that_look_alike_are_other_tenants(store: Store, user_id: str) -> None:
    furnish(store, ANA, "anaword", ANA_DIGEST)
    assert "anaword" not in see(store, user_id, everything)
    put(store, user_id, said("Hers."))
    assert "anaword" not in see(store, user_id, everything)
    assert "Hers." not in see(store, ANA, everything)


def test_a_check_of_one_tenant_makes_no_tenant(store: Store) -> None:
    put(store, ANA, said("One."))
    assert store.check("nobody") == []
    assert see(store, "nobody", lambda reader: reader.tenant.tag) == ""


def test_a_unit_that_writes_nothing_makes_no_tenant(store: Store) -> None:
    store.commit("late", lambda writer: writer.tenant.tag)  # as work does that ends after its tenant was erased
    assert store.users(limit=10) == []


def test_a_new_tenant_is_refused_when_all_tags_are_in_use_and_the_others_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_TAG_HEX", "a")
    monkeypatch.setattr(ids, "_TAG_END", "01")
    put(store, ANA, said("One."))
    put(store, BEN, said("One."))
    with pytest.raises(LimitExceeded, match="no new user"):
        put(store, "cem", said("Never."))
    assert store.users(limit=9) == [ANA, BEN]
    assert [see(store, user, lambda reader: len(reader.find_events(EventFilter()))) for user in ("cem", ANA)] == [0, 1]
    assert {see(store, user, lambda reader: reader.tenant.tag) for user in (ANA, BEN)} == {"aaaaa0", "aaaaa1"}
    put(store, ANA, said("Two."))

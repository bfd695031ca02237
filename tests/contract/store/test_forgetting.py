"""Redaction takes the words out everywhere and leaves the rest standing; nothing else alters what was recorded."""

import inspect
from dataclasses import replace

import pytest

from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, format_id
from credenda.model.change import ChangeKind
from credenda.model.memory import Status
from credenda.storage.store import (
    Access,
    ChangeFilter,
    EventFilter,
    IndexPosition,
    MemoryFilter,
    Reader,
    Redaction,
    Rewording,
    Snapshot,
    Store,
    Writer,
    pack_code,
)
from credenda.storage.transfer import ImportRow

from .build import ANA, BEN, add, because, current, followed, held, logged, put, said, see, vector

SECRET = "saffron"


def words_of(reader: Reader) -> str:
    """Everything that a tenant can read, as one text."""
    events = reader.find_events(EventFilter(redacted=True))
    memories = reader.find(MemoryFilter())
    ids = [memory.id for memory in memories]
    delta = reader.delta(IndexPosition(), "tiny")
    everything = (
        events,
        memories,
        reader.versions(ids),
        reader.evidence(memory_ids=ids),
        reader.changes(ChangeFilter()),
        reader.contests(),
        delta,
        reader.snapshot("words"),
    )
    return repr(everything)


@pytest.fixture
def told(store: Store) -> tuple[Store, str, str]:
    """An event and a memory in two versions that hold the word, with all that rests on them."""
    (event_id, other) = put(
        store,
        ANA,
        said(f"My {SECRET} is in the safe.", tags=(SECRET,), metadata={"about": SECRET}),
        said("I like tea."),
    )
    memory_id, tea = add(
        store,
        ANA,
        held(
            f"Ana keeps {SECRET}.",
            entity=SECRET,
            attribute=SECRET,
            value=SECRET,
            scope=SECRET,
            topic=SECRET,
            tags=(SECRET,),
            metadata={"about": SECRET},
        ),
        held("Ana likes tea."),
    )
    first = pack_code(1, memory=False)
    put(
        store,
        ANA,
        because(memory_id, event_id),
        because(tea, other),
        followed(current(store, ANA, memory_id), importance=0.9),
        logged(ChangeKind.SET_STATUS, memory_id, reason=f"{SECRET}!", before={"value": SECRET}, after={"v": SECRET}),
        vector(first),
        vector(pack_code(1, memory=True)),
        vector(pack_code(2, memory=True)),
        Snapshot(name="words", blobs=(SECRET.encode(),)),
    )
    return store, event_id, memory_id


def forget(store: Store, event_id: str, memory_id: str) -> None:
    put(
        store,
        ANA,
        Redaction(id=event_id, at_us=9),
        logged(ChangeKind.DELETE, cause=event_id),
        followed(current(store, ANA, memory_id), status=Status.DELETED),
        logged(ChangeKind.DELETE, memory_id),
        Redaction(id=memory_id, at_us=9),
    )


def test_redacted_words_are_in_no_row_index_or_delta(told: tuple[Store, str, str]) -> None:
    store, event_id, memory_id = told
    assert SECRET in see(store, ANA, words_of)
    assert len(see(store, ANA, lambda reader: reader.nominate([SECRET], 10))) == 2
    forget(store, event_id, memory_id)
    assert SECRET not in see(store, ANA, words_of)
    assert see(store, ANA, lambda reader: reader.nominate([SECRET, "keeps", "safe"], 10)) == []
    assert see(store, ANA, lambda reader: reader.snapshot("words")) == ()
    gone = [pack_code(1, memory=False), pack_code(1, memory=True)]
    assert see(store, ANA, lambda reader: reader.vectors(gone, "tiny")) == []
    assert store.check(ANA) == []


def test_a_rewording_takes_words_out_of_the_fields_of_every_version_and_change(store: Store) -> None:
    labels: dict[str, object] = {"topic": SECRET, "tags": (SECRET, "spice"), "metadata": {"about": [SECRET], "n": 1}}
    (memory_id,) = add(store, ANA, held("Ana keeps it.", entity=f"{SECRET} box", **labels))
    put(
        store,
        ANA,
        followed(current(store, ANA, memory_id), importance=0.9),
        logged(ChangeKind.SET_STATUS, memory_id, before={"entity": f"{SECRET} box"}, after=labels | {"text": SECRET}),
    )
    left = {"topic": None, "tags": ("spice",), "metadata": {"n": 1}, "entity": None}
    fields = tuple((name, getattr(current(store, ANA, memory_id), name), now) for name, now in left.items())
    for at_us in (9, 10):  # repeated, it does nothing more
        put(store, ANA, Rewording(id=memory_id, at_us=at_us, texts={SECRET: "it"}, fields=fields))
    versions = see(store, ANA, lambda reader: reader.versions([memory_id]))
    assert [(one.text, *(getattr(one, name) for name in left)) for one in versions] == [
        ("Ana keeps it.", *left.values()) for _ in versions
    ]
    assert SECRET not in see(store, ANA, words_of)
    assert see(store, ANA, lambda reader: reader.nominate([SECRET], 10)) == []
    assert len(see(store, ANA, lambda reader: reader.nominate(["keeps"], 10))) == 1
    assert store.check(ANA) == []


def test_redaction_leaves_the_shape_and_everything_else(told: tuple[Store, str, str]) -> None:
    store, event_id, memory_id = told
    before = see(store, ANA, lambda reader: reader.events([event_id]))[0]
    forget(store, event_id, memory_id)
    (event,) = see(store, ANA, lambda reader: reader.events([event_id]))
    assert event == replace(before, text="", tags=(), metadata={}, redacted_us=9)
    versions = see(store, ANA, lambda reader: reader.versions([memory_id]))
    assert [(memory.version, memory.text) for memory in versions] == [(1, ""), (2, ""), (3, "")]
    kinds = [change.kind for change in see(store, ANA, lambda reader: reader.changes(ChangeFilter()))]
    assert kinds.count(ChangeKind.DELETE) == 2
    assert len(see(store, ANA, lambda reader: reader.evidence(memory_ids=[memory_id]))) == 1
    assert len(see(store, ANA, lambda reader: reader.nominate(["tea"], 10))) == 2
    counts = see(store, ANA, lambda reader: reader.counts())
    assert (counts.events, counts.redacted_events, counts.vectors) == (2, 1, 1)


def test_a_redacted_event_is_read_only_when_asked_for(told: tuple[Store, str, str]) -> None:
    store, event_id, memory_id = told
    forget(store, event_id, memory_id)

    def ids(*, redacted: bool) -> list[str]:
        wanted = EventFilter(redacted=redacted)
        return [event.id for event in see(store, ANA, lambda reader: reader.find_events(wanted))]

    assert event_id not in ids(redacted=False)
    assert event_id in ids(redacted=True)


def test_redacting_twice_changes_no_words(told: tuple[Store, str, str]) -> None:
    store, event_id, memory_id = told
    forget(store, event_id, memory_id)
    put(store, ANA, Redaction(id=event_id, at_us=10), Redaction(id=memory_id, at_us=10))
    assert store.check(ANA) == []
    assert len(see(store, ANA, lambda reader: reader.nominate(["tea"], 10))) == 2


def test_a_part_is_blanked_in_place(store: Store) -> None:
    (event_id,) = put(store, ANA, said("My saffron and my tea."))
    put(store, ANA, Redaction(id=event_id, at_us=9, text="My ······· and my tea."))
    assert see(store, ANA, lambda reader: reader.events([event_id]))[0].text == "My ······· and my tea."
    assert see(store, ANA, lambda reader: reader.nominate(["saffron"], 10)) == []
    assert see(store, ANA, lambda reader: reader.nominate(["tea"], 10)) == [pack_code(1, memory=False)]
    assert store.check(ANA) == []


def test_a_part_of_a_long_event_is_blanked_in_its_passage(store: Store) -> None:
    text = "\n\n".join(" ".join(f"{name}{turn}" for turn in range(150)) + "." for name in ("alpha", "beta"))
    (event_id,) = put(store, ANA, said(text))
    put(store, ANA, Redaction(id=event_id, at_us=9, text=text.replace("beta77", "······")))
    assert see(store, ANA, lambda reader: reader.nominate(["beta77"], 10)) == []
    assert len(see(store, ANA, lambda reader: reader.nominate(["beta78"], 10))) == 1
    assert store.check(ANA) == []


def test_what_remains_must_be_as_long_as_it_was(store: Store) -> None:
    (event_id,) = put(store, ANA, said("My saffron and my tea."))
    with pytest.raises(Invalid):
        put(store, ANA, Redaction(id=event_id, at_us=9, text="My tea."))
    assert see(store, ANA, lambda reader: reader.events([event_id]))[0].redacted_us is None


def test_what_never_was_cannot_be_redacted(store: Store) -> None:
    (event_id,) = put(store, ANA, said("One."))
    tag = event_id.rpartition("-")[2]
    for kind in (IdKind.EVENT, IdKind.MEMORY):
        with pytest.raises(NotFound):
            put(store, ANA, Redaction(id=format_id(kind, 9, tag), at_us=9))


def test_a_redaction_that_fails_closes_the_journal_again(store: Store) -> None:
    (event_id,) = put(store, ANA, said("One."))

    def work(writer: Writer) -> None:
        writer.put(Redaction(id=event_id, at_us=9))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.commit(ANA, work)
    assert see(store, ANA, lambda reader: reader.events([event_id]))[0].text == "One."
    assert see(store, ANA, lambda reader: reader.nominate(["one"], 10)) == [pack_code(1, memory=False)]
    assert store.check(ANA) == []


def test_redaction_ends_at_the_tenant(told: tuple[Store, str, str]) -> None:
    store, event_id, memory_id = told
    put(
        store,
        BEN,
        said(f"Ben's {SECRET}."),
        Snapshot(name="words", blobs=(b"ben",)),
        vector(pack_code(1, memory=False)),
    )
    add(store, BEN, held(f"Ben keeps {SECRET}."))
    forget(store, event_id, memory_id)
    assert see(store, BEN, words_of).count(SECRET) >= 4
    assert see(store, BEN, lambda reader: reader.snapshot("words")) == (b"ben",)
    assert len(see(store, BEN, lambda reader: reader.nominate([SECRET], 10))) == 2
    assert len(see(store, BEN, lambda reader: reader.vectors([pack_code(1, memory=False)], "tiny"))) == 1


def test_a_tag_that_was_erased_is_known_as_such(store: Store) -> None:
    put(store, ANA, said("I live in Linz."))
    put(store, BEN, said("I live in Graz."))
    gone, stays = see(store, ANA, lambda reader: reader.tenant.tag), see(store, BEN, lambda reader: reader.tenant.tag)
    assert store.erased({gone, stays}) == set()
    assert store.erase(ANA).held
    assert store.erased({gone, stays, "000000"}) == {gone}
    with store.dump(BEN, only={"tombstones", "events"}) as dump:
        assert {table for table, _ in dump.rows} == {"events"}


def test_only_the_import_under_its_own_name_lifts_an_erasure(store: Store) -> None:
    put(store, ANA, said("I live in Linz."))
    with store.dump(ANA) as dump:
        origin, rows = dump.origin, [ImportRow(place, *row) for place, row in enumerate(dump.rows)]
    store.erase(ANA)

    def list_erased() -> set[str]:
        listed = store.erasures()
        return {name for name in (ANA, BEN) if any(one.matches(name, origin.tag) for one in listed)}

    store.load(BEN, origin, rows)
    assert list_erased() == {ANA}
    store.erase(BEN)
    assert list_erased() == {ANA, BEN}
    store.load(ANA, origin, rows)
    assert list_erased() == {BEN}


def test_filing_what_was_read_adds_and_never_alters(store: Store) -> None:
    """Nothing but a redaction reaches a recorded event or change: filing it again is a new one."""
    (event_id,) = put(store, ANA, said("One."))
    (event,) = see(store, ANA, lambda reader: reader.events([event_id]))
    (again,) = put(store, ANA, replace(event, text="Two."))
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    (change,) = see(store, ANA, lambda reader: reader.changes(ChangeFilter()))
    (later,) = put(store, ANA, replace(change, reason="rewritten"))
    put(store, ANA, Access(memory_id=memory_id, session="s", day=1, at_us=1, shown=1))
    assert (again == event_id, later == change.id) == (False, False)
    assert see(store, ANA, lambda reader: reader.events([event_id])) == [event]
    assert see(store, ANA, lambda reader: reader.changes(ChangeFilter()))[0] == change


def test_a_writer_adds_nothing_but_put_to_a_reader() -> None:
    def verbs(protocol: type) -> set[str]:
        return {name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")}

    assert verbs(Writer) - verbs(Reader) == {"put"}

"""What is deleted in one form is known again in others, and what other words still hold is never refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Conflict, Credenda, MemoryUnit, bootstrap, restore_backup
from credenda.model.memory import Status
from credenda.storage.store import MemoryFilter
from credenda.testing import ManualClock
from credenda.write.forget.tombstones import is_deleted

Say = Callable[..., None]


def _held(mem: Credenda, attribute: str) -> list[str | None]:
    return [memory.value for memory in mem.list(attribute=attribute).items]


def _event_of(mem: Credenda, memory_id: str) -> str:
    return mem.why(memory_id).evidence[0][0].id


def _covered(path: Path) -> list[str]:
    """Name what is held though a tombstone covers its slot and value, or its words."""
    store = bootstrap.open_store(path, read_only=True)
    try:
        with store.reader("ana") as reader:
            held = [one for one in reader.find(MemoryFilter()) if one.status is not Status.DELETED]
            return [one.id for one in held if is_deleted(reader, one)]
    finally:
        store.close()


REWORDED = {
    "I'm allergic to peanuts.": ("I have a peanut allergy.", "I'M ALLERGIC TO THE PEANUT", "Allergies: peanuts"),
    "I have a peanut allergy.": ("I'm allergic to peanuts.", "I've got a severe peanut allergy"),
    "Ich bin allergisch gegen Erdnüsse.": (
        "Ich habe eine Erdnussallergie.",
        "Ich habe eine Allergie gegen Erdnuesse.",
        "Ich bin gegen die Erdnuss allergisch.",
    ),
    "Ich habe eine Erdnussallergie.": ("Ich bin allergisch gegen Erdnüsse.",),
    "Je suis allergique aux arachides.": ("J'ai une allergie à l'arachide.", "Je suis allergique à l'arachide."),
    "Soy alérgico a los cacahuetes.": ("Tengo alergia al cacahuete.", "Soy alérgica al cacahuete."),
    "Sou alérgico a amendoim.": ("Tenho alergia a amendoins.", "Sou alérgica a amendoins."),
    "I like cats.": ("I love a cat.",),
    "Ich mag Katzen.": ("Ich mag die Katze.",),
    "Me gustan los gatos.": ("Me gusta el gato.",),
    "The budget is $18,000 for everything.": (
        "The budget is 18000 dollars for everything.",
        "Our budget is 18k USD for everything.",
        "The budget is $18,000.00 for everything.",
    ),
    "My rent is 900 euros.": ("My rent is €900.", "Our rent is EUR 900."),
}
OTHERS = {
    "I'm allergic to peanuts.": (
        "I'm allergic to walnuts.",
        "I'm allergic to peanut butter.",
        "My sister has a peanut allergy.",
        "I like peanuts.",
        "Am I allergic to peanuts?",
    ),
    "Ich bin allergisch gegen Erdnüsse.": (
        "Meine Schwester hat eine Erdnussallergie.",
        "Ich mag Erdnüsse.",
        "Ich habe eine Haselnussallergie.",
    ),
    "Je suis allergique aux arachides.": ("Je suis allergique aux noix.", "Ma sœur a une allergie à l'arachide."),
    "Soy alérgico a los cacahuetes.": ("Soy alérgico a las nueces.", "Mi hermana tiene alergia al cacahuete."),
    "Sou alérgico a amendoim.": ("Sou alérgico a camarão.", "Minha irmã tem alergia a amendoim."),
    "I like cats.": ("I like cars.",),
    "Me gustan los gatos.": ("Me gustan las gatas.",),
    "My boss is William.": ("My boss is Williams.",),
    "Ich heiße Peter.": ("Ich heiße Peters.",),
    "I work at Universal.": ("I work at University.",),
    "I use C++.": ("I use C.",),
    "My budget is $18,000 for everything.": ("My budget is 19000 dollars for everything.",),
    "My rent is 900 euros.": ("My rent is 900 dollars.",),
}


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("said", REWORDED)
def test_a_deleted_value_is_known_in_singular_and_plural_noun_and_adjective(
    mem: Credenda, say: Say, said: str, path: Path
) -> None:
    say(said)
    for memory in mem.list().items:
        mem.delete(memory.id)
    for again in REWORDED[said]:
        assert mem.remember(again).refused, again
        mem.settle()
    assert mem.list(status=None).items == ()
    assert mem.search(REWORDED[said][0]).hits == ()
    mem.close()
    assert _covered(path) == []


@pytest.mark.parametrize("said", OTHERS)
def test_another_fact_is_not_taken_for_a_deleted_one(mem: Credenda, say: Say, said: str) -> None:
    say(said)
    for memory in mem.list().items:
        mem.delete(memory.id)
    for other in OTHERS[said]:
        assert not mem.remember(other).refused, other


def test_only_what_is_said_on_purpose_lifts_a_tombstone_in_its_other_form(mem: Credenda, say: Say) -> None:
    say("I'm allergic to peanuts.")
    mem.delete(mem.list().items[0].id)
    with pytest.raises(Conflict):
        mem.store(MemoryUnit(text="Watch out", entity="user", attribute="allergy", value="a peanut"))
    mem.remember("I have a peanut allergy.", allow_deleted=True)
    mem.settle()
    say("I suffer from an allergy to peanuts.")
    assert _held(mem, "allergy") == ["peanut"] or _held(mem, "allergy") == ["peanuts", "peanut"]


def test_what_holds_the_deleted_value_in_its_other_form_goes_too(mem: Credenda, say: Say, path: Path) -> None:
    say("I'm allergic to peanuts.", "I have a peanut allergy.", "Ich habe eine Peanutallergie.")
    mem.remember("Note: I've got a peanut allergy")
    first = mem.list(attribute="allergy").items[-1]
    mem.delete(first.id)
    mem.settle()
    assert _held(mem, "allergy") == []
    mem.close()
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.name != "memory.db-wal")
    assert b"peanut allergy" not in raw
    assert _covered(path) == []


def test_a_german_compound_goes_with_what_it_says_in_two_words(mem: Credenda, say: Say, path: Path) -> None:
    say("Ich habe eine Erdnussallergie. Ich mag Tee.", "Ich bin allergisch gegen Erdnüsse.")
    mem.delete(mem.list(attribute="allergy").items[0].id)
    assert [one.value for one in mem.list().items] == ["Tee"]
    mem.close()
    assert _covered(path) == []


@pytest.mark.requirement("S-060")
def test_deleting_one_saying_leaves_no_tombstone_over_what_another_holds(mem: Credenda, say: Say, path: Path) -> None:
    say("I live in Linz.", "I've moved to Graz.", "I've moved from Graz back to Linz.")
    mem.delete(_event_of(mem, mem.list(attribute="residence").items[0].id))
    assert _covered(path) == []
    assert not mem.remember("My home is in Linz.").refused
    mem.settle()
    assert _held(mem, "residence") == ["Linz"]
    anew = mem.data.rebuild(reextract=True, dry_run=True).differences
    assert {one.what for one in anew} <= {"ask", "revise"}  # without the deleted words a return is asked about


def test_deleting_one_of_two_equal_messages_refuses_no_third(mem: Credenda, say: Say) -> None:
    say("I'm allergic to dust.", "I'm allergic to dust.")
    mem.delete(_event_of(mem, mem.list(attribute="allergy").items[0].id))
    assert not mem.remember("I'm allergic to dust.").refused
    mem.settle()
    memory = mem.list(attribute="allergy").items[0]
    mem.delete(memory.id)
    assert mem.remember("I'm allergic to dust.").refused


def test_the_last_saying_that_goes_leaves_the_tombstone(mem: Credenda, say: Say) -> None:
    say("I live in Linz.", "I've moved to Graz.", "I've moved back to Linz.", session="s")
    assert mem.delete_where(session="s").events == 3
    assert mem.remember("I moved to Linz.").refused
    assert mem.remember("I live in Graz these days.").refused


def test_a_value_deleted_in_one_scope_may_be_said_in_another_that_holds_it(mem: Credenda, say: Say, path: Path) -> None:
    say("I prefer morning meetings.", "I prefer morning meetings at work.")
    plain = next(one for one in mem.list(attribute="meetings").items if one.scope is None)
    mem.delete(plain.id)
    assert _covered(path) == []
    assert not mem.remember("At work, I prefer morning meetings.").refused
    assert mem.remember("I'd rather have morning meetings.").refused or not [
        one for one in mem.list(attribute="meetings").items if one.scope is None
    ]


def test_a_contest_keeps_a_value_that_another_saying_holds(mem: Credenda, say: Say) -> None:
    say("I prefer morning meetings.", "I prefer afternoon meetings.", "I prefer morning meetings.", days=20)
    contest = mem.manage.contests()[0]
    old = next(one for one in mem.history(entity="user", attribute="meetings") if one.status == "superseded")
    values = contest.values
    mem.delete(_event_of(mem, old.memory_id))
    after = mem.manage.contests()[0]
    assert (after.state, after.values) == ("open", values)


def test_an_import_knows_the_other_form(mem: Credenda, say: Say, path: Path) -> None:
    say("I'm allergic to peanuts.", "I have a peanut allergy.", "I like tea.")
    chat = path.with_name("chat.jsonl")
    mem.delete(mem.list(attribute="allergy").items[0].id)
    turn = {"id": "1", "speaker": "user", "text": "My flat is new. I have an allergy to the peanut."}
    talk = {"conv": "c", "speakers": ["user"], "sessions": [{"id": "s", "time": "2026-02-01", "turns": [turn]}]}
    chat.write_text(json.dumps(talk), "utf-8")
    mem.data.import_(chat, format="conversation")
    mem.settle()
    assert _held(mem, "allergy") == []


@pytest.mark.sqlite_file  # a backup is a copy of the file
def test_a_restored_backup_knows_the_other_form(mem: Credenda, say: Say, path: Path, clock: ManualClock) -> None:
    say("I'm allergic to peanuts.", "I have a peanut allergy.", "I like tea.")
    backup = path.with_name("backup.db")
    mem.data.backup(backup)
    mem.delete(mem.list(attribute="allergy").items[0].id)
    mem.close()
    restore_backup(backup, path, replace=True, clock=clock)
    assert _covered(path) == []
    with Credenda.open(path, user="ana", clock=clock, workers=False) as restored:
        assert _held(restored, "allergy") == []
        assert _held(restored, "likes") == ["tea"]
        assert restored.remember("Allergic to a peanut").refused

"""A change, a repetition or a closer value in another form than what it is about: notes, inversions, other tongues."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

Say = Callable[..., None]


def texts(mem: Credenda, status: str = "active") -> set[str]:
    return {one.text for one in mem.list(status=status, limit=50).items}


@pytest.mark.requirement("R-077", "R-082")
@pytest.mark.parametrize(
    ("said", "value"),
    [
        (("I have 33 years.", "Yesterday was my birthday, now I have 34 years."), "34"),
        (("I weigh 80 kilos.", "Down to 77 kilos now."), "77 kilos"),
        (("I prefer Rust for new tools.", "I prefer Go over Rust for new tools now."), "Go"),
        (("my cat is called momo", "sry typo, my cat is called mimi"), "Mimi"),
        (("Ma fête de promo est le 3 mai.", "Je me suis trompée, ma fête de promo est le 4 mai."), "4 mai"),
        (("Mein Geburtstag ist am 3. Mai.", "Ich habe mich geirrt, mein Geburtstag ist am 4. Mai."), "4. Mai"),
        (("Bebo chá.", "Já não bebo chá, agora bebo leite."), "leite"),
        (("I use Vim for Python.", "I use Helix over Vim for Python now."), "Helix"),
        (("Trabalho numa escola.", "Já não trabalho numa escola, agora trabalho num museu."), "museu"),
    ],
)
def test_a_change_is_understood(mem: Credenda, say: Say, said: tuple[str, str], value: str) -> None:
    say(*said)
    assert said[0] in texts(mem, "superseded")
    assert any(value in f"{one.value} {one.text}" for one in mem.list().items)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My daughter is in kindergarten.", "My daughter started school."),
    ],
)
def test_an_ended_state_is_held_no_more(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old)
    assert old in texts(mem)
    say(new)
    assert old not in texts(mem)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I drive a Seat.", "It's a Seat Leon that I drive."),
    ],
)
def test_a_closer_value_takes_the_place_of_the_wider_one(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old, new)
    assert texts(mem) == {new}


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The staging cluster is called otter.", "otter is the name of the staging cluster."),
        ("My accountant is Mr. Vogel.", "Mr. Vogel is my accountant."),
        ("Kiwi is my dog's name.", "My dog's name is Kiwi."),
        ("Mon chat s'appelle Minou.", "Comme je te l'ai dit, mon chat s'appelle Minou."),
    ],
)
def test_the_same_the_other_way_round_is_one_memory(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old, new)
    assert len(mem.list().items) == 1


@pytest.mark.requirement("R-074", "R-082")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I usually take the bus to work.", "When it rains, I drive to work."),
        ("I usually take the bus to work.", "In January, when it is dark, I drive to work."),
        ("Flight to Rome on Monday.", "Flight to Bari on Monday at 9:40."),
        ("The report is due on Friday.", "I finished my lunch."),
        ("Ich spiele Geige.", "Ich spiele auch Klavier."),
        ("Toco la guitarra.", "También toco el piano."),
        ("Hablo francés.", "También hablo alemán."),
        ("My dentist appointment is on 4 April.", "My dentist moved to Bonn."),
        ("My daughter plays handball.", "My daughter plays football."),
        ("My aunt is in hospital.", "My aunt came home from work."),
        ("La fête est samedi.", "La réunion est reportée à dimanche."),
    ],
)
def test_what_holds_beside_it_replaces_nothing(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old, new)
    assert {old} <= texts(mem) <= {old, new}

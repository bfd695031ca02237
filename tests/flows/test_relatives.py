"""Several children, siblings and pets are told apart by their names, and whoever is not named is the only one known."""

from __future__ import annotations

from pathlib import Path

import pytest

from credenda import Credenda


def slots(path: Path, *said: str) -> set[tuple[str | None, str | None]]:
    with Credenda.open(path, user="ana", embedder="none", workers=False) as mem:
        for one in said:
            mem.remember(one)
            mem.settle()
        return {(one.entity, one.value) for one in mem.list(limit=50).items}


@pytest.mark.requirement("R-074", "R-077")
@pytest.mark.parametrize(
    ("said", "held"),
    [
        (
            ("My son Emil is seven.", "My son Oskar is four."),
            {("user's son Emil", "seven"), ("user's son Oskar", "four")},
        ),
        (
            ("My brother Tom works at Shell.", "My brother Jan works at Bosch.", "My brother Tom works at Esso now."),
            {("user's brother Tom", "Esso"), ("user's brother Jan", "Bosch")},
        ),
        (("My dog Rex is five.", "My dog Bella is two."), {("user's dog Rex", "five"), ("user's dog Bella", "two")}),
        (("My sister lives in Graz.", "My sister Ana has moved to Linz."), {("user's sister", "Linz")}),
        (("My sister Ana lives in Graz.", "My sister has moved to Linz."), {("user's sister Ana", "Linz")}),
        (("My mother Vesna lives in Celje.", "My mother moved to Koper."), {("user's mother Vesna", "Koper")}),
        (("My son Emil is seven.", "My son Emil is eight now."), {("user's son Emil", "eight")}),
        (("My son Emil lives in Graz.", "Emil has moved to Linz."), {("user's son Emil", "Linz")}),
        (("Emil lives in Graz.", "Emil has moved to Linz."), {("Emil", "Linz")}),
        (
            ("My brother Kwame lives in Leeds.", "Kwame works at Bosch."),
            {("user's brother Kwame", "Leeds"), ("user's brother Kwame", "Bosch")},
        ),
        (
            ("My dog Luna is five.", "Luna is written in Rust."),
            {("user's dog Luna", "five"), ("Luna", "Rust")},
        ),
        (
            ("My brother Kwame is 30.", "My cousin Kwame is 20.", "Kwame works at Bosch."),
            {("user's brother Kwame", "30"), ("user's cousin Kwame", "20"), ("Kwame", "Bosch")},
        ),
        (
            ("My sister Ana lives in Graz.", "My sister Eva lives in Linz.", "My sister has moved to Wels."),
            {("user's sister Ana", "Graz"), ("user's sister Eva", "Linz"), ("user's sister", "Wels")},
        ),
    ],
)
def test_a_name_tells_one_from_another(
    tmp_path: Path, said: tuple[str, ...], held: set[tuple[str | None, str | None]]
) -> None:
    assert slots(tmp_path / "m.db", *said) == held

"""What is believed of German, French, Spanish and Portuguese: changes, and the totals of the sets for tuning."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bench.beliefs import run_beliefs
from credenda.model.memory import Status
from credenda.testing import ManualClock

SETS = Path(__file__).parent.parent / "data" / "beliefs"


@pytest.fixture
def mem(path: Path, clock: ManualClock) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", clock=clock, workers=False, embedder="none") as opened:
        yield opened


def believe(mem: Credenda, old: str, new: str) -> tuple[set[str], set[str]]:
    """Say both, and give the values or words that are held, and those that are past."""
    held: list[set[str]] = []
    for text in (old, new):
        mem.remember(text)
        mem.settle()
    for status in (Status.ACTIVE, Status.SUPERSEDED):
        found = mem.list(status=status, limit=20).items
        held.append({one.value or one.text for one in found})
    return held[0], held[1]


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("Ich wohne in Graz.", "Ich bin nach Linz gezogen.", ("Linz", "Graz")),
        ("Vivo en Gijón.", "Me he mudado a Oviedo.", ("Oviedo", "Gijón")),
        ("Moro em Aveiro.", "ja nao moro em aveiro, mudei-me para coimbra", ("coimbra", "Aveiro")),
        ("J'habite à Lille.", "Je n'habite plus à Lille, j'ai déménagé à Metz.", ("Metz", "Lille")),
        ("Mein Hausarzt ist Dr. Brandl.", "Mein neuer Hausarzt ist Dr. Yilmaz.", ("Dr. Yilmaz", "Dr. Brandl")),
        ("Meu telemóvel é um Xiaomi.", "Meu telemóvel agora é um Nokia.", ("Nokia", "Xiaomi")),
        ("Mi editor de texto es Sublime.", "Mi editor de texto ahora es Helix.", ("Helix", "Sublime")),
    ],
)
def test_what_changed_is_current_and_what_was_is_past(
    mem: Credenda, old: str, new: str, values: tuple[str, str]
) -> None:
    now, past = values
    active, gone = believe(mem, old, new)
    assert any(now in one for one in active)
    assert any(past in one for one in gone)
    assert past not in active


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("J'ai un abonnement Netflix.", "J'ai résilié Netflix hier."),
    ],
)
def test_what_ended_is_past(mem: Credenda, old: str, new: str) -> None:
    assert believe(mem, old, new)[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mein Vater ist Tischler.", "Meine Mutter arbeitet als Hebamme."),
        ("Mi hermano vive en Murcia.", "Mi prima vive en Cáceres."),
        ("Je parle breton.", "Je parle aussi le turc."),
        ("Sou farmacêutica.", "Se eu fosse cantora, faria turnês pelo mundo."),
    ],
)
def test_what_stands_beside_stays(mem: Credenda, old: str, new: str) -> None:
    assert believe(mem, old, new)[1] == set()


def test_the_totals_of_the_sets_do_not_fall() -> None:
    found = run_beliefs(
        SETS / "utterances_tongues.jsonl", SETS / "pairs_tongues.jsonl", note=lambda _: None, embedder="none"
    )
    sentences, pairs = found["utterances"], found["pairs"]
    assert sentences["decisions"]["value"] >= 0.95
    assert sentences["kinds"]["value"] >= 0.92
    assert sentences["misattributed"] == 0
    assert sentences["highest_hypothetical"] <= 0.3
    assert sentences["highest_plan"] <= 0.5
    assert pairs["supersession_precision"]["value"] >= 0.98
    assert pairs["false_invalidation"]["value"] == 0
    assert pairs["supersession_recall"]["value"] >= 0.2  # only an identified rival is retired

"""What is believed does not depend on the extras that are installed: the base install and `[all]` hold the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from credenda import Credenda, CredendaError, Invalid, Unavailable

Say = Callable[..., None]
Belief = tuple[str | None, str | None, str | None]

_EXTRAS = ("spacy", "onnxruntime", "tokenizers", "credenda_models")
"""Packages that the base install lacks, and that read or embed texts."""


@pytest.fixture(params=["base", "all"], autouse=True)
def install(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, as_installed: None) -> str:
    """One of two installs, each with every setting at its default."""
    del as_installed
    if request.param == "base":
        for name in _EXTRAS:
            monkeypatch.setitem(sys.modules, name, None)
    return str(request.param)


def list_beliefs(mem: Credenda) -> list[Belief]:
    return sorted((one.entity, one.attribute, one.value) for one in mem.list(limit=50).items)


def test_an_install_embeds_only_with_its_extra(mem: Credenda, install: str) -> None:
    model = mem.stats().embedder
    assert (model is not None and model.startswith("minilm")) is (install == "all")


@pytest.mark.requirement("R-012", "R-083")
def test_a_preference_that_swings_back_is_a_contest_in_every_install(mem: Credenda, say: Say) -> None:
    say("I prefer early trains.", "I prefer late trains.", "I prefer early trains.", days=12)
    (contest,) = mem.manage.contests()
    assert sorted(contest.values) == ["early trains", "late trains"]


@pytest.mark.parametrize(
    ("text", "beliefs"),
    [
        ("I take my tea with lemon.", [("user", "tea", "with lemon")]),
        ("I've got two canaries, Olive and Finch.", [("user", "has", "two canaries, Olive and Finch")]),
        ("The parking app is written in Kotlin.", [("parking app", "written_in", "Kotlin")]),
        ("I drink cocoa and mint tea.", [("user", "drinks", "cocoa"), ("user", "drinks", "mint tea")]),
        ("On Tuesdays I work from home.", [("user", "work_mode", "from home")]),
        (
            "For Python I use Black, for Rust I use rustfmt.",
            [("user", "formatter", "Black"), ("user", "formatter", "rustfmt")],
        ),
    ],
)
def test_a_plain_sentence_leaves_the_same_belief_in_every_install(
    mem: Credenda, say: Say, text: str, beliefs: list[Belief]
) -> None:
    say(text)
    assert list_beliefs(mem) == beliefs


@pytest.mark.parametrize(("settings", "error"), [({"parser": "spacy"}, Unavailable), ({"embedder": "minilm"}, Invalid)])
def test_a_model_that_is_asked_for_is_used_or_refused_with_its_place(
    path: Path, install: str, settings: dict[str, str], error: type[CredendaError]
) -> None:
    refusal = pytest.raises(error, match=r"packages/credenda-models") if install == "base" else nullcontext()
    with refusal, Credenda.open(path, user="ana", workers=False, settings=settings) as mem:
        assert mem.list().items == ()

"""What is believed does not depend on the runtime of the models: a machine that lacks it holds the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from credenda import Credenda, Invalid

Say = Callable[..., None]
Belief = tuple[str | None, str | None, str | None]

_RUNTIME = ("onnxruntime", "tokenizers", "credenda_models")
"""Packages that run the models; one of them may have no build for a machine."""


@pytest.fixture(params=["whole", "without runtime"], autouse=True)
def install(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, as_installed: None) -> Iterator[str]:
    """One of two installs, each with every setting at its default; the lesser one says so when a memory opens."""
    del as_installed
    said = nullcontext()
    if request.param != "whole":
        for name in _RUNTIME:
            monkeypatch.setitem(sys.modules, name, None)
        said = pytest.warns(
            RuntimeWarning,
            match=r"search is by words only.* needs onnxruntime and tokenizers.* pip install \., or set embedder",
        )
    with said:
        yield str(request.param)


def list_beliefs(mem: Credenda) -> list[Belief]:
    return sorted((one.entity, one.attribute, one.value) for one in mem.list(limit=50).items)


def test_an_install_embeds_where_its_runtime_is(mem: Credenda, install: str) -> None:
    model = mem.stats().embedder
    assert (model is not None and model.startswith("minilm")) is (install == "whole")


def test_a_search_without_the_runtime_finds_words(mem: Credenda, say: Say) -> None:
    say("I live in Lugano.")
    assert mem.search("Where do I live?").hits[0].text == "I live in Lugano."


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


def test_a_model_that_is_asked_for_is_used_or_refused_with_its_place(mem: Credenda, path: Path, install: str) -> None:
    assert mem.list().items == ()
    refusal = nullcontext() if install == "whole" else pytest.raises(Invalid, match=r"pip install \.;")
    with refusal, Credenda.open(path, user="bob", workers=False, settings={"embedder": "minilm"}) as asked:
        assert asked.list().items == ()

"""A machine that lacks the runtime of the models keeps what is said and finds its words; it says what it cannot do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from credenda import Credenda, Invalid
from credenda.interfaces.cli.main import cli

Say = Callable[..., None]

_RUNTIME = ("onnxruntime", "tokenizers", "credenda_models")
"""Packages that run the models; one of them may have no build for a machine."""


@pytest.fixture(params=["whole", "without runtime"], autouse=True)
def install(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, as_installed: None) -> Iterator[str]:
    """One of two installs, each with every setting at its default; the lesser one says so when a memory opens."""
    del as_installed
    if request.param == "whole":
        yield request.param
        return
    for name in _RUNTIME:
        monkeypatch.setitem(sys.modules, name, None)
    search = r"search is by words only.* needs onnxruntime and tokenizers.* pip install \., or set embedder"
    with pytest.warns(RuntimeWarning, match=search), pytest.warns(RuntimeWarning, match="give no beliefs.*pip install"):
        yield request.param


def test_an_install_embeds_where_its_runtime_is(mem: Credenda, install: str) -> None:
    model = mem.stats().embedder
    assert (model is not None and model.startswith("minilm")) is (install == "whole")


def test_a_message_is_found_in_every_install(mem: Credenda, say: Say, install: str) -> None:
    say("I live in Lugano.")
    assert [one.value for one in mem.list().items] == (["Lugano"] if install == "whole" else [])
    assert mem.search("Where do I live?").hits[0].quote == "I live in Lugano."


def test_a_model_that_is_asked_for_is_used_or_refused_with_its_place(mem: Credenda, path: Path, install: str) -> None:
    assert mem.list().items == ()
    refusal = nullcontext() if install == "whole" else pytest.raises(Invalid, match=r"pip install \.;")
    with refusal, Credenda.open(path, user="bob", workers=False, settings={"embedder": "minilm"}) as asked:
        assert asked.list().items == ()


def test_a_reader_that_is_not_installed_is_told_by_every_receipt_and_check(
    mem: Credenda, path: Path, install: str
) -> None:
    unread, report = mem.remember("I live in Lugano.").unread, mem.data.doctor()
    missing = () if install == "whole" else ("onnxruntime", "tokenizers", "credenda_models", "pip install .")
    assert all(word in part for part in unread for word in missing)
    assert bool(unread) is bool(missing)
    assert mem.stats().reader_problem == "".join(unread)
    assert [f"{one.detail}; {one.fix}" for one in report.findings if one.check == "reader"] == [*unread]
    assert report.ok is not bool(missing)
    shown = CliRunner().invoke(cli, ["--db", str(path), "--user", "ana", "doctor"])
    assert ("not installed: onnxruntime" in shown.stdout, shown.exit_code != 0) == (bool(missing), bool(missing))
    with Credenda.open(path, user="bob", workers=False, settings={"reader": "none"}) as silent:  # none is wanted
        assert (silent.remember("I live in Linz.").unread, silent.stats().reader_problem) == ((), "")

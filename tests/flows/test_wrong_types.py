"""Whatever an untyped caller hands in, the answer is one clear error, and nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda
from credenda.errors import CredendaError, Invalid

WRONG: list[Any] = [5, b"x", [1], {"a": 1}, float("nan"), "half \ud800 pair"]
CALLS: dict[str, Callable[[Credenda, str, Any], object]] = {
    "query": lambda mem, _, given: mem.search(given),
    "types": lambda mem, _, given: mem.search("tea", types=given),
    "layers": lambda mem, _, given: mem.search("tea", layers=given),
    "include": lambda mem, _, given: mem.search("tea", include=given),
    "mode": lambda mem, _, given: mem.search("tea", mode=given),
    "profile": lambda mem, _, given: mem.search("tea", profile=given),
    "as_of": lambda mem, _, given: mem.search("tea", as_of=given),
    "metadata": lambda mem, _, given: mem.search("tea", metadata=given if given != {"a": 1} else {"a": b"x"}),
    "get": lambda mem, _, given: mem.get(given),
    "why": lambda mem, _, given: mem.why(given),
    "delete": lambda mem, _, given: mem.delete(given),
    "history": lambda mem, _, given: mem.history(entity=given, attribute="residence"),
    "type": lambda mem, _, given: mem.list(type=given),
    "status": lambda mem, _, given: mem.list(status=given),
    "topic of a list": lambda mem, _, given: mem.list(topic=given),
    "entity of a list": lambda mem, _, given: mem.list(entity=given),
    "attribute of a list": lambda mem, _, given: mem.list(attribute=given),
    "cursor": lambda mem, _, given: mem.list(cursor=given),
    "text of a correction": lambda mem, id, given: mem.correct(id, text=given),
    "value of a correction": lambda mem, id, given: mem.correct(id, value=given),
    "reason": lambda mem, id, given: mem.forget(id, given),
    "content": lambda mem, _, given: mem.remember(given),
    "unit": lambda mem, _, given: mem.store(given),
    "steps": lambda mem, _, given: mem.manage.dream(given),
    "only": lambda mem, _, given: mem.manage.schedule(only=given),
    "points": lambda mem, _, given: mem.manage.retention(limit=given if given != 5 else 0),
    "timeout": lambda mem, _, given: mem.settle(given if given != 5 else 0),
    "format of an export": lambda mem, _, given: mem.data.export("out.jsonl", given),
    "model": lambda mem, _, given: mem.data.reembed(given),
    "model of an estimate": lambda mem, _, given: mem.manage.extract(text="I like tea.", model=given, dry_run=True),
    "session": lambda mem, _, given: mem.remember("I like tea.", session=given),
}


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[Credenda]:
    with Credenda.open(tmp_path / "memory.db", user="ana") as opened:
        opened.remember("I live in Graz.")
        opened.settle()
        yield opened


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_type_is_an_error_of_ours_and_changes_nothing(mem: Credenda, name: str) -> None:
    (held,) = mem.list().items
    before = mem.stats()
    for given in WRONG:
        if name == "query" and isinstance(given, str):
            continue  # no stored text can hold it, so it only finds nothing
        with pytest.raises(CredendaError):
            CALLS[name](mem, held.id, given)
    assert mem.stats() == before
    assert list(mem.list().items) == [held]


def test_an_id_that_is_no_text_is_named_as_such(mem: Credenda) -> None:
    untyped: Any = 7
    with pytest.raises(Invalid, match="an id must be text: it is a int"):
        mem.get(untyped)


def test_a_query_that_is_no_text_is_not_called_empty(mem: Credenda) -> None:
    untyped: Any = 7
    with pytest.raises(Invalid, match="a query must be text"):
        mem.search(untyped)


def test_one_tag_given_as_text_is_one_tag_and_not_its_letters(tmp_path: Path) -> None:
    with Credenda.open(tmp_path / "memory.db", user="ana") as mem:
        mem.remember("I live in Graz.", tags=["home"])
        mem.settle()
        one: Any = "home"
        assert [hit.quote for hit in mem.search("Where do I live?", tags=one).hits] == [
            hit.quote for hit in mem.search("Where do I live?", tags=["home"]).hits
        ]
        assert mem.search("Where do I live?", tags=one).hits


def test_a_message_quotes_little_of_what_was_given(mem: Credenda) -> None:
    with pytest.raises(Invalid) as caught:
        mem.search("tea", mode="m" * 3_000_000)
    assert len(str(caught.value)) < 1_000


def test_one_duty_given_as_text_is_one_duty_and_not_its_letters(mem: Credenda) -> None:
    assert mem.manage.schedule(only="decay").ran


@pytest.mark.parametrize("name", ["target", "clock", "settings"])
@pytest.mark.parametrize("given", [5, True, b"x", [1], {1: 2}, object(), "half \ud800 pair", "a\x00b"])
def test_what_opens_no_memory_is_an_error_of_ours_and_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: object
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments: dict[str, Any] = {"target": "memory.db", name: given}
    with pytest.raises(Invalid):
        Credenda.open(**arguments, user="ana")
    assert list(tmp_path.iterdir()) == []

"""No write path keeps a secret, in the text or in the fields around it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from credenda import Credenda, MemoryUnit
from credenda.errors import Invalid

SECRET = "sk-proj-" + "Ab3dEf6hIj9lMn2pQr5tUv8x"


def _dump(path: Path) -> str:
    return "".join(file.read_bytes().decode("latin-1") for file in path.parent.glob("memory.db*"))


@pytest.fixture
def mem(path: Path) -> Iterator[Credenda]:
    with Credenda.open(path, user="ana", embedder="none", workers=False) as memory:
        yield memory


def test_remember_masks_the_secrets_of_every_field(mem: Credenda, path: Path) -> None:
    mem.remember(
        [{"role": "person", "name": f"Ben {SECRET}", "content": f"I use {SECRET} here."}],
        topic=f"topic {SECRET}",
        tags=[f"tag {SECRET}", "work"],
        metadata={"key": SECRET, SECRET: "name", "deep": {"list": [SECRET], "password": "hunter2"}, "page": 3},
    )
    mem.settle()
    mem.close()
    dump = _dump(path)
    assert SECRET not in dump
    assert "hunter2" not in dump
    assert '"page": 3' in dump or '"page":3' in dump


@pytest.mark.parametrize("field", ["session", "agent", "idempotency_key"])
def test_an_identifier_with_a_secret_is_refused_and_nothing_is_written(mem: Credenda, path: Path, field: str) -> None:
    given: dict[str, Any] = {field: SECRET}
    with pytest.raises(Invalid, match="contains a secret") as caught:
        mem.remember("I live in Linz.", **given)
    assert SECRET not in str(caught.value)
    with pytest.raises(Invalid, match="message id"):
        mem.remember([{"role": "user", "content": "I live in Linz.", "id": SECRET}])
    assert mem.stats().events == 0
    mem.close()
    assert SECRET not in _dump(path)


def test_store_and_corrections_mask_slot_values_and_reasons(mem: Credenda, path: Path) -> None:
    unit = MemoryUnit(
        text=f"The key is {SECRET}.",
        entity=f"router {SECRET}",
        attribute="admin_key",
        value=SECRET,
        scope=f"at {SECRET}",
        tags=(SECRET,),
        metadata={"k": SECRET},
        topic=f"t {SECRET}",
    )
    stored = mem.store(unit)
    right = mem.correct(stored.id, value=f"in {SECRET}", reason=f"it was {SECRET}")
    mem.manage.set_status(right.id, "archived", reason=f"old {SECRET}")
    mem.forget(right.id, reason=f"gone {SECRET}")
    mem.close()
    assert SECRET not in _dump(path)


def test_the_policy_keep_keeps_and_reject_refuses(path: Path) -> None:
    settings = {"secrets_policy": "reject"}
    with Credenda.open(path, user="ana", embedder="none", workers=False, settings=settings) as memory:
        given: list[dict[str, Any]] = [{"tags": [SECRET]}, {"metadata": {"k": SECRET}}, {"topic": SECRET}]
        for fields in given:
            with pytest.raises(Invalid):
                memory.remember("I live in Linz.", **fields)
        assert memory.stats().events == 0


def test_a_scan_of_code_masks_the_names_of_files(mem: Credenda, path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / f"{SECRET}.py").write_text("def run() -> None: ...\n")
    report = mem.data.scan(folder)
    assert [SECRET in problem for problem in report.problems] == [False]
    mem.close()
    assert SECRET not in _dump(path)

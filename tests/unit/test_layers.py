"""What import-linter cannot say by itself: its contracts keep up with the code, and each door to the world
outside lets in only its own kind.
"""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PACKAGE = SRC / "credenda"

# A module named here decides from its arguments alone. Once it exists, the `pure` contract must hold it.
PURE = (
    "credenda.compat.mem0.filters",
    "credenda.manage.code.scan_result",
    "credenda.manage.consolidation.parse_answer",
    "credenda.manage.consolidation.clusters",
    "credenda.manage.consolidation.absolute_dates",
    "credenda.manage.consolidation.trigger",
    "credenda.manage.consolidation.guards",
    "credenda.manage.consolidation.judge",
    "credenda.manage.consolidation.nominate",
    "credenda.manage.consolidation.prompt",
    "credenda.manage.consolidation.member",
    "credenda.manage.consolidation.plan_changes",
    "credenda.manage.code.ignore",
    "credenda.manage.code.manifests",
    "credenda.manage.code.memories",
    "credenda.manage.code.outline",
    "credenda.manage.core",
    "credenda.manage.dream",
    "credenda.manage.drift",
    "credenda.manage.replay",
    "credenda.manage.importance",
    "credenda.manage.lifecycle",
    "credenda.manage.plot",
    "credenda.manage.decay",
    "credenda.manage.schedule",
    "credenda.model",
    "credenda.portability.files.three_way_diff",
    "credenda.portability.files.suspicious_deletions",
    "credenda.portability.files.render",
    "credenda.portability.files.memory_side",
    "credenda.portability.files.layout",
    "credenda.portability.files.markers",
    "credenda.portability.files.filenames",
    "credenda.portability.files.page_plan",
    "credenda.portability.files.parse",
    "credenda.portability.files.types",
    "credenda.portability.files.state",
    "credenda.read.abstention",
    "credenda.read.answer_type",
    "credenda.read.diff",
    "credenda.read.fuse",
    "credenda.read.visibility",
    "credenda.read.alias_match",
    "credenda.read.pack",
    "credenda.read.plan",
    "credenda.read.score",
    "credenda.read.instruction_match",
    "credenda.text",
    "credenda.index.frqad",
    "credenda.index.quantize",
    "credenda.write.intake.validate",
    "credenda.write.contests.parse_answer",
    "credenda.validation",
    "credenda.write.reconcile.implications",
    "credenda.write.contests.flip_flops",
    "credenda.write.corrections.correct",
    "credenda.storage.job_kinds",
    "credenda.write.corrections.log_view",
    "credenda.write.indexing.near_duplicate",
    "credenda.write.intake.injection",
    "credenda.write.intake.prescreen",
    "credenda.write.corrections.set_status",
    "credenda.write.reconcile.corroboration",
    "credenda.write.llm.answer",
    "credenda.write.llm.gate",
    "credenda.write.llm.guards",
    "credenda.write.llm.merge",
    "credenda.write.llm.persons",
    "credenda.write.llm.prompt",
    "credenda.write.llm.reading",
    "credenda.write.llm.words",
    "credenda.write.reconcile.decide",
    "credenda.write.contests.resolve",
    "credenda.write.intake.secrets",
    "credenda.write.again.compare",
    "credenda.write.again.sense",
    "credenda.write.succession.closer",
    "credenda.write.succession.decide",
    "credenda.write.succession.departed",
    "credenda.write.succession.likely",
    "credenda.write.succession.match",
    "credenda.write.succession.old",
    "credenda.write.succession.refilled",
    "credenda.write.succession.table",
    "credenda.write.succession.tongues",
    "credenda.write.succession.turning",
    "credenda.write.succession.weigh",
    "credenda.write.succession.weights",
    "credenda.write.succession.words",
    "credenda.write.corrections.undo",
    "credenda.write.reconcile.undone_decisions",
)

# How each kind of outside world shows in a source: as a module, or as a name taken from one.
TIME = frozenset({"time", "now", "utcnow", "today"})
RANDOMNESS = frozenset({"random", "secrets", "uuid", "urandom"})
ENVIRONMENT = frozenset({"environ", "getenv"})


def contract(name: str) -> dict[str, Any]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = (one for one in config["tool"]["importlinter"]["contracts"] if one["id"] == name)
    return found


def exists(module: str) -> bool:
    path = SRC.joinpath(*module.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case _:
                continue


def missing_from_contract(existing: set[str], held: set[str]) -> set[str]:
    return {module for module in PURE if module in existing} - held


def test_every_pure_module_that_exists_is_in_the_pure_contract() -> None:
    missing = missing_from_contract(set(filter(exists, PURE)), set(contract("pure")["source_modules"]))
    assert not missing, f"add {sorted(missing)} to source_modules of the contract `pure` in pyproject.toml"


def test_the_pure_contract_holds_nothing_that_this_list_does_not_name() -> None:
    assert set(contract("pure")["source_modules"]) <= set(PURE)


def test_a_pure_module_outside_the_contract_would_be_found() -> None:
    assert missing_from_contract({"credenda.text", "credenda.model"}, {"credenda.text"}) == {"credenda.model"}


def outside_words(source: str) -> set[str]:
    words = {part for name in imported(source) for part in name.split(".")}
    return words | {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize(
    ("module", "others"),
    [("clock", RANDOMNESS | ENVIRONMENT), ("ids", ENVIRONMENT | TIME), ("config", RANDOMNESS | TIME)],
)
def test_each_door_to_the_outside_lets_in_only_its_own_kind(module: str, others: frozenset[str]) -> None:
    path = PACKAGE / f"{module}.py"
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert not others & outside_words(source)


def test_an_outside_word_is_seen_as_module_name_and_attribute() -> None:
    source = "import uuid\nfrom os import getenv\nstart = datetime.now()\n"
    assert outside_words(source) == {"uuid", "os", "getenv", "now"}


def test_the_doubles_for_tests_are_used_by_tests_only() -> None:
    users = [
        path.relative_to(SRC).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if "testing" not in path.relative_to(PACKAGE).parts[0]
        and any(f"{name}.".startswith("credenda.testing.") for name in imported(path.read_text(encoding="utf-8")))
    ]
    assert users == []


def test_imports_are_read_in_every_form() -> None:
    source = "import os.path\nfrom credenda import testing\nfrom . import near\nif x:\n    import time as t\n"
    assert set(imported(source)) == {"os.path", "credenda", "credenda.testing", "time"}

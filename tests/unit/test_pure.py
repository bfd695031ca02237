"""Pure modules decide without touching disk, network, threads or logs.

A module is pure when its docstring contains the sentence `Pure.`, or the docstring of a package above it does. No list
names modules, so a module can move without a change here. A mark cannot get lost: in the three phases, a module that
reaches nothing of the outside world has to carry it, or to say `Not pure:` and why.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import grimp

SRC = Path(__file__).resolve().parents[2] / "src"
TABLE = "credenda.operations"
PHASES = ("credenda.write.", "credenda.manage.", "credenda.read.")
# Time and randomness are absent: a pure module may name the type Clock, and the lint bans the rest.
FORBIDDEN = (
    "credenda.storage",
    "credenda.workers",
    "asyncio",
    "concurrent",
    "http",
    "logging",
    "multiprocessing",
    "psycopg",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "urllib",
)
MARK = re.compile(r"(?<!\S)Pure\.(?!\S)")
DENIAL = re.compile(r"(?<!\S)Not pure: \w")


@cache
def import_graph() -> grimp.ImportGraph:
    """Return who imports whom; the table of operations reads what the client describes, and calls nothing of it."""
    graph = grimp.build_graph("credenda", include_external_packages=True, cache_dir=None)
    for imported in sorted(graph.find_modules_directly_imported_by(TABLE)):
        if imported.startswith("credenda.client"):
            graph.remove_import(importer=TABLE, imported=imported)
    return graph


@cache
def docstrings() -> Mapping[str, str]:
    """Map every module to its docstring; a package ends with a dot."""
    found: dict[str, str] = {}
    for path in sorted((SRC / "credenda").rglob("*.py")):
        name = ".".join(path.relative_to(SRC).with_suffix("").parts)
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[name.removesuffix("__init__")] = text
    return found


def pure_modules(texts: Mapping[str, str]) -> set[str]:
    """Find the modules that are marked, by themselves or by a package above them."""
    marked = {name for name, text in texts.items() if MARK.search(text)}
    packages = tuple(name for name in marked if name.endswith("."))
    return marked | {name for name in texts if name.startswith(packages)}


def reaching(graph: grimp.ImportGraph, forbidden: str) -> set[str]:
    """Find the modules from which a chain of imports leads to `forbidden` or into it."""
    if forbidden not in graph.modules:
        return set()
    inside = {forbidden}
    if not graph.is_module_squashed(forbidden):
        inside |= graph.find_descendants(forbidden)
    return inside.union(*map(graph.find_downstream_modules, inside))


def impure_chains(graph: grimp.ImportGraph, pure: Iterable[str]) -> list[str]:
    """Say for each pure module that reaches a forbidden one by which imports it does so.

    A module inside a forbidden package may reach the rest of that package, as in import-linter's `forbidden` contract.
    """
    problems: list[str] = []
    wanted = {name.rstrip(".") for name in pure}
    for forbidden in FORBIDDEN:
        for module in sorted(wanted & reaching(graph, forbidden)):
            if not f"{module}.".startswith(f"{forbidden}."):
                external = graph.is_module_squashed(forbidden)
                chains = graph.find_shortest_chains(module, forbidden, as_packages=not external)
                problems.append(" -> ".join(min(chains)))
    return problems


def unmarked(texts: Mapping[str, str], impure: set[str]) -> list[str]:
    """Find the modules of the phases that could be called pure and say neither that nor why not."""
    silent = {name for name in texts.keys() - pure_modules(texts) if not DENIAL.search(texts[name])}
    return sorted(name for name in silent if name.startswith(PHASES) and name[-1] != "." and name not in impure)


def impure_modules() -> set[str]:
    return set[str]().union(*(reaching(import_graph(), forbidden) for forbidden in FORBIDDEN))


def test_no_pure_module_reaches_the_outside_world() -> None:
    assert impure_chains(import_graph(), pure_modules(docstrings())) == []


def test_every_module_of_the_phases_that_reaches_nothing_says_whether_it_is_pure() -> None:
    silent = unmarked(docstrings(), impure_modules())
    assert silent == [], "end the first paragraph of the docstring with `Pure.`, or write `Not pure:` and why"


def test_the_phases_and_the_bounds_of_a_pure_module_exist() -> None:
    names = import_graph().modules
    assert {phase.rstrip(".") for phase in PHASES} <= names
    assert {name for name in FORBIDDEN if name.startswith("credenda.")} <= names


def small_graph() -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for module in ("credenda.storage", "credenda.storage.rows", "credenda.write", "credenda.read", "credenda.text"):
        graph.add_module(module)
    graph.add_module("logging", is_squashed=True)
    graph.add_import(importer="credenda.write", imported="credenda.read")
    graph.add_import(importer="credenda.read", imported="credenda.storage.rows")
    graph.add_import(importer="credenda.text", imported="logging")
    return graph


def test_an_indirect_import_into_a_forbidden_package_is_found() -> None:
    assert impure_chains(small_graph(), ["credenda.write"]) == [
        "credenda.write -> credenda.read -> credenda.storage.rows"
    ]


def test_a_direct_import_of_a_forbidden_library_is_found() -> None:
    assert impure_chains(small_graph(), ["credenda.text"]) == ["credenda.text -> logging"]


def test_a_module_may_reach_the_forbidden_package_that_it_belongs_to_but_no_other() -> None:
    graph = small_graph()
    graph.add_import(importer="credenda.storage.rows", imported="credenda.storage")
    assert impure_chains(graph, ["credenda.storage.rows"]) == []
    graph.add_import(importer="credenda.storage.rows", imported="logging")
    assert impure_chains(graph, ["credenda.storage.rows"]) == ["credenda.storage.rows -> logging"]


def test_a_package_speaks_for_its_modules_and_for_nothing_beside_it() -> None:
    texts = {"credenda.text.": "Words. Pure.", "credenda.text.dates": "Days.", "credenda.textual": "Others."}
    assert pure_modules(texts) == {"credenda.text.", "credenda.text.dates"}


def test_only_a_sentence_of_its_own_is_a_mark() -> None:
    texts = {"a": "Decide. Pure.", "b": "Pure.\n\nMore.", "c": "A pure fold.", "d": "Not pure: slow.", "e": "Pure.py"}
    assert pure_modules(texts) == {"a", "b"}


def test_a_lost_mark_is_missed_unless_the_module_denies_it_or_is_impure() -> None:
    texts = {
        "credenda.write.": "The package.",
        "credenda.write.lost": "Decide.",
        "credenda.write.said": "Walk a folder. Not pure: it reads the disk.",
        "credenda.write.apply": "Write.",
        "credenda.interfaces.cli.render": "Print.",
    }
    assert unmarked(texts, impure={"credenda.write.apply"}) == ["credenda.write.lost"]

"""Check that every claimed requirement has a test, and that every id in a test is claimed, without running tests.

`tests/requirements.toml` claims ids, one per line; a test proves some of them with `@pytest.mark.requirement("R-074",
"D-003")`. Run as a script, this prints every mismatch.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

ID = re.compile(r"[RESCDX]-\d{3}")
MARK = "requirement"
# The key of a line such as `R-074 = {…}` or `["R-074"]`: read before TOML, which stops at the first double.
KEY_LINE = re.compile(r"""^\s*\[?\s*["']?(?P<key>[^\s"'=\[\]{}#]+)["']?\s*[=\]]""", re.MULTILINE)
FIELDS = frozenset({"title", "gap"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """One id that a test names, with its location."""

    id: str
    path: str
    line: int

    @property
    def place(self) -> str:
        """Return path and line, as an editor opens it."""
        return f"{self.path}:{self.line}"


def is_id(text: object) -> bool:
    """Return whether a value is one well-formed id: never a range, a list or a prefix."""
    return isinstance(text, str) and ID.fullmatch(text) is not None


def entry_problems(key: str, entry: object) -> list[str]:
    """Return the problems of one claimed requirement."""
    problems: list[str] = []
    if not is_id(key):
        problems.append(f"requirements.toml: {key!r} is not one id like R-074 (ranges are not ids)")
    fields = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    if not str(fields.get("title", "")).strip():
        problems.append(f"requirements.toml: {key} needs a title")
    if unknown := sorted(set(fields) - FIELDS):
        problems.append(f"requirements.toml: {key} has unknown fields {unknown}")
    if "gap" in fields and not str(fields["gap"]).strip():
        problems.append(f"requirements.toml: {key} has an empty gap; say what is missing or drop it")
    return problems


def read_manifest(text: str) -> tuple[frozenset[str], list[str]]:
    """Return the claimed ids, and the problems of the manifest."""
    counts = Counter(match["key"] for match in KEY_LINE.finditer(text))
    doubled = [f"requirements.toml: {key} is listed {n} times" for key, n in counts.items() if n > 1 and is_id(key)]
    if doubled:
        return frozenset(key for key in counts if is_id(key)), doubled
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return frozenset(), [f"requirements.toml: {error}"]
    problems = [problem for key, entry in table.items() for problem in entry_problems(key, entry)]
    return frozenset(filter(is_id, table)), problems


def is_requirement_mark(node: ast.AST) -> bool:
    """Return whether a node is `pytest.mark.requirement`, under any import name of pytest."""
    match node:
        case ast.Attribute(value=ast.Attribute(attr="mark") | ast.Name(id="mark"), attr=name):
            return name == MARK
        case _:
            return False


def call_namings(path: str, call: ast.Call) -> tuple[list[Naming], list[str]]:
    """Return the ids of one mark, and its problems."""
    place = f"{path}:{call.lineno}"
    namings: list[Naming] = []
    problems: list[str] = []
    if not call.args or call.keywords:
        problems.append(f"{place}: a requirement mark takes ids, and nothing else")
    for argument in call.args:
        match argument:
            case ast.Constant(value=str(text)) if is_id(text):
                namings.append(Naming(id=text, path=path, line=argument.lineno))
            case _:
                problems.append(f"{place}: {ast.unparse(argument)} is not one id like 'R-074'")
    doubled = [id_ for id_, n in Counter(naming.id for naming in namings).items() if n > 1]
    problems += [f"{place}: {id_} is named twice in one mark" for id_ in doubled]
    return namings, problems


def misplaced_marks(path: str, tree: ast.AST) -> list[str]:
    """Return problems for marks on objects that pytest does not collect."""
    problems: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("test"):
                decorators = node.decorator_list
            case ast.ClassDef(name=name) if not name.startswith("Test"):
                decorators = node.decorator_list
            case _:
                continue
        if any(isinstance(mark, ast.Call) and is_requirement_mark(mark.func) for mark in decorators):
            problems.append(f"{path}:{node.lineno}: {name} names a requirement but is not a test")
    return problems


def source_namings(path: str, source: str) -> tuple[list[Naming], list[str]]:
    """Return every id in the tests of one file, and the problems of its marks."""
    tree = ast.parse(source, filename=path)
    namings: list[Naming] = []
    problems = misplaced_marks(path, tree)
    called: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_requirement_mark(node.func):
            called.add(id(node.func))
            found, wrong = call_namings(path, node)
            namings += found
            problems += wrong
    for node in ast.walk(tree):
        if is_requirement_mark(node) and id(node) not in called:
            problems.append(f"{path}: a requirement mark without ids")
    return namings, problems


def mismatches(claimed: Iterable[str], namings: Iterable[Naming]) -> list[str]:
    """Return problems for claims without a test, and for unclaimed ids in tests."""
    claims = frozenset(claimed)
    named = {naming.id for naming in namings}
    problems = [f"requirements.toml: {id_} is claimed, but no test names it" for id_ in sorted(claims - named)]
    strays = [naming for naming in namings if naming.id not in claims]
    return problems + [f"{stray.place}: {stray.id} is not in requirements.toml" for stray in strays]


def problems_of(manifest: str, sources: Mapping[str, str]) -> list[str]:
    """Return all problems of the manifest and the test sources (path to text)."""
    claimed, problems = read_manifest(manifest)
    namings: list[Naming] = []
    for path, source in sources.items():
        found, wrong = source_namings(path, source)
        namings += found
        problems += wrong
    return problems + mismatches(claimed, namings)


def sources_under(tests: Path) -> dict[str, str]:
    """Return the text of every Python file under the tests folder that pytest would collect."""
    paths = sorted({*tests.rglob("test_*.py"), *tests.rglob("*_test.py")})
    return {path.relative_to(tests.parent).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def main() -> int:
    """Check the project of this script; return 1 if there are problems."""
    tests = Path(__file__).resolve().parent.parent / "tests"
    manifest = (tests / "requirements.toml").read_text(encoding="utf-8")
    problems = problems_of(manifest, sources_under(tests))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Keep names plain: fails on a function that does not begin with a verb, and on a banned word.

A module-level function begins with a verb of `verbs.txt`, with an auxiliary (`is_`, `has_`, `may_` …) or with `to_` or
`from_`. Names of functions, classes and modules contain no word of `BANNED`. Commands of click, properties, fixtures,
methods and generated files are free.

`names_exceptions.toml` lists the names that are still wrong. The list may only shrink: an entry that no longer fits is
an error. Names are counted over the whole tree, so a module can move without an edit. `--update` removes the entries
that no longer fit and files the rest under the modules where they are. It adds names only where the file names none
yet, that is, once.
"""

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sizes import is_generated

SHARE_MIN = 0.75  # raise it with the share
SHARE_TARGET = 0.50
AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "was",
        "has",
        "have",
        "had",
        "may",
        "can",
        "cannot",
        "could",
        "must",
        "should",
        "will",
        "does",
        "needs",
    ]
)
CONVERSIONS = frozenset({"to", "from"})
FREE_DECORATORS = frozenset({"command", "group", "fixture", "property", "cached_property", "setter", "overload"})
BANNED = {
    "again": "paraphrase, repeat or retry",
    "asking": "search, inspect or prompt",
    "common": "the subject",
    "held": "believed, active, locked or cached",
    "helpers": "the subject",
    "manager": "the task",
    "mind": "model",
    "misc": "the subject",
    "night": "dream",
    "plain": "jsonable, declarative or normalised",
    "plainly": "declarative or normalised",
    "refilled": "restored or same_frame",
    "said": "statement, candidate or features",
    "saying": "remember, statement or candidate",
    "standing": "status, instruction, active or prior",
    "stone": "tombstone",
    "stones": "tombstones",
    "stuff": "the noun",
    "thing": "the noun",
    "things": "the noun",
    "told": "statement or replacement",
    "turning": "change cue",
    "utils": "the subject",
}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
HEAD = """\
# Names that scripts/names.py does not allow and that are still there. This list may only shrink:
# `scripts/names.py --update` removes what no longer fits. A module is listed by its file name.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """One function, class or module, and the fault of its name."""

    path: str
    line: int
    text: str
    is_function: bool
    problem: str


@dataclass(slots=True, kw_only=True)
class Exceptions:
    """Folders that are free, each with a reason, and the names that are allowed to stay for now, by module."""

    folders: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def permits(self) -> Counter[str]:
        """Count how often each name may occur."""
        return Counter(name for names in self.names.values() for name in names)


def split_words(name: str) -> list[str]:
    """Split a name in snake case or camel case into lower-case words."""
    return [word.lower() for word in WORD.findall(name)]


def find_banned(name: str) -> str:
    """Say which word of a name is banned, or nothing."""
    words = split_words(name)
    for word, follower in zip(words, [*words[1:], ""], strict=True):
        if word in BANNED and (word, follower) not in {("standing", "instruction"), ("standing", "instructions")}:
            return f"“{word}” says too little; write {BANNED[word]}"
    return ""


def begins_with_verb(name: str, verbs: Collection[str]) -> bool:
    """Say whether a function's name begins as one should; a bare auxiliary or `to` is not enough."""
    first, _, rest = name.strip("_").partition("_")
    return first in verbs or (bool(rest) and first in AUXILIARIES | CONVERSIONS)


def is_free(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Say whether a decorator makes a function into something else: a command, a property or a fixture."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(target).rpartition(".")[2] in FREE_DECORATORS:
            return True
    return node.name.startswith("__") and node.name.endswith("__")


def check_file(path: str, source: str, verbs: Collection[str]) -> Iterator[Name]:
    """Check the names that one Python file defines at its top, and its own; yields right names too."""
    if is_generated(source):
        return
    file = Path(path)
    own = file.parent.name + "/" if file.name == "__init__.py" else file.name
    yield Name(path=path, line=1, text=own, is_function=False, problem=find_banned(own.removesuffix(".py")))
    for node in ast.parse(source, filename=path).body:
        match node:
            case ast.ClassDef(name=name):
                yield Name(path=path, line=node.lineno, text=name, is_function=False, problem=find_banned(name))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not is_free(node):
                problem = find_banned(name)
                if not problem and not begins_with_verb(name, verbs):
                    problem = "does not begin with a verb of scripts/verbs.txt, nor with is_, has_, may_ …"
                yield Name(path=path, line=node.lineno, text=name, is_function=True, problem=problem)
            case _:
                continue


def check_tree(root: Path, verbs: Collection[str]) -> list[Name]:
    """Check every Python file of `src`, in path order."""
    found: list[Name] = []
    for path in sorted((root / "src").rglob("*.py")):
        found += check_file(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), verbs)
    return found


def parse_verbs(text: str) -> tuple[list[str], list[str]]:
    """Parse the list of verbs, and name its faults."""
    verbs = text.split()
    return verbs, [] if verbs == sorted(set(verbs)) else ["verbs.txt: one verb a line, sorted, each once"]


def parse_exceptions(text: str) -> tuple[Exceptions, list[str]]:
    """Parse the file of exceptions, and name its faults: a folder needs a reason."""
    table: dict[str, Any] = tomllib.loads(text)
    exceptions = Exceptions(folders=table.pop("folders", {}), names=table.pop("names", {}))
    problems = [f"names_exceptions.toml: unknown table {kind!r}" for kind in table]
    problems += [
        f"names_exceptions.toml: {folder} needs a reason"
        for folder, reason in exceptions.folders.items()
        if not reason.strip()
    ]
    return exceptions, problems


def drop_free_folders(names: Iterable[Name], folders: Collection[str]) -> list[Name]:
    """Drop the names of folders that are excepted as a whole."""
    prefixes = tuple(folder.rstrip("/") + "/" for folder in folders)
    return [name for name in names if not name.path.startswith(prefixes)]


def find_problems(names: Iterable[Name], exceptions: Exceptions) -> list[str]:
    """Find wrong names beyond the exceptions, and exceptions that no longer fit."""
    every = list(names)
    problems = [
        f"names_exceptions.toml: no wrong name in {folder}: remove it"
        for folder in exceptions.folders
        if not any(name.problem and name.path.startswith(folder.rstrip("/") + "/") for name in every)
    ]
    permits = exceptions.permits()
    checked = drop_free_folders(every, exceptions.folders)
    # A name that is listed under its own module uses the permit first, so that the message names the new one.
    listed = {(path, text) for path, texts in exceptions.names.items() for text in texts}
    for name in sorted(checked, key=lambda name: (name.path, name.text) not in listed):
        if name.problem and permits[name.text] > 0:
            permits[name.text] -= 1
        elif name.problem:
            problems.append(f"{name.path}:{name.line}: {name.text}: {name.problem}")
    stale = sorted(text for text, count in permits.items() if count > 0)
    problems += [f"names_exceptions.toml: {text}: no longer needed: run scripts/names.py --update" for text in stale]
    return problems


def list_wrong(names: Iterable[Name], exceptions: Exceptions) -> Exceptions:
    """List every wrong name as an exception, for a file that has none yet."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in drop_free_folders(names, exceptions.folders):
        if name.problem:
            found[name.path].append(name.text)
    return Exceptions(folders=exceptions.folders, names=found)


def shrink(names: Iterable[Name], exceptions: Exceptions) -> Exceptions:
    """Drop the exceptions that no longer fit and file the others under their modules."""
    permits = exceptions.permits()
    kept: defaultdict[str, list[str]] = defaultdict(list)
    for name in drop_free_folders(names, exceptions.folders):
        if name.problem and permits[name.text] > 0:
            permits[name.text] -= 1
            kept[name.path].append(name.text)
    return Exceptions(folders=exceptions.folders, names=kept)


def format_exceptions(exceptions: Exceptions) -> str:
    """Format the file of exceptions: one line for each module, names sorted."""

    def table(title: str, lines: Mapping[str, str]) -> str:
        return f"\n[{title}]\n" + "".join(f'"{path}" = {line}\n' for path, line in sorted(lines.items()))

    folders = {path: f'"{reason}"' for path, reason in exceptions.folders.items()}
    names = {
        path: "[" + ", ".join(f'"{text}"' for text in sorted(texts)) + "]" for path, texts in exceptions.names.items()
    }
    return HEAD + table("folders", folders) + table("names", names)


def measure_share(names: Iterable[Name], verbs: Collection[str]) -> tuple[int, int]:
    """Count the functions that begin with a verb, and all functions."""
    functions = [name for name in names if name.is_function]
    return sum(begins_with_verb(name.text, verbs) for name in functions), len(functions)


def main() -> int:
    """Check the project this script stands in; 1 when a name is wrong."""
    scripts = Path(__file__).resolve().parent
    verbs, problems = parse_verbs((scripts / "verbs.txt").read_text(encoding="utf-8"))
    path = scripts / "names_exceptions.toml"
    exceptions, wrong = parse_exceptions(path.read_text(encoding="utf-8"))
    names = check_tree(scripts.parent, frozenset(verbs))
    if "--update" in sys.argv[1:]:
        update = shrink if exceptions.names else list_wrong
        exceptions = update(names, exceptions)
        path.write_text(format_exceptions(exceptions), encoding="utf-8")
    problems += wrong + find_problems(names, exceptions)
    good, count = measure_share(names, frozenset(verbs))
    share = good / max(1, count)
    waiting = exceptions.permits().total()
    print(f"names: {good} of {count} functions ({share:.0%}) begin with a verb, {SHARE_TARGET:.0%} should")
    print(f"names: {waiting} names wait in names_exceptions.toml")
    if share < SHARE_MIN:
        problems.append(f"names: at least {SHARE_MIN:.0%} of the functions must begin with a verb")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Outline a source file: functions and classes with their signatures, and imports. Pure.

Python is parsed with `ast`. JavaScript, TypeScript, Go, Rust, Java, C and C++ headers are scanned line by line for
declarations at the start of a line; nested, macro-generated and multi-line declarations are missed. Other files have no
outline.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final, NamedTuple, cast
from warnings import catch_warnings

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.memory import Memory, Status

_SIGNATURE_CHARACTERS: Final = 160
_LINE_CHARACTERS: Final = 400
_NAME: Final = r"([A-Za-z_$][\w$]*)"

_LANGUAGES: Final = {
    ".py": "Python",
    ".pyi": "Python",
    ".js": "JavaScript",
    ".mjs": "JavaScript",
    ".cjs": "JavaScript",
    ".jsx": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
    ".java": "Java",
    ".h": "C",
    ".c": "C",
    ".hpp": "C++",
    ".cpp": "C++",
    ".cc": "C++",
    ".sql": "SQL",
    ".sh": "shell",
    ".md": "Markdown",
    ".rst": "reStructuredText",
    ".toml": "TOML",
    ".json": "JSON",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".html": "HTML",
    ".css": "CSS",
    ".rb": "Ruby",
    ".php": "PHP",
    ".kt": "Kotlin",
    ".swift": "Swift",
    ".cs": "C#",
}
_WEB: Final = (
    rf"^(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*{_NAME}\s*(?:<[^>()]{{0,80}}>)?\([^)]{{0,200}}\)?",
    rf"^(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+{_NAME}[^{{]{{0,100}}",
    rf"^(?:export\s+)?(?:declare\s+)?(?:interface|type|enum)\s+{_NAME}",
    rf"^(?:export\s+)?const\s+{_NAME}\s*(?::[^=]{{0,80}})?=\s*(?:async\s*)?\([^)]{{0,200}}\)\s*(?::[^=]{{0,80}})?=>",
)
_DECLARED: Final = {
    "JavaScript": _WEB,
    "TypeScript": _WEB,
    "Go": (
        rf"^func\s+(?:\([^)]{{0,80}}\)\s*)?{_NAME}\s*(?:\[[^\]]{{0,80}}\])?\([^{{]{{0,200}}",
        rf"^type\s+{_NAME}\s+\w+",
    ),
    "Rust": (
        rf"^(?:pub(?:\([^)]{{0,30}}\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+{_NAME}[^{{;]{{0,200}}",
        rf"^(?:pub(?:\([^)]{{0,30}}\))?\s+)?(?:struct|enum|trait|type|mod|union)\s+{_NAME}",
    ),
    "Java": (
        rf"^(?:(?:public|protected|private|abstract|final|static|sealed)\s+)*(?:class|interface|enum|record)\s+{_NAME}",
        rf"^\s{{2,4}}(?:(?:public|protected|private|static|final)\s+)+[\w<>\[\], ]{{1,60}}\s{_NAME}\([^)]{{0,200}}\)",
    ),
    "C": (
        rf"^(?:typedef\s+)?(?:struct|enum|union)\s+{_NAME}",
        rf"^[A-Za-z_][\w \t*]{{0,80}}[ \t*]{_NAME}\([^;{{]{{0,200}}\)",
    ),
    "C++": (
        rf"^(?:class|struct|enum(?:\s+class)?|namespace)\s+{_NAME}",
        rf"^[A-Za-z_][\w:<>, \t*&]{{0,80}}[ \t*&](?:\w{{1,60}}::)?{_NAME}\([^;{{]{{0,200}}\)",
    ),
    "shell": (rf"^(?:function\s+)?{_NAME}\s*\(\)",),
    "SQL": (r"(?i)^create\s+(?:table|view|index|trigger)\s+(?:if\s+not\s+exists\s+)?([A-Za-z_]\w*)",),
}
_IMPORTED: Final = {
    "JavaScript": r"""(?:from|require\(|^import)\s*['"]([^'"]{1,120})['"]""",
    "TypeScript": r"""(?:from|require\(|^import)\s*['"]([^'"]{1,120})['"]""",
    "Go": r"""^(?:import\s+)?\s*(?:\w{1,40}\s+)?"([\w./\-]{1,120})"$""",
    "Rust": r"^(?:pub\s+)?use\s+([\w:]{1,120})",
    "Java": r"^import\s+(?:static\s+)?([\w.]{1,120})",
    "C": r"""^#include\s*[<"]([^>"]{1,120})""",
    "C++": r"""^#include\s*[<"]([^>"]{1,120})""",
}
_DECLARATION_PATTERNS: Final = {name: tuple(re.compile(one) for one in rules) for name, rules in _DECLARED.items()}
_IMPORTS: Final = {name: re.compile(rule) for name, rule in _IMPORTED.items()}
_PLAIN_BASES: Final = frozenset({"object", "Protocol", "ABC"})
_PLAIN_DECORATORS: Final = frozenset({"dataclass", "final", "runtime_checkable", "total_ordering"})
"""Bases and decorators that add no public name to a class; others may add any."""
_NOT_NAMES: Final = frozenset({"if", "for", "while", "switch", "return", "else", "sizeof", "catch", "do"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A function or class: its dotted name within the file ("Store.close"), and its signature in one line."""

    name: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The declarations of a file.

    `names` are all public dotted names. `open_names` are names that may have undetected members (a star import, a base
    class, attributes set at run time); "" is the file itself.
    """

    language: str
    declared: tuple[Declaration, ...] = ()
    imports: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    open_names: frozenset[str] = frozenset()
    problem: str = ""


def detect_language(path: str) -> str:
    """Return the language of a file by its suffix; "" for an unknown one.

    >>> detect_language("src/app.tsx")
    'TypeScript'
    """
    return _LANGUAGES.get(PurePosixPath(path).suffix.casefold(), "")


def parse_outline(path: str, text: str) -> Outline:
    """Outline a file; a parse error is returned in `problem`."""
    language = detect_language(path)
    if language == "Python":
        try:
            module = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Outline(language="Python", problem="it is not valid Python", open_names=frozenset({""}))
        reading = _PythonWalker()
        reading.body(module.body, "")
        return Outline(
            language="Python",
            declared=tuple(reading.declared),
            imports=tuple(dict.fromkeys(reading.imports)),
            names=frozenset(reading.names),
            open_names=frozenset(reading.open_names),
        )
    rules = _DECLARATION_PATTERNS.get(language, ())
    if rules:
        declared: list[Declaration] = []
        imports: list[str] = []
        importing = _IMPORTS.get(language)
        for line in text.splitlines():
            short = line[:_LINE_CHARACTERS]
            found = next((match for rule in rules if (match := rule.match(short))), None)
            if found is not None and found[1] not in _NOT_NAMES:
                declared.append(Declaration(name=found[1], signature=_format_signature(found[0])))
            elif importing is not None and (named := importing.search(short)):
                imports.append(named[1])
        names = frozenset(one.name for one in declared)
        return Outline(
            language=language,
            declared=tuple(declared),
            imports=tuple(dict.fromkeys(imports)),
            names=names,
            open_names=frozenset({""}),
        )
    return Outline(language=language)


def _format_signature(text: str) -> str:
    words = " ".join(text.split()).rstrip(" {:")
    return words if len(words) <= _SIGNATURE_CHARACTERS else f"{words[: _SIGNATURE_CHARACTERS - 1]}…"


class _PythonWalker:
    """A walk over one module that collects the declarations at its top level and in its classes."""

    def __init__(self) -> None:
        self.declared: list[Declaration] = []
        self.imports: list[str] = []
        self.names: set[str] = set()
        self.open_names: set[str] = set()

    def body(self, statements: Iterable[ast.stmt], prefix: str) -> None:
        """Collect from statements, including those inside conditions."""
        for node in statements:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(node, prefix)
                case ast.ClassDef():
                    name = f"{prefix}{node.name}"
                    self.names.add(name)
                    bases = [ast.unparse(base) for base in node.bases]
                    decorators = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
                    if set(bases) - _PLAIN_BASES or node.keywords or decorators - _PLAIN_DECORATORS:
                        self.open_names.add(name)
                    shown = f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
                    self.declared.append(Declaration(name=name, signature=_format_signature(shown)))
                    self.body(node.body, f"{name}.")
                case ast.Import() | ast.ImportFrom():
                    self._import(node, prefix)
                case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                    for part in _iterate_blocks(node):
                        self.body(part, prefix)
                case ast.Match():
                    for case in node.cases:
                        self.body(case.body, prefix)
                case _:
                    self.names.update(f"{prefix}{name}" for name in _find_assigned(node))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> None:
        name = f"{prefix}{node.name}"
        self.names.add(name)
        if node.name in {"__getattr__", "__getattribute__"}:
            self.open_names.add(prefix.removesuffix("."))
        word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"{word} {node.name}({ast.unparse(_mask_defaults(node.args))}){returns}"
        self.declared.append(Declaration(name=name, signature=_format_signature(signature)))
        if prefix:
            owner = prefix
            self.names.update(
                f"{owner}{part.attr}"
                for part in ast.walk(node)
                if isinstance(part, ast.Attribute)
                and isinstance(part.ctx, ast.Store)
                and isinstance(part.value, ast.Name)
            )

    def _import(self, node: ast.Import | ast.ImportFrom, prefix: str) -> None:
        source = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            if alias.name == "*":
                self.open_names.add(prefix.removesuffix("."))
            bound = alias.asname or (alias.name if source else alias.name.partition(".")[0])
            self.names.add(f"{prefix}{bound}")
            self.open_names.add(f"{prefix}{bound}")
            self.imports.append(source or alias.name)


def _iterate_blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for block_name in ("body", "orelse", "finalbody"):
        yield getattr(node, block_name, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body


def _find_assigned(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            wanted: Sequence[ast.expr] = targets
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            wanted = [target]
        case _:
            if type(node).__name__ == "TypeAlias":  # its class is new in Python 3.12
                yield getattr(node, "name").id  # noqa: B009
            return
    for target in wanted:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id


def _mask_defaults(args: ast.arguments) -> ast.arguments:
    """Mask literal defaults, because they may contain anything, such as a password."""
    args.defaults = [_mask_default(one) for one in args.defaults]
    args.kw_defaults = [None if one is None else _mask_default(one) for one in args.kw_defaults]
    return args


def _mask_default(default: ast.expr) -> ast.expr:
    match default:
        case ast.Constant(value=bool() | int() | float() | None):
            return default
        case ast.Name() | ast.Attribute():
            return default
        case _:
            return ast.Constant(value=...)


# Match paths against `.gitignore` patterns, by the rules of gitignore(5).


_LINES_MAX: Final = 5_000
_PATTERN_CHARACTERS: Final = 512


class IgnoreRules(NamedTuple):
    """One `.gitignore`; `base` is the folder of that file with a trailing slash, "" for the root."""

    base: str
    spec: GitIgnoreSpec


def parse_rules(text: str, base: str = "") -> IgnoreRules:
    """Parse a `.gitignore`; invalid lines are skipped.

    >>> [is_ignored("build/x.o", folder=False, rules=[parse_rules(text)]) for text in ("*.o", "x[z-a]")]
    [True, False]
    """
    patterns: list[GitIgnoreSpecPattern] = []
    for line in text.removeprefix("\ufeff").split("\n")[:_LINES_MAX]:
        if len(line) <= _PATTERN_CHARACTERS:
            # git takes some patterns that Python's regular expressions refuse or warn of, such as "x[z-a]"
            with suppress(GitIgnorePatternError, re.error), catch_warnings(action="ignore", category=FutureWarning):
                patterns.append(GitIgnoreSpecPattern(line.removesuffix("\r")))
    return IgnoreRules(base, GitIgnoreSpec(patterns))


def is_ignored(path: str, *, folder: bool, rules: Sequence[IgnoreRules]) -> bool:
    """Return whether the last matching pattern excludes a path, given from the root with slashes."""
    for base, spec in reversed(rules):
        if path.startswith(base):
            found = spec.check_file(f"{path.removeprefix(base)}/" if folder else path.removeprefix(base))
            if found.include is not None:
                return found.include
    return False


# Parse the dependencies and commands that a project declares. Pure.


_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)")
_GO_REQUIRED: Final = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/[\w./~-]+)\s+(v\S+)", re.MULTILINE)
_TARGET: Final = re.compile(r"^([A-Za-z0-9][\w./-]*(?:[ \t]+[A-Za-z0-9][\w./-]*)*)[ \t]*::?(?!=)", re.MULTILINE)
_SEPARATORS: Final = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The contents of one file: `dependencies` as (name, version as written), `commands` as (runner, name)."""

    path: str
    dependencies: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    name: str = ""
    problem: str = ""


def normalise_package(name: str) -> str:
    """Normalise a package name as in PEP 503.

    >>> normalise_package("Ruamel_YAML")
    'ruamel-yaml'
    """
    return _SEPARATORS.sub("-", name).casefold()


def is_manifest(path: str) -> bool:
    """Return whether a file is a supported manifest."""
    name = PurePosixPath(path).name
    known = {"pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile", "makefile", "GNUmakefile"}
    return name in known or (name.startswith("requirements") and name.endswith(".txt"))


def parse_manifest(path: str, text: str) -> Manifest:
    """Parse a manifest; a parse error is returned in `problem`."""
    name = PurePosixPath(path).name
    reader = _PARSERS.get(name, _parse_requirements_txt if name.endswith(".txt") else _parse_makefile)
    try:
        return reader(path, text)
    except (ValueError, RecursionError):
        return Manifest(path=path, problem="it cannot be parsed")


def _get_table(value: object, *names: str) -> Mapping[str, object]:
    for name in names:
        value = cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _filter_texts(value: object) -> list[str]:
    return [one for one in cast("list[object]", value) if isinstance(one, str)] if isinstance(value, list) else []


def _parse_requirements(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        found = _REQUIREMENT.match(line)
        if found is not None:
            yield found[1], found[2].strip()


def _parse_requirements_txt(path: str, text: str) -> Manifest:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("#", "-")))
    return Manifest(path=path, dependencies=tuple(_parse_requirements(lines)))


def _parse_go_mod(path: str, text: str) -> Manifest:
    return Manifest(path=path, dependencies=tuple(_GO_REQUIRED.findall(text)))


def _parse_pyproject(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    project, poetry = _get_table(data, "project"), _get_table(data, "tool", "poetry")
    wanted = _filter_texts(project.get("dependencies"))
    for group in (_get_table(project, "optional-dependencies"), _get_table(data, "dependency-groups")):
        wanted += [one for lines in group.values() for one in _filter_texts(lines)]
    wanted += _filter_texts(_get_table(data, "build-system").get("requires"))
    tables = [_get_table(poetry, "dependencies"), _get_table(poetry, "dev-dependencies")]
    tables += [_get_table(group, "dependencies") for group in _get_table(poetry, "group").values()]
    told = [(name, str(version)) for table in tables for name, version in table.items() if name != "python"]
    scripts = (*_get_table(project, "scripts"), *_get_table(project, "gui-scripts"), *_get_table(poetry, "scripts"))
    runners = (*_get_table(data, "tool", "pdm", "scripts"), *_get_table(data, "tool", "poe", "tasks"))
    return Manifest(
        path=path,
        dependencies=(*_parse_requirements(wanted), *told),
        commands=tuple(("script", name) for name in (*scripts, *runners)),
        name=str(project.get("name") or poetry.get("name") or ""),
    )


def _parse_cargo(path: str, text: str) -> Manifest:
    data = tomllib.loads(text)
    found: list[tuple[str, str]] = []
    parts: list[object] = [data, _get_table(data, "workspace"), *_get_table(data, "target").values()]
    for part in parts:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, wanted in _get_table(part, kind).items():
                version = (
                    cast("Mapping[str, object]", wanted).get("version", "") if isinstance(wanted, Mapping) else wanted
                )
                found.append((name, str(version)))
    return Manifest(path=path, dependencies=tuple(found), name=str(_get_table(data, "package").get("name") or ""))


def _parse_package_json(path: str, text: str) -> Manifest:
    data: object = json.loads(text)
    kinds = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    found = [(name, str(version)) for kind in kinds for name, version in _get_table(data, kind).items()]
    commands = tuple(("npm", name) for name in _get_table(data, "scripts"))
    return Manifest(
        path=path, dependencies=tuple(found), commands=commands, name=str(_get_table(data).get("name") or "")
    )


def _parse_makefile(path: str, text: str) -> Manifest:
    names = [name for line in _TARGET.findall(text) for name in line.split()]
    return Manifest(path=path, commands=tuple(("make", name) for name in dict.fromkeys(names)))


_PARSERS: Final[Mapping[str, Callable[[str, str], Manifest]]] = {
    "pyproject.toml": _parse_pyproject,
    "Cargo.toml": _parse_cargo,
    "package.json": _parse_package_json,
    "go.mod": _parse_go_mod,
}


# Result values of a code scan. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedFile:
    """A scanned file: path from the root with slashes, hash of its bytes (32 hex digits), line count and outline."""

    path: str
    digest: str
    lines: int
    outline: Outline


@dataclass(slots=True)
class ScanResult:
    """The scan of one root.

    `paths` are all files seen, scanned or not; `whole` is False if a limit stopped the scan.
    """

    root: str
    files: list[ScannedFile] = field(default_factory=list[ScannedFile])
    manifests: list[Manifest] = field(default_factory=list[Manifest])
    paths: list[str] = field(default_factory=list[str])
    folders: set[str] = field(default_factory=set[str])
    binary: int = 0
    problems: list[str] = field(default_factory=list[str])
    whole: bool = True


# Turn a code scan into memories of the layer `codebase`, and plan how a later scan changes them.


_NAME_CHARACTERS: Final = 256
_SHOWN_DEPENDENCIES: Final = 40
_SETTLED: Final = frozenset({Status.SUPERSEDED, Status.MERGED, Status.DELETED})
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
_OUT_OF_USE: Final = frozenset({Status.FORGOTTEN})
TREE: Final = "tree"
DEPENDENCIES: Final = "dependencies"
CODE: Final = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEntry:
    """One memory to store: `path` from the root ("" for the root itself) and `attribute`.

    `digest` is a hash of the content (32 hex digits).
    """

    path: str
    attribute: str
    text: str
    digest: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """The plan of a scan: pages without a memory, pages that replace one, and memories whose file is gone."""

    fresh: tuple[CodeEntry, ...]
    changed: tuple[tuple[CodeEntry, Memory], ...]
    ended: tuple[Memory, ...]
    unchanged: int


def build_entries(survey: ScanResult, name: str) -> list[CodeEntry]:
    """Turn a scan into pages; `name` is the displayed name of the root."""
    found = [
        _describe_file(one, name)
        for one in survey.files
        if one.outline.language and len(one.path) < _NAME_CHARACTERS // 2
    ]
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in survey.paths:
        folder, _, file = path.rpartition("/")
        _, dot, ending = file.rpartition(".")
        counted[folder][f".{ending}" if dot and len(ending) < 8 else file[:40]] += 1  # noqa: PLR2004 - a short ending
    lines = [f"{name}/ holds {len(survey.paths):,} files in {len(survey.folders) + 1:,} folders"]
    for folder in sorted(counted, key=lambda one: (one.count("/"), one)):
        kinds = ", ".join(f"{count} {kind}" for kind, count in counted[folder].most_common(6))
        lines.append(f"{folder or '.'}: {kinds}")
    found.append(CodeEntry(path="", attribute=TREE, text=_join_bounded(lines), digest=_hash_lines(survey.paths)))
    if any(manifest.dependencies or manifest.commands for manifest in survey.manifests):
        lines = [f"{name}/ dependencies and commands"]
        for manifest in survey.manifests:
            names = [f"{one} {version}".strip() for one, version in dict(manifest.dependencies).items()]
            if names:
                more = f" and {len(names) - _SHOWN_DEPENDENCIES} more" if len(names) > _SHOWN_DEPENDENCIES else ""
                lines.append(f"{manifest.path} needs {', '.join(names[:_SHOWN_DEPENDENCIES])}{more}")
            if manifest.commands:
                lines.append(f"{manifest.path} has {', '.join(f'{runner} {one}' for runner, one in manifest.commands)}")
        found.append(CodeEntry(path="", attribute=DEPENDENCIES, text=_join_bounded(lines), digest=_hash_lines(lines)))
    return found


def _describe_file(one: ScannedFile, name: str) -> CodeEntry:
    outline = one.outline
    head = f"{name}/{one.path} ({outline.language}, {one.lines:,} lines)"
    if outline.problem:
        head += f"; {outline.problem}"
    inside = [("  " * declared.name.count(".") + declared.signature) for declared in outline.declared]
    imports = [f"imports {', '.join(outline.imports)}"] if outline.imports else []
    text = _join_bounded([head, *inside], imports)
    return CodeEntry(path=one.path, attribute=CODE, text=text, digest=one.digest, language=outline.language)


def _join_bounded(lines: Sequence[str], last: Sequence[str] = ()) -> str:
    """Join lines up to the length limit of a memory, and state how many are left out."""
    tail = "\n".join(last)[: MEMORY_TEXT_CHARACTERS // 4]
    room = MEMORY_TEXT_CHARACTERS - len(tail) - 40
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        kept = [lines[0][:room]]
    rest = [f"… and {len(lines) - len(kept):,} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *rest, *([tail] if tail else [])])


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode("utf-8", "replace"), digest_size=16).hexdigest()


def plan_scan(made: Sequence[CodeEntry], known: Sequence[Memory], seen: Iterable[str], *, whole: bool) -> ScanPlan:
    """Compare pages with the memories of the same root, newest first in `known`; `seen` are all existing files.

    A memory that the user has forgotten stays forgotten. Without `whole`, an unseen file may still exist, so no memory
    ends.
    """
    newest: dict[tuple[str, str], Memory] = {}
    for memory in known:
        if memory.status not in _SETTLED:
            newest.setdefault(_get_place(memory), memory)
    fresh: list[CodeEntry] = []
    changed: list[tuple[CodeEntry, Memory]] = []
    unchanged = 0
    for page in made:
        memory = newest.get((page.path, page.attribute))
        if memory is None:
            fresh.append(page)
        elif memory.metadata.get("hash") == page.digest or memory.status in _OUT_OF_USE:
            unchanged += 1
        elif memory.status in _HELD:
            changed.append((page, memory))
        else:
            fresh.append(page)
    present = {(page.path, page.attribute) for page in made} | {(path, CODE) for path in seen}
    gone = [one for one in known if one.status in _HELD and _get_place(one) not in present] if whole else []
    return ScanPlan(fresh=tuple(fresh), changed=tuple(changed), ended=tuple(gone), unchanged=unchanged)


def _get_place(memory: Memory) -> tuple[str, str]:
    return str(memory.metadata.get("path", "")), memory.attribute or ""

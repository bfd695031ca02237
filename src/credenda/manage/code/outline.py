"""Outline a source file: functions and classes with their signatures, and imports. Pure.

Python is parsed with `ast`. JavaScript, TypeScript, Go, Rust, Java, C and C++ headers are scanned line by line for
declarations at the start of a line; nested, macro-generated and multi-line declarations are missed. Other files have no
outline.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

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
    return _parse_lines(language, text, rules) if rules else Outline(language=language)


def _parse_lines(language: str, text: str, rules: Sequence[re.Pattern[str]]) -> Outline:
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
                    self._class(node, prefix)
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
            self.names.update(f"{owner}{attribute}" for attribute in _find_self_attributes(node))

    def _class(self, node: ast.ClassDef, prefix: str) -> None:
        name = f"{prefix}{node.name}"
        self.names.add(name)
        bases = [ast.unparse(base) for base in node.bases]
        decorators = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
        if set(bases) - _PLAIN_BASES or node.keywords or decorators - _PLAIN_DECORATORS:
            self.open_names.add(name)
        shown = f"class {node.name}({', '.join(bases)})" if bases else f"class {node.name}"
        self.declared.append(Declaration(name=name, signature=_format_signature(shown)))
        self.body(node.body, f"{name}.")

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
    for field in ("body", "orelse", "finalbody"):
        yield getattr(node, field, [])
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


def _find_self_attributes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
            yield part.attr


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

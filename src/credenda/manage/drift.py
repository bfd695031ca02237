"""Check claims about code, and report drift with its level and consequence. Pure.

The score is 100 − Σ cost, bounded to 0…100; an error costs 10, a warning 3, an info 1 (E-076). Only an absolute path
under a root, and a name in a known module or class, can be errors, because other claims may be about another project.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from credenda.manage.code_outline import Manifest, Outline, normalise_package
from credenda.model.change import SetStatus
from credenda.model.memory import Status
from credenda.model.report import DriftFinding, DriftLevel

# Extract the claims of a memory about code: paths, names, commands, dependencies. Pure.


ClaimKind = Literal["path", "file", "name", "command", "dependency"]

_TEXT_CHARACTERS: Final = 4_000
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_PAST_OR_PLANNED: Final = re.compile(
    r"(?i)\b(?:remov\w*|delet\w*|no longer|used to|renam\w*|mov(?:e|ed|ing)|replac\w*|former\w*|gone|dropped|"
    r"(?:do|does|did)(?: not|n['’]t) exist|never existed|there (?:is|was) no|will|going to|"
    r"plan\w*|to be created|not yet|todo|"
    r"should (?:add|create|write)|(?:add|create|write) (?:a|an|the) new|for example|e\.g\.|such as|"
    r"imagine|suppose|would|could|might)\b"
)
_SPELLED: Final = re.compile(r"\S*[/._]\w\S*")
"""Paths and names; their own words do not count as words of the sentence."""
_ADDRESS: Final = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{0,20}://\S+|\bwww\.\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}")
_DOMAIN: Final = re.compile(r"(?i)^(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|edu|gov|eu|de|uk)(?:/|$)")
_ROUTE: Final = re.compile(
    r"(?i)\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|endpoints?|routes?|urls?|paths? of the api)\b[^.]{0,20}$"
)
_ROUTE_PATH: Final = re.compile(r"(?i)^/(?:api|rest|graphql|v\d+|auth|oauth|users?|login|logout|health|metrics)(?:/|$)")
_TEMPLATE: Final = re.compile(
    r"[<>{}*$%|]|\.\.\.|…|USERNAME|YYYY|\b(?:MM-DD|HH|NAME|XXX+|FOO|BAR)\b|path/to"
    r"|(?:^|/)(?:foo|bar|your[-_]\w+|example)(?:/|$)"
)
_TOKEN: Final = re.compile(r"""[^\s`"'\u201c\u201d\u2018\u2019()\[\],;]+""")
_EDGE: Final = ".,;:!?"
_LINE: Final = re.compile(r":\d+(?:[:-]\d+)?$|#L\d+.*$")
_ENDING: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_SEGMENT: Final = re.compile(r"^[\w.@+~-]+$")
_CODE_FILE: Final = re.compile(
    r"^[\w.-]+\.(?:py|pyi|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cpp|cs|swift|toml|json|ya?ml|md|rst|sql|sh|cfg|ini|lock|txt)$"
)
_DOTTED: Final = re.compile(r"(?<![\w./:@-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?![\w/:@-]|\.\w)")
_PRODUCT: Final = re.compile(r"(?i)^[a-z]\w*\.(?:js|net|io|ai|com|org|dev|app|ts)$")
_MEMBER: Final = re.compile(r"([\w./-]+\.py)::([A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)")
_NAMED: Final = re.compile(r"\b(?:function|method|class|def)\s+`?([A-Za-z_]\w*)`?(?:\(\))?(?![\w.])")
_CALLED: Final = re.compile(r"(?<![\w.`])`?([A-Za-z_]\w*_\w+|[a-z]+[A-Z]\w*)\(\)")
_RUN: Final = re.compile(r"\b(npm|pnpm|yarn|bun)\s+run\s+([\w:.-]+)")
_MAKE: Final = re.compile(r"(?:`|\$ |\brun(?:s|ning)?\s+|\bwith\s+)make\s+([\w./-]+)")
_SCRIPT: Final = re.compile(r"\b(?:uv|poetry|pdm|hatch)\s+run\s+([\w.-]+)|\bthe\s+`([\w-]+)`\s+(?:command|script)\b")
_NEEDED: Final = re.compile(
    r"(?i)\b(?:depends? on|requires|dependency on|dependency)\s+`([@\w./-]+)`"
    r"|`([@\w./-]+)`\s+is\s+(?:a|one|among)\b[^.`]{0,20}\bdependenc"
    r"|\b([@\w/-]+(?:\.[\w-]+)*)\s+is\s+(?:a|one)\s+(?:\w+\s+){0,2}dependency\b"
    r"|`?([@\w./-]+?)`?\s+(?:is\s+)?(?:listed|declared|pinned|named)?\s*in\s+`?(?:pyproject\.toml|requirements\.txt|"
    r"package\.json|Cargo\.toml|go\.mod)\b"
)
_WORDS: Final = frozenset(
    (
        *("it", "this", "that", "they", "which", "is", "are", "a", "an", "the", "and", "or", "in", "there", "only"),
        *("dependency", "dependencies", "version", "listed", "declared", "pinned", "named", "defined", "everything"),
        *("what", "settings", "configuration", "config", "script", "scripts"),
    )
)
"""Words in the place of a package name that are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeClaim:
    """One claim: its kind, its name, and for a command the runner ("npm", "make", "script").

    A `path` has a slash, a `file` is a bare file name; a `name` is dotted ("module.Class.method", or
    "file.py::Class.method") or bare.
    """

    kind: ClaimKind
    what: str
    runner: str = ""


def extract_code_claims(text: str) -> tuple[CodeClaim, ...]:
    """Extract the claims of a text, in order and without duplicates, from its first 4,000 characters.

    >>> [claim.what for claim in extract_code_claims("The settings are read in src/app/config.py, see https://x.io/a.py.")]
    ['src/app/config.py']
    """
    found: dict[CodeClaim, None] = {}
    for sentence in _SENTENCE.split(text[:_TEXT_CHARACTERS]):
        if not _PAST_OR_PLANNED.search(_SPELLED.sub(" ", sentence)):
            found.update(dict.fromkeys(_extract_from_sentence(_ADDRESS.sub(" ", sentence))))
    return tuple(found)


def _extract_from_sentence(sentence: str) -> Iterator[CodeClaim]:
    yield from (
        CodeClaim(kind="name", what=f"{match[1]}::{match[2].replace('::', '.')}")
        for match in _MEMBER.finditer(sentence)
        if not _TEMPLATE.search(match[1])
    )
    rest = _MEMBER.sub(" ", sentence)
    yield from _find_paths(rest)
    yield from _find_names(rest)
    yield from _find_commands(rest)
    for match in _NEEDED.finditer(rest):
        name = next(group for group in match.groups() if group).strip(_EDGE)
        if name.casefold() not in _WORDS and not _TEMPLATE.search(name):
            yield CodeClaim(kind="dependency", what=name)


def _find_paths(sentence: str) -> Iterator[CodeClaim]:
    for match in _TOKEN.finditer(sentence):
        token = _LINE.sub("", match[0].rstrip(_EDGE).lstrip(":!?,;"))
        quoted = sentence[: match.start()].endswith(("`", '"', "'"))
        if not token or _TEMPLATE.search(token) or token.startswith("~"):
            continue
        if "/" in token:
            segments = [segment for segment in token.split("/") if segment]
            if not segments or "//" in token or _DOMAIN.match(token) or not all(map(_SEGMENT.match, segments)):
                is_path = False
            elif token.startswith("/"):
                is_path = len(segments) > 1
            else:
                is_path = bool(_ENDING.search(segments[-1])) or token.startswith(("./", "../")) or token.endswith("/")
            before = sentence[: match.start()].rstrip("`\"' ")
            is_route = token.startswith("/") and (_ROUTE_PATH.match(token) or _ROUTE.search(before))
            if is_path and not is_route:
                yield CodeClaim(kind="path", what=token)
        elif _CODE_FILE.match(token) and (quoted or "file" in sentence[max(0, match.start() - 9) : match.end() + 6]):
            yield CodeClaim(kind="file", what=token)


def _find_names(sentence: str) -> Iterator[CodeClaim]:
    for match in _DOTTED.finditer(sentence):
        if not any(rule.search(match[1]) for rule in (_TEMPLATE, _CODE_FILE, _PRODUCT)):
            yield CodeClaim(kind="name", what=match[1])
    for match in (*_NAMED.finditer(sentence), *_CALLED.finditer(sentence)):
        if "_" in match[1] or any(map(str.isupper, match[1][1:])):
            yield CodeClaim(kind="name", what=match[1])


def _find_commands(sentence: str) -> Iterator[CodeClaim]:
    for match in _RUN.finditer(sentence):
        yield CodeClaim(kind="command", what=match[2].rstrip(_EDGE), runner="npm")
    for match in _MAKE.finditer(sentence):
        yield CodeClaim(kind="command", what=match[1].rstrip(_EDGE), runner="make")
    for match in _SCRIPT.finditer(sentence):
        yield CodeClaim(kind="command", what=(match[1] or match[2]).rstrip(_EDGE), runner="script")


COSTS: Final[Mapping[DriftLevel, int]] = {"error": 10, "warning": 3, "info": 1}
_FULL: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftVerdict:
    """The drift of a claim: a code of docs/how-to/code.md, its level, and where the check looked."""

    code: str
    level: DriftLevel
    where: str


@dataclass(slots=True)
class CodeIndex:
    """The code under all roots, indexed for claims.

    `exists` returns whether an absolute path exists; None if it lies outside every root.
    """

    exists: Callable[[str], bool | None]
    paths: set[str] = field(default_factory=set[str])
    """Files and folders, relative to their root."""
    paths_by_name: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Files and folders by their last name."""
    modules: dict[str, Outline] = field(default_factory=dict[str, Outline])
    """Python modules by dotted name."""
    sources: dict[str, Outline] = field(default_factory=dict[str, Outline])
    """Outlines by path from the root."""
    classes: dict[str, list[tuple[Outline, str]]] = field(default_factory=dict[str, list[tuple[Outline, str]]])
    """Python classes by their bare name."""
    names: set[str] = field(default_factory=set[str])
    """Every declared name, without its owner."""
    commands: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    packages: set[str] = field(default_factory=set[str])
    whole: bool = True
    """Whether everything could be read; otherwise nothing is reported as missing."""

    def add_paths(self, paths: Iterable[str]) -> None:
        """Add the files and folders of a root."""
        for path in paths:
            self.paths.add(path)
            self.paths_by_name.setdefault(posixpath.basename(path), []).append(path)

    def add_file(self, path: str, outline: Outline) -> None:
        """Add the outline of a file."""
        self.sources[path] = outline
        self.names.update(name.rpartition(".")[2] for name in outline.names)
        if outline.language != "Python":
            return
        # Return the dotted names of a module: from its topmost package, and from the root.
        parts = path.removesuffix(".pyi").removesuffix(".py").split("/")
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        top = len(parts) - 1
        while top > 0 and "/".join([*parts[:top], "__init__.py"]) in self.paths:
            top -= 1
        for module in [".".join(parts[top:]), ".".join(parts)] if parts else []:
            self.modules.setdefault(module, outline)
        for declared in outline.declared:
            if declared.signature.startswith("class "):
                self.classes.setdefault(declared.name.rpartition(".")[2], []).append((outline, declared.name))

    def add_manifest(self, manifest: Manifest) -> None:
        """Add the dependencies and commands of a manifest."""
        self.packages.update(normalise_package(name) for name, _ in manifest.dependencies)
        if manifest.name:
            self.packages.add(normalise_package(manifest.name))
        for runner, name in manifest.commands:
            self.commands.setdefault(runner, set()).add(name)


def check_claim(claim: CodeClaim, land: CodeIndex) -> DriftVerdict | None:
    """Check one claim; None if it holds, or if it cannot be checked here."""
    match claim.kind:
        case "path":
            return _check_path(claim.what, land)
        case "file":
            known = claim.what in land.paths_by_name or not land.whole
            return None if known else DriftVerdict(code="file-unknown", level="info", where="roots")
        case "name":
            return _check_name(claim.what, land)
        case "command":
            return _check_command(claim, land)
        case "dependency":
            return _check_dependency(claim.what, land)


def _check_path(path: str, land: CodeIndex) -> DriftVerdict | None:
    if path.startswith("/"):
        return DriftVerdict(code="path-dead", level="error", where=path) if land.exists(path) is False else None
    normal = posixpath.normpath(path)
    if normal.startswith("..") or not land.whole:
        return None
    ending = f"/{normal}"
    known = land.paths_by_name.get(posixpath.basename(normal), [])
    if normal in land.paths or any(f"/{one}".endswith(ending) for one in known):
        return None
    return DriftVerdict(code="path-missing", level="warning", where="roots")


def _check_name(name: str, land: CodeIndex) -> DriftVerdict | None:
    path, sign, member = name.partition("::")
    if sign:
        return _check_in_file(path, member, land)
    if "." not in name:
        known = name in land.names or not land.whole or not land.names
        return None if known else DriftVerdict(code="name-unknown", level="info", where="roots")
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        if module in land.modules:
            rest = ".".join(parts[cut:])
            package = any(other.startswith(f"{module}.") for other in land.modules)
            if not rest or _has_name(land.modules[module], rest):
                return None
            level: DriftLevel = "error" if cut > 1 or package else "warning"
            return DriftVerdict(code="name-dead", level=level, where=module)
    owners = land.classes.get(parts[0], [])
    if owners and not any(_has_name(outline, ".".join([owner, *parts[1:]])) for outline, owner in owners):
        return DriftVerdict(code="name-dead", level="error", where=owners[0][1])
    return None


def _check_in_file(path: str, member: str, land: CodeIndex) -> DriftVerdict | None:
    ending = f"/{posixpath.normpath(path).lstrip('/')}"
    known = [outline for one, outline in land.sources.items() if f"/{one}".endswith(ending) or path.endswith(f"/{one}")]
    if not known:
        return _check_path(path, land)
    if any(_has_name(outline, member) for outline in known):
        return None
    return DriftVerdict(code="name-dead", level="error", where=path)


def _has_name(outline: Outline, dotted: str) -> bool:
    """Return whether a name is declared, or may be, because its owner is open."""
    if dotted in outline.names or "" in outline.open_names:
        return True
    parts = dotted.split(".")
    for cut in range(1, len(parts)):
        owner = ".".join(parts[:cut])
        if owner in outline.open_names:
            return True
        if owner in outline.names and not any(name.startswith(f"{owner}.") for name in outline.names):
            return True  # a value whose members are unknown
    return False


def _check_command(claim: CodeClaim, land: CodeIndex) -> DriftVerdict | None:
    known = land.commands.get(claim.runner, set())
    if claim.runner == "script":
        known = known | land.packages | {name for name in land.paths_by_name if "." not in name}
        if claim.what in known or normalise_package(claim.what) in land.packages:
            return None
        return (
            DriftVerdict(code="command-unknown", level="info", where="roots") if land.commands.get("script") else None
        )
    if not known or claim.what in known or not land.whole:
        return None
    where = "package.json" if claim.runner == "npm" else "Makefile"
    return DriftVerdict(code="command-missing", level="warning", where=where)


def _check_dependency(name: str, land: CodeIndex) -> DriftVerdict | None:
    if not land.packages or not land.whole or normalise_package(name) in land.packages:
        return None
    if any(one.endswith(f"/{normalise_package(name)}") for one in land.packages):
        return None
    return DriftVerdict(code="dependency-missing", level="warning", where="manifests")


def compute_drift_score(findings: Iterable[DriftFinding]) -> int:
    """Return the score of a report, 0 to 100 (E-076).

    >>> compute_drift_score([])
    100
    """
    return max(0, min(_FULL, _FULL - sum(COSTS[finding.level] for finding in findings)))


def decide_drift(findings: Sequence[DriftFinding]) -> list[SetStatus]:
    """Invalidate every memory with an error; warnings change nothing."""
    wrong: dict[str, DriftFinding] = {}
    for finding in findings:
        if finding.level == "error":
            wrong.setdefault(finding.memory_id, finding)
    return [
        SetStatus(
            memory_id=name, status=Status.INVALIDATED, reason=f"drift: {one.code} {one.what} (looked in {one.where})"
        )
        for name, one in wrong.items()
    ]

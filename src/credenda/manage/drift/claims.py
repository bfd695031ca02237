"""Extract the claims of a memory about code: paths, names, commands, dependencies. Pure.

Precision before recall (E-078): URLs, web routes, templates, and sentences about removed or planned code are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["CodeClaim", "extract_code_claims"]

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
    yield from _find_members(sentence)
    rest = _MEMBER.sub(" ", sentence)
    yield from _find_paths(rest)
    yield from _find_names(rest)
    yield from _find_commands(rest)
    for match in _NEEDED.finditer(rest):
        name = next(group for group in match.groups() if group).strip(_EDGE)
        if name.casefold() not in _WORDS and not _TEMPLATE.search(name):
            yield CodeClaim(kind="dependency", what=name)


def _find_members(sentence: str) -> Iterator[CodeClaim]:
    for match in _MEMBER.finditer(sentence):
        if not _TEMPLATE.search(match[1]):
            yield CodeClaim(kind="name", what=f"{match[1]}::{match[2].replace('::', '.')}")


def _find_paths(sentence: str) -> Iterator[CodeClaim]:
    for match in _TOKEN.finditer(sentence):
        token = _LINE.sub("", match[0].rstrip(_EDGE).lstrip(":!?,;"))
        quoted = sentence[: match.start()].endswith(("`", '"', "'"))
        if not token or _TEMPLATE.search(token) or token.startswith("~"):
            continue
        if "/" in token:
            if _is_path(token) and not _is_route(token, sentence[: match.start()]):
                yield CodeClaim(kind="path", what=token)
        elif _CODE_FILE.match(token) and (quoted or "file" in sentence[max(0, match.start() - 9) : match.end() + 6]):
            yield CodeClaim(kind="file", what=token)


def _is_path(token: str) -> bool:
    segments = [segment for segment in token.split("/") if segment]
    if not segments or "//" in token or _DOMAIN.match(token) or not all(map(_SEGMENT.match, segments)):
        return False
    if token.startswith("/"):
        return len(segments) > 1
    return bool(_ENDING.search(segments[-1])) or token.startswith(("./", "../")) or token.endswith("/")


def _is_route(token: str, before: str) -> bool:
    return bool(token.startswith("/") and (_ROUTE_PATH.match(token) or _ROUTE.search(before.rstrip("`\"' "))))


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

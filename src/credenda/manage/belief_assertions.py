"""Parse assertions about beliefs, such as `expect: employer(user) == Microsoft as of 2026-05-01`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from credenda.errors import Invalid

_SLOT: Final = (
    r"(?P<attribute>[^\W\d][\w -]{0,80}?)\s*\(\s*(?P<entity>[^(),;]{1,200}?)\s*(?:,\s*(?P<scope>[^();]{1,200}?))?\s*\)"
)
_TIME: Final = r"(?:\s+as of\s+(?P<as_of>\S+))?(?:\s+known at\s+(?P<known_at>\S+))?"
_COMPARED: Final = re.compile(
    rf"expect\s*:\s*{_SLOT}\s*(?P<sign>==|!=|includes\b|contains\b)\s*(?P<value>.+?){_TIME}", re.IGNORECASE | re.DOTALL
)
_CONTESTED: Final = re.compile(rf"(?P<kind>contested|settled)\s*:\s*{_SLOT}", re.IGNORECASE)
_RECALLED: Final = re.compile(
    r'(?P<kind>never recalled|recalled)\s*:\s*(?P<value>.+?)(?:\s+for\s+"(?P<query>[^"]{1,2000})")?' + _TIME,
    re.IGNORECASE | re.DOTALL,
)
_UNANSWERED: Final = re.compile(r'abstains\s*:\s*"(?P<query>[^"]{1,2000})"', re.IGNORECASE)
_NOTHING: Final = frozenset({"nothing", "unknown", "none"})
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_BYTES_MAX: Final = 1 << 20
_FORMS: Final = (
    "expect: ATTRIBUTE(ENTITY) == VALUE [as of TIME], also != and includes; contested: ATTRIBUTE(ENTITY); settled: …; "
    'recalled: WORDS for "QUESTION"; never recalled: WORDS; abstains: "QUESTION"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One assertion.

    `kind` is "equals", "differs", "includes", "contested", "settled", "recalled", "never recalled" or "abstains". An
    empty `value` of a comparison means that the slot has none.
    """

    line: int
    text: str
    kind: str
    entity: str = ""
    attribute: str = ""
    scope: str | None = None
    value: str = ""
    query: str = ""
    as_of: str | None = None
    known_at: str | None = None


def parse_assertions(text: str, name: str) -> list[Assertion]:
    r"""Parse a file: an assertion a line or between semicolons; `#` begins a comment.

    Raises `Invalid`, naming the line, for anything else, and for a file without assertions.

    >>> found = parse_assertions("expect: employer(user) == Acme as of 2026-05-01; never recalled: password\n", "x")
    >>> [(one.kind, one.entity, one.value, one.as_of) for one in found]
    [('equals', 'user', 'Acme', '2026-05-01'), ('never recalled', '', 'password', None)]
    """
    if len(text.encode("utf-8", "replace")) > _BYTES_MAX:
        raise Invalid(f"{name} is larger than {_BYTES_MAX >> 20} MiB", fix="split it into several files")
    found = [
        _parse_one(part, number, name) for number, line in enumerate(text.splitlines(), 1) for part in _split_line(line)
    ]
    if not found:
        raise Invalid(f"{name} contains no assertion", why="it would always pass", fix=f"write {_FORMS}")
    return found


def _split_line(line: str) -> Iterator[str]:
    """Yield the parts of a line between semicolons, without its comment; quoted text is left whole."""
    hidden = _QUOTED.sub(lambda found: "\x00" * len(found[0]), line)
    comment = re.search(r"(?:^|\s)#", hidden)
    end = len(line) if comment is None else comment.start()
    start = 0
    for place in [*(found.start() for found in re.finditer(";", hidden[:end])), end]:
        part = line[start:place].strip()
        if part:
            yield part
        start = place + 1


def _parse_one(text: str, line: int, name: str) -> Assertion:
    if found := _COMPARED.fullmatch(text):
        sign = found["sign"].casefold()
        kind = {"==": "equals", "!=": "differs"}.get(sign, "includes")
        value = _strip_quotes(found["value"])
        bare = value.casefold() in _NOTHING and not found["value"].strip().startswith('"')
        return Assertion(
            line=line,
            text=text,
            kind=kind,
            entity=found["entity"].strip(),
            attribute=found["attribute"].strip(),
            scope=found["scope"],
            value="" if bare else value,
            as_of=found["as_of"],
            known_at=found["known_at"],
        )
    if found := _CONTESTED.fullmatch(text):
        kind = found["kind"].casefold()
        slot = {"entity": found["entity"].strip(), "attribute": found["attribute"].strip(), "scope": found["scope"]}
        return Assertion(line=line, text=text, kind=kind, **slot)
    if found := _RECALLED.fullmatch(text):
        return Assertion(
            line=line,
            text=text,
            kind=found["kind"].casefold(),
            value=_strip_quotes(found["value"]),
            query=found["query"] or "",
            as_of=found["as_of"],
            known_at=found["known_at"],
        )
    if found := _UNANSWERED.fullmatch(text):
        return Assertion(line=line, text=text, kind="abstains", query=found["query"])
    raise Invalid(f"line {line} of {name} is no assertion", why="it has none of the known forms", fix=f"write {_FORMS}")


def _strip_quotes(text: str) -> str:
    words = text.strip()
    return words[1:-1].replace('\\"', '"') if _QUOTED.fullmatch(words) else words

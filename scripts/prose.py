"""Measure the prose of docs and docstrings: fail if too many sentences are built on "what is …" clauses.

A sentence whose subject is a free relative ("What is dreamed is derived", "Who only asks does without them") has to be
read twice. The bound is a share of all sentences, so that a single one in a long page is no error. Code blocks, code
spans, quoted text and questions do not count. `--list [PATH…]` prints each sentence that counts.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SHARE_MAX = 0.01
FREE_RELATIVE = re.compile(
    r"\bwhat(?:ever)?\s+(?:is|are|was|were|has|have|had|can|could|may|might|must|will|would|does|did|do|be)\b"
    r"|^(?:what|whatever|whoever|whose|whom)\b"
    r"|^who\s+(?!is responsible)\w+",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)*`_]*\s+(?=[\"“(*`_]*[A-Z0-9])|\n\s*\n|\n\s*(?:[*+-]|\d+\.)\s+|\s\|\s")
FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
DOCTEST = re.compile(r"^[ \t]*>>> .*(?:\n[ \t]*\S.*)*", re.MULTILINE)
NOT_PROSE = re.compile(r"`[^`\n]*(?:\n[^`\n]*)?`|“[^”]*”|\"[^\"\n]*(?:\n[^\"\n]*)?\"|<[^>\n]+>|\]\([^)]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a docstring or page, without its code and quotations."""

    path: str
    line: int
    text: str

    @property
    def counts(self) -> bool:
        """Whether it is built on a free relative; a question is not."""
        return not self.text.rstrip('"”’)*`_').endswith("?") and bool(FREE_RELATIVE.search(self.text))


def blank_lines(match: re.Match[str]) -> str:
    """Return as many line ends as the match has, so that the lines after it keep their numbers."""
    return "\n" * match[0].count("\n")


def blank_code(text: str) -> str:
    """Blank code blocks, comments and doctests."""
    return DOCTEST.sub(blank_lines, FENCED.sub(blank_lines, text))


def split_sentences(path: str, line: int, text: str) -> Iterator[Sentence]:
    """Split one text into sentences; headings, list items and table cells end one too."""
    blank = NOT_PROSE.sub(lambda match: "X" + blank_lines(match), blank_code(text))
    start = 0
    for end in [*SENTENCE_END.finditer(blank), None]:
        piece = blank[start : end.start() if end else len(blank)]
        words = " ".join(piece.lstrip("#*>-| \n").split())
        if len(words.split()) > 1:
            yield Sentence(path=path, line=line + blank[:start].count("\n"), text=words)
        start = end.end() if end else start


def docstring_sentences(path: str, source: str) -> Iterator[Sentence]:
    """Split every docstring of one Python file into sentences."""
    for node in ast.walk(ast.parse(source, filename=path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None:
                yield from split_sentences(path, node.body[0].lineno, text)


def page_sentences(path: str, source: str) -> Iterator[Sentence]:
    """Split one Markdown page into sentences."""
    yield from split_sentences(path, 1, source)


def tree_sentences(root: Path) -> list[Sentence]:
    """Collect every sentence of the docs and docstrings of the project."""
    found: list[Sentence] = []
    for path in sorted({*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")}):
        found += page_sentences(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for folder in ("src", "scripts", "benchmarks", "examples"):
        for path in sorted((root / folder).rglob("*.py")):
            found += docstring_sentences(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Measure the project of this script; return 1 if the share is above its bound."""
    sentences = tree_sentences(Path(__file__).resolve().parent.parent)
    counted = [sentence for sentence in sentences if sentence.counts]
    wanted = tuple(argument for argument in sys.argv[1:] if argument != "--list")
    if "--list" in sys.argv[1:]:
        for sentence in counted:
            if not wanted or sentence.path.startswith(wanted):
                print(f"{sentence.path}:{sentence.line}: {sentence.text}")
    share = len(counted) / max(1, len(sentences))
    print(f"prose: {len(counted)} of {len(sentences)} sentences ({share:.1%}) are built on a free relative")
    if share > SHARE_MAX:
        print(f"at most {SHARE_MAX:.0%} may be; `scripts/prose.py --list` prints them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

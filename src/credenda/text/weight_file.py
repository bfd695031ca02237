"""Read weight files: tab-separated rows under a header of comments. Pure.

A line `# name = value` in the header is a note, such as a threshold or the provenance of the weights; the same name may
stand in several lines. Other comments are for readers. The first line without `#` names the columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFile:
    """The notes of the header by name, and the rows below the column names."""

    notes: Mapping[str, Sequence[str]]
    rows: Sequence[Sequence[str]]


def parse_weight_file(text: str) -> WeightFile:
    """Split a weight file into its notes and rows; values stay text."""
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if not line.startswith("# "))
    notes: dict[str, list[str]] = {}
    for line in lines[:first]:
        name, equals, value = line.removeprefix("# ").partition(" = ")
        if equals and name.isidentifier():
            notes.setdefault(name, []).append(value)
    return WeightFile(notes=notes, rows=[line.split("\t") for line in lines[first + 1 :]])


def render_weight_file(
    about: str, notes: Sequence[tuple[str, str]], columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> str:
    """Write a weight file: text for readers as comments, then the notes, the column names and the rows."""
    header = [f"# {line}" for line in about.strip().splitlines()]
    header += [f"# {name} = {value}" for name, value in notes]
    return "\n".join([*header, "\t".join(columns), *("\t".join(row) for row in rows)]) + "\n"

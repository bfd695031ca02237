"""The committed hashes of the chunks, and the differences from them that are wanted."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .canonical import Line

HERE = Path(__file__).parent
HASHES = HERE / "hashes.json"
EXCEPTIONS = HERE / "exceptions.toml"
_HEAD = """\
# Differences from the committed hashes that are wanted: the line, its digest before and after, and why.
# `python tests/golden/replay.py --accept OLD_DUMP --why TEXT` adds rows; `--update` takes them into the hashes.
"""


@dataclass(frozen=True)
class Wanted:
    """A wanted difference: the digests of a line before and after it ("" for none), and why."""

    before: str
    after: str
    why: str


def digest(text: str) -> str:
    """Return the short digest of a canonical line."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def chunk_hash(lines: Iterable[Line], wanted: Mapping[str, Wanted]) -> str:
    """Hash a chunk; a line that differs as wanted counts as it was before."""
    whole = hashlib.sha256()
    for name, text in lines:
        found = digest(text)
        row = wanted.get(name)
        if row is not None and found == row.after:
            found = row.before
        if found:
            whole.update(f"{name} {found}\n".encode())
    return whole.hexdigest()[:24]


def load_hashes() -> dict[str, str]:
    """Read the committed hash of every chunk."""
    return json.loads(HASHES.read_text("utf-8"))


def save_hashes(found: Mapping[str, str]) -> None:
    """Write the hash of every chunk."""
    HASHES.write_text(json.dumps(dict(found), indent=1) + "\n", "utf-8")


def load_exceptions() -> dict[str, Wanted]:
    """Read the wanted differences by the id of the line."""
    rows: list[dict[str, str]] = tomllib.loads(EXCEPTIONS.read_text("utf-8")).get("wanted", [])
    return {row["id"]: Wanted(row["before"], row["after"], row["why"]) for row in rows}


def save_exceptions(found: Mapping[str, Wanted]) -> None:
    """Write the wanted differences."""
    blocks = [
        f"\n[[wanted]]\nid = {json.dumps(name)}\nbefore = {json.dumps(one.before)}\nafter = {json.dumps(one.after)}\n"
        f"why = {json.dumps(one.why, ensure_ascii=False)}\n"
        for name, one in sorted(found.items())
    ]
    EXCEPTIONS.write_text("".join([_HEAD, *blocks]), "utf-8")


def differing(found: Mapping[str, str], hashes: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Name the chunks whose hash is not the committed one."""
    return [name for name in names if found.get(name) != hashes.get(name)]

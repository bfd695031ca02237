"""Packed names of documents stay in storage and in the index; `read` ranks documents, and knows them too."""

import ast
from pathlib import Path

import credenda

SOURCE = Path(credenda.__file__).parent
PACKED = {"pack_code", "unpack_code", "CODE_BITS"}
AT_HOME = ("storage/", "index/")
RANKS = {"read/hydrate.py", "read/retrieve.py", "read/rank.py"}
"""Modules that rank documents by their codes, as arrays."""


def packs(path: Path) -> bool:
    """Say whether a module imports what packs or unpacks a code."""
    tree = ast.parse(path.read_text("utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    return bool(PACKED & imported)


def test_only_storage_the_index_and_ranking_know_packed_codes() -> None:
    found = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if packs(path)}
    assert {name for name in found if not name.startswith(AT_HOME)} == RANKS


def test_only_storage_knows_the_hash_of_a_text() -> None:
    users = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if "text_hash" in path.read_text("utf-8")
    }
    assert all(name.startswith("storage/") for name in users), users

"""Look for deleted words wherever a memory shows, and in every byte that it has written."""

from __future__ import annotations

from pathlib import Path

from credenda import Credenda
from credenda.model.memory import Memory

FORMS = ("credenda", "mcp-memory", "pam")


def list_held(mem: Credenda) -> list[Memory]:
    return [one for one in mem.list(status=None, limit=50).items if one.status != "deleted"]


def check_gone(mem: Credenda, path: Path, *words: str) -> None:
    """Look for words wherever a memory shows, and in every byte of its files, exports and pages."""
    mem.settle()
    questions = [*words, "Where do I work?", "Who is my accountant?"]
    shown: list[object] = [mem.list(status=None, limit=50), mem.manage.core(), mem.diff("2020-01-01")]
    shown += [mem.search(one, include=("superseded", "low_confidence", "archived")).hits for one in questions]
    shown += [mem.context(one).text for one in questions]
    shown += [mem.why(one.id) for one in list_held(mem)]
    for kind in FORMS:
        mem.data.export(path.with_name(f"later.{kind}.jsonl"), format=kind)
    mem.data.sync_files(path.with_name("pages"))
    assert mem.data.doctor().findings == ()
    assert mem.data.rebuild(dry_run=True).differences == ()
    mem.data.rebuild(reextract=True)
    shown.append(mem.list(status=None, limit=50))
    mem.close()
    everything = str([one for one in shown if one]).encode()
    for file in path.parent.rglob("*"):
        everything += file.read_bytes() if file.is_file() else b""
    for word in words:
        assert word.casefold().encode() not in everything.lower()

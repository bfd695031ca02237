"""Folders as other programs and people keep them: a basic-memory project, an Obsidian vault, and a Suzent folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from credenda import Credenda
from credenda.model.report import SyncReport

FOLDERS: Final[Mapping[str, Mapping[str, str]]] = {
    "basic-memory": {
        "projects/greenhouse.md": "---\ntitle: Greenhouse\ntype: note\npermalink: projects/greenhouse\n"
        "tags:\n- garden\n- sensors\ncreated: 2026-01-20\n---\n\n# Greenhouse\n\n## Observations\n\n"
        "- [hardware] The vents open at 27 degrees #sensors (measured twice)\n"
        "- [decision] We decided to use a drip line  \n\n## Relations\n\n- depends_on [[Water tank]]\n"
        "- part of [[Garden|the garden]]\n",
        "people/Ines Moreau.md": "---\ntitle: Ines Moreau\ntype: person\npermalink: people/ines-moreau\n---\n"
        "# Ines Moreau\n\n- [role] Works as a surveyor\n- [contact] prefers letters\n",
        "config.json": '{"projects": {"garden": "~/garden"}, "default_project": "garden"}\n',
    },
    "obsidian": {
        ".obsidian/app.json": '{"alwaysUpdateLinks": true}',
        ".obsidian/workspace.json": '{"main": {"id": "5d1c"}}',
        ".trash/old.md": "I live in Porto.\n",
        "index.md": "# Start here\n\n- [[Daily/2026-02-11]]\n- [[Reading list]]\n",
        "Daily/2026-02-11.md": "---\ntags: [daily]\n---\n\n## Morning\n\nI moved to Lyon. ![[lake.png]]\n\n"
        "- [ ] call the dentist\n- [x] water the ferns\n\n```dataview\nLIST FROM #daily\n```\n",
        "Reading list.md": "%% private %%\n\nRead *The Overstory*, see [[Daily/2026-02-11#Morning|that morning]].   \n"
        "Second line with a hard break.\n\n| book | done |\n|---|---|\n| Momo | yes |\n\n> [!note]\n> from Ines\n",
        "attachments/lake.png": "\x89PNG not really",
        "Canvas.canvas": '{"nodes": []}',
    },
    "suzent": {
        "archive/2026-01-05.md": "# 2026-01-05\n\n- User works at Hooli.\n- User likes oolong tea.\n",
        "archive/2026-02-09.md": "# 2026-02-09\n\n### 08:15\n- User works at Initech.\n\n"
        "### 21:40\n- User keeps bees.\n",
        "consolidated/user.md": "# User\n\n"
        '<!--m {"first_seen": "2026-02-09", "updated": "2026-02-10", "sources": ["2026-01-05", "2026-02-09"]}-->\n'
        "Works at Initech (previously Hooli).\n\n"
        '<!--m {"first_seen": "2026-02-09", "updated": "2026-02-09", "sources": ["2026-02-09"]}-->\nKeeps bees.  \n',
        "consolidated/projects.md": "# Projects\n\n- The orchard map is due in April.\n",
        "MEMORY.md": "# Memory\n\n- User works at Initech.\n",
        "persona.md": "# Persona\n\nYou are Suzent, a patient assistant.\nNever raise your voice.\n",
        "user.md": "# User\n\nCall me Noor.\n",
        ".tombstones.jsonl": '{"text": "user likes oolong tea.", "deleted_at": "2026-02-10T07:00:00Z"}\n',
        ".consolidation_state.json": '{"watermark_date": "2026-02-09"}\n',
        ".recall-log.jsonl": '{"query": "bees", "hits": 1}\n',
    },
}


def lay_out_folder(place: Path, files: Mapping[str, str]) -> Path:
    """Write a folder; every file keeps a time of its own, so that a write shows even if it writes the same."""
    for number, (name, text) in enumerate(files.items()):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return place


def take_picture(place: Path) -> dict[str, tuple[object, ...]]:
    """Return what a program can see of each file: its bytes, its mode, its time, and the target of a link."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(place.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            found[path.relative_to(place).as_posix()] = (path.readlink(),)
        elif path.is_file():
            found[path.relative_to(place).as_posix()] = (path.read_bytes(), status.st_mode, status.st_mtime_ns)
    return found


def sync(mem: Credenda, place: Path, *, missing: str = "ask") -> SyncReport:
    """Synchronise as a person would: a dry run first, which changes nothing and says what the run then says."""
    before = take_picture(place)
    dry = mem.data.sync_files(place, missing=missing, dry_run=True)
    assert take_picture(place) == before
    report = mem.data.sync_files(place, missing=missing)
    assert replace(dry, dry_run=False, pending=()) == replace(report, pending=())
    assert set(report.pending) <= set(dry.pending)
    return report


def put(place: Path, name: str, text: str) -> Path:
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path

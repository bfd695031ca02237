"""What another program keeps of its user: the name that a list gives the user, its next state, and the project."""

from __future__ import annotations

import json
from pathlib import Path

from credenda import Credenda

from .conftest import Events
from .people_files import CODEX

LIST = """\
[2025-06-20] - User's name is Mira Haddad, 34.
[2025-07-02] - Mira's brother Sami lives in Lyon. He is allergic to nuts.
[2025-09-03] - Ana Roth works in Graz. Her sister Maria is a nurse. She lives in Berlin.
[2025-09-04] - User is allergic to kiwis.
"""


def _hold(mem: Credenda, path: Path) -> set[tuple[str | None, str | None, str | None]]:
    mem.data.import_(path)
    mem.settle()
    return {(one.entity, one.attribute, one.value) for one in mem.list().items}


def test_the_name_that_a_list_gives_the_user_is_the_users_in_its_other_lines(mem: Credenda, tmp_path: Path) -> None:
    path = tmp_path / "memories.txt"
    path.write_text(LIST)
    held = _hold(mem, path)
    assert {("user", "name", "Mira Haddad"), ("user's brother Sami", "residence", "Lyon")} <= held
    assert ("Maria", "residence", "Berlin") in held
    assert {value for entity, _, value in held if entity == "user"} == {"Mira Haddad", "34", "Sami", "kiwis"}


def test_a_line_that_left_the_list_has_ended(mem: Credenda, tmp_path: Path) -> None:
    path = tmp_path / "memories.txt"
    path.write_text(LIST)
    assert ("user", "allergy", "kiwis") in _hold(mem, path)
    path.write_text(LIST.replace("[2025-09-04] - User is allergic to kiwis.\n", ""))
    assert ("user", "allergy", "kiwis") not in _hold(mem, path)


def test_labels_of_the_users_page_of_hermes_fill_slots(mem: Credenda, tmp_path: Path) -> None:
    path = tmp_path / "USER.md"
    path.write_text("Name: Mira Haddad\n\u00a7\n- **Timezone:** Europe/Paris\n\u00a7\nLives in Lille.\n")
    held = _hold(mem, path)
    assert {("user", "name", "Mira Haddad"), ("user", "residence", "Lille")} <= held
    assert ("user", "timezone", "Europe/Paris") in held


def test_a_rollout_of_a_repository_that_is_not_here_keeps_the_project_that_it_notes(
    mem: Credenda, tmp_path: Path, events: Events
) -> None:
    begun = CODEX[0]["payload"] | {"git": {"repository_url": "git@github.com:acme/shop.git", "branch": "main"}}
    path = tmp_path / "rollout-1.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in ({**CODEX[0], "payload": begun}, *CODEX[1:])))
    mem.data.import_(path)
    assert {event.metadata["project"] for event in events()} == {"github.com/acme/shop"}

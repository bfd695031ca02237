"""Every name of the product that the golden replay uses: a module that moves is one edit here."""

from benchmarks.lifetime import run_lifetime
from benchmarks.year import make_year
from credenda import Credenda, MemoryUnit
from credenda.bootstrap import _LazyExtractor as LazyExtractor
from credenda.model.change import ChangeRecord
from credenda.model.claim import Claim, Turn
from credenda.model.memory import Memory
from credenda.testing import ManualClock

__all__ = [
    "ChangeRecord",
    "Claim",
    "Credenda",
    "LazyExtractor",
    "ManualClock",
    "Memory",
    "MemoryUnit",
    "Turn",
    "make_year",
    "run_lifetime",
]

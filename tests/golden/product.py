"""Every name of the product that the golden replay uses: a module that moves is one edit here."""

from benchmarks.lifetime import run_lifetime
from benchmarks.year import made_year
from credenda import Credenda, MemoryUnit
from credenda.model.change import ChangeRecord
from credenda.model.claim import Claim, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import Memory
from credenda.testing import ManualClock
from credenda.write.extract.rules import RulesExtractor
from credenda.write.intake.validate import Submission, accept

__all__ = [
    "ChangeRecord",
    "Claim",
    "Credenda",
    "Event",
    "ManualClock",
    "Memory",
    "MemoryUnit",
    "Role",
    "RulesExtractor",
    "Submission",
    "Turn",
    "accept",
    "made_year",
    "run_lifetime",
]

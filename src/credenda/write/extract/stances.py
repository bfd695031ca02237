"""How far each stance lets a claim be believed."""

from __future__ import annotations

from typing import Final

from credenda.model.memory import Stance

__all__ = ["CONFIDENCE_MAX"]

CONFIDENCE_MAX: Final = {
    Stance.HYPOTHETICAL: 0.3,
    Stance.ROLE_PLAY: 0.3,
    Stance.SARCASTIC: 0.3,
    Stance.CONSIDERED: 0.5,
    Stance.PLANNED: 0.5,
    Stance.REPORTED: 0.6,
}
"""What a stance may at most be believed, whatever a pattern says (R-040, D-005)."""

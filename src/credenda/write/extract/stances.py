"""The maximum confidence of each stance."""

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
"""Maximum confidence by stance, whatever a pattern gives (R-040, D-005)."""
